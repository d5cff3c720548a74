// SPDX-License-Identifier: Apache-2.0
// Reductions: the public calls, descriptors and samples.
#include <math.h>
#include <string.h>

#include "tensor/front.h"
#include "tensor/sample-maker.h"

static bool gives_position(ig_op op) {
    return op == IG_OP_ARGMAX || op == IG_OP_ARGMIN;
}

// The axes as a bit mask.
static uint32_t read_axes(igi_tensor_front *f, const ig_reduce_desc *desc, uint32_t rank) {
    uint32_t axes = 0;
    if (desc->axis_count > IG_MAX_RANK) {
        igi_tensor_front_fail(f, IG_STATUS_INVALID_ARGUMENT, "%u axes are more than any tensor has", desc->axis_count);
        return 0;
    }
    if (desc->axis_count == 0) return (1u << rank) - 1;
    for (uint32_t i = 0; i < desc->axis_count; i++) {
        uint32_t bit = 1u << igi_tensor_front_axis(f, desc->axes[i], rank);
        if (axes & bit) igi_tensor_front_fail(f, IG_STATUS_INVALID_ARGUMENT, "axis %d is given twice", desc->axes[i]);
        axes |= bit;
    }
    return axes;
}

static void check_parameters(igi_tensor_front *f, const ig_reduce_desc *desc, uint32_t rank) {
    double order = desc->order;
    if (f->call.op == IG_OP_NORM && order != 0 && order != 1 && order != 2 && order != INFINITY)
        igi_tensor_front_fail(f, IG_STATUS_UNSUPPORTED, "order is %g; it can be 1, 2 or infinity", order);
    if (gives_position(f->call.op) && desc->axis_count > 1 && desc->axis_count != rank)
        igi_tensor_front_fail(f, IG_STATUS_UNSUPPORTED, "give one axis, or none for the whole tensor");
}

static void check_not_empty(igi_tensor_front *f, uint32_t axes) {
    ig_op op = f->call.op;
    bool needs_one = gives_position(op) || op == IG_OP_MAX || op == IG_OP_MIN;
    const igi_tensor_view *x = &f->call.in[0];
    uint64_t kept = 1, reduced = 1;
    for (uint32_t i = 0; i < x->rank; i++) *(axes >> i & 1 ? &reduced : &kept) *= x->shape[i];
    if (needs_one && reduced == 0 && kept != 0)
        igi_tensor_front_fail(f, IG_STATUS_INVALID_ARGUMENT, "there are no elements along the axes");
}

// The result with its reduced dimensions, as implementations see it, and without them, as the caller sees it.
static void make_output(igi_tensor_front *f, ig_type type, uint32_t axes, bool keep_dims) {
    const igi_tensor_view *x = &f->call.in[0];
    uint64_t kept[IG_MAX_RANK];
    uint32_t rank = 0;
    for (uint32_t i = 0; i < x->rank; i++) {
        bool reduced = axes >> i & 1;
        if (!reduced || keep_dims) kept[rank++] = reduced ? 1 : x->shape[i];
    }
    igi_tensor_front_output(f, type, rank, kept);
    if (f->status != IG_STATUS_OK || keep_dims) return;
    igi_tensor_view narrow = f->call.out[0], *wide = &f->call.out[0];
    wide->rank = x->rank;
    for (uint32_t i = 0, from = 0; i < x->rank; i++) {
        bool reduced = axes >> i & 1;
        wide->shape[i] = reduced ? 1 : narrow.shape[from];
        wide->strides[i] = reduced ? 0 : narrow.strides[from++];
    }
}

