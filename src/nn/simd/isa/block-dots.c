// SPDX-License-Identifier: Apache-2.0
// Dot products of blocks of weights with x, in whole numbers. What is added up in lanes is one sum in the end, so that
// products, and offsets times sums of x, may go to any lane.
#include "nn/simd/isa/unpack.h"

#if defined(__AVX512BW__)
typedef __m512 sums_t;
#define NO_SUMS _mm512_setzero_ps()
INLINE sums_t add_scaled(sums_t sums, vgroup group, const int16_t *numbers, __m512 scale) {
    __m512i products = _mm512_madd_epi16(_mm512_cvtepi8_epi16((__m256i)group), _mm512_loadu_si512(numbers));
    return _mm512_fmadd_ps(_mm512_cvtepi32_ps(products), scale, sums);
}
INLINE sums_t add_group(sums_t sums, vgroup group, const int16_t *numbers, float scale) {
    return add_scaled(sums, group, numbers, _mm512_set1_ps(scale));
}
INLINE sums_t add_halves(sums_t sums, vgroup group, const int16_t *numbers, const float scales[2]) {
    __m512 scale = _mm512_mask_mov_ps(_mm512_set1_ps(scales[0]), 0xff00, _mm512_set1_ps(scales[1]));
    return add_scaled(sums, group, numbers, scale);
}
INLINE sums_t add_offset(sums_t sums, float offset, float sum) {
    return _mm512_fmadd_ps(_mm512_set1_ps(offset), _mm512_zextps128_ps512(_mm_set_ss(sum)), sums);
}
INLINE sums_t add_offsets(sums_t sums, const float *offsets, const float *x) {
    return _mm512_fmadd_ps(_mm512_loadu_ps(offsets), _mm512_loadu_ps(x), sums);
}
#elif defined(__AVX2__)
typedef __m256 sums_t;
#define NO_SUMS _mm256_setzero_ps()
INLINE __m256i products_of(__m128i weights, const int16_t *numbers) {
    return _mm256_madd_epi16(_mm256_cvtepi8_epi16(weights), _mm256_loadu_si256((const __m256i *)numbers));
}
INLINE sums_t add_scaled(sums_t sums, __m256i products, float scale) {
    return _mm256_fmadd_ps(_mm256_cvtepi32_ps(products), _mm256_set1_ps(scale), sums);
}
INLINE sums_t add_group(sums_t sums, vgroup group, const int16_t *numbers, float scale) {
    __m256i first = products_of(_mm256_castsi256_si128((__m256i)group), numbers);
    __m256i second = products_of(_mm256_extracti128_si256((__m256i)group, 1), numbers + 16);
    return add_scaled(sums, _mm256_add_epi32(first, second), scale);
}
INLINE sums_t add_halves(sums_t sums, vgroup group, const int16_t *numbers, const float scales[2]) {
    sums = add_scaled(sums, products_of(_mm256_castsi256_si128((__m256i)group), numbers), scales[0]);
    return add_scaled(sums, products_of(_mm256_extracti128_si256((__m256i)group, 1), numbers + 16), scales[1]);
}
INLINE sums_t add_offset(sums_t sums, float offset, float sum) {
    return _mm256_fmadd_ps(_mm256_set1_ps(offset), _mm256_zextps128_ps256(_mm_set_ss(sum)), sums);
}
INLINE sums_t add_offsets(sums_t sums, const float *offsets, const float *x) {
    sums = _mm256_fmadd_ps(_mm256_loadu_ps(offsets), _mm256_loadu_ps(x), sums);
    return _mm256_fmadd_ps(_mm256_loadu_ps(offsets + 8), _mm256_loadu_ps(x + 8), sums);
}
#else
typedef vf sums_t;
#define NO_SUMS splat(0)
INLINE float dot_of(const int8_t *weights, const int16_t *numbers) {
    int32_t sum = 0;
    for (int i = 0; i < GROUP / 2; i++) sum += weights[i] * numbers[i];
    return (float)sum;
}
INLINE sums_t add_halves(sums_t sums, vgroup group, const int16_t *numbers, const float scales[2]) {
    int8_t weights[GROUP];
    memcpy(weights, &group, sizeof weights);
    sums[0] += scales[0] * dot_of(weights, numbers);
    sums[1] += scales[1] * dot_of(weights + GROUP / 2, numbers + GROUP / 2);
    return sums;
}
INLINE sums_t add_group(sums_t sums, vgroup group, const int16_t *numbers, float scale) {
    return add_halves(sums, group, numbers, (float[]){scale, scale});
}
INLINE sums_t add_offset(sums_t sums, float offset, float sum) {
    sums[0] += offset * sum;
    return sums;
}
INLINE sums_t add_offsets(sums_t sums, const float *offsets, const float *x) {
    for (int i = 0; i < PARTS; i += LANES) sums += load(offsets + i) * load(x + i);
    return sums;
}
#endif

