// SPDX-License-Identifier: Apache-2.0
// Weights and their formats.
#ifndef INGOT_NN_WEIGHT_H
#define INGOT_NN_WEIGHT_H

#include "nn/nn.h"
#include "tensor/front.h"

typedef struct igi_weight_format {
    const char *name;
    uint32_t weights, bytes;  // of a block; 1 weight: plain elements
    ig_type element;          // of the tensor that holds them
} igi_weight_format;
extern const igi_weight_format igi_weight_formats[IG_WEIGHT_TYPE_COUNT];
enum { IGI_BLOCK = 32 };  // weights of a block

struct ig_weight {
    igi_refcount references;
    ig_weight_type type;
    uint64_t rows, columns;
    ig_tensor *tensor;
};

static inline bool igi_weight_is_plain(uint32_t type) {
    return igi_weight_formats[type].weights == 1;
}
static inline uint64_t igi_weight_row_bytes(uint32_t type, uint64_t columns) {
    return columns / igi_weight_formats[type].weights * igi_weight_formats[type].bytes;
}
// The row's start of a packed weight.
static inline char *igi_weight_row(const igi_view *weight, uint64_t row) {
    return igi_view_data(weight) + (int64_t)row * igi_view_stride_bytes(weight, 0);
}

// Rows [begin, end) of a call of quantize. Every byte is given by the format, so that there is one way to do it.
void igi_quantize_rows(const igi_call *call, uint64_t begin, uint64_t end);

#endif
