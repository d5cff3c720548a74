// SPDX-License-Identifier: Apache-2.0
// Convolutions as matrix products: for each image and group, the elements under the filter at every position become a
// column (im2col), and the filters are the rows that are multiplied with them.
#include <string.h>

#include "tensor/simd/simd.h"

typedef struct convolution {
    const igi_tensor_call *call;
    igi_tensor_view x, weight, out;    // of one image and group
    uint64_t channels, filters;        // of a group
    uint64_t kernel[2], positions[2];  // height and width
    float *columns;                    // [channels * kernel, positions]
} convolution;

// One row of the column matrix: one tap of one channel at every position.
static void fill_row(const convolution *c, uint64_t channel, uint64_t ky, uint64_t kx, float *row) {
    const uint64_t *stride = c->call->p.conv.stride, *dilation = c->call->p.conv.dilation;
    const uint64_t *padding = c->call->p.conv.padding;
    uint64_t height = c->x.shape[2], width = c->x.shape[3];
    const char *plane = igi_tensor_view_data(&c->x) + (int64_t)channel * igi_tensor_view_stride_bytes(&c->x, 1);
    int64_t along = igi_tensor_view_stride_bytes(&c->x, 3);
    for (uint64_t y = 0; y < c->positions[0]; y++, row += c->positions[1]) {
        uint64_t from_y = y * stride[0] + ky * dilation[0] - padding[0];  // wraps to a huge value above the image
        memset(row, 0, c->positions[1] * sizeof *row);
        if (from_y >= height) continue;
        uint64_t offset = kx * dilation[1], first = 0, end = 0;
        if (padding[1] > offset) first = (padding[1] - offset + stride[1] - 1) / stride[1];
        if (width + padding[1] > offset) end = (width + padding[1] - offset + stride[1] - 1) / stride[1];
        if (end > c->positions[1]) end = c->positions[1];
        if (first >= end) continue;
        const char *line = plane + (int64_t)from_y * igi_tensor_view_stride_bytes(&c->x, 2);
        igi_simd_load_all(igi_simd(), c->x.type, line + (int64_t)(first * stride[1] + offset - padding[1]) * along,
                          along * (int64_t)stride[1], end - first, row + first);
    }
}

static void fill_rows(void *user, uint64_t begin, uint64_t end) {
    const convolution *c = user;
    uint64_t positions = c->positions[0] * c->positions[1], taps = c->kernel[0] * c->kernel[1];
    for (uint64_t row = begin; row < end; row++)
        fill_row(c, row / taps, row % taps / c->kernel[1], row % c->kernel[1], c->columns + row * positions);
}

// The filters of a group as a matrix; packed as floats by the caller.
static igi_tensor_view matrix(igi_tensor_storage *storage, uint64_t offset, uint64_t rows, uint64_t columns) {
    igi_tensor_view view = igi_tensor_view_contiguous(IG_TYPE_F32, 2, (const uint64_t[]){rows, columns});
    view.storage = storage;
    view.offset = offset;
    return view;
}

typedef struct scratch {
    igi_tensor_storage *columns, *filters, *results;
} scratch;

static ig_status multiply(const convolution *c, const scratch *s, uint64_t group) {
    uint64_t inner = c->channels * c->kernel[0] * c->kernel[1], positions = c->positions[0] * c->positions[1];
    igi_tensor_call call = {.op = IG_OP_MATMUL, .input_count = 3, .output_count = 1, .runtime = c->call->runtime};
    call.in[0] = matrix(s->filters, group * c->filters * inner * sizeof(float), c->filters, inner);
    call.in[1] = matrix(s->columns, 0, inner, positions);
    call.out[0] = matrix(s->results, 0, c->filters, positions);
    call.p.matmul.alpha = call.p.matmul.beta = 1;
    return igi_simd_matmul(&call);
}

