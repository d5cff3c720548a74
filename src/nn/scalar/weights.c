// SPDX-License-Identifier: Apache-2.0
// Weights of the reference: to blocks, back, and products.
#include <math.h>
#include <string.h>

#include "core/status-internal.h"
#include "nn/weight.h"

// ---- To blocks: in float, with one rounding where there is a sum, so that kernels give the same bytes ----

static float magnitude(const float *x) {
    float most = 0;
    for (int i = 0; i < IGI_BLOCK; i++) most = fabsf(x[i]) > most ? fabsf(x[i]) : most;
    return most;
}

// What is not finite becomes something.
static int whole(float x, int low, int high) {
    return x >= (float)low ? x <= (float)high ? (int)x : high : low;
}

static void put_scale(uint8_t *block, float scale) {
    uint16_t bits = igi_f16_from_double((double)scale);
    memcpy(block, &bits, sizeof bits);
}

static void to_q8_0(const float *x, uint8_t *block) {
    float scale = magnitude(x) / 127, inverse = scale != 0 ? 1 / scale : 0;
    put_scale(block, scale);
    for (int i = 0; i < IGI_BLOCK; i++) block[2 + i] = (uint8_t)(int8_t)whole(roundf(x[i] * inverse), -128, 127);
}

// The greatest magnitude becomes -8, which has no opposite.
static void to_q4_0(const float *x, uint8_t *block) {
    float most = 0;
    for (int i = 0; i < IGI_BLOCK; i++) most = fabsf(x[i]) > fabsf(most) ? x[i] : most;
    float scale = most / -8, inverse = scale != 0 ? 1 / scale : 0;
    put_scale(block, scale);
    for (int i = 0; i < IGI_BLOCK / 2; i++) {
        int low = whole(fmaf(x[i], inverse, 8.5F), 0, 15), high = whole(fmaf(x[i + 16], inverse, 8.5F), 0, 15);
        block[2 + i] = (uint8_t)(low | high << 4);
    }
}

void igi_quantize_rows(const igi_call *call, uint64_t begin, uint64_t end) {
    const igi_view *x = &call->in[0], *out = &call->out[0];
    uint32_t type = call->p.weight.type, bytes = igi_weight_formats[type].bytes;
    int64_t step = igi_view_stride_bytes(x, 1);
    for (uint64_t row = begin; row < end; row++)
        for (uint64_t b = 0; b < x->shape[1] / IGI_BLOCK; b++) {
            const char *from = igi_weight_row(x, row) + (int64_t)b * IGI_BLOCK * step;
            double values[IGI_BLOCK];
            float floats[IGI_BLOCK];
            igi_load_doubles(x->type, from, step, IGI_BLOCK, values);
            for (int i = 0; i < IGI_BLOCK; i++) floats[i] = (float)values[i];
            (type == IG_WEIGHT_Q8_0 ? to_q8_0 : to_q4_0)(floats, (uint8_t *)igi_weight_row(out, row) + b * bytes);
        }
}

ig_status igi_scalar_quantize(const igi_call *call) {
    igi_quantize_rows(call, 0, call->in[0].shape[0]);
    return IG_STATUS_OK;
}

// ---- Back ----

static double weight_at(uint32_t type, const char *row, uint64_t i) {
    double value;
    if (igi_weight_is_plain(type)) {
        const igi_weight_format *format = &igi_weight_formats[type];
        igi_load_doubles(format->element, row + i * format->bytes, 0, 1, &value);
        return value;
    }
    const uint8_t *block = (const uint8_t *)row + i / IGI_BLOCK * igi_weight_formats[type].bytes;
    uint64_t at = i % IGI_BLOCK;
    uint16_t bits;
    memcpy(&bits, block, sizeof bits);
    int number = type == IG_WEIGHT_Q8_0 ? (int8_t)block[2 + at] : (block[2 + at % 16] >> at / 16 * 4 & 15) - 8;
    return igi_f16_to_double(bits) * number;
}

ig_status igi_scalar_dequantize(const igi_call *call) {
    const igi_view *weight = &call->in[0], *out = &call->out[0];
    for (uint64_t row = 0; row < out->shape[0]; row++)
        for (uint64_t i = 0; i < out->shape[1]; i++) {
            double value = weight_at(call->p.weight.type, igi_weight_row(weight, row), i);
            igi_store_doubles(out->type, igi_weight_row(out, row) + (int64_t)i * igi_view_stride_bytes(out, 1), 0, 1,
                              &value);
        }
    return IG_STATUS_OK;
}

// ---- Products ----

ig_status igi_scalar_weight_matmul(const igi_call *call) {
    const igi_view *x = &call->in[0], *weight = &call->in[1], *out = &call->out[0];
    double *values = igi_calloc(x->shape[1] + 1, sizeof *values);
    if (!values) return igi_error_no_memory(call->error);
    for (uint64_t t = 0; t < out->shape[0]; t++) {
        igi_load_doubles(x->type, igi_weight_row(x, t), igi_view_stride_bytes(x, 1), x->shape[1], values);
        for (uint64_t row = 0; row < out->shape[1]; row++) {
            double sum = 0;
            for (uint64_t i = 0; i < x->shape[1]; i++)
                sum += values[i] * weight_at(call->p.weight.type, igi_weight_row(weight, row), i);
            igi_store_doubles(out->type, igi_weight_row(out, t) + (int64_t)row * igi_view_stride_bytes(out, 1), 0, 1,
                              &sum);
        }
    }
    free(values);
    return IG_STATUS_OK;
}
