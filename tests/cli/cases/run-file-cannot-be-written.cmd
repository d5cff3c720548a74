# exit 3
ingot run "$examples/saxpy.metal" --grid 1 --arg 0=f32[1] --arg 1=f32[1] --arg 2=f32:1 --out 0=no/such/y.npy
