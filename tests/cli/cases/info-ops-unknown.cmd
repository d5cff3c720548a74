# exit 2
ingot info --ops softmx