// Writes the results into the output, adding the bias.
static void store_results(const convolution *c, const scratch *s, uint64_t group) {
    const igi_tensor_view *bias = &c->call->in[2];
    uint64_t width = c->positions[1], positions = c->positions[0] * width;
    for (uint64_t filter = 0; filter < c->filters; filter++) {
        float *row = (float *)s->results->memory + filter * positions, add = 0;
        uint64_t channel = group * c->filters + filter;
        if (bias->storage)
            igi_simd_load(igi_simd(), bias->type,
                          igi_tensor_view_data(bias) + (int64_t)channel * igi_tensor_view_stride_bytes(bias, 0), 0, 1,
                          &add);
        for (uint64_t i = 0; i < positions && add != 0; i++) row[i] += add;
        for (uint64_t y = 0; y < c->positions[0]; y++)
            igi_simd_store_all(igi_simd(), c->out.type, row + y * width,
                               igi_tensor_view_data(&c->out) +
                                   (int64_t)channel * igi_tensor_view_stride_bytes(&c->out, 1) +
                                   (int64_t)y * igi_tensor_view_stride_bytes(&c->out, 2),
                               igi_tensor_view_stride_bytes(&c->out, 3), width);
    }
}

static ig_status convolve_group(convolution *c, const scratch *s, uint64_t image, uint64_t group) {
    const igi_tensor_view *x = &c->call->in[0], *out = &c->call->out[0];
    c->x.offset = x->offset + (uint64_t)((int64_t)image * igi_tensor_view_stride_bytes(x, 0) +
                                         (int64_t)(group * c->channels) * igi_tensor_view_stride_bytes(x, 1));
    c->out.offset = out->offset + (uint64_t)((int64_t)image * igi_tensor_view_stride_bytes(out, 0));
    igi_tensor_parallel(c->call->runtime, c->channels * c->kernel[0] * c->kernel[1], 4, fill_rows, c);
    ig_status status = multiply(c, s, group);
    if (status == IG_STATUS_OK) store_results(c, s, group);
    return status;
}

static ig_status pack_filters(const igi_tensor_call *call, igi_tensor_storage *storage) {
    igi_tensor_view packed = igi_tensor_view_contiguous(IG_TYPE_F32, 4, call->in[1].shape);
    packed.storage = storage;
    igi_tensor_call cast = {.op = IG_OP_CAST, .input_count = 1, .output_count = 1, .runtime = call->runtime};
    cast.in[0] = call->in[1], cast.out[0] = packed;
    return igi_simd_cast(&cast);
}

static ig_status make_scratch(const convolution *c, scratch *s) {
    ig_device *device = c->call->runtime->device;
    uint64_t inner = c->channels * c->kernel[0] * c->kernel[1], positions = c->positions[0] * c->positions[1], bytes;
    if (!igi_mul(inner * sizeof(float), positions, &bytes)) return IG_STATUS_OVERFLOW;
    ig_status status = igi_tensor_storage_make(device, bytes, &s->columns);
    if (status == IG_STATUS_OK)
        status = igi_tensor_storage_make(device, igi_tensor_view_count(&c->call->in[1]) * sizeof(float), &s->filters);
    if (status == IG_STATUS_OK)
        status = igi_tensor_storage_make(device, c->filters * positions * sizeof(float), &s->results);
    return status;
}

ig_status igi_simd_convolve(const igi_tensor_call *call) {
    const igi_tensor_view *w = &call->in[1], *out = &call->out[0];
    uint64_t groups = call->p.conv.groups;
    convolution c = {.call = call,
                     .x = call->in[0],
                     .out = *out,
                     .channels = w->shape[1],
                     .filters = w->shape[0] / groups,
                     .kernel = {w->shape[2], w->shape[3]},
                     .positions = {out->shape[2], out->shape[3]}};
    scratch s = {0};
    if (!igi_tensor_view_count(out)) return IG_STATUS_OK;
    ig_status status = make_scratch(&c, &s);
    if (status == IG_STATUS_OK) status = pack_filters(call, s.filters);
    if (status == IG_STATUS_OK) c.columns = (float *)s.columns->memory;
    for (uint64_t image = 0; image < out->shape[0] && status == IG_STATUS_OK; image++)
        for (uint64_t group = 0; group < groups && status == IG_STATUS_OK; group++)
            status = convolve_group(&c, &s, image, group);
    igi_tensor_storage_release(s.columns), igi_tensor_storage_release(s.filters), igi_tensor_storage_release(s.results);
    return status;
}

// With zero channels there is nothing to multiply.
bool igi_simd_accepts_convolve(const igi_tensor_call *call) {
    return call->in[1].shape[1] > 0;
}
