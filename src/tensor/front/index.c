// SPDX-License-Identifier: Apache-2.0
// Public ops that pick elements by index.
#include <string.h>

#include "tensor/front.h"

static void check_index_type(igi_front *f) {
    if (f->status == IG_STATUS_OK && !igi_type_in(f->call.in[1].type, IGI_TYPE(I32) | IGI_TYPE(I64)))
        igi_front_fail(f, IG_STATUS_INVALID_ARGUMENT, "index is %s, not i32 or i64", ig_type_name(f->call.in[1].type));
}

// The index has x's rank and reaches nowhere beyond x but along the axis.
static void check_index_shape(igi_front *f, uint32_t axis) {
    char has[IGI_SHAPE_TEXT], of[IGI_SHAPE_TEXT];
    if (f->status != IG_STATUS_OK) return;
    const igi_view *x = &f->call.in[0], *index = &f->call.in[1];
    bool fits = index->rank == x->rank;
    for (uint32_t i = 0; fits && i < x->rank; i++) fits = i == axis || index->shape[i] <= x->shape[i];
    if (!fits)
        igi_front_fail(f, IG_STATUS_INVALID_ARGUMENT, "index of shape %s does not fit x of shape %s",
                       igi_shape_text(index->rank, index->shape, has), igi_shape_text(x->rank, x->shape, of));
}

ig_status ig_tensor_gather(ig_stream *stream, const ig_tensor *x, int32_t axis, const ig_tensor *index,
                           const ig_op_options *options, ig_tensor **out) {
    igi_front f;
    igi_front_begin(&f, stream, IG_OP_GATHER, options);
    igi_front_input(&f, "x", x);
    igi_front_input(&f, "index", index);
    if (f.status != IG_STATUS_OK) return f.status;
    f.call.p.index.axis = igi_front_axis(&f, axis, x->view.rank);
    check_index_type(&f);
    check_index_shape(&f, f.call.p.index.axis);
    igi_front_output(&f, x->view.type, index->view.rank, index->view.shape);
    return igi_front_finish(&f, out);
}

ig_status ig_tensor_index_select(ig_stream *stream, const ig_tensor *x, int32_t axis, const ig_tensor *index,
                                 const ig_op_options *options, ig_tensor **out) {
    igi_front f;
    uint64_t shape[IG_MAX_RANK];
    igi_front_begin(&f, stream, IG_OP_INDEX_SELECT, options);
    igi_front_input(&f, "x", x);
    igi_front_input(&f, "index", index);
    if (f.status != IG_STATUS_OK) return f.status;
    uint32_t along = f.call.p.index.axis = igi_front_axis(&f, axis, x->view.rank);
    check_index_type(&f);
    if (index->view.rank != 1)
        igi_front_fail(&f, IG_STATUS_INVALID_ARGUMENT, "index must be a vector, not of rank %u", index->view.rank);
    memcpy(shape, x->view.shape, sizeof shape);
    shape[along] = index->view.shape[0];
    igi_front_output(&f, x->view.type, x->view.rank, shape);
    return igi_front_finish(&f, out);
}

static void check_source(igi_front *f) {
    char has[IGI_SHAPE_TEXT], needs[IGI_SHAPE_TEXT];
    if (f->status != IG_STATUS_OK) return;
    const igi_view *index = &f->call.in[1], *source = &f->call.in[2];
    if (source->type != f->call.in[0].type)
        igi_front_fail(f, IG_STATUS_INVALID_ARGUMENT, "source is %s but x is %s", ig_type_name(source->type),
                       ig_type_name(f->call.in[0].type));
    else if (!igi_same_shape(index, source))
        igi_front_fail(f, IG_STATUS_INVALID_ARGUMENT, "source has shape %s but index %s",
                       igi_shape_text(source->rank, source->shape, has),
                       igi_shape_text(index->rank, index->shape, needs));
}

// Index and source must survive while the result, which may share their memory, is written.
static void protect(igi_front *f, uint32_t input) {
    igi_view *view = &f->call.in[input];
    if (f->status != IG_STATUS_OK || !igi_views_overlap(view, &f->call.out[0])) return;
    ig_tensor *copy = igi_front_temporary(f, view->type, view->rank, view->shape);
    if (!copy) return;
    igi_front_run_inner(f, IG_OP_COPY, view, &copy->view, NULL);
    *view = copy->view;
}

// x into the result, unless it lies there already.
static void copy_first(igi_front *f) {
    if (f->status != IG_STATUS_OK) return;
    protect(f, 1);
    protect(f, 2);
    bool in_place =
        f->call.in[0].storage == f->call.out[0].storage && igi_view_same_layout(&f->call.in[0], &f->call.out[0]);
    if (!in_place) protect(f, 0);
    if (!in_place) igi_front_run_inner(f, IG_OP_COPY, &f->call.in[0], &f->call.out[0], NULL);
    f->call.in[0] = f->call.out[0];
}

ig_status ig_tensor_scatter(ig_stream *stream, const ig_tensor *x, int32_t axis, const ig_tensor *index,
                            const ig_tensor *source, bool add, const ig_op_options *options, ig_tensor **out) {
    igi_front f;
    igi_front_begin(&f, stream, IG_OP_SCATTER, options);
    igi_front_input(&f, "x", x);
    igi_front_input(&f, "index", index);
    igi_front_input(&f, "source", source);
    if (f.status != IG_STATUS_OK) return f.status;
    f.call.p.index.axis = igi_front_axis(&f, axis, x->view.rank);
    f.call.p.index.add = add;
    check_index_type(&f);
    check_index_shape(&f, f.call.p.index.axis);
    check_source(&f);
    igi_front_output(&f, x->view.type, x->view.rank, x->view.shape);
    copy_first(&f);
    return igi_front_finish(&f, out);
}
