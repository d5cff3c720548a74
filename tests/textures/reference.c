// SPDX-License-Identifier: Apache-2.0
#include "reference.h"

#include <assert.h>
#include <math.h>
#include <string.h>

const ig_pixel_format *all_formats(size_t *count) {
    static ig_pixel_format found[256];
    size_t known = 0;
    for (int number = 1; number < 256; number++)
        if (ig_pixel_format_bytes((ig_pixel_format)number)) found[known++] = (ig_pixel_format)number;
    *count = known;
    return found;
}

// ---- Names say what formats are ----

static bool name_has(ig_pixel_format format, const char *part) {
    return strstr(ig_pixel_format_name(format), part) != NULL;
}
bool is_signed(ig_pixel_format format) {
    return name_has(format, "_sint");
}
bool is_integer(ig_pixel_format format) {
    return is_signed(format) || name_has(format, "_uint") || format == IG_PIXEL_STENCIL8;
}
bool is_depth(ig_pixel_format format) {
    return name_has(format, "depth");
}

// Bits of each channel from the lowest, read off the name: "rgba8", "rg11b10", "bgr5a1", "b5g6r5", "a1bgr5", "abgr4".
typedef struct field {
    int channel, shift, width;
} field;

static int fields_of(ig_pixel_format format, field fields[4]) {
    const char *name = ig_pixel_format_name(format);
    if (strncmp(name, "depth", 5) == 0) return fields[0] = (field){0, 0, name[5] == '1' ? 16 : 32}, 1;
    if (strncmp(name, "stencil", 7) == 0) return fields[0] = (field){0, 0, 8}, 1;
    int count = 0, shift = 0;
    while (*name && *name != '_') {
        int run = 0, width = 0;
        while (name[run] >= 'a') run++;
        for (const char *digit = name + run; *digit >= '0' && *digit <= '9'; digit++) width = width * 10 + *digit - '0';
        for (int i = 0; i < run; i++, shift += width)
            fields[count++] = (field){(int)(strchr("rgba", name[i]) - "rgba"), shift, width};
        name += run;
        while (*name >= '0' && *name <= '9') name++;
    }
    return count;
}

// ---- Numbers ----

static double small_float(uint32_t bits, int mantissa) {
    int exponent = (int)(bits >> mantissa) & 31;
    double fraction = (double)(bits & ((1u << mantissa) - 1)) / (1 << mantissa);
    if (exponent == 31) return fraction != 0 ? NAN : INFINITY;
    return exponent ? ldexp(1 + fraction, exponent - 15) : ldexp(fraction, -14);
}

static double float_value(uint32_t bits, int width) {
    float f;
    memcpy(&f, &bits, sizeof f);
    if (width == 32) return f;
    if (width == 16) return (bits >> 15 ? -1 : 1) * small_float(bits & 0x7fff, 10);
    return small_float(bits, width - 5);
}

static double srgb_to_linear(double c) {
    return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}
static double linear_to_srgb(double c) {
    return c <= 0.0031308 ? c * 12.92 : 1.055 * pow(c, 1 / 2.4) - 0.055;
}

static double value_of(ig_pixel_format format, uint32_t bits, field f) {
    double most = ldexp(1, f.width) - 1;
    int64_t extended = (int64_t)((uint64_t)bits << (64 - f.width)) >> (64 - f.width);
    if (is_signed(format)) return (double)extended;
    if (is_integer(format)) return bits;
    if (name_has(format, "float")) return float_value(bits, f.width);
    if (name_has(format, "snorm")) return fmax((double)extended / (ldexp(1, f.width - 1) - 1), -1);
    return name_has(format, "srgb") && f.channel != 3 ? srgb_to_linear(bits / most) : bits / most;
}

static uint32_t word_at(const unsigned char *bytes, int shift, int width) {
    uint64_t bits = 0;
    for (int i = 0; i < width; i++) bits |= (uint64_t)(bytes[(shift + i) / 8] >> ((shift + i) % 8) & 1) << i;
    return (uint32_t)bits;
}

colour decode(ig_pixel_format format, const void *pixel) {
    colour result = {{0, 0, 0, 1}};
    field fields[4];
    if (format == IG_PIXEL_RGB9E5_FLOAT) {
        uint32_t word = word_at(pixel, 0, 32);
        for (int c = 0; c < 3; c++) result.c[c] = ldexp(word >> (9 * c) & 511, (int)(word >> 27) - 24);
        return result;
    }
    for (int i = 0, count = fields_of(format, fields); i < count; i++)
        result.c[fields[i].channel] = value_of(format, word_at(pixel, fields[i].shift, fields[i].width), fields[i]);
    return result;
}

