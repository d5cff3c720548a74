// SPDX-License-Identifier: Apache-2.0
// Shapes and strides.
#include "tensor/view.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

bool igi_tensor_shape_count(uint32_t rank, const uint64_t *shape, uint64_t size, uint64_t *count) {
    uint64_t elements = 1;
    bool fits = true;
    for (uint32_t i = 0; i < rank; i++) {
        if (shape[i] == 0) {
            *count = 0;
            return true;
        }
        fits = fits && igi_mul(elements, shape[i], &elements);
    }
    uint64_t bytes;
    if (!fits || !igi_mul(elements, size, &bytes) || bytes > INT64_MAX) return false;
    *count = elements;
    return true;
}

void igi_tensor_view_lay_out(igi_tensor_view *view, ig_type type, uint32_t rank, const uint64_t *shape) {
    int64_t stride = 1;
    view->storage = NULL, view->offset = 0;
    view->type = type, view->rank = rank;
    for (uint32_t i = IG_MAX_RANK; i-- > rank;) view->shape[i] = 0, view->strides[i] = 0;
    for (uint32_t i = rank; i-- > 0;) {
        view->shape[i] = shape[i];
        view->strides[i] = stride;
        // The other lengths of an empty tensor may be anything.
        if (__builtin_mul_overflow(stride, (int64_t)shape[i], &stride)) stride = 0;
    }
}

igi_tensor_view igi_tensor_view_contiguous(ig_type type, uint32_t rank, const uint64_t *shape) {
    igi_tensor_view view;
    igi_tensor_view_lay_out(&view, type, rank, shape);
    return view;
}

bool igi_tensor_view_is_contiguous(const igi_tensor_view *view) {
    int64_t stride = 1;
    for (uint32_t i = view->rank; i-- > 0;) {
        if (view->shape[i] == 0) return true;
        if (view->shape[i] != 1 && view->strides[i] != stride) return false;
        stride *= (int64_t)view->shape[i];
    }
    return true;
}

bool igi_tensor_same_shape(const igi_tensor_view *a, const igi_tensor_view *b) {
    return a->rank == b->rank && memcmp(a->shape, b->shape, a->rank * sizeof *a->shape) == 0;
}

bool igi_tensor_view_same_layout(const igi_tensor_view *a, const igi_tensor_view *b) {
    return a->type == b->type && a->offset == b->offset && igi_tensor_same_shape(a, b) &&
           memcmp(a->strides, b->strides, a->rank * sizeof *a->strides) == 0;
}

#ifndef NDEBUG
static bool is_permutation(uint32_t rank, const uint32_t *order) {
    uint32_t seen = 0;
    for (uint32_t i = 0; i < rank; i++) seen |= order[i] < rank ? 1u << order[i] : 0;
    return seen == (1u << rank) - 1;
}
#endif

igi_tensor_view igi_tensor_view_permuted(const igi_tensor_view *view, const uint32_t *order) {
    assert(is_permutation(view->rank, order));
    igi_tensor_view permuted = *view;
    for (uint32_t i = 0; i < view->rank; i++) {
        permuted.shape[i] = view->shape[order[i]];
        permuted.strides[i] = view->strides[order[i]];
    }
    return permuted;
}

igi_tensor_view igi_tensor_view_axis_last(const igi_tensor_view *view, uint32_t axis) {
    uint32_t order[IG_MAX_RANK], at = 0;
    for (uint32_t i = 0; i < view->rank; i++)
        if (i != axis) order[at++] = i;
    order[at] = axis;
    return igi_tensor_view_permuted(view, order);
}

igi_tensor_view igi_tensor_view_half(const igi_tensor_view *view, uint32_t axes, bool in_axes) {
    igi_tensor_view half = *view;
    for (uint32_t i = 0; i < view->rank; i++)
        if ((axes >> i & 1) != in_axes) half.shape[i] = 1;
    return half;
}

igi_tensor_view igi_tensor_view_starts(const igi_tensor_view *view, uint32_t axis) {
    assert(axis < view->rank);
    igi_tensor_view starts = *view;
    starts.shape[axis] = 1;
    return starts;
}

igi_tensor_view igi_tensor_view_first_of_each(const igi_tensor_view *view) {
    assert(view->rank >= 2);
    igi_tensor_view first = *view;
    first.shape[view->rank - 1] = first.shape[view->rank - 2] = 1;
    return first;
}

