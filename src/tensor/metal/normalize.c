// SPDX-License-Identifier: Apache-2.0
// Softmax and norms as kernels: a group for each line.
#include "tensor/lines.h"
#include "tensor/metal/metal.h"

typedef struct igi_metal_lines {
    uint32_t length;
    int32_t out_stride, in_stride, weight_stride, bias_stride;
    uint32_t has_weight, has_bias;
    float epsilon;
} igi_metal_lines;

static bool is_consecutive(const igi_metal_lines *l) {
    return l->out_stride == 1 && l->in_stride == 1 && (!l->has_weight || l->weight_stride == 1) &&
           (!l->has_bias || l->bias_stride == 1);
}

// Without the axis: where lines begin.
static igi_view starts_of(const igi_view *view, uint32_t axis) {
    igi_view starts = *view;
    starts.shape[axis] = 1;
    return starts;
}

static ig_status encode(const igi_call *call, igi_metal_lines *lines, uint32_t axis) {
    if (igi_view_count(&call->out[0]) == 0) return IG_STATUS_OK;
    igi_view out = starts_of(&call->out[0], axis), in = starts_of(&call->in[0], axis);
    igi_metal_layout starts;
    igi_metal_layout_of(2, (const igi_view *[]){&out, &in}, &starts);
    lines->length = (uint32_t)call->in[0].shape[axis];
    lines->out_stride = (int32_t)call->out[0].strides[axis];
    lines->in_stride = (int32_t)call->in[0].strides[axis];
    igi_metal_encoder e = igi_metal_begin(call, "normalize", 0, "%s_%s%s", ig_op_name(call->op),
                                          is_consecutive(lines) ? "" : "strided_", ig_type_name(call->in[0].type));
    igi_metal_view(&e, &call->in[0], 0);
    igi_metal_view(&e, &call->out[0], 1);
    igi_metal_bytes(&e, lines, sizeof *lines, 2);
    igi_metal_bytes(&e, &starts, sizeof starts, 3);
    if (call->op == IG_OP_LAYER_NORM || call->op == IG_OP_RMS_NORM) {
        igi_metal_view(&e, lines->has_weight ? &call->in[1] : &call->in[0], 4);
        igi_metal_view(&e, lines->has_bias ? &call->in[2] : &call->in[0], 5);
    }
    uint32_t threads = call->runtime->software_device || lines->length <= 128 ? 32 : 256;
    igi_metal_groups(&e, (ig_size){igi_view_count(&out), 1, 1}, (ig_size){threads, 1, 1});
    return e.status;
}

ig_status igi_metal_softmax(const igi_call *call) {
    return encode(call, &(igi_metal_lines){0}, call->p.along.axis);
}

ig_status igi_metal_norm(const igi_call *call) {
    const igi_view *weight = &call->in[1], *bias = &call->in[2];
    igi_metal_lines lines = {.epsilon = (float)call->p.norm.epsilon};
    if (weight->storage) lines.has_weight = 1, lines.weight_stride = (int32_t)weight->strides[0];
    if (call->op == IG_OP_LAYER_NORM && bias->storage)
        lines.has_bias = 1, lines.bias_stride = (int32_t)bias->strides[0];
    return encode(call, &lines, call->in[0].rank - 1);
}
