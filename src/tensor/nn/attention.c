// SPDX-License-Identifier: Apache-2.0
// Public attention.
#include "tensor/nn/attention.h"

#include <math.h>
#include <string.h>

#include "tensor/nn/flatten.h"

static bool fits(const igi_view *q, const igi_view *k, const igi_view *v) {
    uint32_t rank = q->rank;
    if (rank < 3 || k->rank != rank || v->rank != rank) return false;
    for (uint32_t i = 0; i + 3 < rank; i++)
        if (k->shape[i] != q->shape[i] || v->shape[i] != q->shape[i]) return false;
    uint64_t heads = q->shape[rank - 2], key_heads = k->shape[rank - 2];
    bool grouped = key_heads ? heads % key_heads == 0 : heads == 0;
    return grouped && v->shape[rank - 2] == key_heads && v->shape[rank - 3] == k->shape[rank - 3] &&
           q->shape[rank - 1] == k->shape[rank - 1];
}

static void check(igi_front *f) {
    char a[IGI_SHAPE_TEXT], b[IGI_SHAPE_TEXT], c[IGI_SHAPE_TEXT];
    const igi_view *in = f->call.in;
    if (f->status == IG_STATUS_OK && !fits(&in[0], &in[1], &in[2]))
        igi_front_fail(f, IG_STATUS_INVALID_ARGUMENT, "q, k and v of shapes %s, %s and %s do not fit together",
                       igi_shape_text(in[0].rank, in[0].shape, a), igi_shape_text(in[1].rank, in[1].shape, b),
                       igi_shape_text(in[2].rank, in[2].shape, c));
}

// Keys and values keep their type, unless they differ in it.
static ig_type settle_types(igi_front *f) {
    ig_type type = igi_front_unify(f, 0, 1);
    if (f->status != IG_STATUS_OK) return type;
    ig_type kept = igi_promote(f->call.in[1].type, f->call.in[2].type);
    if (!igi_is_float(kept)) kept = type;
    igi_front_convert(f, 1, kept);
    igi_front_convert(f, 2, kept);
    return type;
}

static void set_parameters(igi_front *f, const ig_attention_desc *desc, const igi_key_ring *ring) {
    igi_parameters *p = &f->call.p;
    uint64_t dim = f->call.in[0].shape[3];
    p->attend.scale = desc->scale == 0 && dim ? 1 / sqrt((double)dim) : desc->scale;
    p->attend.query_position = desc->query_position;
    p->attend.window = desc->window;
    p->attend.causal = desc->causal;
    p->attend.keys = ring ? ring->keys : f->call.in[1].shape[1];
    p->attend.start = ring ? ring->start : 0;
}

ig_status igi_attention(ig_stream *stream, const ig_tensor *q, const ig_tensor *k, const ig_tensor *v,
                        const ig_attention_desc *desc, const igi_key_ring *ring, const ig_op_options *options,
                        ig_tensor **out) {
    static const ig_attention_desc plain;
    igi_front f;
    uint64_t shape[IG_MAX_RANK];
    igi_front_begin(&f, stream, IG_OP_ATTENTION, options);
    igi_front_input(&f, "q", q);
    igi_front_input(&f, "k", k);
    igi_front_input(&f, "v", v);
    check(&f);
    ig_type type = settle_types(&f);
    for (uint32_t i = 0; i < 3; i++) igi_front_flatten_input(&f, i, 3);
    if (f.status != IG_STATUS_OK) return igi_front_finish(&f, out);
    set_parameters(&f, desc ? desc : &plain, ring);
    memcpy(shape, q->view.shape, sizeof shape);
    shape[q->view.rank - 1] = f.call.in[2].shape[3];
    igi_front_output(&f, type, q->view.rank, shape);
    igi_front_flatten_output(&f, 3);
    return igi_front_finish(&f, out);
}

ig_status ig_tensor_attention(ig_stream *stream, const ig_tensor *q, const ig_tensor *k, const ig_tensor *v,
                              const ig_attention_desc *desc, const ig_op_options *options, ig_tensor **out) {
    return igi_attention(stream, q, k, v, desc, NULL, options, out);
}
