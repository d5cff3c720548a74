// SPDX-License-Identifier: Apache-2.0
// Attention in steps: matrix products of views, so that nothing is copied and every backend of matmul can be used.
#include <math.h>
#include <string.h>

#include "tensor/nn/flatten.h"
#include "tensor/nn/nn.h"

// The last three dimensions [a, heads, c] as [key heads, heads / key heads, a, c]. Heads are evenly spaced, so this is
// always a view.
static igi_tensor_view by_heads(const igi_tensor_view *view, uint64_t key_heads) {
    igi_tensor_view out = *view;
    uint32_t first = view->rank - 3;
    uint64_t group = key_heads ? view->shape[first + 1] / key_heads : 0;
    out.rank++;
    out.shape[first] = key_heads, out.strides[first] = view->strides[first + 1] * (int64_t)group;
    out.shape[first + 1] = group, out.strides[first + 1] = view->strides[first + 1];
    out.shape[first + 2] = view->shape[first], out.strides[first + 2] = view->strides[first];
    out.shape[first + 3] = view->shape[first + 2], out.strides[first + 3] = view->strides[first + 2];
    return out;
}

// [heads, a, b] as [key heads, heads / key heads, a, b].
static igi_tensor_view split_heads(const igi_tensor_view *view, uint64_t key_heads) {
    igi_tensor_view moved = *view;
    uint32_t first = view->rank - 3;
    moved.shape[first] = view->shape[first + 1], moved.strides[first] = view->strides[first + 1];
    moved.shape[first + 1] = view->shape[first], moved.strides[first + 1] = view->strides[first];
    return by_heads(&moved, key_heads);
}

// The key head's matrix repeats for each head of its group.
static void repeat_group(igi_tensor_view *view, uint64_t group) {
    uint32_t axis = view->rank - 3;
    view->shape[axis] = group;
    view->strides[axis] = 0;
}

static void swap_last(igi_tensor_view *view) {
    uint32_t last = view->rank - 1;
    uint64_t length = view->shape[last];
    int64_t stride = view->strides[last];
    view->shape[last] = view->shape[last - 1], view->strides[last] = view->strides[last - 1];
    view->shape[last - 1] = length, view->strides[last - 1] = stride;
}

// Whether two operands have the same batches and grouped heads. `heads` is the position of b's key heads, from the end.
static bool fits(const igi_tensor_view *a, uint64_t heads, const igi_tensor_view *b) {
    if (a->rank < 3 || a->rank != b->rank || a->rank >= IG_MAX_RANK) return false;
    for (uint32_t i = 0; i + 3 < a->rank; i++)
        if (a->shape[i] != b->shape[i]) return false;
    uint64_t key_heads = b->shape[b->rank - 2];
    return key_heads ? heads % key_heads == 0 : heads == 0;
}

static void refuse(igi_tensor_front *f, const char *what) {
    char a[IGI_SHAPE_TEXT], b[IGI_SHAPE_TEXT];
    igi_tensor_front_fail(f, IG_STATUS_INVALID_ARGUMENT, "%s of shapes %s and %s do not fit together", what,
                          igi_tensor_shape_text(f->call.in[0].rank, f->call.in[0].shape, a),
                          igi_tensor_shape_text(f->call.in[1].rank, f->call.in[1].shape, b));
}

static void begin(igi_tensor_front *f, ig_stream *stream, const char *name, const ig_op_options *options,
                  const char *roles[2], const ig_tensor *a, const ig_tensor *b, double alpha) {
    igi_tensor_front_begin_as(f, stream, IG_OP_MATMUL, name, options);
    igi_tensor_front_input(f, roles[0], a);
    igi_tensor_front_input(f, roles[1], b);
    igi_tensor_front_optional_input(f, "c", NULL);
    f->call.p.matmul.alpha = alpha;
    f->call.p.matmul.beta = 1;
}

