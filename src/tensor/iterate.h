// SPDX-License-Identifier: Apache-2.0
// Walking several views of one shape together.
#ifndef INGOT_TENSOR_ITERATE_H
#define INGOT_TENSOR_ITERATE_H

#include "tensor/view.h"

enum { IGI_MAX_OPERANDS = 5 };

// Adjacent dimensions that are contiguous in every operand are merged; the last varies fastest.
typedef struct igi_tensor_walk {
    uint32_t rank, operands;
    uint64_t count;  // elements in all
    uint64_t shape[IG_MAX_RANK];
    int64_t strides[IGI_MAX_OPERANDS][IG_MAX_RANK];  // in bytes
    char *data[IGI_MAX_OPERANDS];
} igi_tensor_walk;

// pre: the views have the same shape
igi_tensor_walk igi_tensor_walk_of(uint32_t operands, const igi_tensor_view *const *views);

// Called for `count` elements along the last dimension; strides in bytes.
typedef void (*igi_tensor_walk_body)(void *context, uint64_t count, char *const *data, const int64_t *strides);
// Visits the elements [begin, end) in C order, in as few calls as the strides allow.
void igi_tensor_walk_range(const igi_tensor_walk *walk, uint64_t begin, uint64_t end, igi_tensor_walk_body body,
                           void *context);
void igi_tensor_walk_all(const igi_tensor_walk *walk, igi_tensor_walk_body body, void *context);

// Copies elements of `size` bytes, 1, 2, 4 or 8, to memory that does not overlap, or is the same.
void igi_tensor_copy_elements(uint64_t size, uint64_t count, const char *from, int64_t from_stride, char *to,
                              int64_t to_stride);
// pre: same shape and type; no overlap
void igi_tensor_copy_view(const igi_tensor_view *from, const igi_tensor_view *to);
// Copies elements in C order, to and from contiguous host memory.
void igi_tensor_copy_to_memory(const igi_tensor_view *view, void *bytes);
void igi_tensor_copy_from_memory(const igi_tensor_view *view, const void *bytes);

#endif
