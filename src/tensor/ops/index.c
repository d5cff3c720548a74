// SPDX-License-Identifier: Apache-2.0
// Ops that select elements by index: the public calls, descriptors and samples.
#include <string.h>

#include "tensor/front.h"
#include "tensor/iterate.h"
#include "tensor/sample-maker.h"

static void check_index_type(igi_tensor_front *f) {
    if (f->status == IG_STATUS_OK && !igi_tensor_type_in(f->call.in[1].type, IGI_TYPE(I32) | IGI_TYPE(I64)))
        igi_tensor_front_fail(f, IG_STATUS_INVALID_ARGUMENT, "index is %s, not i32 or i64",
                              ig_type_name(f->call.in[1].type));
}

// The index has x's rank, and is not longer than x except along the axis.
static void check_index_shape(igi_tensor_front *f, uint32_t axis) {
    char has[IGI_SHAPE_TEXT], of[IGI_SHAPE_TEXT];
    if (f->status != IG_STATUS_OK) return;
    const igi_tensor_view *x = &f->call.in[0], *index = &f->call.in[1];
    bool fits = index->rank == x->rank;
    for (uint32_t i = 0; fits && i < x->rank; i++) fits = i == axis || index->shape[i] <= x->shape[i];
    if (!fits)
        igi_tensor_front_fail(f, IG_STATUS_INVALID_ARGUMENT, "index of shape %s does not fit x of shape %s",
                              igi_tensor_shape_text(index->rank, index->shape, has),
                              igi_tensor_shape_text(x->rank, x->shape, of));
}

ig_status ig_tensor_gather(ig_stream *stream, const ig_tensor *x, int32_t axis, const ig_tensor *index,
                           const ig_op_options *options, ig_tensor **out) {
    igi_tensor_front f;
    igi_tensor_front_begin(&f, stream, IG_OP_GATHER, options);
    igi_tensor_front_input(&f, "x", x);
    igi_tensor_front_input(&f, "index", index);
    if (f.status != IG_STATUS_OK) return f.status;
    f.call.p.index.axis = igi_tensor_front_axis(&f, axis, x->view.rank);
    check_index_type(&f);
    check_index_shape(&f, f.call.p.index.axis);
    igi_tensor_front_output(&f, x->view.type, index->view.rank, index->view.shape);
    return igi_tensor_front_finish(&f, out);
}

ig_status ig_tensor_index_select(ig_stream *stream, const ig_tensor *x, int32_t axis, const ig_tensor *index,
                                 const ig_op_options *options, ig_tensor **out) {
    igi_tensor_front f;
    uint64_t shape[IG_MAX_RANK];
    igi_tensor_front_begin(&f, stream, IG_OP_INDEX_SELECT, options);
    igi_tensor_front_input(&f, "x", x);
    igi_tensor_front_input(&f, "index", index);
    if (f.status != IG_STATUS_OK) return f.status;
    uint32_t along = f.call.p.index.axis = igi_tensor_front_axis(&f, axis, x->view.rank);
    check_index_type(&f);
    if (index->view.rank != 1)
        igi_tensor_front_fail(&f, IG_STATUS_INVALID_ARGUMENT, "index must be a vector, not of rank %u",
                              index->view.rank);
    memcpy(shape, x->view.shape, sizeof shape);
    shape[along] = index->view.shape[0];
    igi_tensor_front_output(&f, x->view.type, x->view.rank, shape);
    return igi_tensor_front_finish(&f, out);
}

static void check_source(igi_tensor_front *f) {
    char has[IGI_SHAPE_TEXT], needs[IGI_SHAPE_TEXT];
    if (f->status != IG_STATUS_OK) return;
    const igi_tensor_view *index = &f->call.in[1], *source = &f->call.in[2];
    if (source->type != f->call.in[0].type)
        igi_tensor_front_fail(f, IG_STATUS_INVALID_ARGUMENT, "source is %s but x is %s", ig_type_name(source->type),
                              ig_type_name(f->call.in[0].type));
    else if (!igi_tensor_same_shape(index, source))
        igi_tensor_front_fail(f, IG_STATUS_INVALID_ARGUMENT, "source has shape %s but index %s",
                              igi_tensor_shape_text(source->rank, source->shape, has),
                              igi_tensor_shape_text(index->rank, index->shape, needs));
}

// Index and source must be preserved while the result, which may share their memory, is written.
static void protect(igi_tensor_front *f, uint32_t input) {
    igi_tensor_view *view = &f->call.in[input];
    if (f->status != IG_STATUS_OK || !igi_tensor_views_overlap(view, &f->call.out[0])) return;
    ig_tensor *copy = igi_tensor_front_temporary(f, view->type, view->rank, view->shape);
    if (!copy) return;
    igi_tensor_front_run_inner(f, IG_OP_COPY, view, &copy->view, NULL);
    *view = copy->view;
}

