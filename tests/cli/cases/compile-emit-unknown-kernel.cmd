# exit 1
ingot compile "$examples/saxpy.metal" --kernel saxpi --emit asm