static ig_status reduce(ig_stream *stream, ig_op op, const ig_tensor *x, const ig_reduce_desc *desc,
                        const ig_op_options *options, ig_tensor **out) {
    static const ig_reduce_desc whole;
    if (!desc) desc = &whole;
    igi_tensor_front f;
    igi_tensor_front_begin(&f, stream, op, options);
    igi_tensor_front_input(&f, "x", x);
    if (f.status != IG_STATUS_OK) return f.status;
    check_parameters(&f, desc, x->view.rank);
    uint32_t axes = read_axes(&f, desc, x->view.rank);
    if (f.status == IG_STATUS_OK) check_not_empty(&f, axes);
    ig_type type = igi_tensor_front_unify(&f, 0, 1);
    f.call.p.reduce.axes = axes;
    f.call.p.reduce.correction = desc->correction;
    f.call.p.reduce.order = desc->order == 0 ? 2 : desc->order;
    if (f.status == IG_STATUS_OK) make_output(&f, type, axes, desc->keep_dims);
    return igi_tensor_front_finish(&f, out);
}

#define DEFINE(id, name, type)                                                                    \
    ig_status ig_tensor_##name(ig_stream *stream, const ig_tensor *x, const ig_reduce_desc *desc, \
                               const ig_op_options *options, ig_tensor **out) {                   \
        return reduce(stream, IG_OP_##id, x, desc, options, out);                                 \
    }
IG_REDUCE_LIST(DEFINE)

// ---- Samples ----

static const struct {
    ig_shape in;
    uint32_t axes;
} reduce_shapes[] = {
    {{1, {257}}, 1},      {{2, {33, 31}}, 2},
    {{3, {5, 33, 7}}, 2}, {{1, {1}}, 1},
    {{2, {31, 33}}, 1},   {{3, {4, 5, 6}}, 5},
    {{3, {4, 5, 6}}, 7},  {{4, {2, 3, 4, 5}}, 6},
    {{2, {0, 5}}, 2},     {{2, {5, 1}}, 2},
    {{1, {4099}}, 1},     {{2, {3, 1025}}, 2},
    {{2, {1025, 3}}, 1},  {{8, {1, 2, 1, 2, 1, 3, 1, 33}}, 0xf0},
};

static void make_reduce(igi_tensor_sample_maker *m, ig_type operand, ig_type result) {
    ig_shape in = reduce_shapes[m->spec->shape].in, out = in;
    uint32_t axes = reduce_shapes[m->spec->shape].axes;
    for (uint32_t i = 0; i < in.rank; i++) {
        if (!(axes >> i & 1)) continue;
        m->sample->scale *= (double)in.lengths[i];
        out.lengths[i] = 1;
    }
    m->sample->call.p.reduce.axes = axes;
    m->sample->call.p.reduce.order = 2;
    igi_tensor_sample_input(m, operand, &in, igi_tensor_sample_repeats(m));
    igi_tensor_sample_output(m, result, &out);
}

static uint32_t rank_of(uint32_t shape) {
    return reduce_shapes[shape].in.rank;
}

enum { SHAPES = sizeof reduce_shapes / sizeof *reduce_shapes };
static const igi_tensor_sample_set sums = {.shapes = SHAPES, .rank_of = rank_of, .sums = true, .make = make_reduce},
                                   choices = {.shapes = SHAPES, .rank_of = rank_of, .make = make_reduce};

// ---- Descriptors ----

#define DESCRIBE(name, rule, set)     \
    const igi_op igi_op_of_##name = { \
        .family = "reduce", .inputs = 1, .tolerance = IGI_TOLERANCE_##rule, .samples = &(set)};
DESCRIBE(sum, SUM, sums)
DESCRIBE(prod, PRODUCT, sums)
DESCRIBE(mean, SUM, sums)
DESCRIBE(max, SUM, choices)
DESCRIBE(min, SUM, choices)
DESCRIBE(any, SUM, sums)
DESCRIBE(all, SUM, sums)
DESCRIBE(argmax, SUM, choices)
DESCRIBE(argmin, SUM, choices)
DESCRIBE(variance, SUM, sums)
DESCRIBE(norm, SUM, sums)
