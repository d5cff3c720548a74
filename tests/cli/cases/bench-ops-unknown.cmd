# exit 2
ingot bench ops -k sofmax
