# exit 2
ingot run "$examples/saxpy.metal" --grid 8 --arg 2=f32:1,2 --out 2=a.npy
