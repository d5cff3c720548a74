// SPDX-License-Identifier: Apache-2.0
// Textures and samplers for kernels.
//
// Ownership and threads: as in device.h. A texture keeps the memory it shares with a buffer or with another texture alive.
#ifndef INGOT_TEXTURE_H
#define INGOT_TEXTURE_H

#include <ingot/device.h>

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

typedef struct ig_texture ig_texture;                  // pixels in device memory, or a view of them
typedef struct ig_texture_sampler ig_texture_sampler;  // how kernels read between pixels

// How pixels are stored: the channels, starting at the lowest bit, their width in bits, and the kind of number. The values
// are Metal's.
typedef enum ig_pixel_format {
    IG_PIXEL_INVALID,  // not a format
    IG_PIXEL_A8_UNORM = 1,
    IG_PIXEL_R8_UNORM = 10,
    IG_PIXEL_R8_UNORM_SRGB = 11,
    IG_PIXEL_R8_SNORM = 12,
    IG_PIXEL_R8_UINT = 13,
    IG_PIXEL_R8_SINT = 14,
    IG_PIXEL_R16_UNORM = 20,
    IG_PIXEL_R16_SNORM = 22,
    IG_PIXEL_R16_UINT = 23,
    IG_PIXEL_R16_SINT = 24,
    IG_PIXEL_R16_FLOAT = 25,
    IG_PIXEL_RG8_UNORM = 30,
    IG_PIXEL_RG8_UNORM_SRGB = 31,
    IG_PIXEL_RG8_SNORM = 32,
    IG_PIXEL_RG8_UINT = 33,
    IG_PIXEL_RG8_SINT = 34,
    IG_PIXEL_B5G6R5_UNORM = 40,
    IG_PIXEL_A1BGR5_UNORM = 41,
    IG_PIXEL_ABGR4_UNORM = 42,
    IG_PIXEL_BGR5A1_UNORM = 43,
    IG_PIXEL_R32_UINT = 53,
    IG_PIXEL_R32_SINT = 54,
    IG_PIXEL_R32_FLOAT = 55,
    IG_PIXEL_RG16_UNORM = 60,
    IG_PIXEL_RG16_SNORM = 62,
    IG_PIXEL_RG16_UINT = 63,
    IG_PIXEL_RG16_SINT = 64,
    IG_PIXEL_RG16_FLOAT = 65,
    IG_PIXEL_RGBA8_UNORM = 70,
    IG_PIXEL_RGBA8_UNORM_SRGB = 71,
    IG_PIXEL_RGBA8_SNORM = 72,
    IG_PIXEL_RGBA8_UINT = 73,
    IG_PIXEL_RGBA8_SINT = 74,
    IG_PIXEL_BGRA8_UNORM = 80,
    IG_PIXEL_BGRA8_UNORM_SRGB = 81,
    IG_PIXEL_RGB10A2_UNORM = 90,
    IG_PIXEL_RGB10A2_UINT = 91,
    IG_PIXEL_RG11B10_FLOAT = 92,
    IG_PIXEL_RGB9E5_FLOAT = 93,
    IG_PIXEL_BGR10A2_UNORM = 94,
    IG_PIXEL_RG32_UINT = 103,
    IG_PIXEL_RG32_SINT = 104,
    IG_PIXEL_RG32_FLOAT = 105,
    IG_PIXEL_RGBA16_UNORM = 110,
    IG_PIXEL_RGBA16_SNORM = 112,
    IG_PIXEL_RGBA16_UINT = 113,
    IG_PIXEL_RGBA16_SINT = 114,
    IG_PIXEL_RGBA16_FLOAT = 115,
    IG_PIXEL_RGBA32_UINT = 123,
    IG_PIXEL_RGBA32_SINT = 124,
    IG_PIXEL_RGBA32_FLOAT = 125,
    IG_PIXEL_DEPTH16_UNORM = 250,
    IG_PIXEL_DEPTH32_FLOAT = 252,
    IG_PIXEL_STENCIL8 = 253,
} ig_pixel_format;

const char *ig_pixel_format_name(ig_pixel_format format);  // "rgba8_unorm"; "unknown" for any other value
uint32_t ig_pixel_format_bytes(ig_pixel_format format);    // of a pixel; 0 for any other value
// The format with this name, or IG_PIXEL_INVALID.
ig_pixel_format ig_pixel_format_find(const char *name);

// ---- Textures ----

