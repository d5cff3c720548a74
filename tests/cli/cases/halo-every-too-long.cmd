# exit 1
ingot halo heat --halo 2 --every 3
