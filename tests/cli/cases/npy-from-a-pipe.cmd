/usr/bin/python3 -c "import numpy" 2>/dev/null || exit 77
/usr/bin/python3 -c 'import numpy as np, sys; np.save(sys.stdout.buffer, np.arange(4, dtype="f4"))' |
    ingot run "$examples/saxpy.metal" --grid 4 --arg 0=f32[4] --arg 1=/dev/stdin --arg 2=f32:3 --print 0
