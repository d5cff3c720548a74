# exit 1
/usr/bin/python3 -c "import numpy" 2>/dev/null || exit 77
/usr/bin/python3 -c 'import numpy as np; np.save("d.npy", np.zeros(3))'
ingot run "$examples/saxpy.metal" --grid 1 --arg 0=d.npy --arg 1=f32[1] --arg 2=f32:1
