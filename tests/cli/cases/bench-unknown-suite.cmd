# exit 2
ingot bench smit
