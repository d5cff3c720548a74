// SPDX-License-Identifier: Apache-2.0
// Dot products of blocks of weights with x, in integers. The lanes are added up at the end, so products, and offsets
// times sums of x, may be added to any lane.
#include "tensor/nn/simd/isa/unpack.h"

#if defined(__AVX512BW__)
typedef __m512 sums_t;
#define NO_SUMS _mm512_setzero_ps()
INLINE __m512 products_of(vgroup group, const int16_t *numbers) {
    return _mm512_cvtepi32_ps(_mm512_madd_epi16(_mm512_cvtepi8_epi16((__m256i)group), _mm512_loadu_si512(numbers)));
}
INLINE sums_t add_group(sums_t sums, vgroup group, const int16_t *numbers, float scale) {
    return _mm512_fmadd_ps(products_of(group, numbers), _mm512_set1_ps(scale), sums);
}
// The low lanes of the first and the high lanes of the second count: that is less work than two kinds of scales.
INLINE void add_halves(sums_t sums[2], vgroup group, const int16_t *numbers, const float scales[2]) {
    __m512 products = products_of(group, numbers);
    for (int i = 0; i < 2; i++) sums[i] = _mm512_fmadd_ps(products, _mm512_set1_ps(scales[i]), sums[i]);
}
INLINE sums_t join_halves(const sums_t sums[2]) {
    return _mm512_mask_mov_ps(sums[0], 0xff00, sums[1]);
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
INLINE void add_halves(sums_t sums[2], vgroup group, const int16_t *numbers, const float scales[2]) {
    sums[0] = add_scaled(sums[0], products_of(_mm256_castsi256_si128((__m256i)group), numbers), scales[0]);
    sums[1] = add_scaled(sums[1], products_of(_mm256_extracti128_si256((__m256i)group, 1), numbers + 16), scales[1]);
}
INLINE sums_t join_halves(const sums_t sums[2]) {
    return _mm256_add_ps(sums[0], sums[1]);
}
#elif defined(NEON)
typedef float32x4_t sums_t;
#define NO_SUMS vdupq_n_f32(0)
#if defined(SPLIT_NUMBERS)
INLINE int32x4_t products_of(int8x16_t weights, const int16_t *numbers) {
    const int8_t *halves = (const int8_t *)numbers;
    int32x4_t high = vdotq_s32(vdupq_n_s32(0), weights, vld1q_s8(halves));
    return vdotq_s32(vshlq_n_s32(high, 8), weights, vld1q_s8(halves + 16));
}
#else
INLINE int32x4_t products_of(int8x16_t weights, const int16_t *numbers) {
    int16x8_t low = vmovl_s8(vget_low_s8(weights)), high = vmovl_high_s8(weights);
    int16x8_t x = vld1q_s16(numbers), y = vld1q_s16(numbers + 8);
    int32x4_t sum = vmlal_high_s16(vmull_s16(vget_low_s16(low), vget_low_s16(x)), low, x);
    return vmlal_high_s16(vmlal_s16(sum, vget_low_s16(high), vget_low_s16(y)), high, y);
}
#endif
INLINE int8x16_t half_of(vgroup group, int half) {
    int8x16_t halves[2];
    memcpy(halves, &group, sizeof halves);
    return halves[half];
}
INLINE sums_t add_group(sums_t sums, vgroup group, const int16_t *numbers, float scale) {
    int32x4_t first = products_of(half_of(group, 0), numbers), second = products_of(half_of(group, 1), numbers + 16);
    return vfmaq_n_f32(sums, vcvtq_f32_s32(vaddq_s32(first, second)), scale);
}
INLINE void add_halves(sums_t sums[2], vgroup group, const int16_t *numbers, const float scales[2]) {
    for (int i = 0; i < 2; i++)
        sums[i] = vfmaq_n_f32(sums[i], vcvtq_f32_s32(products_of(half_of(group, i), numbers + 16 * i)), scales[i]);
}
INLINE sums_t join_halves(const sums_t sums[2]) {
    return vaddq_f32(sums[0], sums[1]);
}
#else
typedef vf sums_t;
#define NO_SUMS splat(0)
INLINE float dot_of(const int8_t *weights, const int16_t *numbers) {
    int32_t sum = 0;
    for (int i = 0; i < GROUP / 2; i++) sum += weights[i] * numbers[i];
    return (float)sum;
}
INLINE sums_t add_group(sums_t sums, vgroup group, const int16_t *numbers, float scale) {
    int8_t weights[GROUP];
    memcpy(weights, &group, sizeof weights);
    sums[0] += scale * (dot_of(weights, numbers) + dot_of(weights + GROUP / 2, numbers + GROUP / 2));
    return sums;
}
INLINE void add_halves(sums_t sums[2], vgroup group, const int16_t *numbers, const float scales[2]) {
    int8_t weights[GROUP];
    memcpy(weights, &group, sizeof weights);
    for (int i = 0; i < 2; i++) sums[i][0] += scales[i] * dot_of(weights + i * GROUP / 2, numbers + i * GROUP / 2);
}
INLINE sums_t join_halves(const sums_t sums[2]) {
    return sums[0] + sums[1];
}
#endif

// Scales are read from memory again: a load broadcasts one to all lanes, which would otherwise take a shuffle. ARM
// multiplies by a lane.
#if defined(NEON)
#define IN_MEMORY(scales) (void)(scales)
#else
#define IN_MEMORY(scales) __asm__("" : "+m"(scales))
#endif

// ---- Blocks of 32 ----

// 16-bit halves of four rows.
INLINE vquad four_halves(const uint8_t *const row[4], int at) {
    uint16_t bits[4];
    for (int i = 0; i < 4; i++) memcpy(bits + i, row[i] + at, sizeof *bits);
#if defined(__F16C__)
    uint64_t all = bits[0] | (uint64_t)bits[1] << 16 | (uint64_t)bits[2] << 32 | (uint64_t)bits[3] << 48;
    return (vquad)_mm_cvtph_ps(_mm_cvtsi64_si128((int64_t)all));
#elif defined(NEON)
    return (vquad)vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(bits)));
