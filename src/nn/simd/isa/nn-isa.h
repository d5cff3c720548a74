// SPDX-License-Identifier: Apache-2.0
// Parts of one level's table. Everything here is compiled once per level; only NAME(...) leaves a file.
#ifndef INGOT_NN_SIMD_ISA_H
#define INGOT_NN_SIMD_ISA_H

#include "nn/simd/kernels.h"
#include "tensor/simd/isa/vector.h"

INLINE float sum_of_lanes(vf v) {
    float sums[LANES];
    store(sums, v);
    for (int width = LANES / 2; width; width /= 2)
        for (int i = 0; i < width; i++) sums[i] += sums[i + width];
    return sums[0];
}

// Halves as floats.
INLINE vf load_f16(const uint16_t *from) {
#if defined(__AVX512F__)
    return (vf)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)from));
#elif defined(__F16C__)
    return (vf)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)from));
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
void NAME(igi_nn_fill_products)(igi_nn_kernels *table);
void NAME(igi_nn_fill_rotate)(igi_nn_kernels *table);
void NAME(igi_nn_fill_weights)(igi_nn_kernels *table);
// All of them.
void NAME(igi_nn_fill)(igi_nn_kernels *table);

#endif
