// SPDX-License-Identifier: Apache-2.0
// Views of tensors.
#include <string.h>

#include "core/status-internal.h"
#include "tensor/view.h"

static ig_status share(const igi_tensor_view *view, ig_tensor **tensor) {
    igi_tensor_storage_retain(view->storage);
    ig_tensor *made = igi_tensor_of(view);
    if (!made) return igi_fail_no_memory();
    *tensor = made;
    return IG_STATUS_OK;
}

static ig_status check_not_null(const char *call, const ig_tensor *tensor, ig_tensor **view) {
    if (tensor && view) return IG_STATUS_OK;
    return igi_fail(IG_STATUS_INVALID_ARGUMENT, "%s: tensor and view must not be NULL", call);
}

// Converts an axis that may count from the end to one that counts from the start. `rank` is that of the tensor or of
// the view.
static ig_status check_axis(const char *call, const ig_tensor *tensor, ig_tensor **view, int32_t axis, uint32_t more,
                            uint32_t *at) {
    ig_status status = check_not_null(call, tensor, view);
    if (status != IG_STATUS_OK || igi_tensor_axis(axis, tensor->view.rank + more, at)) return status;
    return igi_fail(IG_STATUS_INVALID_ARGUMENT, "%s: there is no axis %d in a tensor of rank %u", call, axis,
                    tensor->view.rank + more);
}

static ig_status check_shape(const char *call, const ig_tensor *tensor, ig_tensor **view, uint32_t rank,
                             const uint64_t *shape) {
    ig_status status = check_not_null(call, tensor, view);
    if (status != IG_STATUS_OK) return status;
    if (rank > IG_MAX_RANK)
        return igi_fail(IG_STATUS_INVALID_ARGUMENT, "%s: rank %u is more than %d", call, rank, IG_MAX_RANK);
    return rank && !shape ? igi_fail(IG_STATUS_INVALID_ARGUMENT, "%s: the shape is NULL", call) : IG_STATUS_OK;
}

// "reshape: [2, 3] cannot become [4, 2]: why".
static ig_status refuse(const char *call, ig_status status, const ig_tensor *tensor, uint32_t rank,
                        const uint64_t *shape, const char *why) {
    char from[IGI_SHAPE_TEXT], to[IGI_SHAPE_TEXT];
    return igi_fail(status, "%s: %s cannot become %s: %s", call,
                    igi_tensor_shape_text(tensor->view.rank, tensor->view.shape, from),
                    igi_tensor_shape_text(rank, shape, to), why);
}

// ---- Shapes ----

// Replaces IG_INFER. Returns false if there are two, or the number of elements cannot match.
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
    igi_tensor_view reshaped;
    ig_status status = check_shape("reshape", tensor, view, rank, shape);
    if (status != IG_STATUS_OK) return status;
    if (!complete_shape(tensor->count, rank, shape, complete))
        return refuse("reshape", IG_STATUS_INVALID_ARGUMENT, tensor, rank, shape, "the number of elements differs");
    if (!igi_tensor_view_reshaped(&tensor->view, rank, complete, &reshaped))
        return refuse("reshape", IG_STATUS_UNSUPPORTED, tensor, rank, shape,
                      "its strides allow no such view; copy it first");
    return share(&reshaped, view);
}

ig_status ig_tensor_broadcast(const ig_tensor *tensor, uint32_t rank, const uint64_t *shape, ig_tensor **view) {
    igi_tensor_view repeated;
    uint64_t count;
    ig_status status = check_shape("broadcast", tensor, view, rank, shape);
    if (status != IG_STATUS_OK) return status;
    if (!igi_tensor_view_broadcast(&tensor->view, rank, shape, &repeated))
        return refuse("broadcast", IG_STATUS_INVALID_ARGUMENT, tensor, rank, shape,
                      "only dimensions of length 1, and new leading ones, can be broadcast");
    if (!igi_tensor_shape_count(rank, shape, 1, &count))
        return refuse("broadcast", IG_STATUS_OVERFLOW, tensor, rank, shape, "there would be too many elements");
    return share(&repeated, view);
}

ig_status ig_tensor_unsqueeze(const ig_tensor *tensor, int32_t axis, ig_tensor **view) {
    uint32_t at;
    ig_status status = check_axis("unsqueeze", tensor, view, axis, 1, &at);
    if (status != IG_STATUS_OK) return status;
    if (tensor->view.rank == IG_MAX_RANK)
        return igi_fail(IG_STATUS_INVALID_ARGUMENT, "unsqueeze: the tensor has %d dimensions already", IG_MAX_RANK);
    igi_tensor_view wider = tensor->view;
    uint32_t following = wider.rank++ - at;
    memmove(&wider.shape[at + 1], &wider.shape[at], following * sizeof *wider.shape);
    memmove(&wider.strides[at + 1], &wider.strides[at], following * sizeof *wider.strides);
    wider.shape[at] = 1;
    wider.strides[at] = 0;
    return share(&wider, view);
}

