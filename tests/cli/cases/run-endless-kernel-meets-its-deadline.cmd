# exit 3
printf 'kernel void spin(device volatile int *x [[buffer(0)]]) { while (x[0] == 0) {} }\n' >spin.metal
ingot run spin.metal --grid 1 --arg 0=i32[1] --deadline 0.2
