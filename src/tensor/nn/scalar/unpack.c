// SPDX-License-Identifier: Apache-2.0
// What the bytes of a block mean: the layouts of GGUF.
#include <assert.h>
#include <string.h>

#include "tensor/nn/weight.h"

static double half_at(const uint8_t *from) {
    uint16_t bits;
    memcpy(&bits, from, sizeof bits);
    return igi_tensor_f16_to_double(bits);
}

// ---- Blocks of 32 ----

static void put_nibbles(const uint8_t *bytes, int zero, int8_t *numbers) {
    for (int i = 0; i < 16; i++) {
        numbers[i] = (int8_t)((bytes[i] & 15) - zero);
        numbers[i + 16] = (int8_t)((bytes[i] >> 4) - zero);
    }
}

// Adds the fifth bit of each of 32 numbers.
static void add_bits(const uint8_t *bits, int8_t *numbers) {
    for (int i = 0; i < IGI_GROUP; i++) numbers[i] = (int8_t)(numbers[i] + ((bits[i / 8] >> i % 8 & 1) << 4));
}

static void put_scale(igi_tensor_weight_group *g, double scale, double offset) {
    g->scales[0] = g->scales[1] = scale;
    g->offsets[0] = g->offsets[1] = offset;
}

static void unpack_q8_0(const uint8_t *block, size_t part, igi_tensor_weight_group *g) {
    (void)part;
    put_scale(g, half_at(block), -0.0);
    memcpy(g->numbers, block + 2, IGI_GROUP);
}

static void unpack_q4_0(const uint8_t *block, size_t part, igi_tensor_weight_group *g) {
    (void)part;
    put_scale(g, half_at(block), -0.0);
    put_nibbles(block + 2, 8, g->numbers);
}

static void unpack_q4_1(const uint8_t *block, size_t part, igi_tensor_weight_group *g) {
    (void)part;
    put_scale(g, half_at(block), half_at(block + 2));
    put_nibbles(block + 4, 0, g->numbers);
}

static void unpack_q5_0(const uint8_t *block, size_t part, igi_tensor_weight_group *g) {
    (void)part;
    put_scale(g, half_at(block), -0.0);
    put_nibbles(block + 6, 16, g->numbers);
    add_bits(block + 2, g->numbers);
}

static void unpack_q5_1(const uint8_t *block, size_t part, igi_tensor_weight_group *g) {
    (void)part;
    put_scale(g, half_at(block), half_at(block + 2));
    put_nibbles(block + 8, 0, g->numbers);
    add_bits(block + 4, g->numbers);
}

// ---- Blocks of 256 ----

// Numbers of a few bits that start at bit `shift` of 32 bytes.
static void put_shifted(const uint8_t *bytes, int shift, int mask, int8_t *numbers) {
    for (int i = 0; i < IGI_GROUP; i++) numbers[i] = (int8_t)(bytes[i] >> shift & mask);
}

static void add_shifted(const uint8_t *bytes, int shift, int mask, int place, int8_t *numbers) {
    for (int i = 0; i < IGI_GROUP; i++) numbers[i] = (int8_t)(numbers[i] | (bytes[i] >> shift & mask) << place);
}

static void subtract(int8_t *numbers, int zero) {
    for (int i = 0; i < IGI_GROUP; i++) numbers[i] = (int8_t)(numbers[i] - zero);
}

static void unpack_q2_k(const uint8_t *block, size_t part, igi_tensor_weight_group *g) {
    const uint8_t *scales = block + 2 * part;
    for (int i = 0; i < 2; i++) {
        g->scales[i] = half_at(block + 80) * (scales[i] & 15);
        g->offsets[i] = -(half_at(block + 82) * (scales[i] >> 4));
    }
    put_shifted(block + 16 + part / 4 * 32, 2 * (int)(part % 4), 3, g->numbers);
}

