#include <metal_stdlib>
using namespace metal;

// Indices that are clamped at both ends, as at the edges of a picture.
kernel void spread(device const int *in [[buffer(0)]], device int *out [[buffer(1)]], constant int &n [[buffer(2)]],
                   uint g [[thread_position_in_grid]]) {
    int i = g;
    out[g] = in[clamp(i - 3, 0, n - 1)] + 100 * in[clamp(i + 3, 0, n - 1)];
}

// The same after an early return, in a loop over rows.
kernel void rows(device const int *in [[buffer(0)]], device int *out [[buffer(1)]], constant int &n [[buffer(2)]],
                 uint g [[thread_position_in_grid]]) {
    int i = g;
    if (i >= n) return;
    int sum = 0;
    for (int y = 0; y < 5; y++) sum += in[clamp(y - 1, 0, 2) * n + max(i - 1, 0)] - in[clamp(y, 0, 2) * n + min(i + 2, n - 1)];
    out[g] = sum;
}

// A loop between barriers.
kernel void waiting(device const int *in [[buffer(0)]], device int *out [[buffer(1)]], constant int &n [[buffer(2)]],
                    uint g [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]],
                    uint size [[threads_per_threadgroup]]) {
    threadgroup int sums[64];
    int i = g, sum = 0;
    sums[l] = 0;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (int y = 0; y < 3; y++) sum += in[y * n + clamp(i - 1, 0, n - 1)];
    sums[l] = sum;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[g] = sums[size - 1 - l];
}

// Lines that wrap: their clamps change nothing, and they are not rows.
kernel void wraps(device const int *in [[buffer(0)]], device int *out [[buffer(1)]], constant uint &from [[buffer(2)]],
                  uint g [[thread_position_in_grid]]) {
    uint i = from + g;
    out[g] = in[min(i, 40u)];
}
