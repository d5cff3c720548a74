# exit 2
ingot halo heat -p xw
