# exit 2
ingot compile
