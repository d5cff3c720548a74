// SPDX-License-Identifier: Apache-2.0
#include <metal_stdlib>
using namespace metal;

kernel void weigh(device const float4 *points [[buffer(0)]], constant float4 &weights [[buffer(1)]],
                  device float *out [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    out[i] = dot(points[i], weights);
}
