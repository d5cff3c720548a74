// SPDX-License-Identifier: Apache-2.0
// Weights as kernels.
#include "tensor/msl/msl.h"
#include "tensor/nn/weight.h"

// Threads of a row and rows of a group; tokens that are processed together. As in weight-products.metal.
enum { WIDTH = 16, HEIGHT = 4, TOGETHER = 8 };

typedef struct igi_tensor_msl_weights {
    uint32_t tokens, rows, blocks, row_bytes;
    int32_t x_row, x_step, out_row, out_step;
} igi_tensor_msl_weights;

// Kernels read scales, and whole blocks of plain weights, as 16-bit halves.
bool igi_tensor_msl_accepts_weight(const igi_tensor_call *call) {
    const igi_tensor_view *weight = call->op == IG_OP_WEIGHT_MATMUL ? &call->in[1]
                                    : call->op == IG_OP_QUANTIZE    ? &call->out[0]
                                                                    : &call->in[0];
    const igi_tensor_view *x = call->op == IG_OP_DEQUANTIZE ? &call->out[0] : &call->in[0];
    bool aligned = weight->offset % 2 == 0 && weight->strides[0] % 2 == 0;
    bool whole = x->shape[1] % IGI_GROUP == 0 && x->shape[1] > 0;
    bool halves = igi_tensor_weight_is_plain(call->p.weight.type);
    return (aligned || halves) && whole && (!halves || x->type == IG_TYPE_F32) && igi_tensor_msl_accepts_all(call);
}

static const char *library_for(uint32_t type) {
    return igi_tensor_weight_formats[type].weights > IGI_GROUP ? "weights-k" : "weights";
}

static igi_tensor_msl_weights layout_of(const igi_tensor_view *x, const igi_tensor_view *weight,
                                        const igi_tensor_view *out, uint32_t type) {
    return (igi_tensor_msl_weights){
        .rows = (uint32_t)weight->shape[0],
        .row_bytes = (uint32_t)igi_tensor_view_stride_bytes(weight, 0),
        .tokens = (uint32_t)x->shape[0],
        .blocks =
            (uint32_t)(igi_tensor_weight_is_plain(type) ? weight->shape[1] / IGI_GROUP
                                                        : weight->shape[1] / igi_tensor_weight_formats[type].bytes),
        .x_row = (int32_t)x->strides[0],
        .x_step = (int32_t)x->strides[1],
        .out_row = (int32_t)out->strides[0],
        .out_step = (int32_t)out->strides[1]};
}

// One token goes through threadgroup memory on a GPU; small products do everywhere, so that all variants are tested.
static bool is_tiled(const igi_tensor_call *call, const igi_tensor_msl_weights *w) {
    return w->tokens == 1 && (!call->runtime->software_device || w->rows < 64);
}

ig_status igi_tensor_msl_weight_matmul(const igi_tensor_call *call) {
    const igi_tensor_view *x = &call->in[0], *weight = &call->in[1], *out = &call->out[0];
    if (igi_tensor_view_count(out) == 0) return IG_STATUS_OK;
    const char *name = igi_tensor_weight_formats[call->p.weight.type].name, *type = ig_type_name(x->type);
    igi_tensor_msl_weights w = layout_of(x, weight, out, call->p.weight.type);
    uint32_t together = w.tokens > 1 ? TOGETHER : 1, packed = w.x_step == 1;
    const char *library = library_for(call->p.weight.type);
    igi_tensor_msl_encoder e =
        is_tiled(call, &w) ? igi_tensor_msl_begin(call, library, packed, "tiled_%s_%s", name, type)
                           : igi_tensor_msl_begin(call, library, packed, "product_%u_%s_%s", together, name, type);
    igi_tensor_msl_view(&e, x, 0);
    igi_tensor_msl_view(&e, weight, 1);
    igi_tensor_msl_view(&e, out, 2);
    igi_tensor_msl_bytes(&e, &w, sizeof w, 3);
    igi_tensor_msl_groups(&e, (ig_size){(w.rows + HEIGHT - 1) / HEIGHT, (w.tokens + together - 1) / together, 1},
                          (ig_size){WIDTH, HEIGHT, 1});
    return e.status;
}

static igi_tensor_msl_encoder begin_conversion(const igi_tensor_call *call, const char *kind,
                                               const igi_tensor_msl_weights *w, ig_type type) {
    igi_tensor_msl_encoder e =
        igi_tensor_msl_begin(call, library_for(call->p.weight.type), 0, "%s_%s_%s", kind,
                             igi_tensor_weight_formats[call->p.weight.type].name, ig_type_name(type));
    igi_tensor_msl_view(&e, &call->in[0], 0);
    igi_tensor_msl_view(&e, &call->out[0], 1);
    igi_tensor_msl_bytes(&e, w, sizeof *w, 2);
    return e;
}

ig_status igi_tensor_msl_quantize(const igi_tensor_call *call) {
    const igi_tensor_view *x = &call->in[0], *out = &call->out[0];
    if (igi_tensor_view_count(out) == 0) return IG_STATUS_OK;
    igi_tensor_msl_weights w = layout_of(x, out, out, call->p.weight.type);
    igi_tensor_msl_encoder e = begin_conversion(call, "quantize", &w, x->type);
    if (igi_tensor_weight_formats[call->p.weight.type].weights > IGI_GROUP)
        igi_tensor_msl_threads(&e, (ig_size){w.blocks, w.rows, 1});
    else
        igi_tensor_msl_groups(&e, (ig_size){w.blocks, w.rows, 1}, (ig_size){IGI_GROUP, 1, 1});
    return e.status;
}

ig_status igi_tensor_msl_dequantize(const igi_tensor_call *call) {
    const igi_tensor_view *weight = &call->in[0], *out = &call->out[0];
    if (igi_tensor_view_count(out) == 0) return IG_STATUS_OK;
    igi_tensor_msl_weights w = layout_of(weight, weight, out, call->p.weight.type);
    igi_tensor_msl_encoder e = begin_conversion(call, "dequantize", &w, out->type);
    igi_tensor_msl_threads(&e, (ig_size){WIDTH, out->shape[1] / IGI_GROUP, w.rows});
    return e.status;
}
