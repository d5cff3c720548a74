// SPDX-License-Identifier: Apache-2.0
// Vector kernels of transformer ops, beside those of the tensors (tensor/simd/kernels.h): compiled once for each level
// of the CPU, packed floats, on the calling thread.
#ifndef INGOT_NN_SIMD_KERNELS_H
#define INGOT_NN_SIMD_KERNELS_H

#include "tensor/simd/simd.h"

typedef struct igi_nn_kernels {
    // Turns pairs (a[i], b[i]), in place.
    void (*rotate)(uint64_t count, const float *cosines, const float *sines, float *a, float *b);
    void (*rotate_interleaved)(uint64_t count, const float *cosines, const float *sines, float *pairs);
} igi_nn_kernels;

void igi_nn_fill__baseline(igi_nn_kernels *table);
void igi_nn_fill__avx2(igi_nn_kernels *table);
void igi_nn_fill__avx512(igi_nn_kernels *table);

// Those of the level that igi_simd() has.
const igi_nn_kernels *igi_nn_simd(void);

#endif