#else
    vquad out;
    for (int i = 0; i < 4; i++) out[i] = half_at((const uint8_t *)(bits + i));
    return out;
#endif
}

// The value of code 0 is subtracted through the sums of x, once for all rows, like offsets.
#define DEFINE_SMALL(id, format, bytes, zero, offset)                                                      \
    static void NAME(format##_dots)(uint64_t blocks, const uint8_t *const rows[4], const igi_nn_narrow *x, \
                                    float sums[4]) {                                                       \
        sums_t all[4] = {NO_SUMS, NO_SUMS, NO_SUMS, NO_SUMS};                                              \
        vquad offsets = {0};                                                                               \
        const uint8_t *row[4] = {rows[0], rows[1], rows[2], rows[3]};                                      \
        for (uint64_t b = 0; b < blocks; b++) {                                                            \
            vquad scales = four_halves(row, 0);                                                            \
            float sum = x->sums[2 * b] + x->sums[2 * b + 1];                                               \
            if (offset) offsets += four_halves(row, 2) * sum;                                              \
            if (zero) offsets -= scales * ((float)(zero) * sum);                                           \
            scales *= x->scales[2 * b];                                                                    \
            IN_MEMORY(scales);                                                                             \
            for (int i = 0; i < 4; row[i] += (bytes), i++)                                                 \
                all[i] = add_group(all[i], format##_codes(row[i], 0), x->numbers + b * GROUP, scales[i]);  \
        }                                                                                                  \
        for (int i = 0; i < 4; i++) sums[i] = sum_of_lanes((vf)all[i]) + offsets[i];                       \
    }
FOR_SMALL_FORMATS(DEFINE_SMALL)

// ---- Blocks of 256 ----

// For one row: scales times those of x, and offsets times sums of x.
INLINE vf scale_parts(k_scales k, const igi_nn_narrow *x, uint64_t first, int zero, bool offset, float scales[PARTS]) {
    vf added = splat(0);
    for (int i = 0; i < PARTS; i += LANES) {
        vf scale = part_floats(k.scales, i) * k.scale, sum = load(x->sums + first + i);
        store(scales + i, scale * load(x->scales + first + i));
        if (offset) added += part_floats(k.minima, i) * k.minimum * sum;
        if (zero) added -= scale * ((float)zero * sum);
    }
    return added;
}

// Two sums for each row: of halves with separate scales, or of every other 32.
#define DEFINE_LARGE(id, format, bytes, zero, offset, each)                                                  \
    static void NAME(format##_dots)(uint64_t blocks, const uint8_t *const rows[4], const igi_nn_narrow *x,   \
                                    float sums[4]) {                                                         \
        sums_t all[4][2] = {{NO_SUMS, NO_SUMS}, {NO_SUMS, NO_SUMS}, {NO_SUMS, NO_SUMS}, {NO_SUMS, NO_SUMS}}; \
        vf offsets[4] = {splat(0), splat(0), splat(0), splat(0)};                                            \
        for (uint64_t b = 0; b < blocks; b++)                                                                \
            for (int i = 0; i < 4; i++) {                                                                    \
                const uint8_t *block = rows[i] + b * (bytes);                                                \
                const int16_t *numbers = x->numbers + b * PARTS * PARTS;                                     \
                float scales[PARTS];                                                                         \
                offsets[i] += scale_parts(format##_scales(block), x, b * PARTS, zero, offset, scales);       \
                IN_MEMORY(scales);                                                                           \
                for (int part = 0; part < 8; part++, numbers += GROUP) {                                     \
                    vgroup codes = format##_codes(block, part);                                              \
                    if ((each) == 2)                                                                         \
                        add_halves(all[i], codes, numbers, scales + 2 * part);                               \
                    else                                                                                     \
                        all[i][part % 2] = add_group(all[i][part % 2], codes, numbers, scales[2 * part]);    \
                }                                                                                            \
            }                                                                                                \
        for (int i = 0; i < 4; i++) {                                                                        \
            vf sum = (each) == 2 ? (vf)join_halves(all[i]) : (vf)all[i][0] + (vf)all[i][1];                  \
            sums[i] = sum_of_lanes(sum + offsets[i]);                                                        \
        }                                                                                                    \
    }
FOR_LARGE_FORMATS(DEFINE_LARGE)

void NAME(igi_nn_fill_block_dots)(igi_nn_kernels *table) {
#define FILL(id, format, ...) table->block_dots[IG_WEIGHT_##id] = NAME(format##_dots);
    FOR_SMALL_FORMATS(FILL)
    FOR_LARGE_FORMATS(FILL)
#undef FILL
}
