ingot info --ops softmax
