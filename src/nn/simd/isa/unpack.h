// SPDX-License-Identifier: Apache-2.0
// Blocks of weights, 32 numbers at a time: weight i is scales[i / 16] * numbers[i] + offsets[i / 16]. The layouts are
// those of nn/scalar/unpack.c.
#ifndef INGOT_NN_SIMD_ISA_UNPACK_H
#define INGOT_NN_SIMD_ISA_UNPACK_H

#include "nn/simd/isa/nn-isa.h"

enum { GROUP = 32, PARTS = 16 };  // PARTS: scales of a block of 256

#define FOR_BLOCK_FORMATS(X) \
    X(Q8_0, q8_0)            \
    X(Q4_0, q4_0)            \
    X(Q4_1, q4_1)            \
    X(Q5_0, q5_0)            \
    X(Q5_1, q5_1)            \
    X(Q2_K, q2_k)            \
    X(Q3_K, q3_k)            \
    X(Q4_K, q4_k)            \
    X(Q5_K, q5_k)            \
    X(Q6_K, q6_k)

typedef uint8_t vgroup __attribute__((vector_size(GROUP)));  // the bits of signed numbers
typedef uint16_t vgroup16 __attribute__((vector_size(GROUP)));

INLINE float half_at(const uint8_t *from) {
    uint16_t bits;
    memcpy(&bits, from, sizeof bits);
#if defined(__F16C__)
    return _cvtsh_ss(bits);
#else
    _Float16 half;
    memcpy(&half, &bits, sizeof half);
    return (float)half;
#endif
}

INLINE uint32_t word_at(const uint8_t *from) {
    uint32_t word;
    memcpy(&word, from, sizeof word);
    return word;
}

INLINE vgroup load_group(const uint8_t *from) {
    vgroup v;
    memcpy(&v, from, sizeof v);
    return v;
}

// No CPU of ours shifts bytes; what comes in from a neighbour is masked.
INLINE vgroup shifted(vgroup v, int shift, int mask) {
    return (vgroup)((vgroup16)v >> (uint16_t)shift) & (uint8_t)mask;
}
INLINE vgroup raised(vgroup v, int shift) {
    return (vgroup)((vgroup16)v << (uint16_t)shift);
}

// ---- Blocks of 32 ----

// Low halves of 16 bytes, then high ones.
INLINE vgroup nibbles(const uint8_t *from) {
    union {
        uint8_t bytes[2][GROUP / 2];
        vgroup whole;
    } twice;
    memcpy(twice.bytes[0], from, GROUP / 2);
    memcpy(twice.bytes[1], from, GROUP / 2);
    vgroup high = shifted(twice.whole, 4, 15), low = twice.whole & 15;
    return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 48, 49, 50, 51, 52,
                                   53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63);
}

// 16 where the bit is set.
INLINE vgroup fifth_bits(const uint8_t *from) {
#if defined(__AVX512BW__) && defined(__AVX512VL__)
    return (vgroup)_mm256_maskz_set1_epi8(word_at(from), 16);
#else
    typedef uint32_t words __attribute__((vector_size(GROUP)));
    typedef uint64_t longs __attribute__((vector_size(GROUP)));
    vgroup places = (vgroup)(UINT64_C(0x8040201008040201) - (longs){0});
    vgroup all = (vgroup)(word_at(from) - (words){0});
    vgroup spread = __builtin_shufflevector(all, all, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 18, 18, 18, 18,
                                            18, 18, 18, 18, 19, 19, 19, 19, 19, 19, 19, 19);
    return (vgroup)((spread & places) == places) & 16;
#endif
}

INLINE vgroup q8_0_numbers(const uint8_t *block, int part) {
    (void)part;
    return load_group(block + 2);
}
INLINE vgroup q4_0_numbers(const uint8_t *block, int part) {
    (void)part;
    return nibbles(block + 2) - 8;
}
INLINE vgroup q4_1_numbers(const uint8_t *block, int part) {
    (void)part;
    return nibbles(block + 4);
}
INLINE vgroup q5_0_numbers(const uint8_t *block, int part) {
    (void)part;
    return (nibbles(block + 6) | fifth_bits(block + 2)) - 16;
}
INLINE vgroup q5_1_numbers(const uint8_t *block, int part) {
    (void)part;
    return nibbles(block + 8) | fifth_bits(block + 4);
}

