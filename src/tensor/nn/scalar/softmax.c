// SPDX-License-Identifier: Apache-2.0
// Masked softmax of the reference.
#include <math.h>

#include "tensor/nn/nn.h"
#include "tensor/scalar/scalar.h"

static double get(const igi_tensor_view *view, int64_t row, uint64_t i) {
    double value;
    igi_tensor_load_doubles(
        view->type, igi_tensor_view_data(view) + row + (int64_t)i * igi_tensor_view_stride_bytes(view, view->rank - 1),
        0, 1, &value);
    return value;
}

static double score(const igi_tensor_call *call, uint64_t row, uint64_t i) {
    const igi_tensor_view *x = &call->in[0], *mask = &call->in[1];
    double value = call->p.attend.scale * get(x, igi_tensor_row_offset(x, row), i);
    if (!mask->storage) return value;
    double with = get(mask, igi_tensor_row_offset(mask, row), i);
    return mask->type == IG_TYPE_BOOL ? with != 0 ? value : -INFINITY : value + with;
}

static void do_row(const igi_tensor_call *call, uint64_t row) {
    const igi_tensor_view *out = &call->out[0];
    uint64_t queries = out->shape[out->rank - 2], keys = out->shape[out->rank - 1];
    igi_tensor_key_range seen = igi_tensor_visible_keys(&call->p, row % queries, keys);
    double most = -INFINITY, sum = 0;
    for (uint64_t i = seen.begin; i < seen.end && !isnan(most); i++) {
        double x = score(call, row, i);
        most = isnan(x) || x > most ? x : most;
    }
    for (uint64_t i = seen.begin; i < seen.end; i++) sum += exp(score(call, row, i) - most);
    char *to = igi_tensor_view_data(out) + igi_tensor_row_offset(out, row);
    for (uint64_t i = 0; i < keys; i++, to += igi_tensor_view_stride_bytes(out, out->rank - 1)) {
        bool counts = i >= seen.begin && i < seen.end && most != -INFINITY;
        double value = counts ? exp(score(call, row, i) - most) / sum : 0;
        igi_tensor_store_doubles(out->type, to, 0, 1, &value);
    }
}

ig_status igi_scalar_masked_softmax(const igi_tensor_call *call) {
    if (igi_tensor_view_count(&call->out[0]) == 0) return IG_STATUS_OK;
    uint64_t rows = igi_tensor_row_count(&call->out[0]);
    for (uint64_t row = 0; row < rows; row++) do_row(call, row);
    return IG_STATUS_OK;
}
