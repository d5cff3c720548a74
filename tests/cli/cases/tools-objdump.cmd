PATH=$tools:$PATH
echo '#define N 2' > n.h
echo '#include "n.h"
[[visible]] int f(int a) { return a; }
kernel void k(device int *x) { *x = N + M; }' > k.metal
metal -DM=5 -fno-fast-math k.metal -o k.metallib
metal-objdump -h -t k.metallib
metal-objdump --source k.metallib | head -4
metal-objdump -d k.metallib | grep -c '^define'
metal -S -DM=5 k.metal && grep -c 'define.*@_Z1k' k.ll
