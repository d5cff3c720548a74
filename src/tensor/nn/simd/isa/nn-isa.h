// SPDX-License-Identifier: Apache-2.0
// Parts of one level's table. Everything here is compiled once per level; only NAME(...) is visible outside of a file.
#ifndef INGOT_NN_SIMD_ISA_H
#define INGOT_NN_SIMD_ISA_H

#include "tensor/nn/simd/kernels.h"
#include "tensor/simd/isa/vector.h"

typedef float vquad __attribute__((vector_size(16)));

// Four lanes with the sum of all.
INLINE vquad fold(vf v) {
#if VECTOR_BYTES == 64
    __m256 half = _mm256_add_ps(_mm512_castps512_ps256((__m512)v), _mm512_extractf32x8_ps((__m512)v, 1));
    return (vquad)_mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
#elif VECTOR_BYTES == 32
    return (vquad)_mm_add_ps(_mm256_castps256_ps128((__m256)v), _mm256_extractf128_ps((__m256)v, 1));
#else
    return v;
#endif
}

INLINE float sum_of_lanes(vf v) {
    vquad sum = fold(v);
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

// The sums of four vectors, side by side: a transposed addition instead of four separate ones.
INLINE vquad sums_of_lanes(vf a, vf b, vf c, vf d) {
    vquad w = fold(a), x = fold(b), y = fold(c), z = fold(d);
    vquad first = __builtin_shufflevector(w, x, 0, 4, 1, 5) + __builtin_shufflevector(w, x, 2, 6, 3, 7);
    vquad second = __builtin_shufflevector(y, z, 0, 4, 1, 5) + __builtin_shufflevector(y, z, 2, 6, 3, 7);
    return __builtin_shufflevector(first, second, 0, 1, 4, 5) + __builtin_shufflevector(first, second, 2, 3, 6, 7);
}

// Loads f16 as floats.
INLINE vf load_f16(const uint16_t *from) {
#if defined(__AVX512F__)
    return (vf)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)from));
#elif defined(__F16C__)
    return (vf)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)from));
#elif defined(NEON)
    return (vf)vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(from)));
#else
    _Float16 halves[LANES];
    vf out;
    memcpy(halves, from, sizeof halves);
    for (int i = 0; i < LANES; i++) out[i] = (float)halves[i];
    return out;
#endif
}
INLINE vf load_bf16(const uint16_t *from) {
    typedef uint16_t vh __attribute__((vector_size(VECTOR_BYTES / 2)));
    vh halves;
    memcpy(&halves, from, sizeof halves);
    return (vf)(__builtin_convertvector(halves, vu) << 16);
}

void NAME(igi_nn_fill_attention)(igi_nn_kernels *table);
void NAME(igi_nn_fill_block_dots)(igi_nn_kernels *table);
void NAME(igi_nn_fill_products)(igi_nn_kernels *table);
void NAME(igi_nn_fill_quantize)(igi_nn_kernels *table);
void NAME(igi_nn_fill_rotate)(igi_nn_kernels *table);
void NAME(igi_nn_fill_weights)(igi_nn_kernels *table);
// Fills the whole table.
void NAME(igi_nn_fill)(igi_nn_kernels *table);

#endif
