ingot compile "$examples/saxpy.metal" --emit llvm | grep -c "^define "
