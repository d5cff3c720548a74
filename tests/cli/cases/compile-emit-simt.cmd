ingot compile "$examples/saxpy.metal" --emit simt | grep -c "^define "
