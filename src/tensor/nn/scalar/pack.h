// SPDX-License-Identifier: Apache-2.0
// Parts of quantising.
#ifndef INGOT_NN_SCALAR_PACK_H
#define INGOT_NN_SCALAR_PACK_H

#include <math.h>
#include <string.h>

#include "tensor/nn/weight.h"

// What is not finite becomes something.
static inline int igi_whole(float x, int low, int high) {
    return x >= (float)low ? x <= (float)high ? (int)x : high : low;
}

// Gives what was kept of it.
static inline float igi_put_half(uint8_t *to, float x) {
    uint16_t bits = igi_tensor_f16_from_double((double)x);
    memcpy(to, &bits, sizeof bits);
    return (float)igi_tensor_f16_to_double(bits);
}

// The first of the greatest magnitude, which is kept beside it: clang 19 takes |y| for y where y is |x| > 0 ? x : 0.
static inline float igi_extreme(const float *x, int count) {
    float most = 0, size = 0;
    for (int i = 0; i < count; i++)
        if (fabsf(x[i]) > size) most = x[i], size = fabsf(x[i]);
    return most;
}

// A block of 256.
void igi_pack_q2_k(const float *x, uint8_t *block);
void igi_pack_q3_k(const float *x, uint8_t *block);
void igi_pack_q4_k(const float *x, uint8_t *block);
void igi_pack_q5_k(const float *x, uint8_t *block);
void igi_pack_q6_k(const float *x, uint8_t *block);

#endif
