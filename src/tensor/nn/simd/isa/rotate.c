// SPDX-License-Identifier: Apache-2.0
// Rotations of pairs: plain loops, which the compiler vectorises.
#include "tensor/nn/simd/isa/nn-isa.h"

static void NAME(f32_rotate)(uint64_t count, const float *restrict cosines, const float *restrict sines,
                             float *restrict a, float *restrict b) {
    for (uint64_t i = 0; i < count; i++) {
        float x = a[i], y = b[i];
        a[i] = x * cosines[i] - y * sines[i];
        b[i] = x * sines[i] + y * cosines[i];
    }
}

static void NAME(f32_rotate_interleaved)(uint64_t count, const float *restrict cosines, const float *restrict sines,
                                         float *restrict pairs) {
    for (uint64_t i = 0; i < count; i++) {
        float x = pairs[2 * i], y = pairs[2 * i + 1];
        pairs[2 * i] = x * cosines[i] - y * sines[i];
        pairs[2 * i + 1] = x * sines[i] + y * cosines[i];
    }
}

void NAME(igi_nn_fill_rotate)(igi_nn_kernels *table) {
    table->rotate = NAME(f32_rotate);
    table->rotate_interleaved = NAME(f32_rotate_interleaved);
}
