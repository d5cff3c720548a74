# exit 1
ingot info "$metallib" -k 'x*'
