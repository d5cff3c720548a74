// SPDX-License-Identifier: Apache-2.0
// Matrix products: the public calls, the descriptor and samples.
#include <string.h>

#include "tensor/front.h"
#include "tensor/sample-maker.h"

// Inserts a dimension of length 1 before `axis`.
static void insert_axis(igi_tensor_view *view, uint32_t axis) {
    uint32_t following = view->rank++ - axis;
    memmove(&view->shape[axis + 1], &view->shape[axis], following * sizeof *view->shape);
    memmove(&view->strides[axis + 1], &view->strides[axis], following * sizeof *view->strides);
    view->shape[axis] = 1;
    view->strides[axis] = 0;
}

static void check_matrices(igi_tensor_front *f) {
    char left[IGI_SHAPE_TEXT], right[IGI_SHAPE_TEXT];
    const igi_tensor_view *a = &f->call.in[0], *b = &f->call.in[1];
    if (a->rank == 0 || b->rank == 0) {
        igi_tensor_front_fail(f, IG_STATUS_INVALID_ARGUMENT, "operands must be vectors or matrices, not single values");
        return;
    }
    uint64_t inner = b->shape[b->rank == 1 ? 0 : b->rank - 2];
    if (a->shape[a->rank - 1] != inner)
        igi_tensor_front_fail(f, IG_STATUS_INVALID_ARGUMENT, "%s times %s: inner lengths %llu and %llu differ",
                              igi_tensor_shape_text(a->rank, a->shape, left),
                              igi_tensor_shape_text(b->rank, b->shape, right),
                              (unsigned long long)a->shape[a->rank - 1], (unsigned long long)inner);
}

// Gives both operands their common batch dimensions, and determines the shape of the result.
static void broadcast_batches(igi_tensor_front *f, uint32_t *rank, uint64_t *shape) {
    char left[IGI_SHAPE_TEXT], right[IGI_SHAPE_TEXT];
    igi_tensor_view *a = &f->call.in[0], *b = &f->call.in[1];
    uint64_t rows = a->shape[a->rank - 2], inner = a->shape[a->rank - 1], columns = b->shape[b->rank - 1];
    if (a->rank == 2 && b->rank == 2) {  // one product may be so small that more work would be noticeable
        *rank = 2;
        shape[0] = rows, shape[1] = columns;
        return;
    }
    if (!igi_tensor_broadcast_shapes(a->rank - 2, a->shape, b->rank - 2, b->shape, rank, shape)) {
        igi_tensor_front_fail(f, IG_STATUS_INVALID_ARGUMENT, "batches of %s and %s do not fit together",
                              igi_tensor_shape_text(a->rank, a->shape, left),
                              igi_tensor_shape_text(b->rank, b->shape, right));
        return;
    }
    *rank += 2;
    shape[*rank - 2] = rows, shape[*rank - 1] = inner;
    igi_tensor_view_broadcast(a, *rank, shape, a);
    shape[*rank - 2] = inner, shape[*rank - 1] = columns;
    igi_tensor_view_broadcast(b, *rank, shape, b);
    shape[*rank - 2] = rows;
}

// The result without the dimensions that vectors do not have.
static void make_output(igi_tensor_front *f, ig_type type, uint32_t rank, const uint64_t *shape, bool row,
                        bool column) {
    uint64_t visible[IG_MAX_RANK];
    uint32_t count = rank - 2;
    memcpy(visible, shape, count * sizeof *shape);
    if (!row) visible[count++] = shape[rank - 2];
    if (!column) visible[count++] = shape[rank - 1];
    igi_tensor_front_output(f, type, count, visible);
    if (f->status != IG_STATUS_OK) return;
    if (row) insert_axis(&f->call.out[0], rank - 2);
    if (column) insert_axis(&f->call.out[0], rank - 1);
}

