cat >k.metal <<'END'
#include <metal_stdlib>
using namespace metal;
constant bool doubled [[function_constant(0)]];
constant int added [[function_constant(7)]];
kernel void k(device int *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    x[i] = (doubled ? 2 * int(i) : int(i)) + added;
}
END
ingot run k.metal --grid 3 --arg 0=i32[3] --constant 0=bool:true --constant added=i32:-10 --print 0
ingot run k.metal --grid 3 --arg 0=i32[3] --constant doubled=bool:false --constant 7=i32:100 --print 0
