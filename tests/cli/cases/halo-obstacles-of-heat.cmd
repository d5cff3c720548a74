# exit 2
ingot halo heat --obstacles slits
