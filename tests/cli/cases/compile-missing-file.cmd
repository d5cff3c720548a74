# exit 1
ingot compile none.metal
