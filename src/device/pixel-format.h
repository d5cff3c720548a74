// SPDX-License-Identifier: Apache-2.0
// Formats of pixels as kernels understand them.
#ifndef INGOT_DEVICE_PIXEL_FORMAT_H
#define INGOT_DEVICE_PIXEL_FORMAT_H

#include <ingot/texture.h>

#include "msl/stdlib/__ingot_texture_layout"

typedef enum igi_device_pixel_class {
    IGI_PIXELS_REAL,      // what kernels read as float or half
    IGI_PIXELS_UNSIGNED,  // as uint or ushort
    IGI_PIXELS_SIGNED,    // as int or short
} igi_device_pixel_class;

// The 64 bits of __ingot_texture_layout; 0 for an unknown format.
uint64_t igi_device_pixel_layout(ig_pixel_format format);
igi_device_pixel_class igi_device_pixel_class_of(ig_pixel_format format);
bool igi_device_is_depth(ig_pixel_format format);
// The type of channels of 16 and 32 bits; other pixels are bytes.
ig_type igi_device_pixel_number(ig_pixel_format format);
// The layout with other channels in the place of its own.
uint64_t igi_device_swizzled(uint64_t layout, const ig_swizzle swizzle[4]);
// 256 linear values of sRGB codes, then the 257 limits between codes. Lives forever.
enum { IGI_SRGB_TABLE = 256 + 257 };
const float *igi_device_srgb_table(void);

#endif
