// SPDX-License-Identifier: Apache-2.0
// Softmax, cumulative sums and norms as kernels: a threadgroup for each line.
#include "tensor/lines.h"
#include "tensor/msl/msl.h"

typedef struct igi_tensor_msl_lines {
    uint32_t length;
    int32_t out_stride, in_stride, weight_stride, bias_stride;
    uint32_t has_weight, has_bias;
    float epsilon;
} igi_tensor_msl_lines;

static bool is_consecutive(const igi_tensor_msl_lines *l) {
    return l->out_stride == 1 && l->in_stride == 1 && (!l->has_weight || l->weight_stride == 1) &&
           (!l->has_bias || l->bias_stride == 1);
}

// Whether neighbouring elements belong to different lines, and there are enough of them to keep the device busy.
static bool goes_by_columns(const igi_tensor_call *call, const igi_tensor_msl_lines *lines,
                            const igi_tensor_msl_layout *starts) {
    bool softmax = call->op == IG_OP_SOFTMAX || call->op == IG_OP_LOG_SOFTMAX;
    uint32_t last = starts->rank - 1;
    return softmax && !is_consecutive(lines) && starts->strides[1][last] == 1 && starts->shape[last] >= 32;
}

static ig_status encode(const igi_tensor_call *call, igi_tensor_msl_lines *lines, uint32_t axis) {
    if (igi_tensor_view_count(&call->out[0]) == 0) return IG_STATUS_OK;
    igi_tensor_view out = igi_tensor_view_starts(&call->out[0], axis), in = igi_tensor_view_starts(&call->in[0], axis);
    igi_tensor_msl_layout starts;
    igi_tensor_msl_layout_of(2, (const igi_tensor_view *[]){&out, &in}, &starts);
    lines->length = (uint32_t)call->in[0].shape[axis];
    lines->out_stride = (int32_t)call->out[0].strides[axis];
    lines->in_stride = (int32_t)call->in[0].strides[axis];
    bool columns = goes_by_columns(call, lines, &starts);
    uint32_t consecutive = columns ? 2 | (starts.strides[0][starts.rank - 1] == 1) : 0;
    const char *kind = columns ? "columns_" : is_consecutive(lines) ? "" : "strided_";
    igi_tensor_msl_encoder e = igi_tensor_msl_begin(call, "normalize", consecutive, "%s_%s%s", ig_op_name(call->op),
                                                    kind, igi_tensor_msl_bits_name(call->in[0].type));
    igi_tensor_msl_view(&e, &call->in[0], 0);
    igi_tensor_msl_view(&e, &call->out[0], 1);
    igi_tensor_msl_bytes(&e, lines, sizeof *lines, 2);
    igi_tensor_msl_bytes(&e, &starts, sizeof starts, 3);
    if (call->op == IG_OP_LAYER_NORM || call->op == IG_OP_RMS_NORM) {
        igi_tensor_msl_view(&e, lines->has_weight ? &call->in[1] : &call->in[0], 4);
        igi_tensor_msl_view(&e, lines->has_bias ? &call->in[2] : &call->in[0], 5);
    }
    bool narrow = call->runtime->software_device || lines->length <= 128 || call->op == IG_OP_CUMSUM;
    uint64_t count = igi_tensor_view_count(&out), inner = starts.shape[starts.rank - 1];
    if (columns)
        igi_tensor_msl_threads(&e, (ig_size){inner, count / inner, 1});
    else
        igi_tensor_msl_groups(&e, (ig_size){count, 1, 1}, (ig_size){narrow ? 32 : 256, 1, 1});
    return e.status;
}

// Softmax and cumulative sums.
ig_status igi_tensor_msl_along(const igi_tensor_call *call) {
    return encode(call, &(igi_tensor_msl_lines){0}, call->p.along.axis);
}

ig_status igi_tensor_msl_norm(const igi_tensor_call *call) {
    const igi_tensor_view *weight = &call->in[1], *bias = &call->in[2];
    igi_tensor_msl_lines lines = {.epsilon = (float)call->p.norm.epsilon};
    if (weight->storage) lines.has_weight = 1, lines.weight_stride = (int32_t)weight->strides[0];
    if (call->op == IG_OP_LAYER_NORM && bias->storage)
        lines.has_bias = 1, lines.bias_stride = (int32_t)bias->strides[0];
    return encode(call, &lines, call->in[0].rank - 1);
}
