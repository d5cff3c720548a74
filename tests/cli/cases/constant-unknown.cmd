# exit 1
cat >k.metal <<'END'
#include <metal_stdlib>
using namespace metal;
constant bool doubled [[function_constant(0)]];
constant int added [[function_constant(7)]];
kernel void k(device int *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    x[i] = (doubled ? 2 * int(i) : int(i)) + added;
}
END
ingot run k.metal --grid 1 --arg 0=i32[1] --constant 0=bool:1 --constant 7=i32:1 --constant addled=i32:1
