// SPDX-License-Identifier: Apache-2.0
// Public ops on weights.
#include <string.h>

#include "tensor/nn/flatten.h"
#include "tensor/nn/weight.h"

// ---- Quantising ----

static void check_matrix(igi_tensor_front *f, const ig_tensor *matrix, ig_weight_type type) {
    char text[IGI_SHAPE_TEXT];
    uint64_t bytes;
    if (f->status != IG_STATUS_OK) return;
    if ((unsigned)type >= IG_WEIGHT_TYPE_COUNT || matrix->view.rank != 2)
        igi_tensor_front_fail(f, IG_STATUS_INVALID_ARGUMENT, "the operand must be a matrix, and the type a known one");
    else if (ig_weight_size(type, matrix->view.shape[0], matrix->view.shape[1], &bytes) != IG_STATUS_OK)
        igi_tensor_front_fail(f, IG_STATUS_INVALID_ARGUMENT, "rows of %s are not whole blocks of %s",
                              igi_tensor_shape_text(2, matrix->view.shape, text), ig_weight_type_name(type));
}

// Makes a weight from the tensor, whose reference it takes, also on failure.
static ig_status wrap(ig_tensor *tensor, ig_weight_type type, uint64_t columns, ig_weight **weight) {
    ig_weight *made = igi_calloc(1, sizeof *made);
    if (!made) {
        ig_tensor_release(tensor);
        return igi_fail_no_memory();
    }
    igi_ref_init(&made->references);
    made->type = type;
    made->rows = tensor->view.shape[0];
    made->columns = columns;
    made->tensor = tensor;
    *weight = made;
    return IG_STATUS_OK;
}

static ig_status quantize(ig_stream *stream, const ig_tensor *matrix, ig_weight_type type, const ig_op_options *options,
                          ig_tensor **out) {
    igi_tensor_front f;
    igi_tensor_front_begin_as(&f, stream, IG_OP_QUANTIZE, "weight_quantize", options);
    igi_tensor_front_input(&f, "matrix", matrix);
    check_matrix(&f, matrix, type);
    igi_tensor_front_unify(&f, 0, 1);
    if (f.status != IG_STATUS_OK) return igi_tensor_front_finish(&f, out);
    f.call.p.weight.type = type;
    uint64_t row = igi_tensor_weight_row_bytes(type, matrix->view.shape[1]);
    igi_tensor_front_output(&f, IG_TYPE_U8, 2, (uint64_t[]){matrix->view.shape[0], row});
    return igi_tensor_front_finish(&f, out);
}

ig_status ig_weight_quantize(ig_stream *stream, const ig_tensor *matrix, ig_weight_type type,
                             const ig_op_options *options, ig_weight **weight) {
    ig_op_options own = options ? *options : (ig_op_options){0};
    ig_tensor *tensor = NULL;
    if (!weight) return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "weight_quantize: weight must not be NULL");
    if (own.into)
        return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "weight_quantize: 'into' is not supported for weights");
    bool plain = (unsigned)type < IG_WEIGHT_TYPE_COUNT && igi_tensor_weight_is_plain(type);
    if (plain && stream && matrix && matrix->view.rank != 2)
        return igi_tensor_stream_fail(stream, IG_STATUS_INVALID_ARGUMENT,
                                      "weight_quantize: the operand must be a matrix, not of rank %u",
                                      matrix->view.rank);
    const char *outer = igi_tensor_stream_enter(stream, "weight_quantize");
    ig_status status = plain ? ig_tensor_cast(stream, matrix, igi_tensor_weight_formats[type].element, &own, &tensor)
                             : quantize(stream, matrix, type, &own, &tensor);
    igi_tensor_stream_leave(stream, outer, status);
    return status == IG_STATUS_OK && matrix ? wrap(tensor, type, matrix->view.shape[1], weight) : status;
}