static igi_tensor_view without_axis(const igi_tensor_view *view, uint32_t axis) {
    igi_tensor_view narrower = *view;
    uint32_t following = --narrower.rank - axis;
    memmove(&narrower.shape[axis], &narrower.shape[axis + 1], following * sizeof *narrower.shape);
    memmove(&narrower.strides[axis], &narrower.strides[axis + 1], following * sizeof *narrower.strides);
    return narrower;
}

ig_status ig_tensor_squeeze(const ig_tensor *tensor, int32_t axis, ig_tensor **view) {
    uint32_t at;
    ig_status status = check_axis("squeeze", tensor, view, axis, 0, &at);
    if (status != IG_STATUS_OK) return status;
    if (tensor->view.shape[at] != 1)
        return igi_fail(IG_STATUS_INVALID_ARGUMENT, "squeeze: axis %d has length %llu, not 1", axis,
                        (unsigned long long)tensor->view.shape[at]);
    igi_tensor_view narrower = without_axis(&tensor->view, at);
    return share(&narrower, view);
}

// ---- Order ----

ig_status ig_tensor_permute(const ig_tensor *tensor, const int32_t *axes, ig_tensor **view) {
    ig_status status = check_not_null("permute", tensor, view);
    if (status != IG_STATUS_OK) return status;
    if (tensor->view.rank && !axes) return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "permute: the axes are NULL");
    uint32_t order[IG_MAX_RANK], seen = 0;
    for (uint32_t i = 0; i < tensor->view.rank; i++) {
        status = check_axis("permute", tensor, view, axes[i], 0, &order[i]);
        if (status != IG_STATUS_OK) return status;
        if (seen >> order[i] & 1)
            return igi_fail(IG_STATUS_INVALID_ARGUMENT, "permute: axis %d is given twice", axes[i]);
        seen |= 1u << order[i];
    }
    igi_tensor_view permuted = igi_tensor_view_permuted(&tensor->view, order);
    return share(&permuted, view);
}

ig_status ig_tensor_transpose(const ig_tensor *tensor, int32_t axis, int32_t other_axis, ig_tensor **view) {
    uint32_t a, b, order[IG_MAX_RANK];
    ig_status status = check_axis("transpose", tensor, view, axis, 0, &a);
    if (status == IG_STATUS_OK) status = check_axis("transpose", tensor, view, other_axis, 0, &b);
    if (status != IG_STATUS_OK) return status;
    for (uint32_t i = 0; i < tensor->view.rank; i++) order[i] = i;
    order[a] = b, order[b] = a;
    igi_tensor_view permuted = igi_tensor_view_permuted(&tensor->view, order);
    return share(&permuted, view);
}

// ---- Parts ----

// Python's slice.indices: clips a position for a walk in this direction.
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
    ig_status status = check_axis("slice", tensor, view, axis, 0, &at);
    if (status != IG_STATUS_OK) return status;
    igi_tensor_view part = tensor->view;
    int64_t length = (int64_t)part.shape[at];
    if (step == 0) step = 1;
    bool from_first = start == IG_WHOLE_AXIS, to_last = stop == IG_TO_END;
    int64_t first = from_first ? (step < 0 ? length - 1 : 0) : clip(start, length, step);
    int64_t end = to_last ? (step < 0 ? -1 : length) : clip(stop, length, step);
    part.shape[at] = steps_between(first, end, step);
    if (part.shape[at]) part.offset += (uint64_t)(first * igi_tensor_view_stride_bytes(&part, at));
    // With one element or none the stride does not matter, and a huge step must not overflow it.
    part.strides[at] = part.shape[at] > 1 ? part.strides[at] * step : part.strides[at];
    return share(&part, view);
}

ig_status ig_tensor_select(const ig_tensor *tensor, int32_t axis, int64_t index, ig_tensor **view) {
    uint32_t at;
    ig_status status = check_axis("select", tensor, view, axis, 0, &at);
    if (status != IG_STATUS_OK) return status;
    int64_t length = (int64_t)tensor->view.shape[at];
    if (index < -length || index >= length)
        return igi_fail(IG_STATUS_OUT_OF_RANGE, "select: index %lld is outside axis %d of length %lld",
                        (long long)index, axis, (long long)length);
    igi_tensor_view part = without_axis(&tensor->view, at);
    if (index < 0) index += length;
    part.offset += (uint64_t)(index * igi_tensor_view_stride_bytes(&tensor->view, at));
    return share(&part, view);
}
