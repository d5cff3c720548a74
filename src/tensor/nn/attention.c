// SPDX-License-Identifier: Apache-2.0
// Attention: the public call, the descriptor and samples.
#include "tensor/nn/attention.h"

#include <math.h>
#include <string.h>

#include "tensor/nn/attention-samples.h"
#include "tensor/nn/flatten.h"

static bool fits(const igi_tensor_view *q, const igi_tensor_view *k, const igi_tensor_view *v) {
    uint32_t rank = q->rank;
    if (rank < 3 || k->rank != rank || v->rank != rank) return false;
    for (uint32_t i = 0; i + 3 < rank; i++)
        if (k->shape[i] != q->shape[i] || v->shape[i] != q->shape[i]) return false;
    uint64_t heads = q->shape[rank - 2], key_heads = k->shape[rank - 2];
    bool grouped = key_heads ? heads % key_heads == 0 : heads == 0;
    return grouped && v->shape[rank - 2] == key_heads && v->shape[rank - 3] == k->shape[rank - 3] &&
           q->shape[rank - 1] == k->shape[rank - 1];
}

static void check(igi_tensor_front *f) {
    char a[IGI_SHAPE_TEXT], b[IGI_SHAPE_TEXT], c[IGI_SHAPE_TEXT];
    const igi_tensor_view *in = f->call.in;
    if (f->status == IG_STATUS_OK && !fits(&in[0], &in[1], &in[2]))
        igi_tensor_front_fail(f, IG_STATUS_INVALID_ARGUMENT, "q, k and v of shapes %s, %s and %s do not fit together",
                              igi_tensor_shape_text(in[0].rank, in[0].shape, a),
                              igi_tensor_shape_text(in[1].rank, in[1].shape, b),
                              igi_tensor_shape_text(in[2].rank, in[2].shape, c));
}

// Keys and values keep their type, unless it differs between them.
static ig_type settle_types(igi_tensor_front *f) {
    ig_type type = igi_tensor_front_unify(f, 0, 1);
    if (f->status != IG_STATUS_OK) return type;
    ig_type kept = igi_tensor_promote(f->call.in[1].type, f->call.in[2].type);
    if (!igi_tensor_is_float(kept)) kept = type;
    igi_tensor_front_convert(f, 1, kept);
    igi_tensor_front_convert(f, 2, kept);
    return type;
}

static void set_parameters(igi_tensor_front *f, const ig_attention_desc *desc, const igi_tensor_key_ring *ring) {
    igi_tensor_parameters *p = &f->call.p;
    uint64_t dim = f->call.in[0].shape[3];
    p->attend.scale = desc->scale == 0 && dim ? 1 / sqrt((double)dim) : desc->scale;
    p->attend.query_position = desc->query_position;
    p->attend.window = desc->window;
    p->attend.causal = desc->causal;
    p->attend.keys = ring ? ring->keys : f->call.in[1].shape[1];
    p->attend.start = ring ? ring->start : 0;
}

ig_status igi_tensor_attention(ig_stream *stream, const ig_tensor *q, const ig_tensor *k, const ig_tensor *v,
                               const ig_attention_desc *desc, const igi_tensor_key_ring *ring,
                               const ig_op_options *options, ig_tensor **out) {
    static const ig_attention_desc plain;
    igi_tensor_front f;
    uint64_t shape[IG_MAX_RANK];
    igi_tensor_front_begin(&f, stream, IG_OP_ATTENTION, options);
    igi_tensor_front_input(&f, "q", q);
    igi_tensor_front_input(&f, "k", k);
    igi_tensor_front_input(&f, "v", v);
    check(&f);
    ig_type type = settle_types(&f);
    for (uint32_t i = 0; i < 3; i++) igi_tensor_front_flatten_input(&f, i, 3);
    if (f.status != IG_STATUS_OK) return igi_tensor_front_finish(&f, out);
    set_parameters(&f, desc ? desc : &plain, ring);
    memcpy(shape, q->view.shape, sizeof shape);
    shape[q->view.rank - 1] = f.call.in[2].shape[3];
    igi_tensor_front_output(&f, type, q->view.rank, shape);
    igi_tensor_front_flatten_output(&f, 3);
    return igi_tensor_front_finish(&f, out);
}

