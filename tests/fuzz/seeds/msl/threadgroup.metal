#include <metal_stdlib>
using namespace metal;
[[max_total_threads_per_threadgroup(256)]]
kernel void sum(device float *a [[buffer(0)]], threadgroup float *t [[threadgroup(0)]],
                uint i [[thread_index_in_threadgroup]], uint n [[threads_per_threadgroup]]) {
    threadgroup float4 own[8];
    t[i] = a[i];
    for (uint s = n / 2; s > 0; s >>= 1) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (i < s) t[i] += t[i + s];
    }
    own[i & 7] = float4(simd_sum(t[i]));
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (i == 0) a[0] = t[0] + own[3].w;
}
