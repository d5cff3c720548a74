// SPDX-License-Identifier: Apache-2.0
// Ops along an axis, softmax, cumulative sums and norms: the public calls, descriptors and samples.
#include "tensor/front.h"
#include "tensor/sample-maker.h"

static ig_status along_axis(ig_stream *stream, ig_op op, const ig_tensor *x, int32_t axis, const ig_op_options *options,
                            ig_tensor **out) {
    igi_tensor_front f;
    igi_tensor_front_begin(&f, stream, op, options);
    igi_tensor_front_input(&f, "x", x);
    if (f.status != IG_STATUS_OK) return f.status;
    uint32_t along = igi_tensor_front_axis(&f, axis, x->view.rank);
    ig_type type = igi_tensor_front_unify(&f, 0, 1);
    f.call.p.along.axis = along;
    igi_tensor_front_output(&f, type, x->view.rank, x->view.shape);
    return igi_tensor_front_finish(&f, out);
}

ig_status ig_tensor_softmax(ig_stream *stream, const ig_tensor *x, int32_t axis, const ig_op_options *options,
                            ig_tensor **out) {
    return along_axis(stream, IG_OP_SOFTMAX, x, axis, options, out);
}

ig_status ig_tensor_log_softmax(ig_stream *stream, const ig_tensor *x, int32_t axis, const ig_op_options *options,
                                ig_tensor **out) {
    return along_axis(stream, IG_OP_LOG_SOFTMAX, x, axis, options, out);
}

ig_status ig_tensor_cumsum(ig_stream *stream, const ig_tensor *x, int32_t axis, const ig_op_options *options,
                           ig_tensor **out) {
    return along_axis(stream, IG_OP_CUMSUM, x, axis, options, out);
}

// ---- Norms ----

static void check_vector(igi_tensor_front *f, uint32_t index, const char *role, uint64_t length) {
    char text[IGI_SHAPE_TEXT];
    const igi_tensor_view *v = &f->call.in[index];
    if (f->status != IG_STATUS_OK || !v->storage) return;
    if (v->rank != 1 || v->shape[0] != length)
        igi_tensor_front_fail(f, IG_STATUS_INVALID_ARGUMENT, "%s has shape %s, but the last dimension has length %llu",
                              role, igi_tensor_shape_text(v->rank, v->shape, text), (unsigned long long)length);
}

static ig_status normalize(ig_stream *stream, ig_op op, const ig_tensor *x, const ig_tensor *weight,
                           const ig_tensor *bias, double epsilon, const ig_op_options *options, ig_tensor **out) {
    igi_tensor_front f;
    uint32_t inputs = igi_ops[op]->inputs;
    igi_tensor_front_begin(&f, stream, op, options);
    igi_tensor_front_input(&f, "x", x);
    igi_tensor_front_optional_input(&f, "weight", weight);
    if (inputs == 3) igi_tensor_front_optional_input(&f, "bias", bias);
    if (f.status == IG_STATUS_OK && x->view.rank == 0)
        igi_tensor_front_fail(&f, IG_STATUS_INVALID_ARGUMENT, "a single value has no last dimension");
    if (!(epsilon >= 0))
        igi_tensor_front_fail(&f, IG_STATUS_INVALID_ARGUMENT, "epsilon is %g; it must be at least 0", epsilon);
    if (f.status != IG_STATUS_OK) return f.status;
    uint64_t length = x->view.shape[x->view.rank - 1];
    check_vector(&f, 1, "weight", length);
    if (inputs == 3) check_vector(&f, 2, "bias", length);
    ig_type type = igi_tensor_front_unify(&f, 0, inputs);
    f.call.p.norm.epsilon = epsilon == 0 ? 1e-5 : epsilon;
    igi_tensor_front_output(&f, type, x->view.rank, x->view.shape);
    return igi_tensor_front_finish(&f, out);
}

ig_status ig_tensor_layer_norm(ig_stream *stream, const ig_tensor *x, const ig_tensor *weight, const ig_tensor *bias,
                               double epsilon, const ig_op_options *options, ig_tensor **out) {
    return normalize(stream, IG_OP_LAYER_NORM, x, weight, bias, epsilon, options, out);
}

ig_status ig_tensor_rms_norm(ig_stream *stream, const ig_tensor *x, const ig_tensor *weight, double epsilon,
                             const ig_op_options *options, ig_tensor **out) {
    return normalize(stream, IG_OP_RMS_NORM, x, weight, NULL, epsilon, options, out);
}

// ---- Samples ----

static void make_along(igi_tensor_sample_maker *m, ig_type operand, ig_type result) {
    const ig_shape *in = &igi_tensor_line_shapes[m->spec->shape].in;
    uint32_t axis = igi_tensor_line_shapes[m->spec->shape].axis;
    m->sample->call.p.along.axis = axis;
    m->sample->scale = (double)in->lengths[axis] + 1;
    igi_tensor_sample_input(m, operand, in, igi_tensor_sample_repeats(m));
    igi_tensor_sample_output(m, result, in);
}

// With both vectors, only the weight, or neither.
static void make_norm(igi_tensor_sample_maker *m, ig_type operand, ig_type result) {
    const ig_shape *in = &igi_tensor_line_shapes[m->spec->shape].in;
    ig_shape vector = {1, {in->lengths[in->rank - 1]}};
    m->sample->call.p.norm.epsilon = 1e-5;
    m->sample->scale = (double)vector.lengths[0] + 1;
    igi_tensor_sample_input(m, operand, in, igi_tensor_sample_repeats(m));
    for (uint32_t i = 1; i < igi_ops[m->spec->op]->inputs; i++)
        if (m->spec->shape % 3 < 3 - i)
            igi_tensor_sample_input(m, operand, &vector, false);
        else
            igi_tensor_sample_absent_input(m);
    igi_tensor_sample_output(m, result, in);
}

static const igi_tensor_sample_set
    along_samples = {.shapes = IGI_LINE_SHAPES, .rank_of = igi_tensor_line_rank, .sums = true, .make = make_along},
    norm_samples = {.shapes = IGI_LINE_SHAPES, .rank_of = igi_tensor_line_rank, .sums = true, .make = make_norm};

// ---- Descriptors ----

#define DESCRIBE(name, kind, most_inputs, rule, set) \
    const igi_op igi_op_of_##name = {                \
        .family = (kind), .inputs = (most_inputs), .tolerance = IGI_TOLERANCE_##rule, .samples = &(set)};
DESCRIBE(softmax, "normalize", 1, ROW, along_samples)
DESCRIBE(log_softmax, "normalize", 1, ROW, along_samples)
DESCRIBE(cumsum, "scan", 1, SUM, along_samples)
DESCRIBE(layer_norm, "normalize", 3, ROW, norm_samples)
DESCRIBE(rms_norm, "normalize", 2, ROW, norm_samples)
