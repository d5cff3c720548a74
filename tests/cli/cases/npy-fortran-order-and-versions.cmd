/usr/bin/python3 -c "import numpy" 2>/dev/null || exit 77
/usr/bin/python3 -c '
import numpy as np
from numpy.lib import format
a = np.asfortranarray(np.arange(6, dtype="i2").reshape(2, 3))
np.save("f.npy", a)
for v in (1, 2, 3):
    with open("v%d.npy" % v, "wb") as f: format.write_array(f, np.arange(3, dtype="u1"), version=(v, 0))
'
printf 'kernel void k(device void *x [[buffer(0)]]) {}\n' >k.metal
for f in f v1 v2 v3; do ingot run k.metal --grid 1 --arg 0=$f.npy --print 0; done
