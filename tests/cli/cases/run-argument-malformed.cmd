# exit 2
ingot run "$examples/saxpy.metal" --grid 8 --arg y=f32[8]
