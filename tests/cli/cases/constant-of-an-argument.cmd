cat >k.metal <<'END'
#include <metal_stdlib>
using namespace metal;
namespace options { constant bool has_mask [[function_constant(20)]]; }
constant int mode [[function_constant(5)]];
constant bool is_scaled = mode == 2;
// Of a graphics function.
struct vertex_in { float4 place [[attribute(0)]]; float4 offset [[attribute(1), function_constant(is_scaled)]]; };
kernel void k(device float *x [[buffer(0)]],
              constant int &stride [[buffer(1), function_constant(options::has_mask)]],
              constant float &scale [[buffer(2), function_constant(is_scaled)]],
              uint i [[thread_position_in_grid]]) {
    x[i] = float(i) * (is_scaled ? scale : 1);
}
END
ingot compile k.metal | sed 1,2d
ingot run k.metal --grid 3 --arg 0=f32[3] --constant 20=bool:false --constant mode=i32:1 --print 0
ingot run k.metal --grid 3 --arg 0=f32[3] --arg 2=f32:4 --constant has_mask=bool:false --constant 5=i32:2 --print 0
ingot run k.metal --grid 3 --arg 0=f32[3] --constant 20=bool:true --constant 5=i32:1 || echo $?
