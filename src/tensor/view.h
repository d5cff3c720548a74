// SPDX-License-Identifier: Apache-2.0
// The operands of ops: a type, a shape, strides, and memory.
#ifndef INGOT_TENSOR_VIEW_H
#define INGOT_TENSOR_VIEW_H

#include <ingot/tensor.h>

#include "tensor/storage.h"
#include "tensor/types.h"

// A plain value; code that keeps one longer than a call must retain its storage.
typedef struct igi_tensor_view {
    igi_tensor_storage *storage;  // NULL: an optional operand that is absent
    uint64_t offset;              // of the first element, in bytes
    ig_type type;
    uint32_t rank;
    uint64_t shape[IG_MAX_RANK];
    int64_t strides[IG_MAX_RANK];  // in elements
} igi_tensor_view;

// The number of elements of a shape; false if it, times `size`, does not fit into 63 bits. Empty shapes always fit.
bool igi_tensor_shape_count(uint32_t rank, const uint64_t *shape, uint64_t size, uint64_t *count);
// A contiguous view of this shape; the caller sets its storage and offset.
igi_tensor_view igi_tensor_view_contiguous(ig_type type, uint32_t rank, const uint64_t *shape);
void igi_tensor_view_lay_out(igi_tensor_view *view, ig_type type, uint32_t rank,
                             const uint64_t *shape);  // the same, in place
bool igi_tensor_view_is_contiguous(const igi_tensor_view *view);
// Whether everything but the storage is the same.
bool igi_tensor_view_same_layout(const igi_tensor_view *a, const igi_tensor_view *b);
bool igi_tensor_same_shape(const igi_tensor_view *a, const igi_tensor_view *b);

static inline uint64_t igi_tensor_view_count(const igi_tensor_view *view) {
    uint64_t count = 1;
    for (uint32_t i = 0; i < view->rank; i++) count *= view->shape[i];
    return count;
}
static inline char *igi_tensor_view_data(const igi_tensor_view *view) {
    return view->storage->memory + view->offset;
}
static inline int64_t igi_tensor_view_stride_bytes(const igi_tensor_view *view, uint32_t axis) {
    return view->strides[axis] * (int64_t)ig_type_size(view->type);
}

// The dimensions of a view in another order. pre: `order` is a permutation.
igi_tensor_view igi_tensor_view_permuted(const igi_tensor_view *view, const uint32_t *order);
// The view with `axis` as its last dimension, the others in order.
igi_tensor_view igi_tensor_view_axis_last(const igi_tensor_view *view, uint32_t axis);
// The dimensions in `axes` (a bit mask), or the others; those left out have length 1.
igi_tensor_view igi_tensor_view_half(const igi_tensor_view *view, uint32_t axes, bool in_axes);
// Where the lines along the axis begin.
igi_tensor_view igi_tensor_view_starts(const igi_tensor_view *view, uint32_t axis);
// The first element of each matrix of a batch.
igi_tensor_view igi_tensor_view_first_of_each(const igi_tensor_view *view);
// Broadcasts to a shape. Returns false if it does not fit.
bool igi_tensor_view_broadcast(const igi_tensor_view *view, uint32_t rank, const uint64_t *shape,
                               igi_tensor_view *repeated);
// The common shape of two operands. Returns false if there is none or it has too many dimensions.
bool igi_tensor_broadcast_shapes(uint32_t rank_a, const uint64_t *a, uint32_t rank_b, const uint64_t *b, uint32_t *rank,
                                 uint64_t *shape);
// The same elements in C order, with another shape. Returns false if the strides do not allow it. pre: same number of
// elements
bool igi_tensor_view_reshaped(const igi_tensor_view *view, uint32_t rank, const uint64_t *shape,
                              igi_tensor_view *reshaped);
// Whether one may access bytes of the other.
bool igi_tensor_views_overlap(const igi_tensor_view *a, const igi_tensor_view *b);

// "[2, 3, 4]", for messages.
enum { IGI_SHAPE_TEXT = 192 };
const char *igi_tensor_shape_text(uint32_t rank, const uint64_t *shape, char text[IGI_SHAPE_TEXT]);

struct ig_tensor {
    igi_refcount references;
    bool contiguous;
    uint64_t count;
    igi_tensor_view view;
};

// owns: takes over the caller's reference to view->storage, also on failure. NULL when memory is short.
ig_tensor *igi_tensor_of(const igi_tensor_view *view);
// A new contiguous tensor with undefined contents. errors: OVERFLOW, OUT_OF_MEMORY.
ig_status igi_tensor_make(ig_device *device, ig_type type, uint32_t rank, const uint64_t *shape, ig_tensor **tensor);
// Converts an axis that may count from the end to one that counts from the start. Returns false if there is no such
// axis.
bool igi_tensor_axis(int32_t axis, uint32_t rank, uint32_t *index);

#endif
