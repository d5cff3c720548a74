printf 'kernel void k(device float *a, constant float &s) { a[0] = s; }\n' > k.metal
ingot compile k.metal | grep -c "1  buffer  constant float&"
