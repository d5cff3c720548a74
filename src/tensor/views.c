// SPDX-License-Identifier: Apache-2.0
// Views of tensors.
#include <string.h>

#include "tensor/view.h"

static ig_status share(const igi_view *view, ig_tensor **tensor) {
    igi_storage_retain(view->storage);
    ig_tensor *made = igi_tensor_of(view);
    if (!made) return IG_STATUS_OUT_OF_MEMORY;
    *tensor = made;
    return IG_STATUS_OK;
}

// ---- Shapes ----

// Replaces IG_INFER. False when there are two, or the counts cannot agree.
static bool complete_shape(uint64_t count, uint32_t rank, const uint64_t *wanted, uint64_t *shape) {
    uint64_t known = 1;
    uint32_t inferred = rank;
    for (uint32_t i = 0; i < rank; i++) {
        shape[i] = wanted[i];
        if (wanted[i] != IG_INFER) {
            if (!igi_mul(known, wanted[i], &known)) return false;
        } else if (inferred == rank) {
            inferred = i;
        } else {
            return false;
        }
    }
    if (inferred == rank) return known == count;
    if (known == 0 || count % known != 0) return false;
    shape[inferred] = count / known;
    return true;
}

ig_status ig_tensor_reshape(const ig_tensor *tensor, uint32_t rank, const uint64_t *shape, ig_tensor **view) {
    uint64_t complete[IG_MAX_RANK];
    igi_view reshaped;
    if (!tensor || !view || rank > IG_MAX_RANK || (rank && !shape)) return IG_STATUS_INVALID_ARGUMENT;
    if (!complete_shape(tensor->count, rank, shape, complete)) return IG_STATUS_INVALID_ARGUMENT;
    if (!igi_view_reshaped(&tensor->view, rank, complete, &reshaped)) return IG_STATUS_UNSUPPORTED;
    return share(&reshaped, view);
}

ig_status ig_tensor_broadcast(const ig_tensor *tensor, uint32_t rank, const uint64_t *shape, ig_tensor **view) {
    igi_view repeated;
    uint64_t count;
    if (!tensor || !view || rank > IG_MAX_RANK || (rank && !shape)) return IG_STATUS_INVALID_ARGUMENT;
    if (!igi_view_broadcast(&tensor->view, rank, shape, &repeated)) return IG_STATUS_INVALID_ARGUMENT;
    if (!igi_shape_count(rank, shape, 1, &count)) return IG_STATUS_OVERFLOW;
    return share(&repeated, view);
}

ig_status ig_tensor_unsqueeze(const ig_tensor *tensor, int32_t axis, ig_tensor **view) {
    uint32_t at;
    if (!tensor || !view || tensor->view.rank == IG_MAX_RANK || !igi_axis(axis, tensor->view.rank + 1, &at))
        return IG_STATUS_INVALID_ARGUMENT;
    igi_view wider = tensor->view;
    uint32_t behind = wider.rank++ - at;
    memmove(&wider.shape[at + 1], &wider.shape[at], behind * sizeof *wider.shape);
    memmove(&wider.strides[at + 1], &wider.strides[at], behind * sizeof *wider.strides);
    wider.shape[at] = 1;
    wider.strides[at] = 0;
    return share(&wider, view);
}

static igi_view without_axis(const igi_view *view, uint32_t axis) {
    igi_view narrower = *view;
    uint32_t behind = --narrower.rank - axis;
    memmove(&narrower.shape[axis], &narrower.shape[axis + 1], behind * sizeof *narrower.shape);
    memmove(&narrower.strides[axis], &narrower.strides[axis + 1], behind * sizeof *narrower.strides);
    return narrower;
}

ig_status ig_tensor_squeeze(const ig_tensor *tensor, int32_t axis, ig_tensor **view) {
    uint32_t at;
    if (!tensor || !view || !igi_axis(axis, tensor->view.rank, &at) || tensor->view.shape[at] != 1)
        return IG_STATUS_INVALID_ARGUMENT;
    igi_view narrower = without_axis(&tensor->view, at);
    return share(&narrower, view);
}

