// SPDX-License-Identifier: Apache-2.0
// Formats of weights, from their description (docs/transformers.md).
#include "weight-reference.h"

#include <stdlib.h>

#include "nn-helpers.h"
#include "tensor/types.h"

static double half(const uint8_t *block, int at) {
    return igi_tensor_f16_to_double((uint16_t)(block[at] | block[at + 1] << 8));
}

// `bits` bits of a byte, `from` its low end.
static int cut(int byte, int from, int bits) {
    return byte >> from & ((1 << bits) - 1);
}

// ---- Blocks of 32: i < 32 ----

static int nibble(const uint8_t *bytes, int i) {
    return i < 16 ? bytes[i] & 15 : bytes[i - 16] >> 4;
}

static int fifth(const uint8_t *bits, int i) {
    return cut(bits[i / 8], i % 8, 1) * 16;
}

static double q8_0(const uint8_t *b, int i) {
    return half(b, 0) * (int8_t)b[2 + i];
}
static double q4_0(const uint8_t *b, int i) {
    return half(b, 0) * (nibble(b + 2, i) - 8);
}
static double q4_1(const uint8_t *b, int i) {
    return half(b, 0) * nibble(b + 4, i) + half(b, 2);
}
static double q5_0(const uint8_t *b, int i) {
    return half(b, 0) * (nibble(b + 6, i) + fifth(b + 2, i) - 16);
}
static double q5_1(const uint8_t *b, int i) {
    return half(b, 0) * (nibble(b + 8, i) + fifth(b + 4, i)) + half(b, 2);
}

// ---- Blocks of 256: i < 256 ----

static double q2_k(const uint8_t *b, int i) {
    int number = cut(b[16 + i / 128 * 32 + i % 32], i % 128 / 32 * 2, 2), part = b[i / 16];
    return half(b, 80) * (part & 15) * number - half(b, 82) * (part >> 4);
}

static double q3_k(const uint8_t *b, int i) {
    int number = cut(b[32 + i / 128 * 32 + i % 32], i % 128 / 32 * 2, 2) + cut(b[i % 32], i / 32, 1) * 4 - 4;
    int part = i / 16, low = cut(b[96 + part % 8], part < 8 ? 0 : 4, 4), high = cut(b[104 + part % 4], part / 4 * 2, 2);
    return half(b, 108) * (low + high * 16 - 32) * number;
}

static double spread(const uint8_t *b, int part, int number) {
    const uint8_t *six = b + 4;
    int scale, minimum;
    if (part < 4) {
        scale = cut(six[part], 0, 6), minimum = cut(six[part + 4], 0, 6);
    } else {
        scale = cut(six[part + 4], 0, 4) + cut(six[part - 4], 6, 2) * 16;
        minimum = cut(six[part + 4], 4, 4) + cut(six[part], 6, 2) * 16;
    }
    return half(b, 0) * scale * number - half(b, 2) * minimum;
}

static double q4_k(const uint8_t *b, int i) {
    return spread(b, i / 32, cut(b[16 + i / 64 * 32 + i % 32], i % 64 < 32 ? 0 : 4, 4));
}
static double q5_k(const uint8_t *b, int i) {
    int low = cut(b[48 + i / 64 * 32 + i % 32], i % 64 < 32 ? 0 : 4, 4);
    return spread(b, i / 32, low + cut(b[16 + i % 32], i / 32, 1) * 16);
}

static double q6_k(const uint8_t *b, int i) {
    int low = cut(b[i / 128 * 64 + i % 64], i % 128 < 64 ? 0 : 4, 4);
    int high = cut(b[128 + i / 128 * 32 + i % 32], i % 128 / 32 * 2, 2);
    return half(b, 208) * (int8_t)b[192 + i / 16] * (low + high * 16 - 32);
}

// ---- All ----

static const struct {
    int weights, bytes;
    double (*at)(const uint8_t *block, int i);
    reference_halves halves;
} formats[IG_WEIGHT_TYPE_COUNT] = {
    [IG_WEIGHT_Q8_0] = {32, 34, q8_0, {0, -1}},     [IG_WEIGHT_Q4_0] = {32, 18, q4_0, {0, -1}},
    [IG_WEIGHT_Q4_1] = {32, 20, q4_1, {0, 2}},      [IG_WEIGHT_Q5_0] = {32, 22, q5_0, {0, -1}},
    [IG_WEIGHT_Q5_1] = {32, 24, q5_1, {0, 2}},      [IG_WEIGHT_Q2_K] = {256, 84, q2_k, {80, 82}},
    [IG_WEIGHT_Q3_K] = {256, 110, q3_k, {108, -1}}, [IG_WEIGHT_Q4_K] = {256, 144, q4_k, {0, 2}},
    [IG_WEIGHT_Q5_K] = {256, 176, q5_k, {0, 2}},    [IG_WEIGHT_Q6_K] = {256, 210, q6_k, {208, -1}},
};

double reference_weight(ig_weight_type type, const uint8_t *row, uint64_t i) {
    if (type == IG_WEIGHT_F16) return igi_tensor_f16_to_double(((const uint16_t *)row)[i]);
    if (type == IG_WEIGHT_BF16) return igi_tensor_bf16_to_double(((const uint16_t *)row)[i]);
    uint64_t weights = (uint64_t)formats[type].weights;
    return formats[type].at(row + i / weights * (uint64_t)formats[type].bytes, (int)(i % weights));
}

double *reference_weights(const ig_weight *weight) {
    uint64_t rows = ig_weight_rows(weight), columns = ig_weight_columns(weight), size = 0;
    ig_weight_type type = ig_weight_get_type(weight);
    const void *bytes = NULL;
    assert_ok(ig_tensor_map(ig_weight_tensor(weight), &bytes));
    assert_ok(ig_weight_size(type, 1, columns, &size));
    double *values = calloc(rows * columns + 1, sizeof *values);
    for (uint64_t i = 0; i < rows * columns; i++)
        values[i] = reference_weight(type, (const uint8_t *)bytes + i / columns * size, i % columns);
    return values;
}

reference_halves reference_halves_of(ig_weight_type type) {
    return formats[type].halves;
}
