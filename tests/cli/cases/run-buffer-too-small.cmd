# exit 1
ingot run "$examples/saxpy.metal" --grid 8 --arg 0=f32[8] --arg 1=f32[8] --arg 2=raw:u8:2
