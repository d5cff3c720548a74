#include <metal_stdlib>
#include "remarks.h"
using namespace metal;

kernel void gathers(device const float *a [[buffer(0)]], device const uint *index [[buffer(1)]],
                    device float *out [[buffer(2)]], constant uint &n [[buffer(3)]],
                    uint i [[thread_position_in_grid]]) {
    float contiguous = a[i], uniform = a[n];
    float loaded = a[index[i]];
    float strided = a[100 * i];
    float unknown = a[n * i];
    float divided = a[i / 4];
    float called = twice_at(a, index[i + 1]);
    out[i] = contiguous + uniform + loaded + strided + unknown + divided + called;
    out[index[i]] = 0;
}

kernel void parts(device const float *a [[buffer(0)]], device float *out [[buffer(1)]],
                  constant uint &n [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    if (i >= n) return;
    float x = a[i];
    if (n > 100) x += 1;
    while (x > 1) x *= 0.5;
    out[i] = x;
}

kernel void waits(device float *a [[buffer(0)]], device atomic_uint *count [[buffer(1)]],
                  uint i [[thread_position_in_grid]], uint t [[thread_index_in_threadgroup]]) {
    threadgroup float tile[256];
    tile[t] = a[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    uint bucket = atomic_fetch_add_explicit(count + i % 7, 1, memory_order_relaxed);
    float table[64];
    for (uint k = 0; k < 64; k++) table[k] = a[k];
    a[i] = table[bucket % 64] + tile[t ^ 1];
}

kernel void rows(device float4 *a [[buffer(0)]], device const uint *index [[buffer(1)]],
                 uint i [[thread_position_in_grid]]) {
    a[i] = 2 * a[index[i]];
}

kernel void sums(device float *a [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    a[i] = simd_sum(a[i]);
}
