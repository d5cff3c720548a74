INGOT_BACKEND=add=scalar ingot info --ops add --json