// ---- Blocks of 32 ----

#define WITHOUT_OFFSET(sums, block, sum) (sums)
#define WITH_OFFSET(sums, block, sum) add_offset(sums, half_at((block) + 2), sum)

#define DEFINE_DOTS(format, bytes, offset)                                                                 \
    static void NAME(format##_dots)(uint64_t blocks, const uint8_t *const rows[4], const igi_nn_narrow *x, \
                                    float sums[4]) {                                                       \
        sums_t all[4] = {NO_SUMS, NO_SUMS, NO_SUMS, NO_SUMS};                                              \
        const uint8_t *row[4] = {rows[0], rows[1], rows[2], rows[3]};                                      \
        for (uint64_t b = 0; b < blocks; b++)                                                              \
            for (int i = 0; i < 4; row[i] += (bytes), i++) {                                               \
                all[i] = add_group(all[i], format##_numbers(row[i], 0), x->numbers + b * GROUP,            \
                                   half_at(row[i]) * x->scales[2 * b]);                                    \
                all[i] = offset(all[i], row[i], x->sums[2 * b] + x->sums[2 * b + 1]);                      \
            }                                                                                              \
        for (int i = 0; i < 4; i++) sums[i] = sum_of_lanes((vf)all[i]);                                    \
    }
DEFINE_DOTS(q8_0, 34, WITHOUT_OFFSET)
DEFINE_DOTS(q4_0, 18, WITHOUT_OFFSET)
DEFINE_DOTS(q4_1, 20, WITH_OFFSET)
DEFINE_DOTS(q5_0, 22, WITHOUT_OFFSET)
DEFINE_DOTS(q5_1, 24, WITH_OFFSET)

// ---- Blocks of 256 ----

#define ONE_SCALE(sums, group, numbers, scales) add_group(sums, group, numbers, (scales)[0])
#define TWO_SCALES(sums, group, numbers, scales) add_halves(sums, group, numbers, scales)

#define DEFINE_DOTS_K(format, bytes, add, offset)                                                                   \
    static void NAME(format##_dots)(uint64_t blocks, const uint8_t *const rows[4], const igi_nn_narrow *x,          \
                                    float sums[4]) {                                                                \
        sums_t all[4] = {NO_SUMS, NO_SUMS, NO_SUMS, NO_SUMS};                                                       \
        for (uint64_t b = 0; b < blocks; b++)                                                                       \
            for (int i = 0; i < 4; i++) {                                                                           \
                const uint8_t *block = rows[i] + b * (bytes);                                                       \
                const int16_t *numbers = x->numbers + b * PARTS * PARTS;                                            \
                float scales[PARTS], offsets[PARTS];                                                                \
                format##_scales(block, scales, offsets);                                                            \
                for (int part = 0; part < PARTS; part++) scales[part] *= x->scales[b * PARTS + (uint64_t)part];     \
                if (offset) all[i] = add_offsets(all[i], offsets, x->sums + b * PARTS);                             \
                for (int part = 0; part < 8; part++)                                                                \
                    all[i] = add(all[i], format##_numbers(block, part), numbers + part * GROUP, scales + 2 * part); \
            }                                                                                                       \
        for (int i = 0; i < 4; i++) sums[i] = sum_of_lanes((vf)all[i]);                                             \
    }
DEFINE_DOTS_K(q2_k, 84, TWO_SCALES, true)
DEFINE_DOTS_K(q3_k, 110, TWO_SCALES, false)
DEFINE_DOTS_K(q4_k, 144, ONE_SCALE, true)
DEFINE_DOTS_K(q5_k, 176, ONE_SCALE, true)
DEFINE_DOTS_K(q6_k, 210, TWO_SCALES, false)

void NAME(igi_nn_fill_block_dots)(igi_nn_kernels *table) {
#define FILL(id, format) table->block_dots[IG_WEIGHT_##id] = NAME(format##_dots);
    FOR_BLOCK_FORMATS(FILL)
#undef FILL
}
