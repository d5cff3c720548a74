#include <metal_stdlib>
using namespace metal;
constant bool flip [[function_constant(0)]];
constant uint2 size [[function_constant(1)]], other [[function_constant(2)]];
constant uint area = size.x * size.y;
kernel void k(device uint *a [[buffer(0)]], device uint *b [[buffer(1), function_constant(flip)]],
              ushort3 t [[thread_position_in_threadgroup]]) {
    a[t.x] = flip ? b[t.y] : area;
}
