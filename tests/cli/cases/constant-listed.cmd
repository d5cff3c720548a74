cat >k.metal <<'END'
#include <metal_stdlib>
using namespace metal;
constant bool doubled [[function_constant(0)]];
constant int added [[function_constant(7)]];
kernel void k(device int *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    x[i] = (doubled ? 2 * int(i) : int(i)) + added;
}
END
ingot compile k.metal | sed -n '/^function/,$p'
