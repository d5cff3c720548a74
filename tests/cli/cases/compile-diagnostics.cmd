# exit 1
# Types have MSL's names, ranges and changes are shown, the insides of the standard headers are not.
cat >wrong.metal <<'END'
#include <metal_stdlib>
using namespace metal;
kernel void k(device float4 *x [[buffer(0)]], device float2x2 *m [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    float3 a = x[i];
    x[i] = m[0] * x[i];
    x[i] = dot(x[i], float2(1));
    int n = 3
}
END
ingot compile wrong.metal 2>&1 | grep -v '^<metal_'
ingot compile wrong.metal 2>&1 | grep -c '__ingot\|__ig\|__IG\|vec<'
ingot compile wrong.metal 2>/dev/null
