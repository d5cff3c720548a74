// SPDX-License-Identifier: Apache-2.0
// Every pixel format, read and written by kernels, exactly as the reference does.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference.h"
#include "textures.h"

enum { WIDTH = 37, HEIGHT = 11, PIXELS = WIDTH * HEIGHT };  // not whole vectors

static const char source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "template <typename T> kernel void take(texture2d<T, access::read> t [[texture(0)]], device vec<T, 4> *out,\n"
    "    uint2 id [[thread_position_in_grid]]) { out[id.y * 37 + id.x] = t.read(id); }\n"
    "template <typename T> kernel void give(texture2d<T, access::write> t [[texture(0)]], device const vec<T, 4> *in,\n"
    "    uint2 id [[thread_position_in_grid]]) { t.write(in[id.y * 37 + id.x], id); }\n"
    "#define BOTH(T) template [[host_name(\"take_\" #T)]] kernel void take(texture2d<T, access::read>, device vec<T, "
    "4> *, uint2); \\\n"
    "    template [[host_name(\"give_\" #T)]] kernel void give(texture2d<T, access::write>, device const vec<T, 4> *, "
    "uint2);\n"
    "BOTH(float) BOTH(uint) BOTH(int)\n"
    "kernel void take_depth(depth2d<float, access::read> t, device float4 *out, uint2 id [[thread_position_in_grid]]) "
    "{\n"
    "    out[id.y * 37 + id.x] = float4(t.read(id), 0, 0, 1); }\n"
    "kernel void give_depth(depth2d<float, access::read_write> t, device const float4 *in, uint2 id "
    "[[thread_position_in_grid]]) {\n"
    "    t.write(in[id.y * 37 + id.x].x, id); }\n"
    "kernel void outside(texture2d<float, access::read> t, texture2d<float, access::write> u, device float4 *out,\n"
    "    uint2 id [[thread_position_in_grid]]) {\n"
    "    out[id.y * 48 + id.x] = t.read(id) + t.read(uint2(0), id.x + 1); u.write(float4(1), id); u.write(float4(1), "
    "id, 3); }\n";

const char *const textures_source = source;

static const char *kernel_for(ig_pixel_format format, const char *verb) {
    static char name[32];
    const char *type = is_depth(format) ? "depth" : is_signed(format) ? "int" : is_integer(format) ? "uint" : "float";
    snprintf(name, sizeof name, "%s_%s", verb, type);
    return name;
}

// Every bit pattern of small formats, and many of larger ones.
static void fill_pixels(ig_pixel_format format, unsigned char *bytes) {
    random_state random = {7 + (uint64_t)format};
    uint32_t pixel = ig_pixel_format_bytes(format);
    for (uint32_t i = 0; i < PIXELS * pixel; i++) bytes[i] = (unsigned char)(pixel == 1 ? i : random_u64(&random));
}

static bool same(double expected, float found) {
    float wanted = (float)expected;
    // Kernels may flush denormals.
    if (fabsf(wanted) < 1.2e-38f && found == 0) return true;
    return wanted == found || (isnan(wanted) && isnan(found));
}

static void kernels_read_every_format(void **state) {
    (void)state;
    ig_buffer *out = make_buffer(PIXELS * 16);
    size_t format_count;
    const ig_pixel_format *formats = all_formats(&format_count);
    assert_int_equal(format_count, 54);
    for (size_t f = 0; f < format_count; f++) {
        ig_pixel_format format = formats[f];
        ig_texture *texture =
            make_texture((ig_texture_desc){.type = IG_TEXTURE_2D, .format = format, .width = WIDTH, .height = HEIGHT});
        unsigned char *bytes = malloc((size_t)PIXELS * ig_pixel_format_bytes(format));
        fill_pixels(format, bytes);
        assert_ok(ig_texture_write(texture, NULL, bytes, 0, 0));
        run_kernel(kernel_for(format, "take"), &(bound){.textures = {texture}, .buffers = {out}},
                   (ig_size){WIDTH, HEIGHT, 1});
        for (int i = 0; i < PIXELS; i++) {
            colour wanted = decode(format, bytes + (size_t)i * ig_pixel_format_bytes(format));
            for (int c = 0; c < 4; c++) {
                const void *found = (const char *)ig_buffer_contents(out) + 16 * i + 4 * c;
                bool right = is_signed(format)    ? *(const int32_t *)found == (int32_t)wanted.c[c]
                             : is_integer(format) ? *(const uint32_t *)found == (uint32_t)wanted.c[c]
                                                  : same(wanted.c[c], *(const float *)found);
                if (!right)
                    fail_msg("%s, pixel %d, channel %d: %a instead of %a", ig_pixel_format_name(format), i, c,
                             (double)*(const float *)found, wanted.c[c]);
            }
        }
        free(bytes);
        ig_texture_release(texture);
    }
    ig_buffer_release(out);
}

