// SPDX-License-Identifier: Apache-2.0
// Ops that create tensors without inputs: the public calls, descriptors and samples.
#include <math.h>

#include "tensor/front.h"
#include "tensor/sample-maker.h"

static ig_status generate(igi_tensor_front *f, ig_type type, uint32_t rank, const uint64_t *shape, uint32_t types,
                          ig_tensor **out) {
    if (f->status == IG_STATUS_OK && !igi_tensor_type_in(type, types))
        igi_tensor_front_fail(f, IG_STATUS_UNSUPPORTED, "type %s is not supported", ig_type_name(type));
    if (f->status == IG_STATUS_OK && rank > IG_MAX_RANK)
        igi_tensor_front_fail(f, IG_STATUS_INVALID_ARGUMENT, "rank %u is more than %d", rank, IG_MAX_RANK);
    igi_tensor_front_output(f, type, rank, shape);
    return igi_tensor_front_finish(f, out);
}

ig_status ig_tensor_fill(ig_stream *stream, ig_type type, ig_shape shape, double value, const ig_op_options *options,
                         ig_tensor **out) {
    igi_tensor_front f;
    igi_tensor_front_begin(&f, stream, IG_OP_FILL, options);
    f.call.p.range.start = value;
    f.call.p.range.step = 0;
    return generate(&f, type, shape.rank, shape.lengths, IGI_ANY_TYPE, out);
}

ig_status ig_tensor_arange(ig_stream *stream, ig_type type, double start, double step, uint64_t count,
                           const ig_op_options *options, ig_tensor **out) {
    igi_tensor_front f;
    igi_tensor_front_begin(&f, stream, IG_OP_ARANGE, options);
    f.call.p.range.start = start;
    f.call.p.range.step = step;
    return generate(&f, type, 1, &count, IGI_ANY_TYPE, out);
}

static void set_random(igi_tensor_front *f, ig_random_desc desc, double first, double second) {
    f->call.p.random.seed = desc.seed;
    f->call.p.random.position = desc.position;
    f->call.p.random.first = first;
    f->call.p.random.second = second;
}

ig_status ig_tensor_random_uniform(ig_stream *stream, ig_type type, ig_shape shape, ig_random_desc desc, double low,
                                   double high, const ig_op_options *options, ig_tensor **out) {
    igi_tensor_front f;
    igi_tensor_front_begin(&f, stream, IG_OP_RANDOM_UNIFORM, options);
    if (!(low < high) || !isfinite((float)high - (float)low))
        igi_tensor_front_fail(&f, IG_STATUS_INVALID_ARGUMENT, "the range from %g to below %g is empty or too large",
                              low, high);
    set_random(&f, desc, low, high);
    return generate(&f, type, shape.rank, shape.lengths, IGI_FLOATS, out);
}

ig_status ig_tensor_random_normal(ig_stream *stream, ig_type type, ig_shape shape, ig_random_desc desc, double mean,
                                  double deviation, const ig_op_options *options, ig_tensor **out) {
    igi_tensor_front f;
    igi_tensor_front_begin(&f, stream, IG_OP_RANDOM_NORMAL, options);
    if (!(deviation >= 0))
        igi_tensor_front_fail(&f, IG_STATUS_INVALID_ARGUMENT, "the deviation is %g; it must be at least 0", deviation);
    set_random(&f, desc, mean, deviation);
    return generate(&f, type, shape.rank, shape.lengths, IGI_FLOATS, out);
}

// ---- Samples ----

static void make_range(igi_tensor_sample_maker *m, ig_type operand, ig_type result) {
    igi_tensor_parameters *p = &m->sample->call.p;
    bool odd = m->spec->shape % 2;
    (void)operand;
    p->range.start = odd ? -2 : 3;
    p->range.step = m->spec->op == IG_OP_FILL ? 0 : odd ? 0.5 : 1;
    igi_tensor_sample_output(m, result, &igi_tensor_elementwise_shapes[m->spec->shape]);
}

static void make_random(igi_tensor_sample_maker *m, ig_type operand, ig_type result) {
    igi_tensor_parameters *p = &m->sample->call.p;
    bool odd = m->spec->shape % 2;
    (void)operand;
    p->random.seed = 0x1234567890abcdefu;
    p->random.position = odd ? 0xfffffffffu : 0;
    p->random.first = odd ? -3 : 0;
    p->random.second = odd ? 2.5 : 1;
    igi_tensor_sample_output(m, result, &igi_tensor_elementwise_shapes[m->spec->shape]);
}

static const igi_tensor_sample_set range_samples = {.shapes = IGI_ELEMENTWISE_SHAPES,
                                                    .rank_of = igi_tensor_elementwise_rank,
                                                    .make = make_range},
                                   random_samples = {.shapes = IGI_ELEMENTWISE_SHAPES,
                                                     .rank_of = igi_tensor_elementwise_rank,
                                                     .types = IGI_FLOATS,
                                                     .make = make_random};

// ---- Descriptors ----

#define DESCRIBE(name, rule, set)     \
    const igi_op igi_op_of_##name = { \
        .family = "generate", .typed_by = IGI_TYPED_BY_OUTPUT, .tolerance = IGI_TOLERANCE_##rule, .samples = &(set)};
DESCRIBE(fill, EXACT, range_samples)
DESCRIBE(arange, GENERATE, range_samples)
DESCRIBE(random_uniform, EXACT, random_samples)
DESCRIBE(random_normal, GENERATE, random_samples)
