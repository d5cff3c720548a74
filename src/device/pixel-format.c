// SPDX-License-Identifier: Apache-2.0
#include "device/pixel-format.h"

#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <string.h>
#include <strings.h>

// ---- The table ----

// Channels in the order of memory, from the lowest bit: "r8g8b8a8".
typedef struct format {
    const char *name, *channels;
    ig_pixel_format number;
    uint32_t kind;
} format;

#define FORMAT(number, name, channels, kind) {name, channels, IG_PIXEL_##number, IGI_PIXEL_##kind}
static const format formats[] = {
    FORMAT(A8_UNORM, "a8_unorm", "a8", UNORM),
    FORMAT(R8_UNORM, "r8_unorm", "r8", UNORM),
    FORMAT(R8_UNORM_SRGB, "r8_unorm_srgb", "r8", SRGB),
    FORMAT(R8_SNORM, "r8_snorm", "r8", SNORM),
    FORMAT(R8_UINT, "r8_uint", "r8", UINT),
    FORMAT(R8_SINT, "r8_sint", "r8", SINT),
    FORMAT(R16_UNORM, "r16_unorm", "r16", UNORM),
    FORMAT(R16_SNORM, "r16_snorm", "r16", SNORM),
    FORMAT(R16_UINT, "r16_uint", "r16", UINT),
    FORMAT(R16_SINT, "r16_sint", "r16", SINT),
    FORMAT(R16_FLOAT, "r16_float", "r16", FLOAT),
    FORMAT(RG8_UNORM, "rg8_unorm", "r8g8", UNORM),
    FORMAT(RG8_UNORM_SRGB, "rg8_unorm_srgb", "r8g8", SRGB),
    FORMAT(RG8_SNORM, "rg8_snorm", "r8g8", SNORM),
    FORMAT(RG8_UINT, "rg8_uint", "r8g8", UINT),
    FORMAT(RG8_SINT, "rg8_sint", "r8g8", SINT),
    FORMAT(B5G6R5_UNORM, "b5g6r5_unorm", "b5g6r5", UNORM),
    FORMAT(A1BGR5_UNORM, "a1bgr5_unorm", "a1b5g5r5", UNORM),
    FORMAT(ABGR4_UNORM, "abgr4_unorm", "a4b4g4r4", UNORM),
    FORMAT(BGR5A1_UNORM, "bgr5a1_unorm", "b5g5r5a1", UNORM),
    FORMAT(R32_UINT, "r32_uint", "r32", UINT),
    FORMAT(R32_SINT, "r32_sint", "r32", SINT),
    FORMAT(R32_FLOAT, "r32_float", "r32", FLOAT),
    FORMAT(RG16_UNORM, "rg16_unorm", "r16g16", UNORM),
    FORMAT(RG16_SNORM, "rg16_snorm", "r16g16", SNORM),
    FORMAT(RG16_UINT, "rg16_uint", "r16g16", UINT),
    FORMAT(RG16_SINT, "rg16_sint", "r16g16", SINT),
    FORMAT(RG16_FLOAT, "rg16_float", "r16g16", FLOAT),
    FORMAT(RGBA8_UNORM, "rgba8_unorm", "r8g8b8a8", UNORM),
    FORMAT(RGBA8_UNORM_SRGB, "rgba8_unorm_srgb", "r8g8b8a8", SRGB),
    FORMAT(RGBA8_SNORM, "rgba8_snorm", "r8g8b8a8", SNORM),
    FORMAT(RGBA8_UINT, "rgba8_uint", "r8g8b8a8", UINT),
    FORMAT(RGBA8_SINT, "rgba8_sint", "r8g8b8a8", SINT),
    FORMAT(BGRA8_UNORM, "bgra8_unorm", "b8g8r8a8", UNORM),
    FORMAT(BGRA8_UNORM_SRGB, "bgra8_unorm_srgb", "b8g8r8a8", SRGB),
    FORMAT(RGB10A2_UNORM, "rgb10a2_unorm", "r10g10b10a2", UNORM),
    FORMAT(RGB10A2_UINT, "rgb10a2_uint", "r10g10b10a2", UINT),
    FORMAT(RG11B10_FLOAT, "rg11b10_float", "r11g11b10", FLOAT),
    FORMAT(RGB9E5_FLOAT, "rgb9e5_float", "r9g9b9e5", SHARED_EXPONENT),
    FORMAT(BGR10A2_UNORM, "bgr10a2_unorm", "b10g10r10a2", UNORM),
    FORMAT(RG32_UINT, "rg32_uint", "r32g32", UINT),
    FORMAT(RG32_SINT, "rg32_sint", "r32g32", SINT),
    FORMAT(RG32_FLOAT, "rg32_float", "r32g32", FLOAT),
    FORMAT(RGBA16_UNORM, "rgba16_unorm", "r16g16b16a16", UNORM),
    FORMAT(RGBA16_SNORM, "rgba16_snorm", "r16g16b16a16", SNORM),
    FORMAT(RGBA16_UINT, "rgba16_uint", "r16g16b16a16", UINT),
    FORMAT(RGBA16_SINT, "rgba16_sint", "r16g16b16a16", SINT),
    FORMAT(RGBA16_FLOAT, "rgba16_float", "r16g16b16a16", FLOAT),
    FORMAT(RGBA32_UINT, "rgba32_uint", "r32g32b32a32", UINT),
    FORMAT(RGBA32_SINT, "rgba32_sint", "r32g32b32a32", SINT),
    FORMAT(RGBA32_FLOAT, "rgba32_float", "r32g32b32a32", FLOAT),
    FORMAT(DEPTH16_UNORM, "depth16_unorm", "r16", UNORM),
    FORMAT(DEPTH32_FLOAT, "depth32_float", "r32", FLOAT),
    FORMAT(STENCIL8, "stencil8", "r8", UINT),
};
enum { FORMATS = sizeof formats / sizeof *formats };