static float interesting_float(random_state *random) {
    static const float special[] = {0,        -0.0f,     1,     -1,    0.5f,  2,     -3,         NAN,
                                    INFINITY, -INFINITY, 1e-5f, 65504, 65520, 1e9f,  0.0031308f, 0.2140411f,
                                    6.1e-5f,  5.9e-8f,   64512, 65024, 65408, 511.5f};
    uint64_t which = random_below(random, 3);
    if (which == 0) return special[random_below(random, LENGTH(special))];
    double unit = (double)random_below(random, 1u << 24) / (1u << 24);
    return (float)(which == 1 ? unit : (unit - 0.5) * ldexp(1, (int)random_below(random, 40) - 20));
}

static void give_values(ig_pixel_format format, ig_buffer *in) {
    random_state random = {99 + (uint64_t)format};
    for (int i = 0; i < PIXELS * 4; i++) {
        if (is_integer(format))
            ((uint32_t *)ig_buffer_contents(in))[i] = (uint32_t)(random_u64(&random) >> random_below(&random, 32));
        else
            ((float *)ig_buffer_contents(in))[i] = interesting_float(&random);
    }
}

static colour value_at(ig_pixel_format format, const ig_buffer *in, int i) {
    colour value;
    for (int c = 0; c < 4; c++) {
        const void *at = (const char *)ig_buffer_contents(in) + 16 * i + 4 * c;
        value.c[c] = is_signed(format)    ? *(const int32_t *)at
                     : is_integer(format) ? *(const uint32_t *)at
                                          : (double)*(const float *)at;
        if (!is_integer(format) && fabs(value.c[c]) < 1.2e-38) value.c[c] = 0;
    }
    return value;
}

// NaN has many codes.
static bool same_pixel(ig_pixel_format format, const unsigned char *wanted, const unsigned char *found) {
    colour a = decode(format, wanted), b = decode(format, found);
    if (memcmp(wanted, found, ig_pixel_format_bytes(format)) == 0) return true;
    for (int c = 0; c < 4; c++)
        if (!(a.c[c] == b.c[c] || (isnan(a.c[c]) && isnan(b.c[c])))) return false;
    return true;
}

static void kernels_write_every_format(void **state) {
    (void)state;
    ig_buffer *in = make_buffer(PIXELS * 16);
    size_t format_count;
    const ig_pixel_format *formats = all_formats(&format_count);
    assert_int_equal(format_count, 54);
    for (size_t f = 0; f < format_count; f++) {
        ig_pixel_format format = formats[f];
        uint32_t bytes = ig_pixel_format_bytes(format);
        ig_texture *texture =
            make_texture((ig_texture_desc){.type = IG_TEXTURE_2D, .format = format, .width = WIDTH, .height = HEIGHT});
        unsigned char *found = malloc((size_t)PIXELS * bytes), wanted[16];
        give_values(format, in);
        run_kernel(kernel_for(format, "give"), &(bound){.textures = {texture}, .buffers = {in}},
                   (ig_size){WIDTH, HEIGHT, 1});
        assert_ok(ig_texture_read(texture, NULL, found, 0, 0));
        for (int i = 0; i < PIXELS; i++) {
            colour value = value_at(format, in, i);
            encode(format, value, wanted);
            if (!same_pixel(format, wanted, found + (size_t)i * bytes))
                fail_msg("%s, pixel %d of (%g %g %g %g): %02x%02x%02x%02x instead of %02x%02x%02x%02x",
                         ig_pixel_format_name(format), i, value.c[0], value.c[1], value.c[2], value.c[3],
                         found[(size_t)i * bytes], found[(size_t)i * bytes + 1 % bytes],
                         found[(size_t)i * bytes + 2 % bytes], found[(size_t)i * bytes + 3 % bytes], wanted[0],
                         wanted[1 % bytes], wanted[2 % bytes], wanted[3 % bytes]);
        }
        free(found);
        ig_texture_release(texture);
    }
    ig_buffer_release(in);
}

static void outside_of_textures_nothing_is_read_or_written(void **state) {
    (void)state;
    ig_texture_desc desc = {.type = IG_TEXTURE_2D, .format = IG_PIXEL_RGBA8_UNORM, .width = 33, .height = 5};
    ig_texture *in = make_texture(desc), *out = make_texture(desc);
    unsigned char bytes[33 * 5 * 4];
    memset(bytes, 255, sizeof bytes);
    assert_ok(ig_texture_write(in, NULL, bytes, 0, 0));
    ig_buffer *values = make_buffer(48 * 9 * 16);
    run_kernel("outside", &(bound){.textures = {in, out}, .buffers = {values}}, (ig_size){48, 9, 1});
    const float *found = ig_buffer_contents(values);
    for (int y = 0; y < 9; y++)
        for (int x = 0; x < 48; x++) assert_true(found[(y * 48 + x) * 4] == (x < 33 && y < 5 ? 1 : 0));
    assert_ok(ig_texture_read(out, NULL, bytes, 0, 0));
    for (size_t i = 0; i < sizeof bytes; i++) assert_int_equal(bytes[i], 255);
    ig_buffer_release(values);
    ig_texture_release(in), ig_texture_release(out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_read_every_format),
        cmocka_unit_test(kernels_write_every_format),
        cmocka_unit_test(outside_of_textures_nothing_is_read_or_written),
    };
    return cmocka_run_group_tests_name("formats", tests, open_all, close_all);
}