ig_status ig_tensor_attention_scores(ig_stream *stream, const ig_tensor *q, const ig_tensor *k, double scale,
                                     const ig_op_options *options, ig_tensor **out) {
    igi_tensor_front f;
    begin(&f, stream, "attention_scores", options, (const char *[]){"q", "k"}, q, k, scale);
    ig_type type = igi_tensor_front_unify(&f, 0, 2);
    if (f.status != IG_STATUS_OK) return igi_tensor_front_finish(&f, out);
    igi_tensor_view *a = &f.call.in[0], *b = &f.call.in[1];
    uint32_t last = a->rank - 1;
    if (!fits(a, a->rank < 2 ? 0 : a->shape[last - 1], b) || a->shape[last] != b->shape[last]) refuse(&f, "q and k");
    if (f.status != IG_STATUS_OK) return igi_tensor_front_finish(&f, out);
    uint64_t heads = a->shape[last - 1], key_heads = b->shape[last - 1], shape[IG_MAX_RANK];
    memcpy(shape, a->shape, sizeof shape);
    shape[last - 2] = heads, shape[last - 1] = a->shape[last - 2], shape[last] = b->shape[last - 2];
    if (scale == 0 && a->shape[last]) f.call.p.matmul.alpha = 1 / sqrt((double)a->shape[last]);
    *a = by_heads(a, key_heads), *b = by_heads(b, key_heads);
    repeat_group(b, key_heads ? heads / key_heads : 0);
    swap_last(b);
    igi_tensor_front_output(&f, type, last + 1, shape);
    if (f.status == IG_STATUS_OK) f.call.out[0] = split_heads(&f.call.out[0], key_heads);
    return igi_tensor_front_finish(&f, out);
}

ig_status ig_tensor_weighted_sum(ig_stream *stream, const ig_tensor *weights, const ig_tensor *v,
                                 const ig_op_options *options, ig_tensor **out) {
    igi_tensor_front f;
    begin(&f, stream, "weighted_sum", options, (const char *[]){"weights", "v"}, weights, v, 1);
    ig_type type = igi_tensor_front_unify(&f, 0, 2);
    if (f.status != IG_STATUS_OK) return igi_tensor_front_finish(&f, out);
    igi_tensor_view *a = &f.call.in[0], *b = &f.call.in[1];
    uint32_t last = a->rank - 1;
    if (!fits(a, a->rank < 3 ? 0 : a->shape[last - 2], b) || a->shape[last] != b->shape[last - 2])
        refuse(&f, "weights and v");
    if (f.status != IG_STATUS_OK) return igi_tensor_front_finish(&f, out);
    uint64_t heads = a->shape[last - 2], key_heads = b->shape[last - 1], shape[IG_MAX_RANK];
    memcpy(shape, a->shape, sizeof shape);
    shape[last - 2] = a->shape[last - 1], shape[last - 1] = heads, shape[last] = b->shape[last];
    *a = split_heads(a, key_heads), *b = by_heads(b, key_heads);
    repeat_group(b, key_heads ? heads / key_heads : 0);
    igi_tensor_front_output(&f, type, last + 1, shape);
    if (f.status == IG_STATUS_OK) f.call.out[0] = by_heads(&f.call.out[0], key_heads);
    return igi_tensor_front_finish(&f, out);
}

ig_status ig_tensor_linear(ig_stream *stream, const ig_tensor *x, const ig_tensor *weight, const ig_op_options *options,
                           ig_tensor **out) {
    igi_tensor_front f;
    uint64_t shape[IG_MAX_RANK];
    begin(&f, stream, "linear", options, (const char *[]){"x", "weight"}, x, weight, 1);
    ig_type type = igi_tensor_front_unify(&f, 0, 2);
    if (f.status != IG_STATUS_OK) return igi_tensor_front_finish(&f, out);
    igi_tensor_view *a = &f.call.in[0], *b = &f.call.in[1];
    if (a->rank < 1 || b->rank != 2 || a->shape[a->rank - 1] != b->shape[1]) refuse(&f, "x and weight");
    if (f.status != IG_STATUS_OK) return igi_tensor_front_finish(&f, out);
    uint32_t rank = a->rank;
    memcpy(shape, a->shape, sizeof shape);
    shape[rank - 1] = b->shape[0];
    swap_last(b);
    igi_tensor_front_flatten_input(&f, 0, 1);
    igi_tensor_front_output(&f, type, rank, shape);
    igi_tensor_front_flatten_output(&f, 1);
    return igi_tensor_front_finish(&f, out);
}
