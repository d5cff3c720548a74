// SPDX-License-Identifier: Apache-2.0
// Convolutions and pooling as kernels.
#include "tensor/msl/msl.h"

typedef struct window {
    int32_t x_strides[4], weight_strides[4], out_strides[4], bias_stride;
    uint32_t channels, inner, outputs;
    uint32_t length[2], size[2], stride[2], padding[2], dilation[2];
    uint32_t has_bias;
} window;

// Empty operands have no memory to bind.
bool igi_tensor_msl_accepts_convolve(const igi_tensor_call *call) {
    bool weighs = call->op == IG_OP_CONV;
    bool filled = igi_tensor_view_count(&call->in[0]) && (!weighs || igi_tensor_view_count(&call->in[1]));
    return igi_tensor_msl_accepts_all(call) && (filled || igi_tensor_view_count(&call->out[0]) == 0);
}

static window window_of(const igi_tensor_call *call) {
    const igi_tensor_view *x = &call->in[0], *out = &call->out[0];
    window w = {.channels = (uint32_t)out->shape[1]};
    igi_tensor_msl_strides(w.x_strides, x);
    igi_tensor_msl_strides(w.out_strides, out);
    for (int i = 0; i < 2; i++) {
        w.length[i] = (uint32_t)x->shape[2 + i];
        w.size[i] = (uint32_t)call->p.pool.window[i];
        w.stride[i] = (uint32_t)call->p.pool.stride[i];
        w.padding[i] = (uint32_t)call->p.pool.padding[i];
        w.dilation[i] = 1;
    }
    return w;
}

static window kernel_of(const igi_tensor_call *call) {
    const igi_tensor_view *weight = &call->in[1], *bias = &call->in[2];
    window w = window_of(call);
    igi_tensor_msl_strides(w.weight_strides, weight);
    w.inner = (uint32_t)weight->shape[1];
    w.outputs = (uint32_t)(weight->shape[0] / call->p.conv.groups);
    for (int i = 0; i < 2; i++) {
        w.size[i] = (uint32_t)weight->shape[2 + i];
        w.stride[i] = (uint32_t)call->p.conv.stride[i];
        w.padding[i] = (uint32_t)call->p.conv.padding[i];
        w.dilation[i] = (uint32_t)call->p.conv.dilation[i];
    }
    if (bias->storage) w.has_bias = 1, w.bias_stride = (int32_t)bias->strides[0];
    return w;
}

ig_status igi_tensor_msl_convolve(const igi_tensor_call *call) {
    const igi_tensor_view *out = &call->out[0];
    if (igi_tensor_view_count(out) == 0) return IG_STATUS_OK;
    bool weighs = call->op == IG_OP_CONV;
    window w = weighs ? kernel_of(call) : window_of(call);
    igi_tensor_msl_encoder e = igi_tensor_msl_begin(call, "convolve", out->strides[3] == 1, "%s_%s",
                                                    ig_op_name(call->op), ig_type_name(call->in[0].type));
    igi_tensor_msl_view(&e, &call->in[0], 0);
    if (weighs) igi_tensor_msl_view(&e, &call->in[1], 1);
    if (weighs) igi_tensor_msl_view(&e, w.has_bias ? &call->in[2] : &call->in[1], 2);
    igi_tensor_msl_view(&e, out, 3);
    igi_tensor_msl_bytes(&e, &w, sizeof w, 4);
    igi_tensor_msl_threads(&e, (ig_size){out->shape[3], out->shape[2], out->shape[0] * out->shape[1]});
    return e.status;
}