ig_status ig_tensor_attention(ig_stream *stream, const ig_tensor *q, const ig_tensor *k, const ig_tensor *v,
                              const ig_attention_desc *desc, const ig_op_options *options, ig_tensor **out) {
    return igi_tensor_attention(stream, q, k, v, desc, NULL, options, out);
}

// ---- Samples ----

const struct igi_tensor_attention_shape igi_tensor_attention_shapes[IGI_ATTENTION_SHAPES] = {
    {1, 33, 65, 4, 2, 16, 32, 0, 0, true},   {2, 1, 31, 3, 1, 32, 30, 0, 0, false},
    {1, 17, 33, 8, 1, 34, 0, 7, 0, true},    {1, 1, 1, 1, 1, 2, 0, 0, 0, true},
    {1, 0, 5, 2, 2, 8, 0, 0, 0, false},      {2, 3, 0, 2, 1, 8, 0, 0, 0, true},
    {1, 5, 257, 6, 6, 64, 100, 31, 0, true}, {1, 31, 33, 5, 1, 66, 2, 0, 0, false},
    {1, 9, 4, 7, 7, 30, 20, 3, 0, true},     {1, 1, 300, 8, 2, 128, 299, 0, 11, true},
    {1, 40, 40, 2, 2, 24, 0, 0, 3, true},    {3, 2, 130, 4, 4, 40, 128, 64, 77, true},
    {1, 100, 150, 3, 1, 48, 50, 0, 0, true}, {1, 3, 70, 4, 2, 256, 67, 0, 0, true},
    {2, 37, 40, 2, 1, 160, 3, 0, 0, true},
};

// Keys and values are also tested as f16 and bf16 with float queries.
static void make_attention(igi_tensor_sample_maker *m, ig_type operand, ig_type result) {
    uint32_t i = m->spec->shape;
    const struct igi_tensor_attention_shape *s = &igi_tensor_attention_shapes[i];
    uint64_t start = s->start, slots = s->keys + (start ? 5 : 0), value_dim = s->dim - (i % 3 == 2 ? 2 : 0);
    bool halves = operand == IG_TYPE_F32 && i % 4 == 1;
    ig_type kept = halves ? i % 8 == 1 ? IG_TYPE_F16 : IG_TYPE_BF16 : operand;
    igi_tensor_parameters *p = &m->sample->call.p;
    igi_tensor_attention_sample_mask(m);
    p->attend.keys = s->keys;
    p->attend.start = start;
    p->attend.scale = 0.25;
    m->sample->scale = 4 * (double)(s->keys + s->dim);
    m->tame = true;  // 0 times infinity is NaN, but only if masked keys are added at all
    igi_tensor_sample_input(m, operand, &(ig_shape){4, {s->batch, s->queries, s->heads, s->dim}},
                            igi_tensor_sample_repeats(m));
    igi_tensor_sample_input(m, kept, &(ig_shape){4, {s->batch, slots, s->key_heads, s->dim}}, false);
    igi_tensor_sample_input(m, kept, &(ig_shape){4, {s->batch, slots, s->key_heads, value_dim}}, false);
    m->tame = false;
    igi_tensor_sample_output(m, result, &(ig_shape){4, {s->batch, s->queries, s->heads, value_dim}});
}

static const igi_tensor_sample_set samples = {
    .shapes = IGI_ATTENTION_SHAPES, .rank = 4, .sums = true, .make = make_attention};

static uint64_t work(const igi_tensor_call *call) {
    uint64_t products;
    return igi_mul(igi_tensor_view_count(&call->out[0]), call->p.attend.keys, &products) ? products : UINT64_MAX;
}

const igi_op igi_op_of_attention = {
    .family = "attention", .inputs = 3, .tolerance = IGI_TOLERANCE_ROW, .work = work, .samples = &samples};
