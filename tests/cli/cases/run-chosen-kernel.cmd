printf 'kernel void first(device int *x [[buffer(0)]]) { x[0] = 1; }\nkernel void second(device int *x [[buffer(0)]]) { x[0] = 2; }\n' >two.metal
ingot run two.metal -k second --grid 1 --arg 0=i32[1] -p 0
