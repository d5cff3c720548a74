// SPDX-License-Identifier: Apache-2.0
// Loops over packed floats.
#ifndef INGOT_TENSOR_SIMD_LOOP_H
#define INGOT_TENSOR_SIMD_LOOP_H

#include "tensor/simd/isa/vector.h"

// Stores WHOLE, a vector computed from the elements at `at`, throughout, and PART, computed from the last `left` <
// LANES of them. Expects count, out and stream; at, left, first and second are its own.
#define VECTOR_LOOP(WHOLE, PART)                                                                   \
    do {                                                                                           \
        uint64_t at = 0, left;                                                                     \
        if (stream) {                                                                              \
            uint64_t start = unaligned_head(out, count);                                           \
            if ((left = start)) store_part(out, PART, left);                                       \
            for (at = start; at + LANES <= count; at += LANES) store_past_caches(out + at, WHOLE); \
            finish_stores_past_caches();                                                           \
        } else {                                                                                   \
            while (at + 2 * LANES <= count) { /* two at once hide each other's latency */          \
                vf first = WHOLE;                                                                  \
                at += LANES;                                                                       \
                vf second = WHOLE;                                                                 \
                store(out + at - LANES, first);                                                    \
                store(out + at, second);                                                           \
                at += LANES;                                                                       \
            }                                                                                      \
            for (; at + LANES <= count; at += LANES) store(out + at, WHOLE);                       \
        }                                                                                          \
        if ((left = count - at)) store_part(out + at, PART, left);                                 \
    } while (0)

#endif
