// SPDX-License-Identifier: Apache-2.0
// Blocks of weights: to floats, and dot products in whole numbers.
#include <math.h>

#include "nn/simd/isa/nn-isa.h"

enum { BLOCK = 32, Q8_BYTES = 34, Q4_BYTES = 18 };

INLINE float scale_of(const uint8_t *block) {
    uint16_t bits;
    memcpy(&bits, block, sizeof bits);
#if defined(__F16C__)
    return _cvtsh_ss(bits);
#else
    _Float16 half;
    memcpy(&half, &bits, sizeof half);
    return (float)half;
#endif
}

// ---- To floats: plain loops, which the compiler turns into vectors ----

static void NAME(q8_0_dequantize)(uint64_t blocks, const uint8_t *row, float *restrict out) {
    for (uint64_t b = 0; b < blocks; b++, row += Q8_BYTES, out += BLOCK) {
        float scale = scale_of(row);
        for (int i = 0; i < BLOCK; i++) out[i] = scale * (float)(int8_t)row[2 + i];
    }
}

static void NAME(q4_0_dequantize)(uint64_t blocks, const uint8_t *row, float *restrict out) {
    for (uint64_t b = 0; b < blocks; b++, row += Q4_BYTES, out += BLOCK) {
        float scale = scale_of(row);
        for (int i = 0; i < BLOCK / 2; i++) {
            out[i] = scale * (float)((row[2 + i] & 15) - 8);
            out[i + BLOCK / 2] = scale * (float)((row[2 + i] >> 4) - 8);
        }
    }
}

// ---- x in whole numbers ----

// What is not finite makes the scale, and with it every product, NaN; what is too small for a scale counts as nothing.
static void NAME(f32_narrow)(uint64_t blocks, const float *restrict x, int16_t *restrict numbers,
                             float *restrict scales) {
    for (uint64_t b = 0; b < blocks; b++, x += BLOCK, numbers += BLOCK) {
        float most = 0, sum = 0;
        for (int i = 0; i < BLOCK; i++) most = fabsf(x[i]) > most ? fabsf(x[i]) : most;
        for (int i = 0; i < BLOCK; i++) sum += x[i] * 0;
        bool none = !(most > 1e-30F) || sum != 0;
        float inverse = none ? 0 : 32767 / most;
        for (int i = 0; i < BLOCK; i++) {
            float scaled = x[i] * inverse;
            numbers[i] = (int16_t)(int32_t)(none ? 0 : scaled + (scaled < 0 ? -0.5F : 0.5F));
        }
        scales[b] = sum != 0 ? NAN : most / 32767;
    }
}

// ---- Dot products ----

#if defined(__AVX512BW__)
typedef __m512 sums_t;
#define NO_SUMS _mm512_setzero_ps()
INLINE sums_t add_products(sums_t sums, __m512i weights, const int16_t *numbers, float scale) {
    __m512i products = _mm512_madd_epi16(weights, _mm512_loadu_si512(numbers));
    return _mm512_fmadd_ps(_mm512_cvtepi32_ps(products), _mm512_set1_ps(scale), sums);
}
INLINE sums_t add_q8(sums_t sums, const uint8_t *block, const int16_t *numbers, float scale) {
    __m256i bytes = _mm256_loadu_si256((const __m256i *)(block + 2));
    return add_products(sums, _mm512_cvtepi8_epi16(bytes), numbers, scale);
}
INLINE sums_t add_q4(sums_t sums, const uint8_t *block, const int16_t *numbers, float scale) {
    __m128i bytes = _mm_loadu_si128((const __m128i *)(block + 2));
    __m256i both = _mm256_inserti128_si256(_mm256_castsi128_si256(bytes), _mm_srli_epi16(bytes, 4), 1);
    __m256i nibbles = _mm256_and_si256(both, _mm256_set1_epi8(15));
    __m512i weights = _mm512_sub_epi16(_mm512_cvtepu8_epi16(nibbles), _mm512_set1_epi16(8));
    return add_products(sums, weights, numbers, scale);
}
INLINE float total(sums_t sums) {
    return sum_of_lanes((vf)sums);
}
#elif defined(__AVX2__)
typedef __m256 sums_t;
#define NO_SUMS _mm256_setzero_ps()
INLINE sums_t add_products(sums_t sums, __m256i first, __m256i second, const int16_t *numbers, float scale) {
    __m256i products = _mm256_add_epi32(_mm256_madd_epi16(first, _mm256_loadu_si256((const __m256i *)numbers)),
                                        _mm256_madd_epi16(second, _mm256_loadu_si256((const __m256i *)numbers + 1)));
    return _mm256_fmadd_ps(_mm256_cvtepi32_ps(products), _mm256_set1_ps(scale), sums);
}
INLINE sums_t add_q8(sums_t sums, const uint8_t *block, const int16_t *numbers, float scale) {
    const __m128i *bytes = (const __m128i *)(block + 2);
    return add_products(sums, _mm256_cvtepi8_epi16(_mm_loadu_si128(bytes)),
                        _mm256_cvtepi8_epi16(_mm_loadu_si128(bytes + 1)), numbers, scale);
}
INLINE sums_t add_q4(sums_t sums, const uint8_t *block, const int16_t *numbers, float scale) {
    __m128i bytes = _mm_loadu_si128((const __m128i *)(block + 2)), low = _mm_set1_epi8(15), eight = _mm_set1_epi8(8);
    __m128i first = _mm_sub_epi8(_mm_and_si128(bytes, low), eight);
    __m128i second = _mm_sub_epi8(_mm_and_si128(_mm_srli_epi16(bytes, 4), low), eight);
    return add_products(sums, _mm256_cvtepi8_epi16(first), _mm256_cvtepi8_epi16(second), numbers, scale);
}
INLINE float total(sums_t sums) {
    return sum_of_lanes((vf)sums);
}
#else
typedef float sums_t;
#define NO_SUMS 0
INLINE sums_t add_q8(sums_t sums, const uint8_t *block, const int16_t *numbers, float scale) {
    int32_t sum = 0;
    for (int i = 0; i < BLOCK; i++) sum += (int8_t)block[2 + i] * numbers[i];
    return sums + scale * (float)sum;
}
INLINE sums_t add_q4(sums_t sums, const uint8_t *block, const int16_t *numbers, float scale) {
    int32_t sum = 0;
    for (int i = 0; i < BLOCK / 2; i++)
        sum += ((block[2 + i] & 15) - 8) * numbers[i] + ((block[2 + i] >> 4) - 8) * numbers[i + BLOCK / 2];
    return sums + scale * (float)sum;
}
INLINE float total(sums_t sums) {
    return sums;
}
#endif

