// SPDX-License-Identifier: Apache-2.0
// Lanes of vectors picked out by a mask into packed memory, and put back. What follows the picked ones is overwritten
// up to a whole vector, and read.
#ifndef INGOT_TENSOR_SIMD_COLLECT_H
#define INGOT_TENSOR_SIMD_COLLECT_H

#include "tensor/simd/isa/vector.h"

#if defined(__AVX2__)
#define CAN_COLLECT 1

#if defined(__AVX512F__)
typedef __mmask16 lane_set;

// Those outside of [low, high]; not NaN.
INLINE lane_set lanes_outside(vf x, float low, float high) {
    return (lane_set)(_mm512_cmp_ps_mask((__m512)x, (__m512)splat(low), _CMP_LT_OQ) |
                      _mm512_cmp_ps_mask((__m512)x, (__m512)splat(high), _CMP_GT_OQ));
}

// One bit per lane.
INLINE uint32_t bits_of(lane_set lanes) {
    return lanes;
}

INLINE vf choose_lanes(lane_set lanes, vf a, vf b) {
    return (vf)_mm512_mask_mov_ps((__m512)b, lanes, (__m512)a);
}

INLINE void collect(float *to, vf v, lane_set lanes) {
    store(to, (vf)_mm512_maskz_compress_ps(lanes, (__m512)v));
}

INLINE vf put_back(vf v, const float *from, lane_set lanes) {
    return (vf)_mm512_mask_expand_ps((__m512)v, lanes, (__m512)load(from));
}
#else
typedef vi lane_set;

INLINE lane_set lanes_outside(vf x, float low, float high) {
    return (x < splat(low)) | (x > splat(high));
}

INLINE uint32_t bits_of(lane_set lanes) {
    return (uint32_t)_mm256_movemask_ps((__m256)lanes);
}

INLINE vf choose_lanes(lane_set lanes, vf a, vf b) {
    return choose(lanes, a, b);
}

// For each mask of eight lanes, a byte per lane: the `lane`th of those in the mask, or how many of them are before it.
#define BELOW(mask, lane) ((uint64_t)__builtin_popcount((unsigned)(mask) & ((1u << (lane)) - 1)))
#define PICK(mask, lane) ((uint64_t)((mask) >> (lane) & 1) * (lane) << 8 * BELOW(mask, lane))
#define RANK(mask, lane) (BELOW(mask, lane) << 8 * (lane))
#define LANES_8(X, m) (X(m, 0) + X(m, 1) + X(m, 2) + X(m, 3) + X(m, 4) + X(m, 5) + X(m, 6) + X(m, 7))
#define MASKS_4(X, m) LANES_8(X, m), LANES_8(X, (m) + 1), LANES_8(X, (m) + 2), LANES_8(X, (m) + 3)
#define MASKS_16(X, m) MASKS_4(X, m), MASKS_4(X, (m) + 4), MASKS_4(X, (m) + 8), MASKS_4(X, (m) + 12)
#define MASKS_64(X, m) MASKS_16(X, m), MASKS_16(X, (m) + 16), MASKS_16(X, (m) + 32), MASKS_16(X, (m) + 48)
#define MASKS_256(X) MASKS_64(X, 0), MASKS_64(X, 64), MASKS_64(X, 128), MASKS_64(X, 192)
static const uint64_t picked[256] = {MASKS_256(PICK)}, ranks[256] = {MASKS_256(RANK)};

INLINE vf permute(vf v, const uint64_t *lanes) {
    return (vf)_mm256_permutevar8x32_ps((__m256)v, _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)lanes)));
}

INLINE void collect(float *to, vf v, lane_set lanes) {
    store(to, permute(v, &picked[bits_of(lanes)]));
}

INLINE vf put_back(vf v, const float *from, lane_set lanes) {
    return choose(lanes, permute(load(from), &ranks[bits_of(lanes)]), v);
}
#endif
#endif

#endif
