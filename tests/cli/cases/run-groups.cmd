ingot run "$examples/saxpy.metal" --groups 2 --group 4 --arg 0=f32[8] --arg 1=f32[8]:iota --arg 2=f32:1 --print 0
