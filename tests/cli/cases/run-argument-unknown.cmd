# exit 1
ingot run "$examples/saxpy.metal" --grid 8 --arg 0=f32[8] --arg 1=f32[8] --arg 2=f32:2 --arg 9=f32:1