static void add_addend(igi_tensor_front *f, const ig_tensor *c, ig_type type, uint32_t rank, const uint64_t *shape,
                       bool row, bool column) {
    char has[IGI_SHAPE_TEXT], needs[IGI_SHAPE_TEXT];
    igi_tensor_front_optional_input(f, "c", c);
    if (f->status != IG_STATUS_OK || !c) return;
    igi_tensor_front_convert(f, 2, type);
    igi_tensor_view *view = &f->call.in[2];
    if (column && view->rank < IG_MAX_RANK) insert_axis(view, view->rank);
    if (row && view->rank < IG_MAX_RANK) insert_axis(view, view->rank - (view->rank ? 1 : 0));
    if (f->status == IG_STATUS_OK && !igi_tensor_view_broadcast(view, rank, shape, view))
        igi_tensor_front_fail(f, IG_STATUS_INVALID_ARGUMENT, "c of shape %s does not broadcast to %s",
                              igi_tensor_shape_text(c->view.rank, c->view.shape, has),
                              igi_tensor_shape_text(rank, shape, needs));
}

ig_status ig_tensor_matmul(ig_stream *stream, const ig_tensor *a, const ig_tensor *b, const ig_matmul_desc *desc,
                           const ig_op_options *options, ig_tensor **out) {
    static const ig_matmul_desc plain;
    if (!desc) desc = &plain;
    igi_tensor_front f;
    uint32_t rank = 0;
    uint64_t shape[IG_MAX_RANK + 2];
    igi_tensor_front_begin(&f, stream, IG_OP_MATMUL, options);
    igi_tensor_front_input(&f, "a", a);
    igi_tensor_front_input(&f, "b", b);
    if (f.status == IG_STATUS_OK) check_matrices(&f);
    ig_type type = igi_tensor_front_unify(&f, 0, 2);
    if (f.status != IG_STATUS_OK) return igi_tensor_front_finish(&f, out);
    bool row = a->view.rank == 1, column = b->view.rank == 1;
    if (row) insert_axis(&f.call.in[0], 0);
    if (column) insert_axis(&f.call.in[1], 1);
    broadcast_batches(&f, &rank, shape);
    f.call.p.matmul.alpha = desc->scaled ? desc->alpha : 1;
    f.call.p.matmul.beta = desc->scaled ? desc->beta : 1;
    bool adds = f.call.p.matmul.beta != 0;
    add_addend(&f, adds ? desc->c : NULL, type, rank, shape, row, column);
    if (f.status == IG_STATUS_OK) make_output(&f, type, rank, shape, row, column);
    return igi_tensor_front_finish(&f, out);
}

// ---- Vectors ----

static ig_status check_ranks(ig_stream *stream, const char *op, const ig_tensor *a, uint32_t rank_a, const ig_tensor *b,
                             uint32_t rank_b) {
    if (!stream || !a || !b) return IG_STATUS_OK;  // matmul reports it
    if (a->view.rank == rank_a && b->view.rank == rank_b) return IG_STATUS_OK;
    return igi_tensor_stream_fail(stream, IG_STATUS_INVALID_ARGUMENT,
                                  "%s: operands must have %u and %u dimensions, not %u and %u", op, rank_a, rank_b,
                                  a->view.rank, b->view.rank);
}

ig_status ig_tensor_dot(ig_stream *stream, const ig_tensor *a, const ig_tensor *b, const ig_op_options *options,
                        ig_tensor **out) {
    const char *outer = igi_tensor_stream_enter(stream, "dot");
    ig_status status = check_ranks(stream, "dot", a, 1, b, 1);
    if (status == IG_STATUS_OK) status = ig_tensor_matmul(stream, a, b, NULL, options, out);
    return igi_tensor_stream_leave(stream, outer, status);
}

ig_status ig_tensor_matvec(ig_stream *stream, const ig_tensor *matrix, const ig_tensor *vector,
                           const ig_op_options *options, ig_tensor **out) {
    const char *outer = igi_tensor_stream_enter(stream, "matvec");
    ig_status status = check_ranks(stream, "matvec", matrix, 2, vector, 1);
    if (status == IG_STATUS_OK) status = ig_tensor_matmul(stream, matrix, vector, NULL, options, out);
    return igi_tensor_stream_leave(stream, outer, status);
}

