ingot compile "$examples/saxpy.metal" --emit asm | grep -c "ret"