#define DEFINE_DOTS(name, add, bytes)                                                                                  \
    static void NAME(name)(uint64_t blocks, const uint8_t *const rows[4], const int16_t *numbers, const float *scales, \
                           float sums[4]) {                                                                            \
        sums_t all[4] = {NO_SUMS, NO_SUMS, NO_SUMS, NO_SUMS};                                                          \
        const uint8_t *row[4] = {rows[0], rows[1], rows[2], rows[3]};                                                  \
        for (uint64_t b = 0; b < blocks; b++, numbers += BLOCK)                                                        \
            for (int i = 0; i < 4; i++, row[i - 1] += (bytes))                                                         \
                all[i] = add(all[i], row[i], numbers, scale_of(row[i]) * scales[b]);                                   \
        for (int i = 0; i < 4; i++) sums[i] = total(all[i]);                                                           \
    }
DEFINE_DOTS(q8_0_dots, add_q8, Q8_BYTES)
DEFINE_DOTS(q4_0_dots, add_q4, Q4_BYTES)

// ---- Halves ----

// What is left after whole vectors is done with zeros behind it.
#define DEFINE_HALF_DOTS(name, load_halves)                                                                \
    static void NAME(name)(uint64_t count, const uint16_t *const rows[4], const float *x, float sums[4]) { \
        vf all[4] = {splat(0), splat(0), splat(0), splat(0)};                                              \
        uint64_t at = 0, left;                                                                             \
        for (; at + LANES <= count; at += LANES) {                                                         \
            vf b = load(x + at);                                                                           \
            for (int i = 0; i < 4; i++) all[i] += load_halves(rows[i] + at) * b;                           \
        }                                                                                                  \
        if ((left = count - at))                                                                           \
            for (int i = 0; i < 4; i++) {                                                                  \
                uint16_t part[LANES] = {0};                                                                \
                memcpy(part, rows[i] + at, left * sizeof *part);                                           \
                all[i] += load_halves(part) * load_part(x + at, left, 0);                                  \
            }                                                                                              \
        for (int i = 0; i < 4; i++) sums[i] = sum_of_lanes(all[i]);                                        \
    }
DEFINE_HALF_DOTS(f16_dots, load_f16)
DEFINE_HALF_DOTS(bf16_dots, load_bf16)

void NAME(igi_nn_fill_weights)(igi_nn_kernels *table) {
    table->dequantize[IG_WEIGHT_Q8_0] = NAME(q8_0_dequantize);
    table->dequantize[IG_WEIGHT_Q4_0] = NAME(q4_0_dequantize);
    table->half_dots[IG_WEIGHT_F16] = NAME(f16_dots);
    table->half_dots[IG_WEIGHT_BF16] = NAME(bf16_dots);
    table->narrow = NAME(f32_narrow);
    table->block_dots[IG_WEIGHT_Q8_0] = NAME(q8_0_dots);
    table->block_dots[IG_WEIGHT_Q4_0] = NAME(q4_0_dots);
}
