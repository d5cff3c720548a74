// SPDX-License-Identifier: Apache-2.0
// Floats to blocks of 256, whose parts have scales of few bits: first the ideal scales of each part, then the scales as
// stored, and last the nearest numbers under the stored scales. Sums are rounded only once.
#include "tensor/nn/scalar/pack.h"

enum { BLOCK = IGI_MOST_WEIGHTS, MOST_PARTS = 16 };

static float inverse_of(float x) {
    return x != 0 && isfinite(x) ? 1 / x : 0;
}

// ---- Scales and minima: 2, 4 and 5 bits ----

typedef struct spread {
    int parts, most, most_scale;  // number of parts; the largest number, and the largest scale and minimum
    float scale, minimum;         // of the block, as stored
    int scales[MOST_PARTS], minima[MOST_PARTS];
    uint8_t numbers[BLOCK];
} spread;

// Zero is always within the range of a part, because minima have no sign.
static void find_scales(const float *x, spread *s, uint8_t *scale_at, uint8_t *minimum_at) {
    int each = BLOCK / s->parts;
    float steps[MOST_PARTS], lows[MOST_PARTS], most_step = 0, most_low = 0;
    for (int p = 0; p < s->parts; p++) {
        float low = 0, high = 0;
        for (int i = p * each; i < (p + 1) * each; i++) low = x[i] < low ? x[i] : low, high = x[i] > high ? x[i] : high;
        steps[p] = (high - low) / (float)s->most, lows[p] = -low;
        most_step = steps[p] > most_step ? steps[p] : most_step, most_low = -low > most_low ? -low : most_low;
    }
    s->scale = igi_put_half(scale_at, most_step / (float)s->most_scale);
    s->minimum = igi_put_half(minimum_at, most_low / (float)s->most_scale);
    for (int p = 0; p < s->parts; p++) {
        s->scales[p] = igi_whole(fmaf(steps[p], inverse_of(s->scale), 0.5F), 0, s->most_scale);
        s->minima[p] = igi_whole(fmaf(lows[p], inverse_of(s->minimum), 0.5F), 0, s->most_scale);
    }
}

static void spread_out(const float *x, spread *s, uint8_t *scale_at, uint8_t *minimum_at) {
    find_scales(x, s, scale_at, minimum_at);
    for (int i = 0; i < BLOCK; i++) {
        int p = i / (BLOCK / s->parts);
        float inverse = inverse_of(s->scale * (float)s->scales[p]);
        float above = fmaf(s->minimum, (float)s->minima[p], x[i]);
        s->numbers[i] = (uint8_t)igi_whole(fmaf(above, inverse, 0.5F), 0, s->most);
    }
}

// ---- Scales of both signs: 3 and 6 bits ----

// The element of the greatest magnitude becomes the lowest number, and the greatest scale the lowest one.
static void spread_around_zero(const float *x, int zero, int most_scale, spread *s, uint8_t *scale_at) {
    enum { EACH = BLOCK / MOST_PARTS };
    float steps[MOST_PARTS];
    for (int p = 0; p < MOST_PARTS; p++) steps[p] = igi_extreme(x + (size_t)p * EACH, EACH) / (float)-zero;
    s->scale = igi_put_half(scale_at, igi_extreme(steps, MOST_PARTS) / (float)-most_scale);
    for (int p = 0; p < MOST_PARTS; p++) {
        float inverse = inverse_of(s->scale);
        s->scales[p] = igi_whole(roundf(steps[p] * inverse), -most_scale, most_scale - 1);
        inverse = inverse_of(s->scale * (float)s->scales[p]);
        for (int i = p * EACH; i < (p + 1) * EACH; i++)
            s->numbers[i] = (uint8_t)igi_whole(fmaf(x[i], inverse, (float)zero + 0.5F), 0, 2 * zero - 1);
    }
}

// ---- Bytes ----

// For every 32 numbers: `bits` bits starting at bit `from`, stored at bit `place` of 32 bytes.
static void put_part(const uint8_t *numbers, int from, int bits, size_t place, uint8_t *bytes) {
    for (int i = 0; i < IGI_GROUP; i++) bytes[i] |= (uint8_t)((numbers[i] >> from & ((1 << bits) - 1)) << place);
}

void igi_pack_q2_k(const float *x, uint8_t *block) {
    spread s = {.parts = 16, .most = 3, .most_scale = 15};
    memset(block, 0, 84);
    spread_out(x, &s, block + 80, block + 82);
    for (int p = 0; p < s.parts; p++) block[p] = (uint8_t)(s.scales[p] | s.minima[p] << 4);
    for (size_t g = 0; g < 8; g++) put_part(s.numbers + g * 32, 0, 2, g % 4 * 2, block + 16 + g / 4 * 32);
}

void igi_pack_q3_k(const float *x, uint8_t *block) {
    spread s = {0};
    memset(block, 0, 110);
    spread_around_zero(x, 4, 32, &s, block + 108);
    for (int p = 0; p < MOST_PARTS; p++) {
        int scale = s.scales[p] + 32;
        block[96 + p % 8] |= (uint8_t)((scale & 15) << p / 8 * 4);
        block[104 + p % 4] |= (uint8_t)(scale >> 4 << p / 4 * 2);
    }
    for (size_t g = 0; g < 8; g++) {
        put_part(s.numbers + g * 32, 0, 2, g % 4 * 2, block + 32 + g / 4 * 32);
        put_part(s.numbers + g * 32, 2, 1, g, block);
    }
}

static void put_sixes(const spread *s, uint8_t *bytes) {
    for (int p = 0; p < 4; p++) {
        int scale = s->scales[p + 4], minimum = s->minima[p + 4];
        bytes[p] = (uint8_t)(s->scales[p] | scale >> 4 << 6);
        bytes[p + 4] = (uint8_t)(s->minima[p] | minimum >> 4 << 6);
        bytes[p + 8] = (uint8_t)((scale & 15) | (minimum & 15) << 4);
    }
}

void igi_pack_q4_k(const float *x, uint8_t *block) {
    spread s = {.parts = 8, .most = 15, .most_scale = 63};
    memset(block, 0, 144);
    spread_out(x, &s, block, block + 2);
    put_sixes(&s, block + 4);
    for (size_t g = 0; g < 8; g++) put_part(s.numbers + g * 32, 0, 4, g % 2 * 4, block + 16 + g / 2 * 32);
}

void igi_pack_q5_k(const float *x, uint8_t *block) {
    spread s = {.parts = 8, .most = 31, .most_scale = 63};
    memset(block, 0, 176);
    spread_out(x, &s, block, block + 2);
    put_sixes(&s, block + 4);
    for (size_t g = 0; g < 8; g++) {
        put_part(s.numbers + g * 32, 0, 4, g % 2 * 4, block + 48 + g / 2 * 32);
        put_part(s.numbers + g * 32, 4, 1, g, block + 16);
    }
}

void igi_pack_q6_k(const float *x, uint8_t *block) {
    spread s = {0};
    memset(block, 0, 210);
    spread_around_zero(x, 32, 128, &s, block + 208);
    for (int p = 0; p < MOST_PARTS; p++) block[192 + p] = (uint8_t)(int8_t)s.scales[p];
    for (size_t g = 0; g < 8; g++) {
        put_part(s.numbers + g * 32, 0, 4, g % 4 / 2 * 4, block + g / 4 * 64 + g % 2 * 32);
        put_part(s.numbers + g * 32, 4, 2, g % 4 * 2, block + 128 + g / 4 * 32);
    }
}