// A column times a row.
ig_status ig_tensor_outer(ig_stream *stream, const ig_tensor *a, const ig_tensor *b, const ig_op_options *options,
                          ig_tensor **out) {
    ig_status status = check_ranks(stream, "outer", a, 1, b, 1);
    if (status != IG_STATUS_OK) return status;
    igi_tensor_front f;
    igi_tensor_front_begin_as(&f, stream, IG_OP_MATMUL, "outer", options);
    igi_tensor_front_input(&f, "a", a);
    igi_tensor_front_input(&f, "b", b);
    ig_type type = igi_tensor_front_unify(&f, 0, 2);
    igi_tensor_front_optional_input(&f, "c", NULL);
    if (f.status == IG_STATUS_OK) {
        insert_axis(&f.call.in[0], 1);
        insert_axis(&f.call.in[1], 0);
        f.call.p.matmul.alpha = f.call.p.matmul.beta = 1;
        igi_tensor_front_output(&f, type, 2, (uint64_t[]){f.call.in[0].shape[0], f.call.in[1].shape[1]});
    }
    return igi_tensor_front_finish(&f, out);
}

// ---- Samples ----

static const struct {
    uint64_t batch, rows, inner, columns;
    bool a_repeats, b_repeats, adds;
    double alpha, beta;
} matmul_shapes[] = {
    {1, 33, 31, 17, false, false, false, 1, 1},   {3, 8, 16, 24, false, true, true, 2, -1},
    {1, 1, 257, 1, false, false, false, 1, 1},    {1, 1, 1, 1, false, false, false, 1, 1},
    {1, 31, 33, 1, false, false, false, 1, 1},    {1, 1, 33, 31, false, false, false, 1, 1},
    {1, 65, 1, 67, false, false, false, 1, 1},    {1, 0, 5, 3, false, false, false, 1, 1},
    {1, 4, 0, 3, false, false, true, 1, 1},       {2, 64, 64, 64, true, false, false, 1, 1},
    {1, 129, 65, 33, false, false, true, 1, 0.5}, {4, 5, 7, 3, true, true, true, 1, 2},
    {1, 97, 300, 101, false, false, false, 1, 1},
};

static void make_matmul(igi_tensor_sample_maker *m, ig_type operand, ig_type result) {
    uint32_t i = m->spec->shape;
    uint64_t batch = matmul_shapes[i].batch, rows = matmul_shapes[i].rows, inner = matmul_shapes[i].inner,
             columns = matmul_shapes[i].columns;
    igi_tensor_sample_input(m, operand, &(ig_shape){3, {batch, rows, inner}},
                            matmul_shapes[i].a_repeats || igi_tensor_sample_repeats(m));
    igi_tensor_sample_input(m, operand, &(ig_shape){3, {batch, inner, columns}}, matmul_shapes[i].b_repeats);
    if (matmul_shapes[i].adds)
        igi_tensor_sample_input(m, result, &(ig_shape){3, {batch, rows, columns}}, false);
    else
        igi_tensor_sample_absent_input(m);
    m->sample->call.p.matmul.alpha = matmul_shapes[i].alpha;
    m->sample->call.p.matmul.beta = matmul_shapes[i].beta;
    m->sample->scale = (double)inner + 1;
    igi_tensor_sample_output(m, result, &(ig_shape){3, {batch, rows, columns}});
}

static const igi_tensor_sample_set samples = {
    .shapes = sizeof matmul_shapes / sizeof *matmul_shapes, .rank = 3, .sums = true, .make = make_matmul};

const igi_op igi_op_of_matmul = {.family = "matmul",
                                 .inputs = 3,
                                 .in_place = 1 << 2,
                                 .blas_first = true,
                                 .tolerance = IGI_TOLERANCE_SUM,
                                 .work = igi_tensor_work_of_product,
                                 .samples = &samples};
