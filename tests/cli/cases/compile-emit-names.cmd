ingot compile "$examples/saxpy.metal" --emit simt | grep -oE "%(group|group.size|y|x|a)[0-9.i]* = load (ptr|i32)" | cut -c2-3 | sort -u
