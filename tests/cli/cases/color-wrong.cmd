# exit 2
ingot info --color blue
