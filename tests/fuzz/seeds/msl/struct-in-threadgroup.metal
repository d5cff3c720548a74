#include <metal_stdlib>
using namespace metal;
struct threadgroup particle { packed_float3 where; half mass; float4x4 frame; };
kernel void move(device part