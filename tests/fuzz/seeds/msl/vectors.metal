#include <metal_stdlib>
using namespace metal;
struct particle { packed_float3 where; half mass; float4x4 frame; };
kernel void move(device particle *p [[buffer(0)]], constant float3 &step [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    float4 v = float4(float3(p[i].where), 1.0);
    v.xyz += step.zyx * 0.5h;
    v.yx = v.xy;
    v = p[i].frame * v;
    p[i].where = packed_float3(normalize(v.xyz));
    p[i].mass *= half(dot(v, v)) + 1.5h;
}