// 16 numbers of 6 bits: the low four in 8 bytes, the high two in 4.
static int q3_k_scale(const uint8_t *bytes, size_t i) {
    return ((bytes[i % 8] >> i / 8 * 4 & 15) | (bytes[8 + i % 4] >> i / 4 * 2 & 3) << 4) - 32;
}

static void unpack_q3_k(const uint8_t *block, size_t part, igi_tensor_weight_group *g) {
    for (uint32_t i = 0; i < 2; i++) {
        g->scales[i] = half_at(block + 108) * q3_k_scale(block + 96, 2 * part + i);
        g->offsets[i] = -0.0;
    }
    put_shifted(block + 32 + part / 4 * 32, 2 * (int)(part % 4), 3, g->numbers);
    add_shifted(block, (int)part, 1, 2, g->numbers);
    subtract(g->numbers, 4);
}

// 8 scales and 8 minima of 6 bits: four bytes of scales, four of minima, and four whose halves belong to the other four
// of both, whose high bits are in the bytes before.
static void put_sixes(const uint8_t *block, size_t part, igi_tensor_weight_group *g) {
    const uint8_t *bytes = block + 4 + part % 4;
    int scale = part < 4 ? bytes[0] & 63 : (bytes[8] & 15) | bytes[0] >> 6 << 4;
    int minimum = part < 4 ? bytes[4] & 63 : bytes[8] >> 4 | bytes[4] >> 6 << 4;
    put_scale(g, half_at(block) * scale, -(half_at(block + 2) * minimum));
}

static void unpack_q4_k(const uint8_t *block, size_t part, igi_tensor_weight_group *g) {
    put_sixes(block, part, g);
    put_shifted(block + 16 + part / 2 * 32, (int)(part % 2) * 4, 15, g->numbers);
}

static void unpack_q5_k(const uint8_t *block, size_t part, igi_tensor_weight_group *g) {
    put_sixes(block, part, g);
    put_shifted(block + 48 + part / 2 * 32, (int)(part % 2) * 4, 15, g->numbers);
    add_shifted(block + 16, (int)part, 1, 4, g->numbers);
}

static void unpack_q6_k(const uint8_t *block, size_t part, igi_tensor_weight_group *g) {
    for (uint32_t i = 0; i < 2; i++) {
        g->scales[i] = half_at(block + 208) * (int8_t)block[192 + 2 * part + i];
        g->offsets[i] = -0.0;
    }
    size_t half = part / 4, quarter = part % 4;
    put_shifted(block + half * 64 + quarter % 2 * 32, (int)(quarter / 2) * 4, 15, g->numbers);
    add_shifted(block + 128 + half * 32, 2 * (int)quarter, 3, 4, g->numbers);
    subtract(g->numbers, 32);
}

// ---- All ----

static void (*const unpackers[IG_WEIGHT_TYPE_COUNT])(const uint8_t *, size_t, igi_tensor_weight_group *) = {
    [IG_WEIGHT_Q8_0] = unpack_q8_0, [IG_WEIGHT_Q4_0] = unpack_q4_0, [IG_WEIGHT_Q4_1] = unpack_q4_1,
    [IG_WEIGHT_Q5_0] = unpack_q5_0, [IG_WEIGHT_Q5_1] = unpack_q5_1, [IG_WEIGHT_Q2_K] = unpack_q2_k,
    [IG_WEIGHT_Q3_K] = unpack_q3_k, [IG_WEIGHT_Q4_K] = unpack_q4_k, [IG_WEIGHT_Q5_K] = unpack_q5_k,
    [IG_WEIGHT_Q6_K] = unpack_q6_k,
};

void igi_tensor_unpack_group(uint32_t type, const uint8_t *row, uint64_t index, igi_tensor_weight_group *group) {
    assert(type < IG_WEIGHT_TYPE_COUNT && unpackers[type]);
    uint64_t groups = igi_tensor_weight_formats[type].weights / IGI_GROUP;
    unpackers[type](row + index / groups * igi_tensor_weight_formats[type].bytes, (size_t)(index % groups), group);
}
