// SPDX-License-Identifier: Apache-2.0
// Building blocks of quantisation.
#ifndef INGOT_NN_SCALAR_PACK_H
#define INGOT_NN_SCALAR_PACK_H

#include <math.h>
#include <string.h>

#include "tensor/nn/weight.h"

// Values that are not finite give some number.
static inline int igi_whole(float x, int low, int high) {
    return x >= (float)low ? x <= (float)high ? (int)x : high : low;
}

// Returns the value as stored.
static inline float igi_put_half(uint8_t *to, float x) {
    uint16_t bits = igi_tensor_f16_from_double((double)x);
    memcpy(to, &bits, sizeof bits);
    return (float)igi_tensor_f16_to_double(bits);
}

// The first element of the greatest magnitude. The magnitude is kept in a separate variable: clang 19 takes |y| for y
// if y is |x| > 0 ? x : 0.
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