static ig_status dequantize(ig_stream *stream, const ig_weight *weight, const ig_tensor *blocks, ig_type type,
                            const ig_op_options *options, ig_tensor **out) {
    igi_tensor_front f;
    igi_tensor_front_begin_as(&f, stream, IG_OP_DEQUANTIZE, "weight_dequantize", options);
    igi_tensor_front_input(&f, "weight", blocks);
    if (f.status == IG_STATUS_OK && !igi_tensor_is_float(type))
        igi_tensor_front_fail(&f, IG_STATUS_INVALID_ARGUMENT, "weights cannot become %s", ig_type_name(type));
    if (f.status != IG_STATUS_OK) return igi_tensor_front_finish(&f, out);
    uint64_t shape[IG_MAX_RANK];
    uint32_t rank = blocks->view.rank;
    memcpy(shape, blocks->view.shape, sizeof shape);
    shape[rank - 1] = weight->columns;
    f.call.p.weight.type = weight->type;
    igi_tensor_front_output(&f, type, rank, shape);
    if (rank != 2) igi_tensor_front_flatten_input(&f, 0, 1), igi_tensor_front_flatten_output(&f, 1);
    return igi_tensor_front_finish(&f, out);
}

ig_status ig_weight_dequantize(ig_stream *stream, const ig_weight *weight, ig_type type, const ig_op_options *options,
                               ig_tensor **out) {
    if (!weight) return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "weight_dequantize: the weight is NULL");
    const char *outer = igi_tensor_stream_enter(stream, "weight_dequantize");
    ig_status status = igi_tensor_weight_is_plain(weight->type)
                           ? ig_tensor_cast(stream, weight->tensor, type, options, out)
                           : dequantize(stream, weight, weight->tensor, type, options, out);
    return igi_tensor_stream_leave(stream, outer, status);
}

// The blocks of the rows are selected first, so that no others are converted.
ig_status ig_weight_embedding(ig_stream *stream, const ig_weight *weight, const ig_tensor *tokens, ig_type type,
                              const ig_op_options *options, ig_tensor **out) {
    ig_tensor *rows = NULL;
    if (!weight) return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "weight_embedding: the weight is NULL");
    bool plain = igi_tensor_weight_is_plain(weight->type);
    const char *outer = igi_tensor_stream_enter(stream, "weight_embedding");
    ig_op_options picking = {.backend = options && !plain ? options->backend : IG_BACKEND_ANY};
    ig_status status = ig_tensor_embedding(stream, weight->tensor, tokens, &picking, &rows);
    if (status != IG_STATUS_OK) return igi_tensor_stream_leave(stream, outer, status);
    status =
        plain ? ig_tensor_cast(stream, rows, type, options, out) : dequantize(stream, weight, rows, type, options, out);
    ig_tensor_release(rows);
    return igi_tensor_stream_leave(stream, outer, status);
}

// ---- Products ----

static bool is_matmul(const ig_weight *weight, const ig_tensor *x) {
    return weight->type == IG_WEIGHT_F32 ||
           (igi_tensor_weight_is_plain(weight->type) && x->view.type == weight->tensor->view.type);
}

ig_status ig_weight_matmul(ig_stream *stream, const ig_weight *weight, const ig_tensor *x, const ig_op_options *options,
                           ig_tensor **out) {
    char text[IGI_SHAPE_TEXT];
    uint64_t shape[IG_MAX_RANK];
    igi_tensor_front f;
    if (weight && x && is_matmul(weight, x)) {
        const char *outer = igi_tensor_stream_enter(stream, "weight_matmul");
        return igi_tensor_stream_leave(stream, outer, ig_tensor_linear(stream, x, weight->tensor, options, out));
    }
    igi_tensor_front_begin(&f, stream, IG_OP_WEIGHT_MATMUL, options);
    igi_tensor_front_input(&f, "x", x);
    igi_tensor_front_input(&f, "weight", weight ? weight->tensor : NULL);
    if (f.status != IG_STATUS_OK || !x || !weight) return igi_tensor_front_finish(&f, out);
    uint32_t rank = x->view.rank;
    if (rank < 1 || x->view.shape[rank - 1] != weight->columns)
        igi_tensor_front_fail(&f, IG_STATUS_INVALID_ARGUMENT, "x of shape %s does not fit %llu columns",
                              igi_tensor_shape_text(rank, x->view.shape, text), (unsigned long long)weight->columns);
    ig_type type = igi_tensor_front_unify(&f, 0, 1);
    if (f.status != IG_STATUS_OK) return igi_tensor_front_finish(&f, out);
    memcpy(shape, x->view.shape, sizeof shape);
    shape[rank - 1] = weight->rows;
    f.call.p.weight.type = weight->type;
    igi_tensor_front_flatten_input(&f, 0, 1);
    igi_tensor_front_output(&f, type, rank, shape);
    igi_tensor_front_flatten_output(&f, 1);
    return igi_tensor_front_finish(&f, out);
}
