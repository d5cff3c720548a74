// SPDX-License-Identifier: Apache-2.0
// Floats to blocks of 32: in float, with sums rounded only once, so that kernels give the same bytes.
#include "tensor/nn/scalar/pack.h"
#include "tensor/scalar/scalar.h"

static void to_q8_0(const float *x, uint8_t *block) {
    float most = 0;
    for (int i = 0; i < IGI_GROUP; i++) most = fabsf(x[i]) > most ? fabsf(x[i]) : most;
    float scale = most / 127, inverse = scale != 0 ? 1 / scale : 0;
    igi_put_half(block, scale);
    for (int i = 0; i < IGI_GROUP; i++) block[2 + i] = (uint8_t)(int8_t)igi_whole(roundf(x[i] * inverse), -128, 127);
}

static void put_nibbles(const int *numbers, uint8_t *bytes) {
    for (int i = 0; i < 16; i++) bytes[i] = (uint8_t)((numbers[i] & 15) | (numbers[i + 16] & 15) << 4);
}

static void put_bits(const int *numbers, uint8_t *bits) {
    memset(bits, 0, IGI_GROUP / 8);
    for (int i = 0; i < IGI_GROUP; i++) bits[i / 8] |= (uint8_t)(numbers[i] >> 4 << i % 8);
}

// The element of the greatest magnitude becomes the lowest number, which has no opposite.
static void around_zero(const float *x, int zero, uint8_t *block, int *numbers) {
    float scale = igi_extreme(x, IGI_GROUP) / (float)-zero, inverse = scale != 0 ? 1 / scale : 0;
    igi_put_half(block, scale);
    for (int i = 0; i < IGI_GROUP; i++)
        numbers[i] = igi_whole(fmaf(x[i], inverse, (float)zero + 0.5F), 0, 2 * zero - 1);
}

static void from_least(const float *x, int most, uint8_t *block, int *numbers) {
    float low = x[0], high = x[0];
    for (int i = 1; i < IGI_GROUP; i++) low = x[i] < low ? x[i] : low, high = x[i] > high ? x[i] : high;
    float scale = (high - low) / (float)most, inverse = scale != 0 ? 1 / scale : 0;
    igi_put_half(block, scale);
    igi_put_half(block + 2, low);
    for (int i = 0; i < IGI_GROUP; i++) numbers[i] = igi_whole(fmaf(x[i] - low, inverse, 0.5F), 0, most);
}

static void to_q4_0(const float *x, uint8_t *block) {
    int numbers[IGI_GROUP];
    around_zero(x, 8, block, numbers);
    put_nibbles(numbers, block + 2);
}

static void to_q4_1(const float *x, uint8_t *block) {
    int numbers[IGI_GROUP];
    from_least(x, 15, block, numbers);
    put_nibbles(numbers, block + 4);
}

static void to_q5_0(const float *x, uint8_t *block) {
    int numbers[IGI_GROUP];
    around_zero(x, 16, block, numbers);
    put_bits(numbers, block + 2);
    put_nibbles(numbers, block + 6);
}

static void to_q5_1(const float *x, uint8_t *block) {
    int numbers[IGI_GROUP];
    from_least(x, 31, block, numbers);
    put_bits(numbers, block + 4);
    put_nibbles(numbers, block + 8);
}

static void (*const packers[IG_WEIGHT_TYPE_COUNT])(const float *, uint8_t *) = {
    [IG_WEIGHT_Q8_0] = to_q8_0,       [IG_WEIGHT_Q4_0] = to_q4_0,       [IG_WEIGHT_Q4_1] = to_q4_1,
    [IG_WEIGHT_Q5_0] = to_q5_0,       [IG_WEIGHT_Q5_1] = to_q5_1,       [IG_WEIGHT_Q2_K] = igi_pack_q2_k,
    [IG_WEIGHT_Q3_K] = igi_pack_q3_k, [IG_WEIGHT_Q4_K] = igi_pack_q4_k, [IG_WEIGHT_Q5_K] = igi_pack_q5_k,
    [IG_WEIGHT_Q6_K] = igi_pack_q6_k,
};

void igi_tensor_quantize_rows(const igi_tensor_call *call, uint64_t begin, uint64_t end) {
    const igi_tensor_view *x = &call->in[0], *out = &call->out[0];
    const igi_tensor_weight_format *format = &igi_tensor_weight_formats[call->p.weight.type];
    int64_t step = igi_tensor_view_stride_bytes(x, 1);
    for (uint64_t row = begin; row < end; row++)
        for (uint64_t b = 0; b < x->shape[1] / format->weights; b++) {
            double values[IGI_MOST_WEIGHTS];
            float floats[IGI_MOST_WEIGHTS];
            const char *from = igi_tensor_weight_row(x, row) + (int64_t)(b * format->weights) * step;
            igi_tensor_load_doubles(x->type, from, step, format->weights, values);
            for (uint32_t i = 0; i < format->weights; i++) floats[i] = (float)values[i];
            packers[call->p.weight.type](floats, (uint8_t *)igi_tensor_weight_row(out, row) + b * format->bytes);
        }
}

ig_status igi_scalar_quantize(const igi_tensor_call *call) {
    igi_tensor_quantize_rows(call, 0, call->in[0].shape[0]);
    return IG_STATUS_OK;
}