// The kind of a texture.
typedef enum ig_texture_type {
    IG_TEXTURE_1D,                    // one row
    IG_TEXTURE_1D_ARRAY,              // rows
    IG_TEXTURE_2D,                    // rows and columns
    IG_TEXTURE_2D_ARRAY,              // several of one size
    IG_TEXTURE_2D_MULTISAMPLE,        // several samples in each pixel, without filters
    IG_TEXTURE_CUBE,                  // six square faces
    IG_TEXTURE_CUBE_ARRAY,            // several cubes of one size
    IG_TEXTURE_3D,                    // a box
    IG_TEXTURE_2D_MULTISAMPLE_ARRAY,  // several of one size
    IG_TEXTURE_BUFFER,                // one row of pixels in a buffer
    IG_TEXTURE_TYPE_COUNT,            // not a type
} ig_texture_type;

// Describes a new texture, whose pixels are zero unless `buffer` has them. Sizes that a type does not have may be 0.
typedef struct ig_texture_desc {
    ig_texture_type type;
    ig_pixel_format format;
    uint32_t width, height, depth;
    uint32_t array_length;  // elements of an array; 0: 1
    uint32_t levels;        // of mipmaps; 0: 1
    uint32_t samples;       // of a multisample texture: 2, 4 or 8; 0: 1
    // The pixels are in this buffer, from `offset` on, with rows `row_bytes` apart (0: adjacent): types 1D, 2D and BUFFER,
    // without mipmaps. Kernels and host see the same memory.
    ig_buffer *buffer;
    uint64_t offset, row_bytes;
    const char *label;  // a name for messages and tools; may be NULL
} ig_texture_desc;

// Creates a texture. errors: INVALID_ARGUMENT, saying which field; OUT_OF_RANGE (the buffer is too short), OUT_OF_MEMORY,
// UNSUPPORTED by the device.
ig_status ig_texture_create(ig_device *device, const ig_texture_desc *desc, ig_texture **texture);
ig_texture *ig_texture_retain(ig_texture *texture);
void ig_texture_release(ig_texture *texture);
// Fills `desc` with what the texture is. Its pointers are borrowed.
void ig_texture_get_desc(const ig_texture *texture, ig_texture_desc *desc);
// What kernels find in argument buffers for this texture, 8 bytes.
uint64_t ig_texture_resource_id(const ig_texture *texture);

// Where a channel of a view comes from.
typedef enum ig_swizzle {
    IG_SWIZZLE_SAME,   // the channel itself
    IG_SWIZZLE_ZERO,   // always 0
    IG_SWIZZLE_ONE,    // always 1
    IG_SWIZZLE_RED,    // the red channel
    IG_SWIZZLE_GREEN,  // the green channel
    IG_SWIZZLE_BLUE,   // the blue channel
    IG_SWIZZLE_ALPHA,  // the alpha channel
} ig_swizzle;

// Describes a view: another interpretation of the pixels of a texture.
typedef struct ig_texture_view_desc {
    ig_pixel_format format;  // IG_PIXEL_INVALID: the texture's; else one with as many bytes
    ig_texture_type type;    // must have as many dimensions
    uint32_t level, levels;  // which levels; levels 0: all from `level` on
    uint32_t layer, layers;  // which elements of an array, or faces of cubes; layers 0: all from `layer` on
    ig_swizzle swizzle[4];   // of red, green, blue and alpha; only for reading
} ig_texture_view_desc;
// Creates a texture that shares the pixels of another. errors: INVALID_ARGUMENT, OUT_OF_RANGE, OUT_OF_MEMORY.
ig_status ig_texture_create_view(ig_texture *texture, const ig_texture_view_desc *desc, ig_texture **view);

// A box of pixels. Sizes of 0 are everything from the origin on.
typedef struct ig_region {
    uint32_t x, y, z, width, height, depth;
    uint32_t level;
    uint32_t layer;  // element of an array; of a cube 6 * element + face
} ig_region;

// Copies pixels between host memory and a texture. Rows are `row_bytes` apart in memory and planes `plane_bytes`; 0:
// adjacent. Wait for command buffers that use the texture first. errors: OUT_OF_RANGE, INVALID_ARGUMENT.
ig_status ig_texture_write(ig_texture *texture, const ig_region *region, const void *bytes, uint64_t row_bytes,
                           uint64_t plane_bytes);
ig_status ig_texture_read(const ig_texture *texture, const ig_region *region, void *bytes, uint64_t row_bytes,
                          uint64_t plane_bytes);

// ---- Samplers ----

