# exit 2
ingot check "$examples/saxpy.metal" --grid 8 --arg 0=f32[8] --arg 1=f32[8]:iota --arg 2=f32:2 --only bounds