// ---- And back ----

// The code whose value is nearest, found among all codes between two that bracket it; ties go to the even code.
static uint32_t nearest_float(double x, int width) {
    if (width == 32) {
        float f = (float)x;
        uint32_t bits;
        memcpy(&bits, &f, sizeof bits);
        return bits;
    }
    bool negative = x < 0 && width == 16;
    double wanted = width == 16 ? fabs(x) : fmax(x, 0);
    int mantissa = width == 16 ? 10 : width - 5;
    uint32_t low = 0, high = 31u << mantissa;
    if (isnan(x)) return high | 1u << (mantissa - 1);
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        if (small_float(middle, mantissa) <= wanted)
            low = middle;
        else
            high = middle;
    }
    double above = high == 31u << mantissa ? ldexp(2 - ldexp(1, -mantissa), 15) + ldexp(1, 15 - mantissa)
                                           : small_float(high, mantissa);
    double to_low = wanted - small_float(low, mantissa), to_high = above - wanted;
    uint32_t code = to_low < to_high || (to_low == to_high && low % 2 == 0) ? low : high;
    return code | (negative ? 0x8000u : 0);
}

static double limit(double x, double low, double high) {
    return x > low ? x < high ? x : high : low;
}

static uint32_t code_of(ig_pixel_format format, double x, field f) {
    double most = ldexp(1, f.width) - 1, half = ldexp(1, f.width - 1);
    if (is_signed(format)) return (uint32_t)(int64_t)limit(x, -half, half - 1);
    if (is_integer(format)) return (uint32_t)limit(x, 0, most);
    if (name_has(format, "float")) return nearest_float(x, f.width);
    if (name_has(format, "snorm")) return (uint32_t)(int64_t)rint((float)limit(x, -1, 1) * (float)(half - 1));
    if (name_has(format, "srgb") && f.channel != 3) return (uint32_t)rint(linear_to_srgb(limit(x, 0, 1)) * most);
    return (uint32_t)rint((float)limit(x, 0, 1) * (float)most);
}

static uint32_t shared_exponent(colour value) {
    double largest = 0;
    for (int c = 0; c < 3; c++) largest = fmax(largest, value.c[c] = limit(value.c[c], 0, 65408));
    int exponent = 0;
    while (exponent < 31 && rint(ldexp(largest, 24 - exponent)) > 511) exponent++;
    uint32_t word = (uint32_t)exponent << 27;
    for (int c = 0; c < 3; c++) word |= (uint32_t)rint(ldexp(value.c[c], 24 - exponent)) << (9 * c);
    return word;
}

void encode(ig_pixel_format format, colour value, void *pixel) {
    unsigned char *bytes = pixel;
    field fields[4] = {{0, 0, 32}};
    int count = format == IG_PIXEL_RGB9E5_FLOAT ? 1 : fields_of(format, fields);
    memset(pixel, 0, ig_pixel_format_bytes(format));
    for (int i = 0; i < count; i++) {
        uint32_t code = format == IG_PIXEL_RGB9E5_FLOAT ? shared_exponent(value)
                                                        : code_of(format, value.c[fields[i].channel], fields[i]);
        for (int b = 0; b < fields[i].width; b++)
            bytes[(fields[i].shift + b) / 8] |= (unsigned char)((code >> b & 1) << ((fields[i].shift + b) % 8));
    }
}

// ---- Pictures ----

uint32_t level_side(uint32_t whole, uint32_t level) {
    return whole >> level ? whole >> level : 1;
}

colour pixel_of(const picture *p, uint32_t level, uint32_t layer, int x, int y, int z) {
    uint64_t width = level_side(p->width, level), height = level_side(p->height, level),
             depth = level_side(p->depth, level);
    uint64_t index = ((layer * depth + (uint64_t)z) * height + (uint64_t)y) * width + (uint64_t)x;
    return decode(p->format, p->levels_at[level] + index * ig_pixel_format_bytes(p->format));
}

// ---- Sampling ----

// The texel that an address mode gives for index i of n, or -1 for the border.
static int address(int i, int n, ig_address_mode mode) {
    int period = ((i % (2 * n)) + 2 * n) % (2 * n);
    switch (mode) {
        case IG_ADDRESS_REPEAT: return ((i % n) + n) % n;
        case IG_ADDRESS_MIRRORED_REPEAT: return period < n ? period : 2 * n - 1 - period;
        case IG_ADDRESS_CLAMP_TO_EDGE: return i < 0 ? 0 : i >= n ? n - 1 : i;
        case IG_ADDRESS_MIRROR_CLAMP_TO_EDGE: i = i < 0 ? -1 - i : i; return i >= n ? n - 1 : i;
        default: return i < 0 || i >= n ? -1 : i;
    }
}

