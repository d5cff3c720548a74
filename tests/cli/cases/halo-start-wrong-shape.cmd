# exit 1
/usr/bin/python3 -c 'import numpy; numpy.save("flat.npy", numpy.zeros((8, 13), "f4"))'
ingot halo heat -g 3,2 -t 4,4 -i flat.npy
