# Odd tiles, a wide halo, a result NumPy reads.
ingot halo heat -g 3,2 -t 7,9 --halo 2 -p x -n 40 --verify -o heat.npy
/usr/bin/python3 -c '
import numpy
heat = numpy.load("heat.npy")
print(heat.dtype, heat.shape, 0 < heat.max() < 1)
'
