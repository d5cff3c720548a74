ingot run "$examples/saxpy.metal" --grid 1000 --arg 0=f32[1000] --arg 1=f32[1000]:iota --arg 2=f32:1 --time --repeat 5 --print 0:3
