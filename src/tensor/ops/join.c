// SPDX-License-Identifier: Apache-2.0
// Public ops that consist of copies: concatenate and pad.
#include <string.h>

#include "tensor/front.h"

// The part of a view from `start` on, `length` long.
static igi_tensor_view part_of(const igi_tensor_view *view, uint32_t axis, uint64_t start, uint64_t length) {
    igi_tensor_view part = *view;
    part.offset += (uint64_t)((int64_t)start * igi_tensor_view_stride_bytes(view, axis));
    part.shape[axis] = length;
    return part;
}

// ---- Concatenation ----

typedef struct joining {
    igi_tensor_front f;
    uint32_t axis;
    ig_type type;
    uint64_t shape[IG_MAX_RANK];
} joining;

// Adds one tensor's length, after checking that its shape fits the others.
static void measure(joining *j, const ig_tensor *first, const ig_tensor *next) {
    igi_tensor_front *f = &j->f;
    char a[IGI_SHAPE_TEXT], b[IGI_SHAPE_TEXT];
    bool fits = next->view.rank == first->view.rank;
    for (uint32_t i = 0; fits && i < first->view.rank; i++)
        fits = i == j->axis || next->view.shape[i] == first->view.shape[i];
    if (!fits)
        igi_tensor_front_fail(f, IG_STATUS_INVALID_ARGUMENT, "shapes %s and %s differ in more than axis %u",
                              igi_tensor_shape_text(first->view.rank, first->view.shape, a),
                              igi_tensor_shape_text(next->view.rank, next->view.shape, b), j->axis);
    else if (!igi_add(j->shape[j->axis], next->view.shape[j->axis], &j->shape[j->axis]))
        igi_tensor_front_fail(f, IG_STATUS_OVERFLOW, "the result is too long");
    j->type = igi_tensor_promote(j->type, next->view.type);
}

static void copy_parts(joining *j, const ig_tensor *const *tensors, size_t count, const igi_tensor_view *target) {
    uint64_t start = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t length = tensors[i]->view.shape[j->axis];
        igi_tensor_view part = part_of(target, j->axis, start, length);
        ig_op op = tensors[i]->view.type == j->type ? IG_OP_COPY : IG_OP_CAST;
        igi_tensor_front_run_inner(&j->f, op, &tensors[i]->view, &part, NULL);
        start += length;
    }
}

static void join(joining *j, const ig_tensor *const *tensors, size_t count) {
    igi_tensor_front *f = &j->f;
    if (f->status != IG_STATUS_OK) return;
    bool overlaps = false;
    for (size_t i = 0; i < count; i++)
        overlaps = overlaps || igi_tensor_views_overlap(&tensors[i]->view, &f->call.out[0]);
    ig_tensor *aside = overlaps ? igi_tensor_front_temporary(f, j->type, f->call.out[0].rank, j->shape) : NULL;
    copy_parts(j, tensors, count, aside ? &aside->view : &f->call.out[0]);
    if (aside) igi_tensor_front_run_inner(f, IG_OP_COPY, &aside->view, &f->call.out[0], NULL);
}

ig_status ig_tensor_concatenate(ig_stream *stream, const ig_tensor *const *tensors, size_t count, int32_t axis,
                                const ig_op_options *options, ig_tensor **out) {
    joining j;
    igi_tensor_front *f = &j.f;
    igi_tensor_front_begin_as(f, stream, IG_OP_COPY, "concatenate", options);
    if (!tensors || !count) {
        igi_tensor_front_fail(f, IG_STATUS_INVALID_ARGUMENT, "there is nothing to concatenate");
        return f->status;
    }
    for (size_t i = 0; f->status == IG_STATUS_OK && i < count; i++) {
        igi_tensor_front_input(f, "tensors", tensors[i]);
        f->call.input_count = 0;  // each is an input of a separate copy
    }
    if (f->status != IG_STATUS_OK) return f->status;
    j.axis = igi_tensor_front_axis(f, axis, tensors[0]->view.rank);
    j.type = tensors[0]->view.type;
    memcpy(j.shape, tensors[0]->view.shape, sizeof j.shape);
    j.shape[j.axis] = 0;
    for (size_t i = 0; f->status == IG_STATUS_OK && i < count; i++) measure(&j, tensors[0], tensors[i]);
    igi_tensor_front_output(f, j.type, tensors[0]->view.rank, j.shape);
    join(&j, tensors, count);
    return igi_tensor_front_hand_over(f, out);
}

// ---- Padding ----

ig_status ig_tensor_pad(ig_stream *stream, const ig_tensor *x, const uint64_t *before, const uint64_t *after,
                        double value, const ig_op_options *options, ig_tensor **out) {
    igi_tensor_front f;
    uint64_t shape[IG_MAX_RANK];
    igi_tensor_front_begin_as(&f, stream, IG_OP_COPY, "pad", options);
    igi_tensor_front_input(&f, "x", x);
    if (f.status != IG_STATUS_OK) return f.status;
    uint32_t rank = x->view.rank;
    if (rank && (!before || !after)) {
        igi_tensor_front_fail(&f, IG_STATUS_INVALID_ARGUMENT, "the widths of the padding are missing");
        return f.status;
    }
    for (uint32_t i = 0; f.status == IG_STATUS_OK && i < rank; i++)
        if (!igi_add(x->view.shape[i], before[i], &shape[i]) || !igi_add(shape[i], after[i], &shape[i]))
            igi_tensor_front_fail(&f, IG_STATUS_OVERFLOW, "the result is too long");
    igi_tensor_front_output(&f, x->view.type, rank, shape);
    if (f.status == IG_STATUS_OK && igi_tensor_views_overlap(&x->view, &f.call.out[0]))
        igi_tensor_front_fail(&f, IG_STATUS_UNSUPPORTED, "'into' shares memory with x");
    if (f.status != IG_STATUS_OK) return igi_tensor_front_hand_over(&f, out);
    igi_tensor_view inside = f.call.out[0];
    for (uint32_t i = 0; i < rank; i++) inside = part_of(&inside, i, before[i], x->view.shape[i]);
    igi_tensor_front_run_inner(&f, IG_OP_FILL, NULL, &f.call.out[0],
                               &(igi_tensor_parameters){.range = {.start = value}});
    igi_tensor_front_run_inner(&f, IG_OP_COPY, &x->view, &inside, NULL);
    return igi_tensor_front_hand_over(&f, out);
}
