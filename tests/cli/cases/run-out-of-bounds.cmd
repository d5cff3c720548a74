# exit 1
printf 'kernel void stray(device int *x [[buffer(0)]]) { x[-(1l << 40)] = 1; }\n' >stray.metal
ingot run stray.metal --grid 1 --arg 0=i32[4]
