// SPDX-License-Identifier: Apache-2.0
// Weights and their formats.
#ifndef INGOT_NN_WEIGHT_H
#define INGOT_NN_WEIGHT_H

#include "tensor/front.h"
#include "tensor/nn/nn.h"

typedef struct igi_tensor_weight_format {
    const char *name;
    uint32_t weights, bytes;  // of a block; 1 weight: plain elements
    ig_type element;          // of the tensor that holds them
} igi_tensor_weight_format;
extern const igi_tensor_weight_format igi_tensor_weight_formats[IG_WEIGHT_TYPE_COUNT];
// The number of weights that are unpacked together: a small block, or a part of a large one; and the weights of a large
// block.
enum { IGI_GROUP = 32, IGI_MOST_WEIGHTS = 256 };

struct ig_weight {
    igi_refcount references;
    ig_weight_type type;
    uint64_t rows, columns;
    ig_tensor *tensor;
};

static inline bool igi_tensor_weight_is_plain(uint32_t type) {
    return igi_tensor_weight_formats[type].weights == 1;
}
static inline uint64_t igi_tensor_weight_row_bytes(uint32_t type, uint64_t columns) {
    return columns / igi_tensor_weight_formats[type].weights * igi_tensor_weight_formats[type].bytes;
}
// The start of a row of a packed weight.
static inline char *igi_tensor_weight_row(const igi_tensor_view *weight, uint64_t row) {
    return igi_tensor_view_data(weight) + (int64_t)row * igi_tensor_view_stride_bytes(weight, 0);
}

// Weight i is scales[i / 16] * numbers[i] + offsets[i / 16]. Without an offset, offsets are -0, which changes nothing.
typedef struct igi_tensor_weight_group {
    int8_t numbers[IGI_GROUP];
    double scales[2], offsets[2];
} igi_tensor_weight_group;
// Weights 32 * index and following of a row. pre: not a plain type
void igi_tensor_unpack_group(uint32_t type, const uint8_t *row, uint64_t index, igi_tensor_weight_group *group);

// Rows [begin, end) of a call of quantize. The format determines every byte, so there is only one implementation.
void igi_tensor_quantize_rows(const igi_tensor_call *call, uint64_t begin, uint64_t end);

#endif
