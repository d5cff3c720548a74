// SPDX-License-Identifier: Apache-2.0
// Weights: conversion to floats, products with f16 and bf16, and x in integers for products with blocks.
#include <math.h>

#include "tensor/nn/simd/isa/unpack.h"

// ---- To floats: plain loops, which the compiler vectorises ----

INLINE void put_floats(vgroup group, const float scales[2], const float offsets[2], float *restrict out) {
    int8_t numbers[GROUP];
    memcpy(numbers, &group, sizeof numbers);
    for (int half = 0; half < 2; half++)
        for (int i = half * GROUP / 2; i < (half + 1) * GROUP / 2; i++)
            out[i] = scales[half] * (float)numbers[i] + offsets[half];
}

// Without an offset it is -0, which changes nothing.
#define DEFINE_SMALL(id, format, bytes, zero, offset)                                                           \
    static void NAME(format##_dequantize)(uint64_t blocks, const uint8_t *row, float *restrict out) {           \
        for (uint64_t b = 0; b < blocks; b++, row += (bytes), out += GROUP) {                                   \
            float scale = half_at(row), added = (offset) ? half_at(row + 2) : -0.0F;                            \
            put_floats(format##_codes(row, 0) - (zero), (float[]){scale, scale}, (float[]){added, added}, out); \
        }                                                                                                       \
    }
FOR_SMALL_FORMATS(DEFINE_SMALL)

INLINE void spread_scales(k_scales k, float scales[PARTS], float offsets[PARTS]) {
    for (int i = 0; i < PARTS; i += LANES) {
        store(scales + i, part_floats(k.scales, i) * k.scale);
        store(offsets + i, part_floats(k.minima, i) * k.minimum);
    }
}

#define DEFINE_LARGE(id, format, bytes, zero, offset, each)                                           \
    static void NAME(format##_dequantize)(uint64_t blocks, const uint8_t *row, float *restrict out) { \
        for (uint64_t b = 0; b < blocks; b++, row += (bytes), out += PARTS * PARTS) {                 \
            float scales[PARTS], offsets[PARTS];                                                      \
            spread_scales(format##_scales(row), scales, offsets);                                     \
            for (int part = 0; part < 8; part++)                                                      \
                put_floats(format##_codes(row, part) - (zero), scales + 2 * part, offsets + 2 * part, \
                           out + part * GROUP);                                                       \
        }                                                                                             \
    }
FOR_LARGE_FORMATS(DEFINE_LARGE)

// ---- x in whole numbers ----

// The greatest magnitude. Signed halves of a greater one would not fit into bytes.
#if defined(SPLIT_NUMBERS)
#define LARGEST_NUMBER 32639
#else
#define LARGEST_NUMBER 32767
#endif

INLINE void put_numbers(const int16_t from[GROUP], int16_t *to) {
#if defined(SPLIT_NUMBERS)
    int8_t *halves = (int8_t *)to;
    for (int i = 0; i < GROUP; i++) {
        int high = (from[i] + 128) >> 8, at = i / 16 * 32 + i % 16;
        halves[at] = (int8_t)high;
        halves[at + 16] = (int8_t)(from[i] - high * 256);
    }
#else
    memcpy(to, from, GROUP * sizeof *to);
#endif
}

// Values that are not finite make the scale, and with it every product, NaN; values too small for a scale count as 0.
static void NAME(f32_narrow)(uint64_t groups, const float *restrict x, int16_t *restrict numbers,
                             float *restrict scales, float *restrict sums) {
    for (uint64_t g = 0; g < groups; g++, x += GROUP, numbers += GROUP, scales += 2, sums += 2) {
        float most = 0, sum = 0;
        int16_t whole[GROUP];
        for (int i = 0; i < GROUP; i++) most = fabsf(x[i]) > most ? fabsf(x[i]) : most;
        for (int i = 0; i < GROUP; i++) sum += x[i] * 0;
        bool none = !(most > 1e-30F) || sum != 0;
        float inverse = none ? 0 : LARGEST_NUMBER / most;
        for (int i = 0; i < GROUP; i++) {
            float scaled = x[i] * inverse;
            whole[i] = (int16_t)(int32_t)(none ? 0 : scaled + (scaled < 0 ? -0.5F : 0.5F));
        }
        put_numbers(whole, numbers);
        scales[0] = scales[1] = sum != 0 ? NAN : most / LARGEST_NUMBER;
        for (int half = 0; half < 2; half++) {
            int32_t total = 0;
            for (int i = 0; i < GROUP / 2; i++) total += whole[half * GROUP / 2 + i];
            sums[half] = scales[0] * (float)total;
        }
    }
}

// ---- Halves ----

// The rest after whole vectors is padded with zeros.
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
#define FILL(id, format, ...) table->dequantize[IG_WEIGHT_##id] = NAME(format##_dequantize);
    FOR_SMALL_FORMATS(FILL)
    FOR_LARGE_FORMATS(FILL)
#undef FILL
    table->half_dots[IG_WEIGHT_F16] = NAME(f16_dots);
    table->half_dots[IG_WEIGHT_BF16] = NAME(bf16_dots);
    table->narrow = NAME(f32_narrow);
}