// Copies x into the result, unless it is there already.
static void copy_first(igi_tensor_front *f) {
    if (f->status != IG_STATUS_OK) return;
    protect(f, 1);
    protect(f, 2);
    bool in_place =
        f->call.in[0].storage == f->call.out[0].storage && igi_tensor_view_same_layout(&f->call.in[0], &f->call.out[0]);
    if (!in_place) protect(f, 0);
    if (!in_place) igi_tensor_front_run_inner(f, IG_OP_COPY, &f->call.in[0], &f->call.out[0], NULL);
    f->call.in[0] = f->call.out[0];
}

ig_status ig_tensor_scatter(ig_stream *stream, const ig_tensor *x, int32_t axis, const ig_tensor *index,
                            const ig_tensor *source, bool add, const ig_op_options *options, ig_tensor **out) {
    igi_tensor_front f;
    igi_tensor_front_begin(&f, stream, IG_OP_SCATTER, options);
    igi_tensor_front_input(&f, "x", x);
    igi_tensor_front_input(&f, "index", index);
    igi_tensor_front_input(&f, "source", source);
    if (f.status != IG_STATUS_OK) return f.status;
    f.call.p.index.axis = igi_tensor_front_axis(&f, axis, x->view.rank);
    f.call.p.index.add = add;
    check_index_type(&f);
    check_index_shape(&f, f.call.p.index.axis);
    check_source(&f);
    igi_tensor_front_output(&f, x->view.type, x->view.rank, x->view.shape);
    copy_first(&f);
    return igi_tensor_front_finish(&f, out);
}

// ---- Samples ----

static const struct {
    ig_shape x;
    uint32_t axis;
    uint64_t picked;  // selected along the axis
} index_shapes[] = {
    {{2, {33, 31}}, 0, 17},   {{1, {257}}, 0, 100}, {{3, {4, 5, 6}}, 2, 6}, {{1, {1}}, 0, 1},     {{2, {31, 5}}, 1, 3},
    {{3, {2, 33, 3}}, 1, 33}, {{2, {5, 7}}, 0, 0},  {{2, {3, 0}}, 0, 2},    {{2, {7, 65}}, 0, 5},
};

static void make_index(igi_tensor_sample_maker *m, ig_type operand, ig_type result) {
    const ig_shape *x = &index_shapes[m->spec->shape].x;
    uint32_t axis = index_shapes[m->spec->shape].axis;
    uint64_t picked = index_shapes[m->spec->shape].picked, length = x->lengths[axis];
    bool scatters = m->spec->op == IG_OP_SCATTER, selects = m->spec->op == IG_OP_INDEX_SELECT;
    igi_tensor_parameters *p = &m->sample->call.p;
    ig_type index_type = m->spec->shape % 2 ? IG_TYPE_I32 : IG_TYPE_I64;
    ig_shape part = *x, vector = {1, {picked}};
    part.lengths[axis] = picked;
    p->index.axis = axis;
    p->index.add = scatters && m->spec->shape % 2 && operand != IG_TYPE_BOOL;
    const igi_tensor_view *in = igi_tensor_sample_input(m, operand, x, igi_tensor_sample_repeats(m));
    igi_tensor_sample_index(m, index_type, selects ? &vector : &part, selects ? 0 : axis, length,
                            scatters && !p->index.add);
    if (scatters) igi_tensor_sample_input(m, operand, &part, false);
    igi_tensor_sample_output(m, result, scatters ? x : &part);
    if (m->status != IG_STATUS_OK || !scatters) return;
    igi_tensor_copy_view(in, &m->sample->call.out[0]);
    igi_tensor_copy_view(in, &m->sample->again[0]);
}

static uint32_t rank_of(uint32_t shape) {
    return index_shapes[shape].x.rank;
}

enum { SHAPES = sizeof index_shapes / sizeof *index_shapes };
static const igi_tensor_sample_set samples = {.shapes = SHAPES, .rank_of = rank_of, .make = make_index},
                                   scatter_samples = {
                                       .shapes = SHAPES, .rank_of = rank_of, .sums = true, .make = make_index};

// ---- Descriptors ----

const igi_op igi_op_of_gather = {.family = "index", .inputs = 2, .tolerance = IGI_TOLERANCE_MOVE, .samples = &samples};
const igi_op igi_op_of_index_select = {
    .family = "index", .inputs = 2, .tolerance = IGI_TOLERANCE_MOVE, .samples = &samples};
const igi_op igi_op_of_scatter = {
    .family = "index", .inputs = 3, .in_place = 1 << 0, .tolerance = IGI_TOLERANCE_MOVE, .samples = &scatter_samples};
