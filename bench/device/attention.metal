// SPDX-License-Identifier: Apache-2.0
// Attention in one pass, with simdgroup matrices and a large head: a large kernel, to measure how long compiling takes. A
// simdgroup has eight queries and takes the keys in blocks of 32.
#include <metal_simdgroup_matrix>
#include <metal_stdlib>
using namespace metal;

enum { HEAD = 256, TILES = HEAD / 8, KEYS = 32, BLOCKS = KEYS / 8 };

kernel void attention(device const half *queries [[buffer(0)]], device const half *keys [[buffer(1)]],
                      device const half *values [[buffer(2)]], device float *out [[buffer(3)]],
                      constant uint &length [[buffer(4)]], uint group [[threadgroup_position_in_grid]],
                      uint lane [[thread_index_in_simdgroup]]) {
    threadgroup float scores[8 * KEYS], scales[8 * 8];
    simdgroup_half8x8 query[TILES];
    simdgroup_float8x8 sums[TILES];
    for (int t = 0; t < TILES; t++) {
        simdgroup_load(query[t], queries + group * 8 * HEAD + t * 8, HEAD);
        sums[t] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
    uint row = lane / 4, column = lane % 4 * (KEYS / 4);
    float largest = -INFINITY, total = 0;
    for (uint first = 0; first < length; first += KEYS) {
        for (int b = 0; b < BLOCKS; b++) {
            simdgroup_float8x8 score = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
            for (int t = 0; t < TILES; t++) {
                simdgroup_half8x8 key;
                simdgroup_load(key, keys + (first + b * 8) * HEAD + t * 8, HEAD, 0, true);
                simdgroup_multiply_accumulate(score, query[t], key, score);
            }
            simdgroup_store(score, scores + b * 8, KEYS);
        }
        simdgroup_barrier(mem_flags::mem_threadgroup);
        threadgroup float *mine = scores + row * KEYS + column;
        float before = largest, part = 0;
        for (int k = 0; k < KEYS / 4; k++) largest = max(largest, mine[k]);
        for (ushort step = 1; step < 4; step *= 2) largest = max(largest, simd_shuffle_xor(largest, step));
        for (int k = 0; k < KEYS / 4; k++) part += mine[k] = exp(mine[k] - largest);
        for (ushort step = 1; step < 4; step *= 2) part += simd_shuffle_xor(part, step);
        float scale = exp(before - largest);
        total = total * scale + part;
        for (uint k = lane % 4; k < 8; k += 4) scales[row * 8 + k] = k == row ? scale : 0;
        simdgroup_barrier(mem_flags::mem_threadgroup);
        simdgroup_float8x8 diagonal, weights[BLOCKS];
        simdgroup_load(diagonal, scales, 8);
        for (int b = 0; b < BLOCKS; b++) simdgroup_load(weights[b], scores + b * 8, KEYS);
        for (int t = 0; t < TILES; t++) {
            simdgroup_multiply(sums[t], diagonal, sums[t]);
            for (int b = 0; b < BLOCKS; b++) {
                simdgroup_half8x8 value;
                simdgroup_load(value, values + (first + b * 8) * HEAD + t * 8, HEAD);
                simdgroup_multiply_accumulate(sums[t], weights[b], value, sums[t]);
            }
        }
        simdgroup_barrier(mem_flags::mem_threadgroup);
    }
    for (uint k = lane % 4; k < 8; k += 4) scales[row * 8 + k] = k == row ? 1 / total : 0;
    simdgroup_barrier(mem_flags::mem_threadgroup);
    simdgroup_float8x8 diagonal;
    simdgroup_load(diagonal, scales, 8);
    for (int t = 0; t < TILES; t++) {
        simdgroup_multiply(sums[t], diagonal, sums[t]);
        simdgroup_store(sums[t], out + group * 8 * HEAD + t * 8, HEAD);
    }
}
