// SPDX-License-Identifier: Apache-2.0
// Smaller levels of a texture: each pixel is the average of those it covers, 2 in each direction, or 3 where an odd
// number is halved.
#include <math.h>
#include <string.h>

#include "device/texture.h"

typedef struct colour {
    float c[4];
} colour;

// ---- One pixel ----

static uint32_t channel_of(uint64_t layout, int c) {
    return (uint32_t)(layout >> (IGI_CHANNEL_FIRST + IGI_CHANNEL_BITS * c)) & ((1u << IGI_CHANNEL_BITS) - 1);
}
static uint32_t shift_of(uint32_t channel) {
    return channel & 127;
}
static uint32_t width_of(uint32_t channel) {
    return (channel >> 7 & 31) + 1;
}
static uint32_t mask_of(uint32_t channel) {
    return UINT32_MAX >> (32 - width_of(channel));
}

static float half_to_float(uint32_t bits) {
    _Float16 half;
    uint16_t half_bits = (uint16_t)bits;
    memcpy(&half, &half_bits, sizeof half);
    return (float)half;
}

static float float_of(uint32_t bits, uint32_t width) {
    float value;
    memcpy(&value, &bits, sizeof value);
    if (width == 32) return value;
    return half_to_float(width == 11 ? bits << 4 : width == 10 ? bits << 5 : bits);
}

static float number_of(uint32_t bits, uint32_t channel, uint32_t kind, bool is_alpha) {
    uint32_t width = width_of(channel), up = 32 - width;
    switch (kind) {
        case IGI_PIXEL_SNORM: return fmaxf((float)((int32_t)(bits << up) >> up) / (float)(mask_of(channel) >> 1), -1);
        case IGI_PIXEL_FLOAT: return float_of(bits, width);
        case IGI_PIXEL_SRGB:
            if (!is_alpha) return igi_device_srgb_table()[bits];
            break;
        default: break;
    }
    return (float)bits / (float)mask_of(channel);
}

static colour colour_at(const char *pixel, uint64_t layout) {
    uint32_t words[4] = {0}, kind = layout >> 3 & 7;
    colour result = {{0, 0, 0, 1}};
    memcpy(words, pixel, 1u << (layout & 7));
    if (kind == IGI_PIXEL_SHARED_EXPONENT) {
        float unit = ldexpf(1, (int)(words[0] >> 27) - 24);
        for (int c = 0; c < 3; c++) result.c[c] = (float)(words[0] >> (9 * c) & 511) * unit;
        return result;
    }
    for (int c = 0; c < 4; c++) {
        uint32_t channel = channel_of(layout, c), shift = shift_of(channel);
        if (channel >> 12 != IGI_CHANNEL_STORED) continue;
        uint32_t bits = words[shift / 32] >> (shift % 32) & mask_of(channel);
        result.c[c] = number_of(bits, channel, kind, c == 3);
    }
    return result;
}

static uint32_t small_float_of(float x, uint32_t mantissa) {
    if (isnan(x)) return (31u << mantissa) | 1;
    if (!(x > 0)) return 0;
    int exponent;
    frexpf(x, &exponent);
    if (exponent > 16) return 31u << mantissa;
    int least = exponent - 1 < -14 ? -14 : exponent - 1;
    float steps = rintf(ldexpf(x, (int)mantissa - least));
    // What rounds up to the next power of two carries into the exponent by itself.
    uint32_t bits = (uint32_t)steps + ((uint32_t)(least + 14) << mantissa);
    return bits > 31u << mantissa ? 31u << mantissa : bits;
}

static uint32_t float_bits_of(float x, uint32_t width) {
    uint32_t bits = 0;
    if (width == 32) {
        memcpy(&bits, &x, sizeof bits);
    } else if (width == 16) {
        _Float16 half = (_Float16)x;
        memcpy(&bits, &half, sizeof half);
    } else {
        bits = small_float_of(x, width - 5);
    }
    return bits;
}

static uint32_t srgb_of(float x) {
    const float *limits = igi_device_srgb_table() + 256;
    uint32_t low = 0, high = 256;  // limits[low] <= x < limits[high]
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        if (x >= limits[middle])
            low = middle;
        else
            high = middle;
    }
    return low;
}

