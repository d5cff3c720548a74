# exit 1
ingot demo -o no/such/place
