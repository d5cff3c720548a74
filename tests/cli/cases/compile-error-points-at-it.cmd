# exit 1
printf 'kernel void k(device float *x [[buffer(0)]]) {\n    x[0] = nonsense;\n}\n' >wrong.metal
ingot compile wrong.metal
