// SPDX-License-Identifier: Apache-2.0
// Kernels of `ingot selftest`: small, and exact in every bit, so that right and wrong need no tolerance.
#include <metal_stdlib>
using namespace metal;

constant int factor [[function_constant(0)]];
constant bool negate [[function_constant(1)]];

kernel void scale(device int *values [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    values[i] = (negate ? -1 : 1) * factor * values[i];
}

kernel void saxpy(device float *y [[buffer(0)]], device const float *x [[buffer(1)]], constant float &a [[buffer(2)]],
                  uint i [[thread_position_in_grid]]) {
    y[i] = a * x[i] + y[i];
}

// A tree over threadgroup memory given by the host.
kernel void group_sum(device const uint *values [[buffer(0)]], device uint *sums [[buffer(1)]],
                      threadgroup uint *shared [[threadgroup(0)]], uint i [[thread_position_in_grid]],
                      uint t [[thread_index_in_threadgroup]], uint g [[threadgroup_position_in_grid]],
                      uint size [[threads_per_threadgroup]]) {
    shared[t] = values[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint half_size = size / 2; half_size > 0; half_size /= 2) {
        if (t < half_size) shared[t] += shared[t + half_size];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (t == 0) sums[g] = shared[0];
}

// Four words of each thread: what the simdgroup makes of its number.
kernel void simdgroups(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]],
                       uint lane [[thread_index_in_simdgroup]], uint width [[threads_per_simdgroup]]) {
    out[i * 4] = simd_sum(lane);
    out[i * 4 + 1] = simd_shuffle_xor(lane, 1);
    out[i * 4 + 2] = simd_prefix_exclusive_sum(1u);
    out[i * 4 + 3] = width;
}

kernel void count(device atomic_uint *counters [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    atomic_fetch_add_explicit(&counters[i % 7], 1, memory_order_relaxed);
}

kernel void matrices(device const float *a [[buffer(0)]], device const float *b [[buffer(1)]],
                     device float *c [[buffer(2)]]) {
    simdgroup_float8x8 left, right, product = simdgroup_float8x8(0);
    simdgroup_load(left, a, 8);
    simdgroup_load(right, b, 8);
    simdgroup_multiply_accumulate(product, left, right, product);
    simdgroup_store(product, c, 8);
}

struct pointers {
    device uint *target;
    uint value;
};

kernel void follow(constant pointers &p [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    p.target[i] = p.value + i;
}
