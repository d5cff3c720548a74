// SPDX-License-Identifier: Apache-2.0
// Vectors at addresses that are multiples of their components only, as rows of odd lengths have them.
#include <metal_stdlib>
using namespace metal;

// Rows of `bytes` bytes, each read as float4.
kernel void row_sums(device const char *rows [[buffer(0)]], device float *sums [[buffer(1)]],
                     constant uint2 &shape [[buffer(2)]], uint row [[threadgroup_position_in_grid]],
                     uint lane [[thread_index_in_threadgroup]], uint lanes [[threads_per_threadgroup]]) {
    device const float4 *x = (device const float4 *)(rows + row * shape.x);
    float sum = 0;
    for (uint k = lane; k < shape.y; k += lanes) sum += dot(x[k], float4(1));
    sum = simd_sum(sum);
    if (lane == 0) sums[row] = sum;
}

kernel void shifted(device const float *from [[buffer(0)]], device float *to [[buffer(1)]],
                    uint i [[thread_position_in_grid]]) {
    device float4 *target = (device float4 *)(to + 3);
    target[i] = *(device const float4 *)(from + 4 * i + 1);
}

kernel void halves(device const half *from [[buffer(0)]], device half *to [[buffer(1)]],
                   uint i [[thread_position_in_grid]]) {
    *(device half4 *)(to + 5 * i + 1) = *(device const half4 *)(from + 5 * i);
}
