printf '# known\nout-of-bounds saxpy\n' > rules
ingot check "$examples/saxpy.metal" --grid 9 --arg 0=f32[8] --arg 1=f32[9]:iota --arg 2=f32:2 --suppress rules
