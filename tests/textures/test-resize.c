// SPDX-License-Identifier: Apache-2.0
// Pictures that are enlarged, reduced, mirrored and turned by dispatches large enough for code of their own: lanes that
// read texels near each other, rows that share what does not depend on y, and results that are written past the caches.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reference.h"
#include "textures.h"

enum { WIDTH = 1030, HEIGHT = 523, SIDE = 700, TIMES = 3 };  // no multiples of groups of lanes or of rows
enum { STEP = 13 };  // the reference is slow: all lanes and all rows, but not each with each

static const char source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "kernel void place(texture2d<float> in [[texture(0)]], texture2d<float, access::write> out [[texture(1)]],\n"
    "    constant float3x2 &to [[buffer(0)]], uint2 id [[thread_position_in_grid]]) {\n"
    "    constexpr sampler s(filter::linear, address::clamp_to_edge);\n"
    "    float2 at = float2(id) + 0.5f;\n"
    "    out.write(in.sample(s, to[0] * at.x + to[1] * at.y + to[2]), id); }\n"
    "kernel void straight(texture2d<float> in [[texture(0)]], texture2d<float, access::write> out [[texture(1)]],\n"
    "    constant float3x2 &to [[buffer(0)]], uint2 id [[thread_position_in_grid]]) {\n"
    "    constexpr sampler s(filter::linear, address::clamp_to_edge);\n"
    "    out.write(in.sample(s, (float2(id) + 0.5f) * float2(to[0].x, to[1].y) + to[2]), id); }\n";
const char *const textures_source = source;

// From pixels of the result to normalised coordinates.
typedef struct placement {
    float columns[3][2];
} placement;

static placement scaled(double x, double y) {
    return (placement){{{(float)(x / SIDE), 0}, {0, (float)(y / SIDE)}, {x < 0 ? 1.0f : 0.0f, 0}}};
}

static char *pixels_of(ig_pixel_format format) {
    size_t count = (size_t)SIDE * SIDE;
    char *pixels = malloc(count * 4);
    assert_non_null(pixels);
    uint32_t random = 1;
    for (size_t i = 0; i < count; i++) {
        random = random * 1664525 + 1013904223;
        if (format == IG_PIXEL_R32_FLOAT)
            ((float *)(void *)pixels)[i] = (float)(random >> 8) * 0x1p-24f;
        else
            ((uint32_t *)(void *)pixels)[i] = random;
    }
    return pixels;
}

// Coordinates are computed in floats: near the edge of two texels, that is a few thousandths of their difference.
static void compare(ig_pixel_format format, const char *from, const char *result, const placement *p) {
    const picture in = {.format = format,
                        .dimensions = 2,
                        .width = SIDE,
                        .height = SIDE,
                        .depth = 1,
                        .layers = 1,
                        .levels = 1,
                        .levels_at = {from}};
    const ig_texture_sampler_desc linear = {.min_filter = IG_FILTER_LINEAR, .mag_filter = IG_FILTER_LINEAR};
    double allowed = format == IG_PIXEL_R32_FLOAT ? 1e-3 : 1.01 / 255;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = y % STEP; x < WIDTH; x += STEP) {
            double at[3] = {0};
            for (int k = 0; k < 2; k++)
                at[k] = p->columns[0][k] * (x + 0.5) + p->columns[1][k] * (y + 0.5) + p->columns[2][k];
            colour want = sample(&in, &linear, at, 0, 0), got = decode(format, result + ((size_t)y * WIDTH + x) * 4);
            for (int c = 0; c < 4; c++)
                if (fabs(want.c[c] - got.c[c]) > allowed)
                    fail_msg("pixel %d,%d, channel %d: %g, not %g", x, y, c, got.c[c], want.c[c]);
        }
}

static void place(const char *kernel, ig_pixel_format format, placement p) {
    ig_texture *in =
        make_texture((ig_texture_desc){.type = IG_TEXTURE_2D, .format = format, .width = SIDE, .height = SIDE});
    ig_texture *out =
        make_texture((ig_texture_desc){.type = IG_TEXTURE_2D, .format = format, .width = WIDTH, .height = HEIGHT});
    char *from = pixels_of(format), *result = calloc((size_t)WIDTH * HEIGHT, 4);
    bound b = {.textures = {in, out}, .buffers = {make_buffer(sizeof p)}};
    memcpy(ig_buffer_contents(b.buffers[0]), &p, sizeof p);
    assert_ok(ig_texture_write(in, NULL, from, 0, 0));
    // Code for a size of threadgroups is ready after a few runs.
    for (int i = 0; i < TIMES; i++) run_kernel(kernel, &b, (ig_size){WIDTH, HEIGHT, 1});
    assert_ok(ig_texture_read(out, NULL, result, 0, 0));
    compare(format, from, result, &p);
    free(from), free(result);
    ig_texture_release(in), ig_texture_release(out);
    ig_buffer_release(b.buffers[0]);
}

static void resized_pictures_are_right(void **state) {
    (void)state;
    static const double scales[][2] = {{SIDE * 1.0 / WIDTH, SIDE * 1.0 / HEIGHT},
                                       {0.1, 0.2},
                                       {1, 1},
                                       {1.3, 0.7},
                                       {1.9, 1.1},
                                       {3.7, 2.5},
                                       {-0.6, 1},
                                       {200, 300}};
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        place("straight", IG_PIXEL_R32_FLOAT, scaled(scales[i][0], scales[i][1]));
        place("straight", IG_PIXEL_RGBA8_UNORM, scaled(scales[i][0], scales[i][1]));
    }
}

static void turned_pictures_are_right(void **state) {
    (void)state;
    const float step = 0.7f / SIDE, turn = 0.3f / SIDE;
    const placement small = {{{step, turn}, {-turn, step}, {0.2f, 0.1f}}}, steep = {{{0, step}, {step, 0}, {0, 0}}};
    place("place", IG_PIXEL_R32_FLOAT, small);
    place("place", IG_PIXEL_RGBA8_UNORM, small);
    place("place", IG_PIXEL_R32_FLOAT, steep);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resized_pictures_are_right),
        cmocka_unit_test(turned_pictures_are_right),
    };
    setenv("INGOT_SIMT_SHAPE", "always", 1);
    return cmocka_run_group_tests_name("resize", tests, open_all, close_all);
}
