// SPDX-License-Identifier: Apache-2.0
// Blocks of weights, 32 codes at a time: weight i is scales[i / 16] * (codes[i] - zero) + offsets[i / 16]. The layouts
// are those of nn/scalar/unpack.c.
#ifndef INGOT_NN_SIMD_ISA_UNPACK_H
#define INGOT_NN_SIMD_ISA_UNPACK_H

#include "tensor/nn/simd/isa/nn-isa.h"

enum { GROUP = 32, PARTS = 16 };  // PARTS: scales of a block of 256

// Dot products of bytes, where the CPU has them. Numbers of 16 bits are then kept as the high halves of 16 of them,
// followed by the low halves, which are signed as well: two products of bytes make one.
#if defined(NEON) && defined(__ARM_FEATURE_DOTPROD)
#define SPLIT_NUMBERS 1
#endif

// Bytes of a block, the code that means 0, and whether there are offsets.
#define FOR_SMALL_FORMATS(X)     \
    X(Q8_0, q8_0, 34, 0, false)  \
    X(Q4_0, q4_0, 18, 8, false)  \
    X(Q4_1, q4_1, 20, 0, true)   \
    X(Q5_0, q5_0, 22, 16, false) \
    X(Q5_1, q5_1, 24, 0, true)
// The last column: the number of scales per 32 weights.
#define FOR_LARGE_FORMATS(X)        \
    X(Q2_K, q2_k, 84, 0, true, 2)   \
    X(Q3_K, q3_k, 110, 4, false, 2) \
    X(Q4_K, q4_k, 144, 0, true, 1)  \
    X(Q5_K, q5_k, 176, 0, true, 1)  \
    X(Q6_K, q6_k, 210, 32, false, 2)

typedef uint8_t vgroup __attribute__((vector_size(GROUP)));  // q8_0: the bits of signed numbers
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

// Some bits of every byte, shifted right or left. CPUs cannot shift bytes, so bits of neighbours come in and are
// masked.
INLINE vgroup moved(vgroup v, int right, int mask) {
    vgroup16 wide = right < 0 ? (vgroup16)v << (uint16_t)-right : (vgroup16)v >> (uint16_t)right;
    return (vgroup)wide & (uint8_t)mask;
}

// ---- Blocks of 32 ----

// The low halves of 16 bytes, then the high ones.
INLINE vgroup nibbles(const uint8_t *from) {
#if defined(__AVX512BW__) && defined(__AVX512VL__)
    __m256i twice = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)from));
    __m256i shifts = _mm256_set_m128i(_mm_set1_epi16(4), _mm_setzero_si128());
    return (vgroup)_mm256_srlv_epi16(twice, shifts) & 15;
#else
    union {
        uint8_t bytes[2][GROUP / 2];
        vgroup whole;
    } twice;
    memcpy(twice.bytes[0], from, GROUP / 2);
    memcpy(twice.bytes[1], from, GROUP / 2);
    vgroup high = moved(twice.whole, 4, 15), low = twice.whole & 15;
    return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 48, 49, 50, 51, 52,
                                   53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63);
#endif
}

// 16 if the bit is set.
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

INLINE vgroup q8_0_codes(const uint8_t *block, int part) {
    (void)part;
    return load_group(block + 2);
}
INLINE vgroup q4_0_codes(const uint8_t *block, int part) {
    (void)part;
    return nibbles(block + 2);
}
INLINE vgroup q4_1_codes(const uint8_t *block, int part) {
    (void)part;
    return nibbles(block + 4);
}
INLINE vgroup q5_0_codes(const uint8_t *block, int part) {
    (void)part;
    return nibbles(block + 6) | fifth_bits(block + 2);
}
INLINE vgroup q5_1_codes(const uint8_t *block, int part) {
    (void)part;
    return nibbles(block + 8) | fifth_bits(block + 4);
}

// ---- Blocks of 256 ----

