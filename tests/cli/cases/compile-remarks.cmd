ingot compile "$examples/saxpy.metal" --remarks
