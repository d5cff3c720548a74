# exit 1
ingot compile "$examples/saxpy.metal" --std metal9.9