INLINE vgroup q2_k_codes(const uint8_t *block, int part) {
    return moved(load_group(block + 16 + part / 4 * 32), part % 4 * 2, 3);
}
INLINE vgroup q3_k_codes(const uint8_t *block, int part) {
    vgroup low = moved(load_group(block + 32 + part / 4 * 32), part % 4 * 2, 3);
    return low | moved(load_group(block), part - 2, 4);
}
INLINE vgroup q4_k_codes(const uint8_t *block, int part) {
    return moved(load_group(block + 16 + part / 2 * 32), part % 2 * 4, 15);
}
INLINE vgroup q5_k_codes(const uint8_t *block, int part) {
    vgroup low = moved(load_group(block + 48 + part / 2 * 32), part % 2 * 4, 15);
    return low | moved(load_group(block + 16), part - 4, 16);
}
INLINE vgroup q6_k_codes(const uint8_t *block, int part) {
    vgroup low = moved(load_group(block + part / 4 * 64 + part % 2 * 32), part % 4 / 2 * 4, 15);
    return low | moved(load_group(block + 128 + part / 4 * 32), part % 4 * 2 - 4, 48);
}

// Scales and minima of the 16 parts: small integers, and their factors.
typedef uint8_t vparts __attribute__((vector_size(PARTS)));  // the bits of signed numbers
typedef uint32_t vwords __attribute__((vector_size(PARTS)));
typedef struct k_scales {
    vparts scales, minima;
    float scale, minimum;  // the latter is negative
} k_scales;

INLINE vf part_floats(vparts parts, int at) {
#if defined(__AVX512F__)
    (void)at;
    return (vf)_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32((__m128i)parts));
#elif defined(__AVX2__)
    __m128i eight = at ? _mm_unpackhi_epi64((__m128i)parts, (__m128i)parts) : (__m128i)parts;
    return (vf)_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(eight));
#else
    int8_t numbers[PARTS];
    vf out;
    memcpy(numbers, &parts, sizeof numbers);
    for (int i = 0; i < LANES; i++) out[i] = (float)numbers[at + i];
    return out;
#endif
}

INLINE vparts parts_at(const void *from) {
    vparts parts;
    memcpy(&parts, from, sizeof parts);
    return parts;
}

INLINE k_scales q2_k_scales(const uint8_t *block) {
    typedef uint16_t vparts16 __attribute__((vector_size(PARTS)));
    vparts both = parts_at(block), high = (vparts)((vparts16)both >> 4) & 15;
    return (k_scales){both & 15, high, half_at(block + 80), -half_at(block + 82)};
}

INLINE k_scales q3_k_scales(const uint8_t *block) {
    uint32_t first = word_at(block + 96), second = word_at(block + 100), high = word_at(block + 104);
    vwords words = {(first & 0x0f0f0f0f) | (high & 0x03030303) << 4,
                    (second & 0x0f0f0f0f) | (high >> 2 & 0x03030303) << 4,
                    (first >> 4 & 0x0f0f0f0f) | (high >> 4 & 0x03030303) << 4,
                    (second >> 4 & 0x0f0f0f0f) | (high >> 6 & 0x03030303) << 4};
    return (k_scales){(vparts)words - 32, (vparts){0}, half_at(block + 108), -1};
}

// Eight of each, each repeated twice.
INLINE k_scales q4_k_scales(const uint8_t *block) {
    uint32_t first = word_at(block + 4), second = word_at(block + 8), rest = word_at(block + 12);
    vwords words = {first & 0x3f3f3f3f, (rest & 0x0f0f0f0f) | (first >> 2 & 0x30303030), second & 0x3f3f3f3f,
                    (rest >> 4 & 0x0f0f0f0f) | (second >> 2 & 0x30303030)};
    vparts once = (vparts)words;
    vparts scales = __builtin_shufflevector(once, once, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
    vparts minima = __builtin_shufflevector(once, once, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13, 14, 14, 15, 15);
    return (k_scales){scales, minima, half_at(block), -half_at(block + 2)};
}
#define q5_k_scales q4_k_scales

INLINE k_scales q6_k_scales(const uint8_t *block) {
    return (k_scales){parts_at(block + 192), (vparts){0}, half_at(block + 208), -1};
}

#endif
