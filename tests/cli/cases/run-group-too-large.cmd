# exit 1
ingot run "$examples/saxpy.metal" --grid 4096 --group 4096 --arg 0=f32[4096] --arg 1=f32[4096] --arg 2=f32:1
