# exit 2
ingot compile "$examples/saxpy.metal" --emit air
