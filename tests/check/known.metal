// SPDX-License-Identifier: Apache-2.0
// Races that were reported against published kernels, each restated in its smallest form, and then mended.
#include <metal_stdlib>
using namespace metal;

// mlx-lm 1700: the maxima of all simdgroups are read from the slots that the sums are then written to.
// case fused_loss: t0=8
kernel void fused_loss(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
                       threadgroup float *shared [[threadgroup(0)]], uint i [[thread_position_in_grid]],
                       uint lane [[thread_index_in_simdgroup]], uint simd [[simdgroup_index_in_threadgroup]]) {
    float largest = simd_max(in[i]);
    if (lane == 0) shared[simd] = largest;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    largest = max(shared[0], shared[1]);  // finds race
    float sum = simd_sum(exp(in[i] - largest));
    if (lane == 0) shared[simd] = sum;  // finds race
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[i] = in[i] - largest - log(shared[0] + shared[1]);
}
// case fused_loss_mended: t0=8
kernel void fused_loss_mended(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
                              threadgroup float *shared [[threadgroup(0)]], uint i [[thread_position_in_grid]],
                              uint lane [[thread_index_in_simdgroup]], uint simd [[simdgroup_index_in_threadgroup]]) {
    float largest = simd_max(in[i]);
    if (lane == 0) shared[simd] = largest;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    largest = max(shared[0], shared[1]);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float sum = simd_sum(exp(in[i] - largest));
    if (lane == 0) shared[simd] = sum;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[i] = in[i] - largest - log(shared[0] + shared[1]);
}
// The same report: a barrier that waits but orders no memory.
// case fused_loss_without_flag: t0=8
kernel void fused_loss_without_flag(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
                                    threadgroup float *shared [[threadgroup(0)]], uint i [[thread_position_in_grid]],
                                    uint lane [[thread_index_in_simdgroup]],
                                    uint simd [[simdgroup_index_in_threadgroup]]) {
    float largest = simd_max(in[i]);
    if (lane == 0) shared[simd] = largest;  // finds missing-mem-flag
    threadgroup_barrier(mem_flags::mem_none);
    out[i] = max(shared[0], shared[1]);  // finds missing-mem-flag
}

// mlx 632: a softmax whose normaliser goes into the place where other threads still look for the maximum.
// case softmax:
kernel void softmax(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
                    uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]],
                    uint simd [[simdgroup_index_in_threadgroup]]) {
    threadgroup float local[32];
    if (simd == 0) local[lane] = -INFINITY;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float largest = simd_max(in[i]);
    if (lane == 0) local[simd] = largest;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (simd == 0) {
        largest = simd_max(local[lane]);
        if (lane == 0) local[0] = largest;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    largest = local[0];  // finds race
    float e = exp(in[i] - largest), sum = simd_sum(e);
    if (lane == 0) local[simd] = sum;  // finds race
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[i] = e / (local[0] + local[1]);
}
// case softmax_mended:
kernel void softmax_mended(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
                           uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]],
                           uint simd [[simdgroup_index_in_threadgroup]]) {
    threadgroup float maxima[32], sums[32];
    if (simd == 0) maxima[lane] = -INFINITY;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float largest = simd_max(in[i]);
    if (lane == 0) maxima[simd] = largest;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    largest = simd_max(maxima[lane]);
    float e = exp(in[i] - largest), sum = simd_sum(e);
    if (lane == 0) sums[simd] = sum;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[i] = e / (sums[0] + sums[1]);
}

