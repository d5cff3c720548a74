# exit 1
printf hello >x.npy
ingot run "$examples/saxpy.metal" --grid 1 --arg 0=x.npy --arg 1=f32[1] --arg 2=f32:1
