// SPDX-License-Identifier: Apache-2.0
// Textures behind the handles of texture.h.
#ifndef INGOT_DEVICE_TEXTURE_H
#define INGOT_DEVICE_TEXTURE_H

#include "device/objects.h"
#include "device/pixel-format.h"

struct ig_texture {
    igi_refcount references;
    ig_device *device;
    ig_buffer *buffer;  // has the pixels
    ig_texture_desc desc;
    ig_texture *root;           // what this is a view of, no view itself; NULL: this is none
    ig_texture_view_desc view;  // of the root, without zeros that stand for something
    char *label;
    igi_texture shown;  // to kernels; without data where the backend has the pixels
    void *state;        // of the backend; NULL where `shown` has the pixels
};

struct ig_texture_sampler {
    igi_refcount references;
    ig_device *device;
    ig_texture_sampler_desc desc;
    uint64_t state;  // as in __ingot_texture_layout
    void *own;       // the backend's
};

// Whether the backend has the pixels, not `shown`.
bool igi_device_has_own_pixels(const ig_device *device);

// Why a texture cannot be a kernel's argument of this type, as the end of "the argument ..."; NULL if it can.
const char *igi_device_texture_mismatch(const ig_texture *texture, const char *argument_type);

const char *igi_device_texture_type_name(ig_texture_type type);

// Bytes of a pixel with all its samples.
uint32_t igi_device_pixel_bytes(const ig_texture *texture);
uint32_t igi_device_level_extent(uint32_t whole, uint32_t level);

// A box of pixels in memory.
typedef struct igi_device_pixels {
    char *first;
    uint64_t row_bytes, plane_bytes;
} igi_device_pixels;
typedef struct igi_device_pixel_copy {
    igi_device_pixels from, to;
    uint64_t bytes, rows, planes;  // of a row that are copied
    // The same in other words, for backends that have the pixels: one of the textures is NULL if it is the buffer.
    ig_texture *source, *target;
    ig_region read, written;
    ig_buffer *buffer;
    uint64_t offset;
} igi_device_pixel_copy;
void igi_device_copy_pixels(const igi_device_pixel_copy *copy);

// Fills levels 1 and up. pre: the pixels are real numbers.
void igi_device_fill_levels(const ig_texture *texture);

#endif
