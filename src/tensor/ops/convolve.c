// SPDX-License-Identifier: Apache-2.0
// Convolutions and pooling: the public calls, descriptors and samples. One dimension is treated as two with a height of
// 1.
#include <string.h>

#include "tensor/front.h"
#include "tensor/sample-maker.h"

static uint64_t or_one(uint64_t value) {
    return value ? value : 1;
}

// The number of positions of a window along an axis; fails if it is longer than the padded axis.
static uint64_t positions(igi_tensor_front *f, uint64_t length, uint64_t window, uint64_t dilation, uint64_t stride,
                          uint64_t padding) {
    uint64_t span, padded;
    if (f->status != IG_STATUS_OK) return 0;
    bool counts = window && igi_mul(window - 1, dilation, &span) && igi_add(span, 1, &span) &&
                  igi_mul(padding, 2, &padded) && igi_add(padded, length, &padded);
    if (!counts || span > padded) {
        igi_tensor_front_fail(f, IG_STATUS_INVALID_ARGUMENT,
                              "a window of %llu does not fit into a length of %llu with a padding of %llu",
                              (unsigned long long)window, (unsigned long long)length, (unsigned long long)padding);
        return 0;
    }
    return (padded - span) / stride + 1;
}

// [n, c, w] as [n, c, 1, w].
static void add_height(igi_tensor_view *view) {
    if (view->rank != 3) return;
    view->rank = 4;
    view->shape[3] = view->shape[2], view->strides[3] = view->strides[2];
    view->shape[2] = 1, view->strides[2] = 0;
}

static void check_rank(igi_tensor_front *f, uint32_t index, const char *role, uint32_t rank) {
    if (f->status == IG_STATUS_OK && f->call.in[index].rank != rank)
        igi_tensor_front_fail(f, IG_STATUS_INVALID_ARGUMENT, "%s must have %u dimensions, not %u", role, rank,
                              f->call.in[index].rank);
}

// The result with as many dimensions as the input had.
static void make_output(igi_tensor_front *f, ig_type type, uint32_t rank, const uint64_t shape[4]) {
    const uint64_t narrow[3] = {shape[0], shape[1], shape[3]};
    igi_tensor_front_output(f, type, rank, rank == 4 ? shape : narrow);
    if (f->status == IG_STATUS_OK) add_height(&f->call.out[0]);
}

// ---- Convolution ----

static void read_conv(igi_tensor_front *f, const ig_conv_desc *desc, bool flat) {
    for (int i = 0; i < 2; i++) {
        bool used = i == 1 || !flat;
        f->call.p.conv.stride[i] = used ? or_one(desc->stride[i]) : 1;
        f->call.p.conv.dilation[i] = used ? or_one(desc->dilation[i]) : 1;
        f->call.p.conv.padding[i] = used ? desc->padding[i] : 0;
    }
    f->call.p.conv.groups = or_one(desc->groups);
}

static void check_channels(igi_tensor_front *f) {
    if (f->status != IG_STATUS_OK) return;
    const igi_tensor_view *x = &f->call.in[0], *w = &f->call.in[1], *bias = &f->call.in[2];
    uint64_t groups = f->call.p.conv.groups, channels;
    if (w->shape[0] % groups != 0 || !igi_mul(w->shape[1], groups, &channels) || channels != x->shape[1])
        igi_tensor_front_fail(f, IG_STATUS_INVALID_ARGUMENT,
                              "%llu channels and %llu filters of %llu channels do not match with %llu groups",
                              (unsigned long long)x->shape[1], (unsigned long long)w->shape[0],
                              (unsigned long long)w->shape[1], (unsigned long long)groups);
    else if (bias->storage && (bias->rank != 1 || bias->shape[0] != w->shape[0]))
        igi_tensor_front_fail(f, IG_STATUS_INVALID_ARGUMENT, "bias must be a vector of length %llu",
                              (unsigned long long)w->shape[0]);
}

static ig_status convolve(ig_stream *stream, const char *name, const ig_tensor *x, const ig_tensor *weight,
                          const ig_tensor *bias, const ig_conv_desc *desc, uint32_t rank, const ig_op_options *options,
                          ig_tensor **out) {
    static const ig_conv_desc defaults;
    igi_tensor_front f;
    igi_tensor_front_begin_as(&f, stream, IG_OP_CONV, name, options);
    igi_tensor_front_input(&f, "x", x);
    igi_tensor_front_input(&f, "weight", weight);
    igi_tensor_front_optional_input(&f, "bias", bias);
    check_rank(&f, 0, "x", rank);
    check_rank(&f, 1, "weight", rank);
    ig_type type = igi_tensor_front_unify(&f, 0, 3);
    read_conv(&f, desc ? desc : &defaults, rank == 3);
    if (f.status != IG_STATUS_OK) return igi_tensor_front_finish(&f, out);
    igi_tensor_view *in = &f.call.in[0], *w = &f.call.in[1];
    add_height(in), add_height(w);
    check_channels(&f);
    uint64_t shape[4] = {in->shape[0], w->shape[0]};
    for (int i = 0; i < 2; i++)
        shape[2 + i] = positions(&f, in->shape[2 + i], w->shape[2 + i], f.call.p.conv.dilation[i],
                                 f.call.p.conv.stride[i], f.call.p.conv.padding[i]);
    make_output(&f, type, rank, shape);
    return igi_tensor_front_finish(&f, out);
}

