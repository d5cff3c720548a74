# exit 2
ingot info now
