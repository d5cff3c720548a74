# exit 1
/usr/bin/python3 -c "import numpy" 2>/dev/null || exit 77
/usr/bin/python3 -c 'import numpy as np; np.save("e.npy", np.zeros((0, 3), "f4"))'
ingot run "$examples/saxpy.metal" --grid 1 --arg 0=e.npy --arg 1=f32[1] --arg 2=f32:1
