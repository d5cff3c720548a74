// SPDX-License-Identifier: Apache-2.0
// Public elementwise ops.
#include <ingot/ops.h>

#include "tensor/front.h"

#define DEFINE_UNARY(id, name, type)                                                                                   \
    ig_status ig_tensor_##name(ig_stream *stream, const ig_tensor *x, const ig_op_options *options, ig_tensor **out) { \
        return igi_front_elementwise(stream, IG_OP_##id, &x, NULL, options, out);                                      \
    }
IG_UNARY_LIST(DEFINE_UNARY)

#define DEFINE_BINARY(id, name, type)                                                                      \
    ig_status ig_tensor_##name(ig_stream *stream, const ig_tensor *a, const ig_tensor *b,                  \
                               const ig_op_options *options, ig_tensor **out) {                            \
        return igi_front_elementwise(stream, IG_OP_##id, (const ig_tensor *[]){a, b}, NULL, options, out); \
    }
IG_BINARY_LIST(DEFINE_BINARY)

ig_status ig_tensor_leaky_relu(ig_stream *stream, const ig_tensor *x, double slope, const ig_op_options *options,
                               ig_tensor **out) {
    const igi_parameters p = {.elementwise = {.slope = slope}};
    return igi_front_elementwise(stream, IG_OP_LEAKY_RELU, &x, &p, options, out);
}

ig_status ig_tensor_clamp(ig_stream *stream, const ig_tensor *x, double low, double high, const ig_op_options *options,
                          ig_tensor **out) {
    const igi_parameters p = {.elementwise = {.low = low, .high = high}};
    if (stream && !(low <= high))
        return igi_stream_fail(stream, IG_STATUS_INVALID_ARGUMENT, "clamp: low is %g and high is %g", low, high);
    return igi_front_elementwise(stream, IG_OP_CLAMP, &x, &p, options, out);
}

ig_status ig_tensor_copy(ig_stream *stream, const ig_tensor *x, const ig_op_options *options, ig_tensor **out) {
    return igi_front_elementwise(stream, IG_OP_COPY, &x, NULL, options, out);
}

ig_status ig_tensor_cast(ig_stream *stream, const ig_tensor *x, ig_type type, const ig_op_options *options,
                         ig_tensor **out) {
    igi_front f;
    igi_front_begin(&f, stream, IG_OP_CAST, options);
    igi_front_input(&f, "x", x);
    if (!igi_type_in(type, IGI_ANY_TYPE))
        igi_front_fail(&f, IG_STATUS_UNSUPPORTED, "there are no tensors of this type");
    if (f.status == IG_STATUS_OK) igi_front_output(&f, type, x->view.rank, x->view.shape);
    return igi_front_finish(&f, out);
}

ig_status ig_tensor_where(ig_stream *stream, const ig_tensor *condition, const ig_tensor *a, const ig_tensor *b,
                          const ig_op_options *options, ig_tensor **out) {
    igi_front f;
    uint32_t rank = 0;
    uint64_t shape[IG_MAX_RANK];
    igi_front_begin(&f, stream, IG_OP_WHERE, options);
    igi_front_input(&f, "condition", condition);
    igi_front_input(&f, "a", a);
    igi_front_input(&f, "b", b);
    igi_front_convert(&f, 0, IG_TYPE_BOOL);
    ig_type type = igi_front_unify(&f, 1, 3);
    igi_front_broadcast(&f, 0, 3, &rank, shape);
    igi_front_output(&f, type, rank, shape);
    return igi_front_finish(&f, out);
}
