// SPDX-License-Identifier: Apache-2.0
// Rotary positions: the public call, the descriptor and samples.
#include <math.h>

#include "tensor/nn/attention-samples.h"
#include "tensor/nn/flatten.h"
#include "tensor/nn/nn.h"

double igi_tensor_rope_frequency(const igi_tensor_parameters *p, uint32_t pair) {
    double frequency = p->rope.scale * pow(p->rope.base, -2.0 * pair / p->rope.dims);
    return p->rope.factors ? frequency / (double)p->rope.factors[pair] : frequency;
}

uint64_t igi_tensor_rope_turns(const igi_tensor_parameters *p, uint32_t pair) {
    double turns = igi_tensor_rope_frequency(p, pair) / (2 * M_PI);
    return (uint64_t)ldexp(turns - floor(turns), 64);
}

static void check_factors(igi_tensor_front *f) {
    const igi_tensor_parameters *p = &f->call.p;
    for (uint32_t i = 0; f->status == IG_STATUS_OK && p->rope.factors && i < p->rope.dims / 2; i++)
        if (!isnormal(p->rope.factors[i]))
            igi_tensor_front_fail(f, IG_STATUS_INVALID_ARGUMENT, "factor %u is %g; it must be finite and not 0", i,
                                  (double)p->rope.factors[i]);
}

static void set_parameters(igi_tensor_front *f, const ig_rope_desc *desc, uint64_t dim) {
    igi_tensor_parameters *p = &f->call.p;
    p->rope.base = desc->base == 0 ? 10000 : desc->base;
    p->rope.scale = desc->scale == 0 ? 1 : desc->scale;
    p->rope.position = desc->position;
    p->rope.dims = desc->dims ? desc->dims : (uint32_t)(dim < UINT32_MAX ? dim : UINT32_MAX);
    p->rope.interleaved = desc->interleaved;
    p->rope.factors = desc->factors;
    if (!(p->rope.base > 0) || !isfinite(p->rope.base) || !isfinite(p->rope.scale))
        igi_tensor_front_fail(f, IG_STATUS_INVALID_ARGUMENT,
                              "base is %g and scale %g; both must be finite, and base above 0", p->rope.base,
                              p->rope.scale);
    if (p->rope.dims % 2 || p->rope.dims > dim || p->rope.dims > IGI_ROPE_MAX_DIMS)
        igi_tensor_front_fail(f, IG_STATUS_INVALID_ARGUMENT,
                              "dims is %u of %llu elements; it must be even and at most %d", p->rope.dims,
                              (unsigned long long)dim, IGI_ROPE_MAX_DIMS);
    check_factors(f);
}

// Positions repeat over batches.
static void add_positions(igi_tensor_front *f, const ig_tensor *x, const ig_tensor *positions) {
    char has[IGI_SHAPE_TEXT], needs[IGI_SHAPE_TEXT];
    igi_tensor_front_optional_input(f, "positions", positions);
    if (f->status != IG_STATUS_OK || !positions) return;
    uint32_t rank = x->view.rank - 2;
    if (!igi_tensor_type_in(positions->view.type, IGI_INTEGERS))
        igi_tensor_front_fail(f, IG_STATUS_INVALID_ARGUMENT, "positions are %s; they must be integers",
                              ig_type_name(positions->view.type));
    igi_tensor_front_convert(f, 1, IG_TYPE_I64);
    if (f->status == IG_STATUS_OK && !igi_tensor_view_broadcast(&f->call.in[1], rank, x->view.shape, &f->call.in[1]))
        igi_tensor_front_fail(f, IG_STATUS_INVALID_ARGUMENT, "positions of shape %s do not broadcast to %s",
                              igi_tensor_shape_text(positions->view.rank, positions->view.shape, has),
                              igi_tensor_shape_text(rank, x->view.shape, needs));
    igi_tensor_front_flatten_input(f, 1, 1);
}

ig_status ig_tensor_rope(ig_stream *stream, const ig_tensor *x, const ig_rope_desc *desc, const ig_op_options *options,
                         ig_tensor **out) {
    static const ig_rope_desc plain;
    if (!desc) desc = &plain;
    igi_tensor_front f;
    igi_tensor_front_begin(&f, stream, IG_OP_ROPE, options);
    igi_tensor_front_input(&f, "x", x);
    if (f.status == IG_STATUS_OK && x->view.rank < 3)
        igi_tensor_front_fail(&f, IG_STATUS_INVALID_ARGUMENT, "x must be [.., sequence, heads, dim]");
    ig_type type = igi_tensor_front_unify(&f, 0, 1);
    if (f.status != IG_STATUS_OK) return igi_tensor_front_finish(&f, out);
    set_parameters(&f, desc, x->view.shape[x->view.rank - 1]);
    add_positions(&f, x, desc->positions);
    igi_tensor_front_flatten_input(&f, 0, 3);
    igi_tensor_front_output(&f, type, x->view.rank, x->view.shape);
    igi_tensor_front_flatten_output(&f, 3);
    return igi_tensor_front_finish(&f, out);
}

// ---- Samples ----

static void make_rope(igi_tensor_sample_maker *m, ig_type operand, ig_type result) {
    uint32_t i = m->spec->shape;
    const struct igi_tensor_attention_shape *s = &igi_tensor_attention_shapes[i];
    const ig_shape x = {4, {s->batch, s->queries, s->heads, s->dim}};
    igi_tensor_parameters *p = &m->sample->call.p;
    m->sample->scale = 16;  // sines of rounded angles
    p->rope.base = i % 3 ? 10000 : 500000;
    p->rope.scale = i % 4 ? 1 : 0.25;
    p->rope.position = i % 2 ? 4000 : 3;
    p->rope.dims = (uint32_t)(i % 3 == 2 ? s->dim / 4 * 2 : s->dim);
    p->rope.interleaved = i % 2;
    igi_tensor_sample_input(m, operand, &x, igi_tensor_sample_repeats(m));
    if (i % 2)
        igi_tensor_sample_absent_input(m);
    else
        igi_tensor_sample_index(m, IG_TYPE_I64, &(ig_shape){2, {s->batch, s->queries}}, 1, 100000, false);
    igi_tensor_sample_output(m, result, &x);
}

static const igi_tensor_sample_set samples = {
    .shapes = IGI_ATTENTION_SHAPES, .rank = 4, .sums = true, .make = make_rope};

const igi_op igi_op_of_rope = {.family = "attention", .inputs = 2, .tolerance = IGI_TOLERANCE_ROW, .samples = &samples};