ig_status ig_tensor_conv1d(ig_stream *stream, const ig_tensor *x, const ig_tensor *weight, const ig_tensor *bias,
                           const ig_conv_desc *desc, const ig_op_options *options, ig_tensor **out) {
    return convolve(stream, "conv1d", x, weight, bias, desc, 3, options, out);
}

ig_status ig_tensor_conv2d(ig_stream *stream, const ig_tensor *x, const ig_tensor *weight, const ig_tensor *bias,
                           const ig_conv_desc *desc, const ig_op_options *options, ig_tensor **out) {
    return convolve(stream, "conv2d", x, weight, bias, desc, 4, options, out);
}

// ---- Pools ----

static void read_pool(igi_tensor_front *f, const ig_pool_desc *desc, bool flat) {
    for (int i = 0; i < 2; i++) {
        bool used = i == 1 || !flat;
        uint64_t window = used ? desc->window[i] : 1, padding = used ? desc->padding[i] : 0;
        f->call.p.pool.window[i] = window;
        f->call.p.pool.stride[i] = used && desc->stride[i] ? desc->stride[i] : or_one(window);
        f->call.p.pool.padding[i] = padding;
        if (padding && padding >= window)
            igi_tensor_front_fail(f, IG_STATUS_INVALID_ARGUMENT, "a padding of %llu leaves windows of %llu empty",
                                  (unsigned long long)padding, (unsigned long long)window);
    }
}

static ig_status pool(ig_stream *stream, ig_op op, const char *name, const ig_tensor *x, const ig_pool_desc *desc,
                      uint32_t rank, const ig_op_options *options, ig_tensor **out) {
    igi_tensor_front f;
    igi_tensor_front_begin_as(&f, stream, op, name, options);
    igi_tensor_front_input(&f, "x", x);
    if (!desc) igi_tensor_front_fail(&f, IG_STATUS_INVALID_ARGUMENT, "there is no window");
    check_rank(&f, 0, "x", rank);
    ig_type type = igi_tensor_front_unify(&f, 0, 1);
    if (f.status == IG_STATUS_OK && desc) read_pool(&f, desc, rank == 3);
    if (f.status != IG_STATUS_OK) return igi_tensor_front_finish(&f, out);
    igi_tensor_view *in = &f.call.in[0];
    add_height(in);
    uint64_t shape[4] = {in->shape[0], in->shape[1]};
    for (int i = 0; i < 2; i++)
        shape[2 + i] = positions(&f, in->shape[2 + i], f.call.p.pool.window[i], 1, f.call.p.pool.stride[i],
                                 f.call.p.pool.padding[i]);
    make_output(&f, type, rank, shape);
    return igi_tensor_front_finish(&f, out);
}

