# exit 1
ingot run "$examples/saxpy.metal" --kernel saxpi --grid 8
