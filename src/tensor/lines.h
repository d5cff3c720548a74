// SPDX-License-Identifier: Apache-2.0
// Lines: the elements along one axis, for every position of the others.
#ifndef INGOT_TENSOR_LINES_H
#define INGOT_TENSOR_LINES_H

#include "tensor/iterate.h"

typedef struct igi_tensor_lines {
    uint64_t count;                     // of lines
    uint64_t length;                    // of a line of the first operand
    int64_t strides[IGI_MAX_OPERANDS];  // between elements of a line, in bytes
    igi_tensor_walk starts;             // first elements of the lines
} igi_tensor_lines;

// Views of one shape, except for the length of the axis.
igi_tensor_lines igi_tensor_lines_of(uint32_t operands, const igi_tensor_view *const *views, uint32_t axis);

typedef void (*igi_tensor_line_body)(void *context, const igi_tensor_lines *lines, char *const *starts);
// The lines [begin, end).
void igi_tensor_lines_visit(const igi_tensor_lines *lines, uint64_t begin, uint64_t end, igi_tensor_line_body body,
                            void *context);

#endif