// ---- Order ----

ig_status ig_tensor_permute(const ig_tensor *tensor, const int32_t *axes, ig_tensor **view) {
    if (!tensor || !view || (tensor->view.rank && !axes)) return IG_STATUS_INVALID_ARGUMENT;
    uint32_t order[IG_MAX_RANK], seen = 0;
    for (uint32_t i = 0; i < tensor->view.rank; i++) {
        if (!igi_axis(axes[i], tensor->view.rank, &order[i]) || seen >> order[i] & 1) return IG_STATUS_INVALID_ARGUMENT;
        seen |= 1u << order[i];
    }
    igi_view permuted = igi_view_permuted(&tensor->view, order);
    return share(&permuted, view);
}

ig_status ig_tensor_transpose(const ig_tensor *tensor, int32_t axis, int32_t other_axis, ig_tensor **view) {
    uint32_t a, b, order[IG_MAX_RANK];
    if (!tensor || !view || !igi_axis(axis, tensor->view.rank, &a) || !igi_axis(other_axis, tensor->view.rank, &b))
        return IG_STATUS_INVALID_ARGUMENT;
    for (uint32_t i = 0; i < tensor->view.rank; i++) order[i] = i;
    order[a] = b, order[b] = a;
    igi_view permuted = igi_view_permuted(&tensor->view, order);
    return share(&permuted, view);
}

// ---- Parts ----

// Python's slice.indices: where a position lies for a walk in this direction.
static int64_t clip(int64_t position, int64_t length, int64_t step) {
    if (position < 0 && position >= -length)
        position += length;
    else if (position < 0)
        position = step < 0 ? -1 : 0;
    int64_t last = step < 0 ? length - 1 : length;
    return position > last ? last : position;
}

static uint64_t steps_between(int64_t start, int64_t stop, int64_t step) {
    if (step > 0) return stop > start ? ((uint64_t)(stop - start) - 1) / (uint64_t)step + 1 : 0;
    uint64_t size = -(uint64_t)step;
    return start > stop ? ((uint64_t)(start - stop) - 1) / size + 1 : 0;
}

ig_status ig_tensor_slice(const ig_tensor *tensor, int32_t axis, int64_t start, int64_t stop, int64_t step,
                          ig_tensor **view) {
    uint32_t at;
    if (!tensor || !view || !igi_axis(axis, tensor->view.rank, &at)) return IG_STATUS_INVALID_ARGUMENT;
    igi_view part = tensor->view;
    int64_t length = (int64_t)part.shape[at];
    if (step == 0) step = 1;
    bool from_first = start == IG_WHOLE_AXIS, to_last = stop == IG_TO_END;
    int64_t first = from_first ? (step < 0 ? length - 1 : 0) : clip(start, length, step);
    int64_t end = to_last ? (step < 0 ? -1 : length) : clip(stop, length, step);
    part.shape[at] = steps_between(first, end, step);
    if (part.shape[at]) part.offset += (uint64_t)(first * igi_view_stride_bytes(&part, at));
    // With one element or none the stride does not matter, and a huge step must not overflow it.
    part.strides[at] = part.shape[at] > 1 ? part.strides[at] * step : part.strides[at];
    return share(&part, view);
}

ig_status ig_tensor_select(const ig_tensor *tensor, int32_t axis, int64_t index, ig_tensor **view) {
    uint32_t at;
    if (!tensor || !view || !igi_axis(axis, tensor->view.rank, &at)) return IG_STATUS_INVALID_ARGUMENT;
    int64_t length = (int64_t)tensor->view.shape[at];
    if (index < -length || index >= length) return IG_STATUS_OUT_OF_RANGE;
    igi_view part = without_axis(&tensor->view, at);
    if (index < 0) index += length;
    part.offset += (uint64_t)(index * igi_view_stride_bytes(&tensor->view, at));
    return share(&part, view);
}
