# exit 2
ingot run "$examples/saxpy.metal"
