/usr/bin/python3 -c "import numpy" 2>/dev/null || exit 77
/usr/bin/python3 -c '
import numpy as np
np.save("x.npy", np.arange(12, dtype="f4").reshape(3, 4))
'
ingot run "$examples/saxpy.metal" --grid 12 --arg 0=f32[3,4]:1 --arg 1=x.npy --arg 2=f32:0.5 --out 0=y.npy
/usr/bin/python3 -c '
import numpy as np
y = np.load("y.npy")
print(y.dtype, y.shape, np.array_equal(y, 1 + 0.5 * np.load("x.npy")))
'