static const format *find(ig_pixel_format number) {
    for (size_t i = 0; i < FORMATS; i++)
        if (formats[i].number == number) return &formats[i];
    return NULL;
}

const char *ig_pixel_format_name(ig_pixel_format format_number) {
    const format *f = find(format_number);
    return f ? f->name : "unknown";
}

ig_pixel_format ig_pixel_format_find(const char *name) {
    for (size_t i = 0; name && i < FORMATS; i++)
        if (strcasecmp(formats[i].name, name) == 0) return formats[i].number;
    return IG_PIXEL_INVALID;
}

// ---- Layouts ----

static uint64_t channel_bits(uint32_t shift, uint32_t width, uint32_t state) {
    return shift | (uint64_t)(width - 1) << 7 | (uint64_t)state << 12;
}

static int channel_of(char name) {
    return name == 'r' ? 0 : name == 'g' ? 1 : name == 'b' ? 2 : name == 'a' ? 3 : -1;
}

static uint64_t layout_of(const format *f) {
    uint64_t channels[4] = {channel_bits(0, 1, IGI_CHANNEL_ZERO), channel_bits(0, 1, IGI_CHANNEL_ZERO),
                            channel_bits(0, 1, IGI_CHANNEL_ZERO), channel_bits(0, 1, IGI_CHANNEL_ONE)};
    uint32_t shift = 0, bytes_log2 = 0;
    for (const char *at = f->channels; *at;) {
        int channel = channel_of(*at++);
        uint32_t width = 0;
        for (; *at >= '0' && *at <= '9'; at++) width = width * 10 + (uint32_t)(*at - '0');
        if (channel >= 0) channels[channel] = channel_bits(shift, width, IGI_CHANNEL_STORED);
        shift += width;
    }
    while (8u << bytes_log2 < shift) bytes_log2++;
    assert(8u << bytes_log2 == shift);
    uint64_t layout = bytes_log2 | f->kind << 3;
    for (int c = 0; c < 4; c++) layout |= channels[c] << (IGI_CHANNEL_FIRST + IGI_CHANNEL_BITS * c);
    return layout;
}

uint64_t igi_device_pixel_layout(ig_pixel_format number) {
    const format *f = find(number);
    return f ? layout_of(f) : 0;
}

uint32_t ig_pixel_format_bytes(ig_pixel_format number) {
    const format *f = find(number);
    return f ? 1u << (layout_of(f) & 7) : 0;
}

igi_device_pixel_class igi_device_pixel_class_of(ig_pixel_format number) {
    const format *f = find(number);
    if (f && f->kind == IGI_PIXEL_UINT) return IGI_PIXELS_UNSIGNED;
    return f && f->kind == IGI_PIXEL_SINT ? IGI_PIXELS_SIGNED : IGI_PIXELS_REAL;
}

bool igi_device_is_depth(ig_pixel_format number) {
    return number == IG_PIXEL_DEPTH16_UNORM || number == IG_PIXEL_DEPTH32_FLOAT;
}

ig_type igi_device_pixel_number(ig_pixel_format number) {
    uint64_t layout = igi_device_pixel_layout(number);
    uint32_t bits = (layout >> (IGI_CHANNEL_FIRST + 7) & 31) + 1;  // of red
    bool real = (layout >> 3 & 7) == IGI_PIXEL_FLOAT;
    if (bits == 32) return real ? IG_TYPE_F32 : IG_TYPE_U32;
    if (bits == 16) return real ? IG_TYPE_F16 : IG_TYPE_U16;
    return IG_TYPE_U8;
}

static uint64_t swizzled_channel(uint64_t layout, int channel, ig_swizzle swizzle) {
    if (swizzle == IG_SWIZZLE_ZERO) return channel_bits(0, 1, IGI_CHANNEL_ZERO);
    if (swizzle == IG_SWIZZLE_ONE) return channel_bits(0, 1, IGI_CHANNEL_ONE);
    int from = swizzle == IG_SWIZZLE_SAME ? channel : (int)swizzle - IG_SWIZZLE_RED;
    return layout >> (IGI_CHANNEL_FIRST + IGI_CHANNEL_BITS * from) & ((1 << IGI_CHANNEL_BITS) - 1);
}

uint64_t igi_device_swizzled(uint64_t layout, const ig_swizzle swizzle[4]) {
    uint64_t result = layout & ((1 << IGI_CHANNEL_FIRST) - 1);
    for (int c = 0; c < 4; c++)
        result |= swizzled_channel(layout, c, swizzle[c]) << (IGI_CHANNEL_FIRST + IGI_CHANNEL_BITS * c);
    return result;
}

// ---- sRGB ----

static double linear_of(double code) {
    return code <= 0.04045 ? code / 12.92 : pow((code + 0.055) / 1.055, 2.4);
}

static float srgb_table[IGI_SRGB_TABLE];
static void fill_srgb_table(void) {
    for (int i = 0; i < 256; i++) srgb_table[i] = (float)linear_of(i / 255.0);
    float *limits = srgb_table + 256;
    limits[0] = -INFINITY;
    // The least float that rounds to the code.
    for (int i = 1; i < 256; i++) {
        double limit = linear_of((i - 0.5) / 255.0);
        limits[i] = (float)limit;
        if (limits[i] < limit) limits[i] = nextafterf(limits[i], INFINITY);
    }
    limits[256] = INFINITY;
}

const float *igi_device_srgb_table(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, fill_srgb_table);
    return srgb_table;
}
