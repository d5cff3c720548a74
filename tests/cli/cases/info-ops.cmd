ingot info --ops
