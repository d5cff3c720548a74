// SPDX-License-Identifier: Apache-2.0
// Elementwise ops of integers as kernels.
#include <math.h>

#include "tensor/msl/msl.h"
#include "tensor/scalar/expressions.h"

const char *igi_tensor_msl_bits_name(ig_type type) {
    return ig_type_name(type == IG_TYPE_BOOL ? IG_TYPE_U8 : type);
}

ig_status igi_tensor_msl_integers(const igi_tensor_call *call) {
    const igi_tensor_view *out = &call->out[0];
    uint64_t count = igi_tensor_view_count(out);
    uint32_t operands = call->input_count + 1;
    igi_tensor_msl_layout layout;
    igi_tensor_msl_layout_of(operands, (const igi_tensor_view *[]){out, &call->in[0], &call->in[1]}, &layout);
    igi_tensor_msl_encoder e =
        igi_tensor_msl_begin(call, "integers", igi_tensor_msl_consecutive(&layout, operands), "%s_%s",
                             ig_op_name(call->op), igi_tensor_msl_bits_name(call->in[0].type));
    for (uint32_t i = 0; i < call->input_count; i++) igi_tensor_msl_view(&e, &call->in[i], i);
    igi_tensor_msl_view(&e, out, call->input_count);
    if (call->input_count == 1) {
        bool given = igi_ops[call->op]->has_parameters;
        double low = given ? call->p.elementwise.low : 0, high = given ? call->p.elementwise.high : 0;
        int64_t bounds[2] = {igi_tensor_int_bound(ceil(low)), igi_tensor_int_bound(floor(high))};
        igi_tensor_msl_bytes(&e, bounds, sizeof bounds, 2);
    }
    igi_tensor_msl_bytes(&e, &layout, sizeof layout, 3);
    uint64_t inner = layout.shape[layout.rank - 1];
    igi_tensor_msl_threads(&e, (ig_size){inner, count / inner, 1});
    return e.status;
}