bool igi_tensor_view_broadcast(const igi_tensor_view *view, uint32_t rank, const uint64_t *shape,
                               igi_tensor_view *repeated) {
    if (view->rank > rank || rank > IG_MAX_RANK) return false;
    igi_tensor_view result = *view;
    result.rank = rank;
    uint32_t missing = rank - view->rank;
    for (uint32_t i = 0; i < rank; i++) {
        bool there = i >= missing;
        uint64_t length = there ? view->shape[i - missing] : 1;
        if (length != shape[i] && length != 1) return false;
        result.shape[i] = shape[i];
        result.strides[i] = length == shape[i] && there ? view->strides[i - missing] : 0;
    }
    *repeated = result;
    return true;
}

bool igi_tensor_broadcast_shapes(uint32_t rank_a, const uint64_t *a, uint32_t rank_b, const uint64_t *b, uint32_t *rank,
                                 uint64_t *shape) {
    uint32_t most = rank_a > rank_b ? rank_a : rank_b;
    if (most > IG_MAX_RANK) return false;
    for (uint32_t i = 0; i < most; i++) {  // from the last dimension to the first
        uint64_t in_a = i < rank_a ? a[rank_a - 1 - i] : 1, in_b = i < rank_b ? b[rank_b - 1 - i] : 1;
        if (in_a != in_b && in_a != 1 && in_b != 1) return false;
        shape[most - 1 - i] = in_a == 1 ? in_b : in_a;
    }
    *rank = most;
    return true;
}

// ---- Reshaping ----

// Drops dimensions of length 1, and merges those that are adjacent in memory.
static uint32_t merge_dimensions(const igi_tensor_view *view, uint64_t *shape, int64_t *strides) {
    uint32_t rank = 0;
    for (uint32_t i = 0; i < view->rank; i++) {
        if (view->shape[i] == 1) continue;
        if (rank && strides[rank - 1] == view->strides[i] * (int64_t)view->shape[i]) {
            shape[rank - 1] *= view->shape[i];
        } else {
            shape[rank++] = view->shape[i];
        }
        strides[rank - 1] = view->strides[i];
    }
    return rank;
}

// Splits the merged dimensions, from the last, into the wanted ones. Returns false if one would span two.
bool igi_tensor_view_reshaped(const igi_tensor_view *view, uint32_t rank, const uint64_t *shape,
                              igi_tensor_view *reshaped) {
    assert(rank <= IG_MAX_RANK);
    igi_tensor_view result = igi_tensor_view_contiguous(view->type, rank, shape);
    result.storage = view->storage;
    result.offset = view->offset;
    assert(igi_tensor_view_count(&result) == igi_tensor_view_count(view));
    uint64_t left[IG_MAX_RANK];
    int64_t strides[IG_MAX_RANK];
    uint32_t merged = igi_tensor_view_count(view) ? merge_dimensions(view, left, strides) : 0;
    for (uint32_t i = rank; i-- > 0 && merged;) {
        while (merged && left[merged - 1] == 1) merged--;
        if (shape[i] == 1) continue;
        if (!merged || left[merged - 1] % shape[i] != 0) return false;
        result.strides[i] = strides[merged - 1];
        strides[merged - 1] *= (int64_t)shape[i];
        left[merged - 1] /= shape[i];
    }
    *reshaped = result;
    return true;
}

// ---- Overlap ----

static void extent(const igi_tensor_view *view, int64_t *low, int64_t *high) {
    int64_t size = (int64_t)ig_type_size(view->type);
    *low = (int64_t)view->offset, *high = *low + size;
    for (uint32_t i = 0; i < view->rank; i++) {
        int64_t reach = view->shape[i] ? (int64_t)(view->shape[i] - 1) * view->strides[i] * size : 0;
        if (reach < 0)
            *low += reach;
        else
            *high += reach;
    }
}

bool igi_tensor_views_overlap(const igi_tensor_view *a, const igi_tensor_view *b) {
    if (!a->storage || a->storage != b->storage || !igi_tensor_view_count(a) || !igi_tensor_view_count(b)) return false;
    int64_t low_a, high_a, low_b, high_b;
    extent(a, &low_a, &high_a), extent(b, &low_b, &high_b);
    return low_a < high_b && low_b < high_a;
}

bool igi_tensor_axis(int32_t axis, uint32_t rank, uint32_t *index) {
    int64_t from_start = axis < 0 ? (int64_t)axis + rank : axis;
    if (from_start < 0 || from_start >= rank) return false;
    *index = (uint32_t)from_start;
    return true;
}

const char *igi_tensor_shape_text(uint32_t rank, const uint64_t *shape, char text[IGI_SHAPE_TEXT]) {
    size_t used = (size_t)snprintf(text, IGI_SHAPE_TEXT, "[");
    for (uint32_t i = 0; i < rank; i++)
        used +=
            (size_t)snprintf(text + used, IGI_SHAPE_TEXT - used, "%s%llu", i ? ", " : "", (unsigned long long)shape[i]);
    snprintf(text + used, IGI_SHAPE_TEXT - used, "]");
    return text;
}
