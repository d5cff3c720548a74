// SPDX-License-Identifier: Apache-2.0
// The kernels of one level.
#include "tensor/nn/simd/isa/nn-isa.h"

void NAME(igi_nn_fill)(igi_nn_kernels *table) {
    *table = (igi_nn_kernels){0};
    NAME(igi_nn_fill_attention)(table);
    NAME(igi_nn_fill_block_dots)(table);
    NAME(igi_nn_fill_products)(table);
    NAME(igi_nn_fill_quantize)(table);
    NAME(igi_nn_fill_rotate)(table);
    NAME(igi_nn_fill_weights)(table);
}
