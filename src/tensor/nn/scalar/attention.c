// SPDX-License-Identifier: Apache-2.0
// Attention of the reference: the scores of one query at a time.
#include <math.h>

#include "core/status-internal.h"
#include "tensor/nn/nn.h"
#include "tensor/scalar/scalar.h"

static const char *head_of(const igi_tensor_view *view, uint64_t batch, uint64_t at, uint64_t head) {
    return igi_tensor_view_data(view) + (int64_t)batch * igi_tensor_view_stride_bytes(view, 0) +
           (int64_t)at * igi_tensor_view_stride_bytes(view, 1) + (int64_t)head * igi_tensor_view_stride_bytes(view, 2);
}

static double element(const igi_tensor_view *view, const char *head, uint64_t i) {
    double value;
    igi_tensor_load_doubles(view->type, head + (int64_t)i * igi_tensor_view_stride_bytes(view, 3), 0, 1, &value);
    return value;
}

static double dot(const igi_tensor_view *q, const char *a, const igi_tensor_view *k, const char *b) {
    double sum = 0;
    for (uint64_t i = 0; i < q->shape[3]; i++) sum += element(q, a, i) * element(k, b, i);
    return sum;
}

// Turns scores into weights that sum to 1, or zeros.
static void scores_to_weights(igi_tensor_key_range seen, double *scores) {
    double most = -INFINITY, sum = 0;
    for (uint64_t j = seen.begin; j < seen.end && !isnan(most); j++)
        most = isnan(scores[j]) || scores[j] > most ? scores[j] : most;
    for (uint64_t j = seen.begin; j < seen.end; j++) sum += scores[j] = most == -INFINITY ? 0 : exp(scores[j] - most);
    for (uint64_t j = seen.begin; j < seen.end && sum != 0; j++) scores[j] /= sum;
}

static void do_query(const igi_tensor_call *call, uint64_t batch, uint64_t query, uint64_t head, double *scores) {
    const igi_tensor_view *q = &call->in[0], *k = &call->in[1], *v = &call->in[2], *out = &call->out[0];
    uint64_t key_head = head / (q->shape[2] / k->shape[2]);
    igi_tensor_key_range seen = igi_tensor_visible_keys(&call->p, query, call->p.attend.keys);
    for (uint64_t j = seen.begin; j < seen.end; j++)
        scores[j] = call->p.attend.scale * dot(q, head_of(q, batch, query, head), k,
                                               head_of(k, batch, igi_tensor_key_slot(call, j), key_head));
    scores_to_weights(seen, scores);
    char *to = (char *)head_of(out, batch, query, head);
    for (uint64_t i = 0; i < out->shape[3]; i++, to += igi_tensor_view_stride_bytes(out, 3)) {
        double sum = 0;
        for (uint64_t j = seen.begin; j < seen.end; j++)
            sum += scores[j] * element(v, head_of(v, batch, igi_tensor_key_slot(call, j), key_head), i);
        igi_tensor_store_doubles(out->type, to, 0, 1, &sum);
    }
}

ig_status igi_scalar_attention(const igi_tensor_call *call) {
    const igi_tensor_view *q = &call->in[0];
    if (igi_tensor_view_count(&call->out[0]) == 0) return IG_STATUS_OK;
    double *scores = igi_calloc(call->p.attend.keys, sizeof *scores);
    if (!scores) return igi_error_no_memory(call->error);
    for (uint64_t b = 0; b < q->shape[0]; b++)
        for (uint64_t i = 0; i < q->shape[1]; i++)
            for (uint64_t h = 0; h < q->shape[2]; h++) do_query(call, b, i, h, scores);
    free(scores);
    return IG_STATUS_OK;
}
