// SPDX-License-Identifier: Apache-2.0
// Formats of weights, implemented independently, one weight at a time.
#ifndef INGOT_TESTS_NN_WEIGHT_REFERENCE_H
#define INGOT_TESTS_NN_WEIGHT_REFERENCE_H

#include <ingot/nn.h>

// Weight i of a row that begins at `row`.
double reference_weight(ig_weight_type type, const uint8_t *row, uint64_t i);
// All weights in C order; free them.
double *reference_weights(const ig_weight *weight);

// Where a block has its f16 values: a scale, and an offset or -1.
typedef struct reference_halves {
    int scale_at, offset_at;
} reference_halves;
reference_halves reference_halves_of(ig_weight_type type);

#endif