// ---- Blocks of 256 ----

INLINE vgroup q2_k_numbers(const uint8_t *block, int part) {
    return shifted(load_group(block + 16 + part / 4 * 32), part % 4 * 2, 3);
}
INLINE vgroup q3_k_numbers(const uint8_t *block, int part) {
    vgroup low = shifted(load_group(block + 32 + part / 4 * 32), part % 4 * 2, 3);
    return (low | raised(shifted(load_group(block), part, 1), 2)) - 4;
}
INLINE vgroup q4_k_numbers(const uint8_t *block, int part) {
    return shifted(load_group(block + 16 + part / 2 * 32), part % 2 * 4, 15);
}
INLINE vgroup q5_k_numbers(const uint8_t *block, int part) {
    vgroup low = shifted(load_group(block + 48 + part / 2 * 32), part % 2 * 4, 15);
    return low | raised(shifted(load_group(block + 16), part, 1), 4);
}
INLINE vgroup q6_k_numbers(const uint8_t *block, int part) {
    vgroup low = shifted(load_group(block + part / 4 * 64 + part % 2 * 32), part % 4 / 2 * 4, 15);
    return (low | raised(shifted(load_group(block + 128 + part / 4 * 32), part % 4 * 2, 3), 4)) - 32;
}

INLINE void q2_k_scales(const uint8_t *block, float *restrict scales, float *restrict offsets) {
    float scale = half_at(block + 80), minimum = -half_at(block + 82);
    for (int i = 0; i < PARTS; i++) scales[i] = scale * (float)(block[i] & 15);
    for (int i = 0; i < PARTS; i++) offsets[i] = minimum * (float)(block[i] >> 4);
}

INLINE void without_offsets(float *offsets) {
    for (int i = 0; i < PARTS; i++) offsets[i] = -0.0F;
}

INLINE void q3_k_scales(const uint8_t *block, float *restrict scales, float *restrict offsets) {
    uint32_t first = word_at(block + 96), second = word_at(block + 100), high = word_at(block + 104);
    uint32_t words[4] = {(first & 0x0f0f0f0f) | (high & 0x03030303) << 4,
                         (second & 0x0f0f0f0f) | (high >> 2 & 0x03030303) << 4,
                         (first >> 4 & 0x0f0f0f0f) | (high >> 4 & 0x03030303) << 4,
                         (second >> 4 & 0x0f0f0f0f) | (high >> 6 & 0x03030303) << 4};
    int8_t numbers[PARTS];
    float scale = half_at(block + 108);
    memcpy(numbers, words, sizeof numbers);
    for (int i = 0; i < PARTS; i++) scales[i] = scale * (float)(numbers[i] - 32);
    without_offsets(offsets);
}

// Eight of each, twice in a row.
INLINE void q4_k_scales(const uint8_t *block, float *restrict scales, float *restrict offsets) {
    uint32_t first = word_at(block + 4), second = word_at(block + 8), rest = word_at(block + 12);
    uint32_t words[4] = {first & 0x3f3f3f3f, (rest & 0x0f0f0f0f) | (first >> 2 & 0x30303030), second & 0x3f3f3f3f,
                         (rest >> 4 & 0x0f0f0f0f) | (second >> 2 & 0x30303030)};
    uint8_t numbers[PARTS];
    float scale = half_at(block), minimum = -half_at(block + 2);
    memcpy(numbers, words, sizeof numbers);
    for (int i = 0; i < PARTS; i++) scales[i] = scale * (float)numbers[i / 2];
    for (int i = 0; i < PARTS; i++) offsets[i] = minimum * (float)numbers[8 + i / 2];
}
#define q5_k_scales q4_k_scales

INLINE void q6_k_scales(const uint8_t *block, float *restrict scales, float *restrict offsets) {
    float scale = half_at(block + 208);
    for (int i = 0; i < PARTS; i++) scales[i] = scale * (float)(int8_t)block[192 + i];
    without_offsets(offsets);
}

#endif
