// SPDX-License-Identifier: Apache-2.0
// Lines along an axis.
#include "tensor/lines.h"

igi_tensor_lines igi_tensor_lines_of(uint32_t operands, const igi_tensor_view *const *views, uint32_t axis) {
    igi_tensor_lines lines = {.length = views[0]->shape[axis]};
    igi_tensor_view first[IGI_MAX_OPERANDS];
    const igi_tensor_view *starts[IGI_MAX_OPERANDS];
    for (uint32_t o = 0; o < operands; o++) {
        lines.strides[o] = igi_tensor_view_stride_bytes(views[o], axis);
        first[o] = *views[o];
        first[o].shape[axis] = 1;
        starts[o] = &first[o];
    }
    lines.starts = igi_tensor_walk_of(operands, starts);
    lines.count = lines.starts.count;
    return lines;
}

typedef struct visit {
    const igi_tensor_lines *lines;
    igi_tensor_line_body body;
    void *context;
} visit;

static void visit_row(void *user, uint64_t count, char *const *data, const int64_t *strides) {
    const visit *v = user;
    char *starts[IGI_MAX_OPERANDS];
    for (uint64_t i = 0; i < count; i++) {
        for (uint32_t o = 0; o < v->lines->starts.operands; o++) starts[o] = data[o] + (int64_t)i * strides[o];
        v->body(v->context, v->lines, starts);
    }
}

void igi_tensor_lines_visit(const igi_tensor_lines *lines, uint64_t begin, uint64_t end, igi_tensor_line_body body,
                            void *context) {
    visit v = {lines, body, context};
    igi_tensor_walk_range(&lines->starts, begin, end, visit_row, &v);
}
