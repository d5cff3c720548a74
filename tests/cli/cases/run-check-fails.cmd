# exit 1
ingot run "$examples/saxpy.metal" --check --grid 9 --arg 0=f32[8] --arg 1=f32[9]:iota --arg 2=f32:2 --print 0:3