#define DEFINE_POOL(name, id, rank)                                                             \
    ig_status ig_tensor_##name(ig_stream *stream, const ig_tensor *x, const ig_pool_desc *desc, \
                               const ig_op_options *options, ig_tensor **out) {                 \
        return pool(stream, IG_OP_##id, #name, x, desc, rank, options, out);                    \
    }
DEFINE_POOL(max_pool1d, MAX_POOL, 3)
DEFINE_POOL(max_pool2d, MAX_POOL, 4)
DEFINE_POOL(avg_pool1d, AVG_POOL, 3)
DEFINE_POOL(avg_pool2d, AVG_POOL, 4)

// ---- Samples ----

static const struct {
    uint64_t n, c, h, w, o, kh, kw;
    uint64_t stride[2], padding[2], dilation[2], groups;
    bool bias;
} conv_shapes[] = {
    {1, 3, 9, 11, 4, 3, 3, {1, 1}, {1, 1}, {1, 1}, 1, true},
    {2, 4, 1, 33, 6, 1, 5, {1, 2}, {0, 2}, {1, 1}, 2, false},
    {1, 2, 8, 8, 2, 3, 2, {2, 1}, {0, 1}, {2, 2}, 1, true},
    {1, 1, 1, 1, 1, 1, 1, {1, 1}, {0, 0}, {1, 1}, 1, false},
    {2, 6, 7, 5, 6, 3, 3, {1, 1}, {1, 1}, {1, 1}, 6, true},
    {0, 3, 5, 5, 2, 3, 3, {1, 1}, {0, 0}, {1, 1}, 1, false},
    {1, 16, 14, 14, 16, 1, 1, {1, 1}, {0, 0}, {1, 1}, 1, false},
    {1, 8, 17, 19, 12, 5, 3, {3, 2}, {2, 1}, {1, 1}, 4, true},
};

static void make_conv(igi_tensor_sample_maker *m, ig_type operand, ig_type result) {
    uint32_t i = m->spec->shape;
    igi_tensor_parameters *p = &m->sample->call.p;
    uint64_t in[2] = {conv_shapes[i].h, conv_shapes[i].w}, k[2] = {conv_shapes[i].kh, conv_shapes[i].kw}, out[2];
    for (int d = 0; d < 2; d++) {
        p->conv.stride[d] = conv_shapes[i].stride[d], p->conv.padding[d] = conv_shapes[i].padding[d];
        p->conv.dilation[d] = conv_shapes[i].dilation[d];
        out[d] = (in[d] + 2 * p->conv.padding[d] - p->conv.dilation[d] * (k[d] - 1) - 1) / p->conv.stride[d] + 1;
    }
    p->conv.groups = conv_shapes[i].groups;
    uint64_t channels = conv_shapes[i].c / p->conv.groups;
    m->sample->scale = (double)(channels * k[0] * k[1]) + 1;
    igi_tensor_sample_input(m, operand, &(ig_shape){4, {conv_shapes[i].n, conv_shapes[i].c, in[0], in[1]}},
                            igi_tensor_sample_repeats(m));
    m->tame = true;  // whether padding times infinity is NaN is unspecified
    igi_tensor_sample_input(m, operand, &(ig_shape){4, {conv_shapes[i].o, channels, k[0], k[1]}}, false);
    m->tame = false;
    if (conv_shapes[i].bias)
        igi_tensor_sample_input(m, result, &(ig_shape){1, {conv_shapes[i].o}}, false);
    else
        igi_tensor_sample_absent_input(m);
    igi_tensor_sample_output(m, result, &(ig_shape){4, {conv_shapes[i].n, conv_shapes[i].o, out[0], out[1]}});
}

// The windows of pooling are the kernels of a convolution without dilation.
static void make_pool(igi_tensor_sample_maker *m, ig_type operand, ig_type result) {
    uint32_t i = m->spec->shape;
    igi_tensor_parameters *p = &m->sample->call.p;
    uint64_t in[2] = {conv_shapes[i].h, conv_shapes[i].w}, k[2] = {conv_shapes[i].kh, conv_shapes[i].kw}, out[2];
    for (int d = 0; d < 2; d++) {
        p->pool.window[d] = k[d];
        p->pool.stride[d] = conv_shapes[i].stride[d];
        p->pool.padding[d] = conv_shapes[i].padding[d] < k[d] ? conv_shapes[i].padding[d] : k[d] - 1;
        out[d] = (in[d] + 2 * p->pool.padding[d] - k[d]) / p->pool.stride[d] + 1;
    }
    m->sample->scale = (double)(k[0] * k[1]) + 1;
    igi_tensor_sample_input(m, operand, &(ig_shape){4, {conv_shapes[i].n, conv_shapes[i].c, in[0], in[1]}},
                            igi_tensor_sample_repeats(m));
    igi_tensor_sample_output(m, result, &(ig_shape){4, {conv_shapes[i].n, conv_shapes[i].c, out[0], out[1]}});
}

enum { SHAPES = sizeof conv_shapes / sizeof *conv_shapes };
static const igi_tensor_sample_set conv_samples = {.shapes = SHAPES, .rank = 4, .sums = true, .make = make_conv},
                                   avg_samples = {.shapes = SHAPES, .rank = 4, .sums = true, .make = make_pool},
                                   max_samples = {.shapes = SHAPES, .rank = 4, .make = make_pool};

// ---- Descriptors ----

static uint64_t conv_work(const igi_tensor_call *call) {
    const igi_tensor_view *weight = &call->in[1];
    uint64_t work, each = igi_tensor_view_count(weight) / or_one(weight->shape[0]);
    return igi_mul(igi_tensor_view_count(&call->out[0]), each, &work) ? work : UINT64_MAX;
}

const igi_op igi_op_of_conv = {
    .family = "convolve", .inputs = 3, .tolerance = IGI_TOLERANCE_SUM, .work = conv_work, .samples = &conv_samples};
const igi_op igi_op_of_max_pool = {
    .family = "convolve", .inputs = 1, .tolerance = IGI_TOLERANCE_SUM, .samples = &max_samples};
const igi_op igi_op_of_avg_pool = {
    .family = "convolve", .inputs = 1, .tolerance = IGI_TOLERANCE_SUM, .samples = &avg_samples};