// mlx 2508: a scan in steps, whose sums are written anew while others still read those of the step before.
// case scan: u2=3
kernel void scan(device uint *data [[buffer(0)]], device uint *out [[buffer(1)]], constant uint &steps [[buffer(2)]],
                 uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]],
                 uint simd [[simdgroup_index_in_threadgroup]]) {
    threadgroup uint sums[32];
    uint carry = 0;
    if (simd == 0) sums[lane] = 0;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint step = 0; step < steps; step++) {
        uint value = data[i] + step, prefix = simd_prefix_inclusive_sum(value);
        if (lane == 31) sums[simd] = prefix;  // finds race
        threadgroup_barrier(mem_flags::mem_threadgroup);
        uint before = simd > 0 ? sums[0] : 0u;
        out[i] = carry + before + prefix;
        carry += sums[0] + sums[1];  // finds race
    }
}
// case scan_mended: u2=3
kernel void scan_mended(device uint *data [[buffer(0)]], device uint *out [[buffer(1)]],
                        constant uint &steps [[buffer(2)]], uint i [[thread_position_in_grid]],
                        uint lane [[thread_index_in_simdgroup]], uint simd [[simdgroup_index_in_threadgroup]]) {
    threadgroup uint sums[32];
    uint carry = 0;
    if (simd == 0) sums[lane] = 0;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint step = 0; step < steps; step++) {
        uint value = data[i] + step, prefix = simd_prefix_inclusive_sum(value);
        if (lane == 31) sums[simd] = prefix;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        uint before = simd > 0 ? sums[0] : 0u;
        out[i] = carry + before + prefix;
        carry += sums[0] + sums[1];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
}

// llama.cpp 2699: the next tiles of a product are loaded while other threads still multiply the last ones.
// case product: grid=8,8 group=8,8 b0=1024 b1=1024
kernel void product(device const float *a [[buffer(0)]], device const float *b [[buffer(1)]],
                    device float *c [[buffer(2)]], uint2 p [[thread_position_in_grid]]) {
    threadgroup float left[8][8], right[8][8];
    float sum = 0;
    for (uint tile = 0; tile < 4; tile++) {
        left[p.y][p.x] = a[p.y * 32 + tile * 8 + p.x];     // finds race
        right[p.y][p.x] = b[(tile * 8 + p.y) * 8 + p.x];   // finds race
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint k = 0; k < 8; k++) sum += left[p.y][k] * right[k][p.x];  // finds race
    }
    c[p.y * 8 + p.x] = sum;
}
// case product_mended: grid=8,8 group=8,8 b0=1024 b1=1024
kernel void product_mended(device const float *a [[buffer(0)]], device const float *b [[buffer(1)]],
                           device float *c [[buffer(2)]], uint2 p [[thread_position_in_grid]]) {
    threadgroup float left[8][8], right[8][8];
    float sum = 0;
    for (uint tile = 0; tile < 4; tile++) {
        left[p.y][p.x] = a[p.y * 32 + tile * 8 + p.x];
        right[p.y][p.x] = b[(tile * 8 + p.y) * 8 + p.x];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint k = 0; k < 8; k++) sum += left[p.y][k] * right[k][p.x];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    c[p.y * 8 + p.x] = sum;
}

// llama.cpp 3057: everybody reads the mean from the first element of the sums, which then take the squares.
// case norm: t0=256
kernel void norm(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
                 threadgroup float *sums [[threadgroup(0)]], uint i [[thread_position_in_grid]]) {
    sums[i] = in[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint step = 32; step > 0; step /= 2) {
        if (i < step) sums[i] += sums[i + step];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    float mean = sums[0] / 64;  // finds race
    float centred = in[i] - mean;
    sums[i] = centred * centred;  // finds race
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint step = 32; step > 0; step /= 2) {
        if (i < step) sums[i] += sums[i + step];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    out[i] = centred * rsqrt(sums[0] / 64 + 1e-5f);
}
// case norm_mended: t0=256
kernel void norm_mended(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
                        threadgroup float *sums [[threadgroup(0)]], uint i [[thread_position_in_grid]]) {
    sums[i] = in[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint step = 32; step > 0; step /= 2) {
        if (i < step) sums[i] += sums[i + step];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    float mean = sums[0] / 64;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float centred = in[i] - mean;
    sums[i] = centred * centred;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint step = 32; step > 0; step /= 2) {
        if (i < step) sums[i] += sums[i + step];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    out[i] = centred * rsqrt(sums[0] / 64 + 1e-5f);
}
