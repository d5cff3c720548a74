# exit 1
# What a compiler driver says about its command line.
PATH=$tools:$PATH
echo 'kernel void k(device int *x) { *x = 1; }' > k.metal
metal; metal -c; metal -frobnicate k.metal; metal k.metal -o; metal missing.metal; metal -std=metal9 k.metal
metal -c k.metal k.metal -o one.air; metal - < k.metal; metal -fmetal-math-mode=odd k.metal; metal -x c k.metal
metal -Xclang -load k.metal; metal -Wl,-x k.metal; metal -D= k.metal; metal -include missing.h k.metal; metal -target x86_64 k.metal
metal -ffp-contract=off -fsyntax-only k.metal
metallib; metallib --frobnicate; metallib k.metal; metallib missing.air; ls
metal k.metal -o no/such/directory.metallib
