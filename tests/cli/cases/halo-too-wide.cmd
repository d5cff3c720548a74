# exit 1
ingot halo heat --halo 65
