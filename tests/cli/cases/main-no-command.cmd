# exit 2
ingot
