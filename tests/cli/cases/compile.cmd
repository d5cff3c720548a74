ingot compile "$examples/saxpy.metal" | sed "s|^.*/||"
