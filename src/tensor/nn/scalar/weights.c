// SPDX-License-Identifier: Apache-2.0
// Weights of the reference: dequantising, and products.
#include "core/status-internal.h"
#include "tensor/nn/weight.h"
#include "tensor/scalar/scalar.h"

static void load_row(uint32_t type, const char *row, uint64_t count, double *values) {
    if (igi_tensor_weight_is_plain(type)) {
        igi_tensor_load_doubles(igi_tensor_weight_formats[type].element, row, igi_tensor_weight_formats[type].bytes,
                                count, values);
        return;
    }
    for (uint64_t g = 0; g < count / IGI_GROUP; g++) {
        igi_tensor_weight_group group;
        igi_tensor_unpack_group(type, (const uint8_t *)row, g, &group);
        for (int i = 0; i < IGI_GROUP; i++)
            values[g * IGI_GROUP + (uint64_t)i] = group.scales[i / 16] * group.numbers[i] + group.offsets[i / 16];
    }
}

ig_status igi_scalar_dequantize(const igi_tensor_call *call) {
    const igi_tensor_view *weight = &call->in[0], *out = &call->out[0];
    double *values = igi_calloc(out->shape[1] + 1, sizeof *values);
    if (!values) return igi_error_no_memory(call->error);
    for (uint64_t row = 0; row < out->shape[0]; row++) {
        load_row(call->p.weight.type, igi_tensor_weight_row(weight, row), out->shape[1], values);
        igi_tensor_store_doubles(out->type, igi_tensor_weight_row(out, row), igi_tensor_view_stride_bytes(out, 1),
                                 out->shape[1], values);
    }
    free(values);
    return IG_STATUS_OK;
}

ig_status igi_scalar_weight_matmul(const igi_tensor_call *call) {
    const igi_tensor_view *x = &call->in[0], *weight = &call->in[1], *out = &call->out[0];
    uint64_t columns = x->shape[1];
    double *values = igi_calloc(2 * columns + 1, sizeof *values);
    if (!values) return igi_error_no_memory(call->error);
    double *weights = values + columns;
    for (uint64_t row = 0; row < out->shape[1]; row++) {
        load_row(call->p.weight.type, igi_tensor_weight_row(weight, row), columns, weights);
        for (uint64_t t = 0; t < out->shape[0]; t++) {
            igi_tensor_load_doubles(x->type, igi_tensor_weight_row(x, t), igi_tensor_view_stride_bytes(x, 1), columns,
                                    values);
            double sum = 0;
            for (uint64_t i = 0; i < columns; i++) sum += values[i] * weights[i];
            igi_tensor_store_doubles(
                out->type, igi_tensor_weight_row(out, t) + (int64_t)row * igi_tensor_view_stride_bytes(out, 1), 0, 1,
                &sum);
        }
    }
    free(values);
    return IG_STATUS_OK;
}
