ingot info
