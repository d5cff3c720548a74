# exit 2
ingot run "$examples/saxpy.metal" --grid 8 --groups 2
