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

void NAME(igi_nn_fill_attention)(igi_nn_kernels *table);
void NAME(igi_nn_fill_products)(igi_nn_kernels *table);
void NAME(igi_nn_fill_rotate)(igi_nn_kernels *table);
void NAME(igi_nn_fill_weights)(igi_nn_kernels *table);
// All of them.
void NAME(igi_nn_fill)(igi_nn_kernels *table);

#endif