// What coordinates outside a texture give.
typedef enum ig_address_mode {
    IG_ADDRESS_CLAMP_TO_EDGE,         // the nearest pixel of the edge
    IG_ADDRESS_REPEAT,                // the texture again
    IG_ADDRESS_MIRRORED_REPEAT,       // the texture again, every other time mirrored
    IG_ADDRESS_CLAMP_TO_ZERO,         // zeros
    IG_ADDRESS_CLAMP_TO_BORDER,       // the border colour
    IG_ADDRESS_MIRROR_CLAMP_TO_EDGE,  // mirrored once, then as CLAMP_TO_EDGE
} ig_address_mode;
// How values between pixels are found.
typedef enum ig_filter {
    IG_FILTER_NEAREST,  // the nearest pixel
    IG_FILTER_LINEAR,   // the neighbours, weighted by distance
} ig_filter;
// How values between levels are found.
typedef enum ig_mip_filter {
    IG_MIP_NONE,     // always level 0
    IG_MIP_NEAREST,  // the nearest level
    IG_MIP_LINEAR,   // two levels, weighted
} ig_mip_filter;
// When sample_compare gives 1.
typedef enum ig_compare {
    IG_COMPARE_NEVER,          // never
    IG_COMPARE_LESS,           // the reference is less than the texture
    IG_COMPARE_LESS_EQUAL,     // less or equal
    IG_COMPARE_GREATER,        // greater
    IG_COMPARE_GREATER_EQUAL,  // greater or equal
    IG_COMPARE_EQUAL,          // equal
    IG_COMPARE_NOT_EQUAL,      // not equal
    IG_COMPARE_ALWAYS,         // always
} ig_compare;
// The colour of IG_ADDRESS_CLAMP_TO_BORDER.
typedef enum ig_border {
    IG_BORDER_TRANSPARENT_BLACK,  // 0, 0, 0, 0
    IG_BORDER_OPAQUE_BLACK,       // 0, 0, 0, 1
    IG_BORDER_OPAQUE_WHITE,       // 1, 1, 1, 1
} ig_border;

// All zeros: nearest pixels, edges clamped, coordinates from 0 to 1.
typedef struct ig_texture_sampler_desc {
    ig_address_mode s, t, r;
    ig_filter mag_filter, min_filter;
    ig_mip_filter mip_filter;
    bool pixel_coordinates;  // not from 0 to 1
    ig_compare compare;
    ig_border border;
    uint32_t max_anisotropy;  // 1 to 16; 0: 1
    float lod_min, lod_max;   // lod_max 0: no limit
    bool lod_average;         // GPUs may take one level for four threads; the software device does not
} ig_texture_sampler_desc;

// Creates a sampler. errors: INVALID_ARGUMENT, saying which field; OUT_OF_MEMORY.
ig_status ig_texture_sampler_create(ig_device *device, const ig_texture_sampler_desc *desc,
                                    ig_texture_sampler **sampler);
ig_texture_sampler *ig_texture_sampler_retain(ig_texture_sampler *sampler);
void ig_texture_sampler_release(ig_texture_sampler *sampler);
// What kernels find in argument buffers for this sampler, 8 bytes.
uint64_t ig_texture_sampler_resource_id(const ig_texture_sampler *sampler);

// ---- Commands ----

// Binds a texture to the argument [[texture(index)]], or removes the binding if it is NULL. Retained by the commands.
// errors: OUT_OF_RANGE (index), INVALID_ARGUMENT (a texture of another device).
ig_status ig_commands_set_texture(ig_commands *commands, ig_texture *texture, uint32_t index);
// Binds a sampler to the argument [[sampler(index)]]. errors: as set_texture.
ig_status ig_commands_set_sampler(ig_commands *commands, ig_texture_sampler *sampler, uint32_t index);

// Copies pixels of one texture to another with pixels of the same size. errors: OUT_OF_RANGE, INVALID_ARGUMENT.
ig_status ig_commands_copy_texture(ig_commands *commands, ig_texture *source, const ig_region *from, ig_texture *target,
                                   const ig_region *to);
// Copies pixels from a buffer to a texture, or back.
ig_status ig_commands_copy_to_texture(ig_commands *commands, ig_buffer *source, uint64_t offset, uint64_t row_bytes,
                                      uint64_t plane_bytes, ig_texture *target, const ig_region *to);
ig_status ig_commands_copy_from_texture(ig_commands *commands, ig_texture *source, const ig_region *from,
                                        ig_buffer *target, uint64_t offset, uint64_t row_bytes, uint64_t plane_bytes);
// Fills the smaller levels of a texture from level 0: each pixel is the average of those it covers.
// errors: UNSUPPORTED for integers.
ig_status ig_commands_generate_mipmaps(ig_commands *commands, ig_texture *texture);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