static colour border_of(const ig_texture_sampler_desc *s, ig_address_mode mode) {
    colour result = {{0, 0, 0, 0}};
    if (mode == IG_ADDRESS_CLAMP_TO_ZERO) return result;
    for (int c = 0; c < 3; c++) result.c[c] = s->border == IG_BORDER_OPAQUE_WHITE;
    result.c[3] = s->border != IG_BORDER_TRANSPARENT_BLACK;
    return result;
}

static colour texel(const picture *p, const ig_texture_sampler_desc *s, uint32_t level, uint32_t layer,
                    const int i[3]) {
    const ig_address_mode modes[3] = {s->s, s->t, s->r};
    const uint32_t sides[3] = {p->width, p->height, p->depth};
    int at[3] = {0};
    for (uint32_t d = 0; d < p->dimensions; d++) {
        at[d] = address(i[d], (int)level_side(sides[d], level), modes[d]);
        if (at[d] < 0) return border_of(s, modes[d]);
    }
    return pixel_of(p, level, layer, at[0], at[1], at[2]);
}

static colour at_level(const picture *p, const ig_texture_sampler_desc *s, const double at[3], uint32_t layer,
                       uint32_t level, bool linear) {
    const uint32_t sides[3] = {p->width, p->height, p->depth};
    int first[3] = {0};
    double weight[3] = {0};
    for (uint32_t d = 0; d < p->dimensions; d++) {
        double x = s->pixel_coordinates ? at[d] : at[d] * level_side(sides[d], level);
        if (linear) x -= 0.5;
        first[d] = (int)floor(x);
        weight[d] = linear ? x - floor(x) : 0;
    }
    colour sum = {{0}};
    for (int corner = 0; corner < 1 << p->dimensions; corner++) {
        int i[3] = {first[0], first[1], first[2]};
        double share = 1;
        for (uint32_t d = 0; d < p->dimensions; d++) {
            bool second = corner >> d & 1;
            i[d] += second;
            share *= second ? weight[d] : 1 - weight[d];
        }
        if (share == 0) continue;
        colour one = texel(p, s, level, layer, i);
        for (int c = 0; c < 4; c++) sum.c[c] += share * one.c[c];
    }
    return sum;
}

// ---- Cubes ----

static int face_of(const double d[3], double uv[2]) {
    double a[3] = {fabs(d[0]), fabs(d[1]), fabs(d[2])};
    int axis = a[0] >= a[1] && a[0] >= a[2] ? 0 : a[1] >= a[2] ? 1 : 2;
    bool back = d[axis] < 0;
    // s and t of each face, as in the table of the specification of cube maps.
    double s = axis == 0 ? (back ? d[2] : -d[2]) : axis == 1 ? d[0] : (back ? -d[0] : d[0]);
    double t = axis == 1 ? (back ? -d[2] : d[2]) : -d[1];
    uv[0] = (s / a[axis] + 1) / 2, uv[1] = (t / a[axis] + 1) / 2;
    return 2 * axis + back;
}

static colour cube_at_level(const picture *p, const double at[3], uint32_t element, uint32_t level, bool linear) {
    picture face = *p;
    double uv[2];
    uint32_t layer = element * 6 + (uint32_t)face_of(at, uv);
    ig_texture_sampler_desc clamped = {.s = IG_ADDRESS_CLAMP_TO_EDGE};
    face.cube = false;
    return at_level(&face, &clamped, (double[3]){uv[0], uv[1], 0}, layer, level, linear);
}

colour sample(const picture *p, const ig_texture_sampler_desc *s, const double at[3], uint32_t layer, double lod) {
    double last = p->levels - 1, most = s->lod_max > 0 ? s->lod_max : 1000;
    double chosen = limit(lod, s->lod_min, most);
    bool linear = (chosen <= 0 ? s->mag_filter : s->min_filter) == IG_FILTER_LINEAR;
    double level = s->mip_filter == IG_MIP_NONE ? 0 : limit(chosen, 0, last);
    if (s->mip_filter == IG_MIP_NEAREST) level = rint(level);
    uint32_t low = (uint32_t)floor(level), high = low + 1 < p->levels ? low + 1 : low;
    double weight = level - low;
    colour a = p->cube ? cube_at_level(p, at, layer, low, linear) : at_level(p, s, at, layer, low, linear);
    colour b = p->cube ? cube_at_level(p, at, layer, high, linear) : at_level(p, s, at, layer, high, linear);
    for (int c = 0; c < 4; c++) a.c[c] += weight != 0 ? weight * (b.c[c] - a.c[c]) : 0;
    return a;
}
