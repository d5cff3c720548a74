// SPDX-License-Identifier: Apache-2.0
// Rotary positions of the reference.
#include <math.h>

#include "tensor/nn/nn.h"
#include "tensor/scalar/scalar.h"

static double position_of(const igi_tensor_call *call, uint64_t batch, uint64_t token) {
    const igi_tensor_view *positions = &call->in[1];
    int64_t position = (int64_t)token;
    if (positions->storage)
        igi_tensor_load_integers(positions->type,
                                 igi_tensor_view_data(positions) +
                                     (int64_t)batch * igi_tensor_view_stride_bytes(positions, 0) +
                                     (int64_t)token * igi_tensor_view_stride_bytes(positions, 1),
                                 0, 1, &position);
    return (double)(int64_t)((uint64_t)position + call->p.rope.position);
}

static void turn_head(const igi_tensor_call *call, double position, const char *from, char *to) {
    const igi_tensor_view *x = &call->in[0], *out = &call->out[0];
    int64_t step = igi_tensor_view_stride_bytes(x, 3), out_step = igi_tensor_view_stride_bytes(out, 3);
    uint32_t dims = call->p.rope.dims, half = dims / 2;
    double value[2];
    for (uint32_t i = 0; i < half; i++) {
        bool pairs = call->p.rope.interleaved;
        int64_t first = pairs ? 2 * i : i, second = pairs ? first + 1 : first + half;
        double angle = position * igi_tensor_rope_frequency(&call->p, i), c = cos(angle), s = sin(angle);
        igi_tensor_load_doubles(x->type, from + first * step, 0, 1, &value[0]);
        igi_tensor_load_doubles(x->type, from + second * step, 0, 1, &value[1]);
        double turned[2] = {value[0] * c - value[1] * s, value[0] * s + value[1] * c};
        igi_tensor_store_doubles(out->type, to + first * out_step, 0, 1, &turned[0]);
        igi_tensor_store_doubles(out->type, to + second * out_step, 0, 1, &turned[1]);
    }
    for (int64_t i = dims; i < (int64_t)x->shape[3]; i++) {
        igi_tensor_load_doubles(x->type, from + i * step, 0, 1, value);
        igi_tensor_store_doubles(out->type, to + i * out_step, 0, 1, value);
    }
}

ig_status igi_scalar_rope(const igi_tensor_call *call) {
    const igi_tensor_view *x = &call->in[0], *out = &call->out[0];
    for (uint64_t b = 0; b < x->shape[0]; b++)
        for (uint64_t t = 0; t < x->shape[1]; t++)
            for (uint64_t h = 0; h < x->shape[2]; h++) {
                uint64_t row = (b * x->shape[1] + t) * x->shape[2] + h;
                turn_head(call, position_of(call, b, t), igi_tensor_view_data(x) + igi_tensor_row_offset(x, row),
                          igi_tensor_view_data(out) + igi_tensor_row_offset(out, row));
            }
    return IG_STATUS_OK;
}
