// SPDX-License-Identifier: Apache-2.0
// Elementwise ops: the public calls, descriptors and samples.
#include <ingot/ops.h>

#include "tensor/front.h"
#include "tensor/sample-maker.h"
#include "tensor/scalar/expressions.h"

#define DEFINE_UNARY(id, name, type)                                                                                   \
    ig_status ig_tensor_##name(ig_stream *stream, const ig_tensor *x, const ig_op_options *options, ig_tensor **out) { \
        return igi_tensor_front_elementwise(stream, IG_OP_##id, &x, NULL, options, out);                               \
    }
IG_UNARY_LIST(DEFINE_UNARY)

#define DEFINE_BINARY(id, name, type)                                                                             \
    ig_status ig_tensor_##name(ig_stream *stream, const ig_tensor *a, const ig_tensor *b,                         \
                               const ig_op_options *options, ig_tensor **out) {                                   \
        return igi_tensor_front_elementwise(stream, IG_OP_##id, (const ig_tensor *[]){a, b}, NULL, options, out); \
    }
IG_BINARY_LIST(DEFINE_BINARY)

ig_status ig_tensor_leaky_relu(ig_stream *stream, const ig_tensor *x, double slope, const ig_op_options *options,
                               ig_tensor **out) {
    const igi_tensor_parameters p = {.elementwise = {.slope = slope}};
    return igi_tensor_front_elementwise(stream, IG_OP_LEAKY_RELU, &x, &p, options, out);
}

ig_status ig_tensor_clamp(ig_stream *stream, const ig_tensor *x, double low, double high, const ig_op_options *options,
                          ig_tensor **out) {
    const igi_tensor_parameters p = {.elementwise = {.low = low, .high = high}};
    if (stream && !(low <= high))
        return igi_tensor_stream_fail(stream, IG_STATUS_INVALID_ARGUMENT, "clamp: low is %g, which is above high, %g",
                                      low, high);
    return igi_tensor_front_elementwise(stream, IG_OP_CLAMP, &x, &p, options, out);
}

ig_status ig_tensor_copy(ig_stream *stream, const ig_tensor *x, const ig_op_options *options, ig_tensor **out) {
    return igi_tensor_front_elementwise(stream, IG_OP_COPY, &x, NULL, options, out);
}

ig_status ig_tensor_cast(ig_stream *stream, const ig_tensor *x, ig_type type, const ig_op_options *options,
                         ig_tensor **out) {
    igi_tensor_front f;
    igi_tensor_front_begin(&f, stream, IG_OP_CAST, options);
    igi_tensor_front_input(&f, "x", x);
    if (!igi_tensor_type_in(type, IGI_ANY_TYPE))
        igi_tensor_front_fail(&f, IG_STATUS_UNSUPPORTED, "tensors cannot have this type");
    if (f.status == IG_STATUS_OK) igi_tensor_front_output(&f, type, x->view.rank, x->view.shape);
    return igi_tensor_front_finish(&f, out);
}

ig_status ig_tensor_where(ig_stream *stream, const ig_tensor *condition, const ig_tensor *a, const ig_tensor *b,
                          const ig_op_options *options, ig_tensor **out) {
    igi_tensor_front f;
    uint32_t rank = 0;
    uint64_t shape[IG_MAX_RANK];
    igi_tensor_front_begin(&f, stream, IG_OP_WHERE, options);
    igi_tensor_front_input(&f, "condition", condition);
    igi_tensor_front_input(&f, "a", a);
    igi_tensor_front_input(&f, "b", b);
    igi_tensor_front_convert(&f, 0, IG_TYPE_BOOL);
    ig_type type = igi_tensor_front_unify(&f, 1, 3);
    igi_tensor_front_broadcast(&f, 0, 3, &rank, shape);
    igi_tensor_front_output(&f, type, rank, shape);
    return igi_tensor_front_finish(&f, out);
}

// ---- Samples ----

static void make_elementwise(igi_tensor_sample_maker *m, ig_type operand, ig_type result) {
    const ig_shape *shape = &igi_tensor_elementwise_shapes[m->spec->shape];
    uint32_t inputs = igi_ops[m->spec->op]->inputs;
    for (uint32_t i = 0; i < inputs; i++) {
        bool last = i + 1 == inputs;
        // Extreme values as the second factor would magnify the error of a denormal first factor.
        m->tame = last && m->spec->op == IG_OP_SILU_MUL;
        igi_tensor_sample_input(m, operand, shape, last && igi_tensor_sample_repeats(m));
    }
    igi_tensor_sample_output(m, result, shape);
}

static void make_leaky_relu(igi_tensor_sample_maker *m, ig_type operand, ig_type result) {
    m->sample->call.p.elementwise.slope = 0.01;
    make_elementwise(m, operand, result);
}

static void make_clamp(igi_tensor_sample_maker *m, ig_type operand, ig_type result) {
    m->sample->call.p.elementwise.low = -1.25;
    m->sample->call.p.elementwise.high = 3.5;
    make_elementwise(m, operand, result);
}

// Each type is cast to several others; the shape decides which.
static void make_cast(igi_tensor_sample_maker *m, ig_type operand, ig_type result) {
    static const ig_type all[] = {IG_TYPE_F32, IG_TYPE_I32, IG_TYPE_F16, IG_TYPE_BF16,
                                  IG_TYPE_U8,  IG_TYPE_I64, IG_TYPE_I8,  IG_TYPE_BOOL};
    enum { COUNT = sizeof all / sizeof *all };
    (void)result;
    make_elementwise(m, operand, all[(m->spec->shape + (uint32_t)operand) % COUNT]);
}

static void make_where(igi_tensor_sample_maker *m, ig_type operand, ig_type result) {
    const ig_shape *shape = &igi_tensor_elementwise_shapes[m->spec->shape];
    igi_tensor_sample_input(m, IG_TYPE_BOOL, shape, false);
    igi_tensor_sample_input(m, operand, shape, false);
    igi_tensor_sample_input(m, operand, shape, igi_tensor_sample_repeats(m));
    igi_tensor_sample_output(m, result, shape);
}

// ---- Descriptors ----

#define SAMPLES(maker) {.shapes = IGI_ELEMENTWISE_SHAPES, .rank_of = igi_tensor_elementwise_rank, .make = (maker)}
static const igi_tensor_sample_set samples = SAMPLES(make_elementwise), leaky_relu_samples = SAMPLES(make_leaky_relu),
                                   clamp_samples = SAMPLES(make_clamp), cast_samples = SAMPLES(make_cast),
                                   where_samples = SAMPLES(make_where);

#define ULPS(id, tolerance, expression) ULPS_##id = (tolerance),
enum { IGI_DOUBLE_EXPRESSIONS(ULPS) };

#define FUNCTION(id) \
    .in_place = IGI_IN_PLACE_ANY, .fusion = IGI_FUSION_FUNCTION, .tolerance = IGI_TOLERANCE_FUNCTION, .ulps = ULPS_##id
#define UNARY(id, name, type) \
    const igi_op igi_op_of_##name = {.family = "unary", .inputs = 1, FUNCTION(id), .samples = &samples};
#define BINARY(id, name, type) \
    const igi_op igi_op_of_##name = {.family = "binary", .inputs = 2, FUNCTION(id), .samples = &samples};
IG_UNARY_LIST(UNARY)
IG_BINARY_LIST(BINARY)

const igi_op igi_op_of_leaky_relu = {
    .family = "unary", .inputs = 1, .has_parameters = true, FUNCTION(LEAKY_RELU), .samples = &leaky_relu_samples};
const igi_op igi_op_of_clamp = {
    .family = "unary", .inputs = 1, .has_parameters = true, FUNCTION(CLAMP), .samples = &clamp_samples};
const igi_op igi_op_of_cast = {.family = "convert",
                               .inputs = 1,
                               .in_place = IGI_IN_PLACE_ANY,
                               .fusion = IGI_FUSION_CAST,
                               .ulps = 1,
                               .samples = &cast_samples};
const igi_op igi_op_of_copy = {.family = "convert",
                               .inputs = 1,
                               .in_place = IGI_IN_PLACE_ANY,
                               .fusion = IGI_FUSION_CAST,
                               .ulps = 1,
                               .samples = &samples};
const igi_op igi_op_of_where = {.family = "ternary",
                                .inputs = 3,
                                .typed_by = 1,
                                .in_place = IGI_IN_PLACE_ANY,
                                .fusion = IGI_FUSION_WHERE,
                                .ulps = 1,
                                .samples = &where_samples};
