# exit 1
echo 'kernel void k(device float *x, uint n [[buffer(1)]], uint i [[thread_position_in_grid]]) { x[i] = n; }' >k.metal
ingot compile k.metal
