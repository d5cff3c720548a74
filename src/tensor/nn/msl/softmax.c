// SPDX-License-Identifier: Apache-2.0
// Masked softmax as a kernel.
#include "tensor/msl/msl.h"
#include "tensor/nn/nn.h"

typedef struct igi_tensor_msl_masked {
    uint32_t queries, keys;
    int32_t x_stride, mask_stride, out_stride;
    float scale;
    uint32_t query_position, window, causal;
} igi_tensor_msl_masked;

// Without the last dimension: where rows begin.
static igi_tensor_view starts_of(const igi_tensor_view *view) {
    igi_tensor_view starts = *view;
    starts.rank--;
    return starts;
}

ig_status igi_tensor_msl_masked_softmax(const igi_tensor_call *call) {
    const igi_tensor_view *x = &call->in[0], *out = &call->out[0];
    if (igi_tensor_view_count(out) == 0) return IG_STATUS_OK;
    uint32_t last = x->rank - 1;
    bool masked = call->in[1].storage != NULL;
    const igi_tensor_view *mask = masked ? &call->in[1] : x;
    igi_tensor_msl_masked m = {.queries = (uint32_t)x->shape[last - 1],
                               .keys = (uint32_t)x->shape[last],
                               .x_stride = (int32_t)x->strides[last],
                               .mask_stride = (int32_t)mask->strides[last],
                               .out_stride = (int32_t)out->strides[last],
                               .scale = (float)call->p.attend.scale,
                               .query_position = igi_tensor_msl_limited(call->p.attend.query_position),
                               .window = igi_tensor_msl_limited(call->p.attend.window),
                               .causal = call->p.attend.causal};
    igi_tensor_view starts[3] = {starts_of(out), starts_of(x), starts_of(mask)};
    igi_tensor_msl_layout rows;
    igi_tensor_msl_layout_of(3, (const igi_tensor_view *[]){&starts[0], &starts[1], &starts[2]}, &rows);
    const char *kind = !masked ? "plain" : mask->type == IG_TYPE_BOOL ? "kept" : "added";
    igi_tensor_msl_encoder e = igi_tensor_msl_begin(call, "masked-softmax", 0, "%s_%s", kind, ig_type_name(x->type));
    igi_tensor_msl_view(&e, x, 0);
    igi_tensor_msl_view(&e, mask, 1);
    igi_tensor_msl_view(&e, out, 2);
    igi_tensor_msl_bytes(&e, &m, sizeof m, 3);
    igi_tensor_msl_bytes(&e, &rows, sizeof rows, 4);
    igi_tensor_msl_groups(&e, (ig_size){igi_tensor_row_count(out), 1, 1}, (ig_size){32, 1, 1});
    return e.status;
}
