# Without neighbours that differ, nothing flows.
/usr/bin/python3 -c 'import numpy; numpy.save("flat.npy", numpy.full((8, 12), 0.5, "f4"))'
ingot halo heat -g 3,2 -t 4,4 -p xy -n 5 -i flat.npy -o still.npy >/dev/null
/usr/bin/python3 -c 'import numpy; print((numpy.load("still.npy") == 0.5).all())'