static uint32_t bits_of(float x, uint32_t channel, uint32_t kind, bool is_alpha) {
    switch (kind) {
        case IGI_PIXEL_SNORM: return (uint32_t)(int32_t)rintf(fminf(fmaxf(x, -1), 1) * (float)(mask_of(channel) >> 1));
        case IGI_PIXEL_FLOAT: return float_bits_of(x, width_of(channel));
        case IGI_PIXEL_SRGB:
            if (!is_alpha) return srgb_of(x);
            break;
        default: break;
    }
    return (uint32_t)rintf(fminf(fmaxf(x, 0), 1) * (float)mask_of(channel));
}

static uint32_t shared_exponent_of(colour value) {
    float largest = 0;
    for (int c = 0; c < 3; c++) {
        value.c[c] = fminf(fmaxf(value.c[c], 0), 65408);
        largest = fmaxf(largest, value.c[c]);
    }
    int exponent = largest > 0 ? ilogbf(largest) : -16;
    if (exponent < -16) exponent = -16;
    exponent += 16;
    if (rintf(ldexpf(largest, 24 - exponent)) == 512) exponent++;
    uint32_t word = (uint32_t)exponent << 27;
    for (int c = 0; c < 3; c++) word |= (uint32_t)rintf(ldexpf(value.c[c], 24 - exponent)) << (9 * c);
    return word;
}

static void set_colour(char *pixel, uint64_t layout, colour value) {
    uint32_t words[4] = {0}, kind = layout >> 3 & 7;
    if (kind == IGI_PIXEL_SHARED_EXPONENT) words[0] = shared_exponent_of(value);
    for (int c = 0; c < 4 && kind != IGI_PIXEL_SHARED_EXPONENT; c++) {
        uint32_t channel = channel_of(layout, c), shift = shift_of(channel);
        if (channel >> 12 != IGI_CHANNEL_STORED) continue;
        words[shift / 32] |= (bits_of(value.c[c], channel, kind, c == 3) & mask_of(channel)) << (shift % 32);
    }
    memcpy(pixel, words, 1u << (layout & 7));
}

// ---- Levels ----

static char *pixel_at(const igi_texture *t, uint32_t level, uint32_t layer, uint32_t x, uint32_t y, uint32_t z) {
    const igi_texture_level *l = &t->level[level];
    return t->data + l->offset + layer * t->layer_bytes + z * l->plane_bytes + (uint64_t)y * l->row_bytes +
           ((uint64_t)x << (t->layout & 7));
}

// The pixels of the larger level that pixel i of the smaller one covers, and what each counts.
typedef struct covered {
    uint32_t first, count;
    float weights[3];
} covered;

// Of an odd number each pixel covers parts of three.
static covered cover(uint32_t i, uint32_t from) {
    uint32_t to = from / 2;
    if (from == 1) return (covered){0, 1, {1}};
    if (from % 2 == 0) return (covered){2 * i, 2, {0.5f, 0.5f}};
    float n = (float)from;
    return (covered){2 * i, 3, {(float)(to - i) / n, (float)to / n, (float)(i + 1) / n}};
}

static colour average(const igi_texture *t, uint32_t level, uint32_t layer, covered x, covered y, covered z) {
    colour sum = {{0}};
    for (uint32_t k = 0; k < z.count; k++)
        for (uint32_t j = 0; j < y.count; j++)
            for (uint32_t i = 0; i < x.count; i++) {
                colour one = colour_at(pixel_at(t, level, layer, x.first + i, y.first + j, z.first + k), t->layout);
                float weight = x.weights[i] * y.weights[j] * z.weights[k];
                for (int c = 0; c < 4; c++) sum.c[c] += weight * one.c[c];
            }
    return sum;
}

static void fill_level(const igi_texture *t, uint32_t level, uint32_t layer) {
    uint32_t above = level - 1, width = igi_device_level_extent(t->width, above),
             height = igi_device_level_extent(t->height, above), depth = igi_device_level_extent(t->depth, above);
    for (uint32_t z = 0; z < igi_device_level_extent(t->depth, level); z++)
        for (uint32_t y = 0; y < igi_device_level_extent(t->height, level); y++)
            for (uint32_t x = 0; x < igi_device_level_extent(t->width, level); x++)
                set_colour(pixel_at(t, level, layer, x, y, z), t->layout,
                           average(t, above, layer, cover(x, width), cover(y, height), cover(z, depth)));
}

void igi_device_fill_levels(const ig_texture *texture) {
    const igi_texture *t = &texture->shown;
    for (uint32_t layer = 0; layer < t->layers; layer++)
        for (uint32_t level = 1; level < t->levels; level++) fill_level(t, level, layer);
}
