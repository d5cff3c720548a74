// SPDX-License-Identifier: Apache-2.0
// Convolutions and pooling of the reference: each element of the result separately.
#include <math.h>

#include "tensor/scalar/scalar.h"

typedef struct position {
    uint64_t n, c, y, x;
} position;

static char *element(const igi_tensor_view *v, position p) {
    int64_t at = (int64_t)p.n * v->strides[0] + (int64_t)p.c * v->strides[1] + (int64_t)p.y * v->strides[2] +
                 (int64_t)p.x * v->strides[3];
    return igi_tensor_view_data(v) + at * (int64_t)ig_type_size(v->type);
}

static double get(const igi_tensor_view *v, position p) {
    double value;
    igi_tensor_load_doubles(v->type, element(v, p), 0, 1, &value);
    return value;
}

static int64_t get_integer(const igi_tensor_view *v, position p) {
    int64_t value;
    igi_tensor_load_integers(v->type, element(v, p), 0, 1, &value);
    return value;
}

// Where tap k of a window at `at` is in the input. Returns false in the padding.
static bool reach(uint64_t at, uint64_t k, uint64_t stride, uint64_t dilation, uint64_t padding, uint64_t length,
                  uint64_t *where) {
    *where = at * stride + k * dilation - padding;  // wraps to a huge value below zero
    return *where < length;
}

typedef struct sum {
    double value;
    uint64_t integer;
} sum;

// One element of a convolution.
static void convolve_at(const igi_tensor_call *call, position p, sum *s) {
    const igi_tensor_view *x = &call->in[0], *w = &call->in[1];
    uint64_t channels = w->shape[1], group = p.c / (w->shape[0] / call->p.conv.groups);
    bool floats = igi_tensor_is_float(x->type);
    for (uint64_t c = 0; c < channels; c++)
        for (uint64_t ky = 0; ky < w->shape[2]; ky++)
            for (uint64_t kx = 0; kx < w->shape[3]; kx++) {
                position from = {p.n, group * channels + c, 0, 0}, tap = {p.c, c, ky, kx};
                if (!reach(p.y, ky, call->p.conv.stride[0], call->p.conv.dilation[0], call->p.conv.padding[0],
                           x->shape[2], &from.y) ||
                    !reach(p.x, kx, call->p.conv.stride[1], call->p.conv.dilation[1], call->p.conv.padding[1],
                           x->shape[3], &from.x))
                    continue;
                if (floats)
                    s->value += get(x, from) * get(w, tap);
                else
                    s->integer += (uint64_t)get_integer(x, from) * (uint64_t)get_integer(w, tap);
            }
}

// One element of a pool: the largest, or the mean.
static double pool_at(const igi_tensor_call *call, position p) {
    const igi_tensor_view *x = &call->in[0];
    bool largest = call->op == IG_OP_MAX_POOL;
    double result = largest ? -INFINITY : 0;
    uint64_t seen = 0;
    for (uint64_t ky = 0; ky < call->p.pool.window[0]; ky++)
        for (uint64_t kx = 0; kx < call->p.pool.window[1]; kx++) {
            position from = {p.n, p.c, 0, 0};
            if (!reach(p.y, ky, call->p.pool.stride[0], 1, call->p.pool.padding[0], x->shape[2], &from.y) ||
                !reach(p.x, kx, call->p.pool.stride[1], 1, call->p.pool.padding[1], x->shape[3], &from.x))
                continue;
            double value = get(x, from);
            seen++;
            if (!largest)
                result += value;
            else if (isnan(value) || value > result)
                result = isnan(result) ? result : value;
        }
    return largest ? result : result / (double)seen;
}

// Integers that double cannot hold exactly are pooled as integers.
static int64_t integer_pool_at(const igi_tensor_call *call, position p) {
    const igi_tensor_view *x = &call->in[0];
    int64_t most = INT64_MIN;
    for (uint64_t ky = 0; ky < call->p.pool.window[0]; ky++)
        for (uint64_t kx = 0; kx < call->p.pool.window[1]; kx++) {
            position from = {p.n, p.c, 0, 0};
            if (!reach(p.y, ky, call->p.pool.stride[0], 1, call->p.pool.padding[0], x->shape[2], &from.y) ||
                !reach(p.x, kx, call->p.pool.stride[1], 1, call->p.pool.padding[1], x->shape[3], &from.x))
                continue;
            int64_t value = get_integer(x, from);
            most = value > most ? value : most;
        }
    return most;
}

static void store(const igi_tensor_call *call, position p, sum s) {
    const igi_tensor_view *out = &call->out[0], *bias = &call->in[2];
    bool biased = call->op == IG_OP_CONV && bias->storage, floats = igi_tensor_is_float(out->type);
    const char *addend =
        biased ? igi_tensor_view_data(bias) + (int64_t)p.c * igi_tensor_view_stride_bytes(bias, 0) : NULL;
    double value = 0;
    int64_t integer = 0;
    if (biased && floats) igi_tensor_load_doubles(bias->type, addend, 0, 1, &value);
    if (biased && !floats) igi_tensor_load_integers(bias->type, addend, 0, 1, &integer);
    value += s.value;
    integer = (int64_t)((uint64_t)integer + s.integer);
    if (floats)
        igi_tensor_store_doubles(out->type, element(out, p), 0, 1, &value);
    else
        igi_tensor_store_integers(out->type, element(out, p), 0, 1, &integer);
}

static void compute(const igi_tensor_call *call, position p) {
    sum s = {0, 0};
    if (call->op == IG_OP_CONV)
        convolve_at(call, p, &s);
    else if (igi_tensor_is_float(call->out[0].type))
        s.value = pool_at(call, p);
    else
        s.integer = (uint64_t)integer_pool_at(call, p);
    store(call, p, s);
}

ig_status igi_scalar_convolve(const igi_tensor_call *call) {
    const uint64_t *shape = call->out[0].shape;
    for (uint64_t n = 0; n < shape[0]; n++)
        for (uint64_t c = 0; c < shape[1]; c++)
            for (uint64_t y = 0; y < shape[2]; y++)
                for (uint64_t x = 0; x < shape[3]; x++) compute(call, (position){n, c, y, x});
    return IG_STATUS_OK;
}
