# exit 2
ingot inof
