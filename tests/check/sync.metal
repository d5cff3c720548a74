// SPDX-License-Identifier: Apache-2.0
// Barriers and simdgroup operations, reached by all threads and not.
#include <metal_stdlib>
using namespace metal;

// case barrier_in_branch:
kernel void barrier_in_branch(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    if (i < 32) threadgroup_barrier(mem_flags::mem_threadgroup);  // finds barrier-not-reached
    out[i] = 1;
}
// case barrier_for_all:
kernel void barrier_for_all(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    out[i] = 1;
    threadgroup_barrier(mem_flags::mem_threadgroup);
}
// case barrier_in_both_branches:
kernel void barrier_in_both_branches(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    if (i % 2) {
        out[i] = 1;
        threadgroup_barrier(mem_flags::mem_threadgroup);  // finds different-barriers
        out[i] += 1;
    } else {
        out[i] = 2;
        threadgroup_barrier(mem_flags::mem_device);  // finds different-barriers
        out[i] += 2;
    }
}
// case barrier_in_uniform_branch: u1=1
kernel void barrier_in_uniform_branch(device float *out [[buffer(0)]], constant uint &n [[buffer(1)]],
                                      uint i [[thread_position_in_grid]]) {
    if (n > 0) threadgroup_barrier(mem_flags::mem_threadgroup);
    out[i] = 1;
}
// case returned_before_barrier: u1=50
kernel void returned_before_barrier(device float *out [[buffer(0)]], constant uint &n [[buffer(1)]],
                                    uint i [[thread_position_in_grid]]) {
    threadgroup float tile[64];
    if (i >= n) return;
    tile[i] = 1;
    threadgroup_barrier(mem_flags::mem_threadgroup);  // finds barrier-not-reached
    out[i] = tile[n - 1 - i];
}
// case guarded_around_barrier: u1=50
kernel void guarded_around_barrier(device float *out [[buffer(0)]], constant uint &n [[buffer(1)]],
                                   uint i [[thread_position_in_grid]]) {
    threadgroup float tile[64];
    if (i < n) tile[i] = 1;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (i < n) out[i] = tile[n - 1 - i];
}
// case whole_group_returns: grid=128 u1=64
kernel void whole_group_returns(device float *out [[buffer(0)]], constant uint &n [[buffer(1)]],
                                uint i [[thread_position_in_grid]], uint g [[threadgroup_position_in_grid]]) {
    if (g * 64 >= n) return;
    out[i] = 1;
    threadgroup_barrier(mem_flags::mem_device);
    out[i] += 1;
}
// case barrier_in_uneven_loop:
kernel void barrier_in_uneven_loop(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    float sum = 0;
    for (uint k = 0; k < 1 + i / 32; k++) {
        sum += 1;
        threadgroup_barrier(mem_flags::mem_threadgroup);  // finds barrier-not-reached
    }
    out[i] = sum;
}
// case barrier_in_even_loop:
kernel void barrier_in_even_loop(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    float sum = 0;
    for (uint k = 0; k < 3; k++) {
        sum += 1;
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    out[i] = sum;
}
// case one_waits_longer:
kernel void one_waits_longer(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (i == 0) threadgroup_barrier(mem_flags::mem_threadgroup);  // finds different-barriers
    out[i] = 1;
    threadgroup_barrier(mem_flags::mem_threadgroup);  // finds different-barriers, barrier-not-reached
}
// case one_element_of_shuffle: grid=32 group=32
kernel void one_element_of_shuffle(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    uint value = 0;
    if (i < 16) value = simd_shuffle(i, 20);  // finds inactive-lane
    out[i] = value;
}
// case shuffle_for_all: grid=32 group=32
kernel void shuffle_for_all(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    out[i] = simd_shuffle(i, 20);
}
// case shuffle_among_present: grid=32 group=32
kernel void shuffle_among_present(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    uint value = 0;
    if (i < 16) value = simd_shuffle_xor(i, 1);
    out[i] = value;
}
// case shuffle_down_at_the_end: grid=32 group=32
kernel void shuffle_down_at_the_end(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    out[i] = simd_shuffle_down(i, 16);
}
// case sum_of_the_active: grid=32 group=32
kernel void sum_of_the_active(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    uint value = 0;
    if (i < 16) value = simd_sum(i);
    out[i] = value;
}
// case sum_in_partial_simdgroup: grid=40 group=40
kernel void sum_in_partial_simdgroup(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    out[i] = simd_sum(i);
}
// case simdgroup_barrier_in_branch: grid=32 group=32
kernel void simdgroup_barrier_in_branch(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    if (i < 16) simdgroup_barrier(mem_flags::mem_threadgroup);  // finds lanes-missing
    out[i] = 1;
}
// case simdgroup_barrier_by_simdgroup:
kernel void simdgroup_barrier_by_simdgroup(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    if (i < 32) simdgroup_barrier(mem_flags::mem_threadgroup);
    out[i] = 1;
}
// case matrix_product_in_branch: grid=32 group=32
kernel void matrix_product_in_branch(device float *out [[buffer(0)]], device const float *in [[buffer(1)]],
                                     uint i [[thread_position_in_grid]]) {
    simdgroup_float8x8 a, b, c = simdgroup_float8x8(0);
    simdgroup_load(a, in, 8);
    simdgroup_load(b, in, 8);
    if (i < 16) simdgroup_multiply_accumulate(c, a, b, c);  // finds lanes-missing
    simdgroup_store(c, out, 8);
}
// case matrix_product: grid=32 group=32
kernel void matrix_product(device float *out [[buffer(0)]], device const float *in [[buffer(1)]]) {
    simdgroup_float8x8 a, b, c = simdgroup_float8x8(0);
    simdgroup_load(a, in, 8);
    simdgroup_load(b, in, 8);
    simdgroup_multiply_accumulate(c, a, b, c);
    simdgroup_store(c, out, 8);
}
// case quad_shuffle_in_branch: grid=32 group=32
kernel void quad_shuffle_in_branch(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    uint value = 0;
    if (i % 2 == 0) value = quad_shuffle_xor(i, 1);  // finds inactive-lane
    out[i] = value;
}
// case broadcast_of_first: grid=32 group=32
kernel void broadcast_of_first(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    out[i] = simd_broadcast_first(i);
}
