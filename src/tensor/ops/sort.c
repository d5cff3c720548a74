// SPDX-License-Identifier: Apache-2.0
// Sorting: the public calls, the descriptor and samples.
#include <string.h>

#include "tensor/front.h"
#include "tensor/sample-maker.h"

static ig_status sort(ig_stream *stream, const char *name, const ig_tensor *x, int32_t axis, bool descending,
                      const uint64_t *most, const ig_op_options *options, ig_tensor **values, ig_tensor **indices) {
    igi_tensor_front f;
    uint64_t shape[IG_MAX_RANK];
    igi_tensor_front_begin_as(&f, stream, IG_OP_SORT, name, options);
    igi_tensor_front_input(&f, "x", x);
    if (f.status != IG_STATUS_OK) return f.status;
    uint32_t along = igi_tensor_front_axis(&f, axis, x->view.rank);
    f.call.p.sort.axis = along;
    f.call.p.sort.descending = descending;
    memcpy(shape, x->view.shape, sizeof shape);
    if (most && f.status == IG_STATUS_OK && *most > shape[along])
        igi_tensor_front_fail(&f, IG_STATUS_OUT_OF_RANGE, "k is %llu, but the axis has length %llu",
                              (unsigned long long)*most, (unsigned long long)shape[along]);
    if (most) shape[along] = *most;
    igi_tensor_front_output(&f, x->view.type, x->view.rank, shape);
    igi_tensor_front_output(&f, IG_TYPE_I64, x->view.rank, shape);
    return igi_tensor_front_finish_two(&f, values, indices);
}

ig_status ig_tensor_sort(ig_stream *stream, const ig_tensor *x, int32_t axis, bool descending,
                         const ig_op_options *options, ig_tensor **values, ig_tensor **indices) {
    return sort(stream, "sort", x, axis, descending, NULL, options, values, indices);
}

ig_status ig_tensor_top_k(ig_stream *stream, const ig_tensor *x, int32_t axis, uint64_t k, const ig_op_options *options,
                          ig_tensor **values, ig_tensor **indices) {
    return sort(stream, "top_k", x, axis, true, &k, options, values, indices);
}

// The sorted values are computed too, and discarded; `into` receives the indices here.
ig_status ig_tensor_argsort(ig_stream *stream, const ig_tensor *x, int32_t axis, bool descending,
                            const ig_op_options *options, ig_tensor **indices) {
    ig_op_options inner = {.backend = options ? options->backend : IG_BACKEND_ANY};
    ig_tensor *made = NULL;
    if (stream && !indices && !(options && options->into))
        return igi_tensor_stream_fail(stream, IG_STATUS_INVALID_ARGUMENT,
                                      "argsort: out is NULL, and no 'into' is given");
    ig_status status = sort(stream, "argsort", x, axis, descending, NULL, &inner, NULL, &made);
    if (status != IG_STATUS_OK) return status;
    if (!options || !options->into) {
        *indices = made;
        return IG_STATUS_OK;
    }
    const char *outer = igi_tensor_stream_enter(stream, "argsort");
    status = ig_tensor_copy(stream, made, &(ig_op_options){.into = options->into}, indices);
    ig_tensor_release(made);
    return igi_tensor_stream_leave(stream, outer, status);
}

// ---- Samples ----

// The result may be shorter than the axis: the first few of the order.
static void make_sort(igi_tensor_sample_maker *m, ig_type operand, ig_type result) {
    ig_shape shape = igi_tensor_line_shapes[m->spec->shape].in;
    uint32_t axis = igi_tensor_line_shapes[m->spec->shape].axis;
    m->sample->call.p.sort.axis = axis;
    m->sample->call.p.sort.descending = m->spec->shape % 2;
    igi_tensor_sample_input(m, operand, &shape, igi_tensor_sample_repeats(m));
    if (m->spec->shape % 3 == 2) shape.lengths[axis] = shape.lengths[axis] / 2;
    igi_tensor_sample_output(m, result, &shape);
    igi_tensor_sample_output(m, IG_TYPE_I64, &shape);
}

static const igi_tensor_sample_set samples = {
    .shapes = IGI_LINE_SHAPES, .rank_of = igi_tensor_line_rank, .make = make_sort};

const igi_op igi_op_of_sort = {.family = "sort", .inputs = 1, .ulps = 1, .samples = &samples};
