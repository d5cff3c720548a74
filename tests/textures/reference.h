// SPDX-License-Identifier: Apache-2.0
// What textures are compared with: plain code, one pixel at a time in double precision, that shares nothing with the
// library but the names of formats.
#ifndef INGOT_TESTS_TEXTURES_REFERENCE_H
#define INGOT_TESTS_TEXTURES_REFERENCE_H

#include <ingot/ingot.h>
#include <stdbool.h>

typedef struct colour {
    double c[4];
} colour;

// Channels as they are stored, without sRGB's curve where a format has none.
colour decode(ig_pixel_format format, const void *pixel);
void encode(ig_pixel_format format, colour value, void *pixel);
bool is_integer(ig_pixel_format format);
bool is_signed(ig_pixel_format format);
bool is_depth(ig_pixel_format format);

// A texture in host memory: levels one after the other, each with all its layers.
typedef struct picture {
    ig_pixel_format format;
    uint32_t dimensions, width, height, depth, layers, levels;
    bool cube;
    const char *levels_at[16];
} picture;

uint32_t level_side(uint32_t whole, uint32_t level);
colour pixel_of(const picture *p, uint32_t level, uint32_t layer, int x, int y, int z);
// What MSL's sample() gives at normalised coordinates (or a direction) for one level of detail.
colour sample(const picture *p, const ig_texture_sampler_desc *s, const double at[3], uint32_t layer, double lod);

// Every format there is.
const ig_pixel_format *all_formats(size_t *count);

#endif
