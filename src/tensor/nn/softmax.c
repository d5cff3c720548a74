// SPDX-License-Identifier: Apache-2.0
// Masked softmax: the public call, the descriptor and samples.
#include "tensor/front.h"
#include "tensor/nn/attention-samples.h"
#include "tensor/nn/nn.h"

static void add_mask(igi_tensor_front *f, const ig_tensor *x, const ig_tensor *mask) {
    char has[IGI_SHAPE_TEXT], needs[IGI_SHAPE_TEXT];
    igi_tensor_front_optional_input(f, "mask", mask);
    if (f->status != IG_STATUS_OK || !mask) return;
    if (mask->view.type != IG_TYPE_BOOL) igi_tensor_front_convert(f, 1, f->call.in[0].type);
    if (f->status == IG_STATUS_OK &&
        !igi_tensor_view_broadcast(&f->call.in[1], x->view.rank, x->view.shape, &f->call.in[1]))
        igi_tensor_front_fail(f, IG_STATUS_INVALID_ARGUMENT, "a mask of shape %s does not broadcast to %s",
                              igi_tensor_shape_text(mask->view.rank, mask->view.shape, has),
                              igi_tensor_shape_text(x->view.rank, x->view.shape, needs));
}

ig_status ig_tensor_masked_softmax(ig_stream *stream, const ig_tensor *x, const ig_tensor *mask,
                                   const ig_attention_desc *desc, const ig_op_options *options, ig_tensor **out) {
    static const ig_attention_desc plain;
    if (!desc) desc = &plain;
    igi_tensor_front f;
    igi_tensor_front_begin(&f, stream, IG_OP_MASKED_SOFTMAX, options);
    igi_tensor_front_input(&f, "x", x);
    if (f.status == IG_STATUS_OK && x->view.rank < 2)
        igi_tensor_front_fail(&f, IG_STATUS_INVALID_ARGUMENT, "x must have two dimensions or more, queries and keys");
    ig_type type = igi_tensor_front_unify(&f, 0, 1);
    if (f.status == IG_STATUS_OK) add_mask(&f, x, mask);
    f.call.p.attend.scale = desc->scale == 0 ? 1 : desc->scale;
    f.call.p.attend.query_position = desc->query_position;
    f.call.p.attend.window = desc->window;
    f.call.p.attend.causal = desc->causal;
    if (f.status == IG_STATUS_OK) igi_tensor_front_output(&f, type, x->view.rank, x->view.shape);
    return igi_tensor_front_finish(&f, out);
}

// ---- Samples ----

static void make_masked_softmax(igi_tensor_sample_maker *m, ig_type operand, ig_type result) {
    uint32_t i = m->spec->shape;
    const struct igi_tensor_attention_shape *s = &igi_tensor_attention_shapes[i];
    const ig_shape x = {4, {s->batch, s->heads, s->queries, s->keys}};
    igi_tensor_attention_sample_mask(m);
    m->sample->call.p.attend.scale = i % 2 ? 1 : 0.125;
    m->sample->scale = (double)s->keys + 1;
    igi_tensor_sample_input(m, operand, &x, igi_tensor_sample_repeats(m));
    m->tame = true;  // the tests cover sums of infinities of opposite signs
    if (i % 3 == 2)
        igi_tensor_sample_absent_input(m);
    else
        igi_tensor_sample_input(m, i % 3 ? IG_TYPE_BOOL : operand, &x, i % 2);
    m->tame = false;
    igi_tensor_sample_output(m, result, &x);
}

static const igi_tensor_sample_set samples = {
    .shapes = IGI_ATTENTION_SHAPES, .rank = 4, .sums = true, .make = make_masked_softmax};

const igi_op igi_op_of_masked_softmax = {
    .family = "attention", .inputs = 2, .tolerance = IGI_TOLERANCE_ROW, .samples = &samples};
