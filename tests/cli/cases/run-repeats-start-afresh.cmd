printf 'kernel void add(device int *x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] += 1; }\n' >add.metal
ingot run add.metal --grid 4 --arg 0=i32[4]:iota --repeat 5 --print 0
