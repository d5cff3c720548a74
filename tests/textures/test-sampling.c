// SPDX-License-Identifier: Apache-2.0
// Samplers: every type, filter, mipmap filter, address mode and border, against the reference. Filters may differ by
// 1e-5 of the largest value.
//
//   test-textures-sampling [all]   with every format that is filtered, not only a few
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reference.h"
#include "textures.h"

enum { POINTS = 203 };
static const double tolerance = 1e-5;

typedef struct point {
    float at[3];
    uint32_t layer;
    float lod;
    float unused[3];
} point;

static const char source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "struct point { packed_float3 at; uint layer; float lod; float unused[3]; };\n"
    "#define SAMPLE(name, type, call) \\\n"
    "  kernel void name(type t [[texture(0)]], sampler s [[sampler(0)]], device const point *points [[buffer(0)]], \\\n"
    "      device float4 *out [[buffer(1)]], uint i [[thread_position_in_grid]]) { \\\n"
    "    point p = points[i]; float3 at = p.at; out[i] = float4(call); }\n"
    "SAMPLE(d1, texture1d<float>, t.sample(s, at.x))\n"
    "SAMPLE(a1, texture1d_array<float>, t.sample(s, at.x, p.layer))\n"
    "SAMPLE(d2, texture2d<float>, t.sample(s, at.xy, level(p.lod)))\n"
    "SAMPLE(a2, texture2d_array<float>, t.sample(s, at.xy, p.layer, level(p.lod)))\n"
    "SAMPLE(d3, texture3d<float>, t.sample(s, at, level(p.lod)))\n"
    "SAMPLE(cube, texturecube<float>, t.sample(s, at, level(p.lod)))\n"
    "SAMPLE(cubes, texturecube_array<float>, t.sample(s, at, p.layer, level(p.lod)))\n"
    "SAMPLE(depth, depth2d<float>, float4(t.sample(s, at.xy, level(p.lod)), 0, 0, 1))\n";

typedef struct kind {
    const char *kernel;
    ig_texture_type type;
    uint32_t dimensions, width, height, depth, array_length, levels;
    bool cube;
} kind;

static const kind kinds[] = {
    {"d1", IG_TEXTURE_1D, 1, 19, 1, 1, 1, 1, false},
    {"a1", IG_TEXTURE_1D_ARRAY, 1, 8, 1, 1, 3, 1, false},
    {"d2", IG_TEXTURE_2D, 2, 13, 7, 1, 1, 4, false},
    {"a2", IG_TEXTURE_2D_ARRAY, 2, 8, 16, 1, 3, 5, false},
    {"d3", IG_TEXTURE_3D, 3, 5, 6, 7, 1, 3, false},
    {"cube", IG_TEXTURE_CUBE, 2, 32, 32, 1, 1, 3, true},
    {"cubes", IG_TEXTURE_CUBE_ARRAY, 2, 16, 16, 1, 2, 2, true},
    {"depth", IG_TEXTURE_2D, 2, 9, 9, 1, 1, 4, false},
};

const char *const textures_source = source;
static bool all;

// ---- Pictures ----

static picture make_picture(const kind *k, ig_pixel_format format) {
    picture p = {.format = format,
                 .dimensions = k->dimensions,
                 .width = k->width,
                 .height = k->height,
                 .depth = k->depth,
                 .layers = k->array_length * (k->cube ? 6 : 1),
                 .levels = k->levels,
                 .cube = k->cube};
    random_state random = {5};
    for (uint32_t level = 0; level < p.levels; level++) {
        uint32_t count =
            level_side(p.width, level) * level_side(p.height, level) * level_side(p.depth, level) * p.layers;
        char *pixels = malloc((size_t)count * ig_pixel_format_bytes(format));
        for (uint32_t i = 0; i < count; i++) {
            colour value;
            for (int c = 0; c < 4; c++) value.c[c] = (double)random_below(&random, 1001) / 1000;
            encode(format, value, pixels + (size_t)i * ig_pixel_format_bytes(format));
        }
        p.levels_at[level] = pixels;
    }
    return p;
}

static ig_texture *upload(const kind *k, const picture *p) {
    ig_texture *texture = make_texture((ig_texture_desc){.type = k->type,
                                                         .format = p->format,
                                                         .width = k->width,
                                                         .height = k->height,
                                                         .depth = k->depth,
                                                         .array_length = k->array_length,
                                                         .levels = k->levels});
    for (uint32_t level = 0; level < p->levels; level++)
        for (uint32_t layer = 0; layer < p->layers; layer++) {
            size_t bytes = (size_t)level_side(p->width, level) * level_side(p->height, level) *
                           level_side(p->depth, level) * ig_pixel_format_bytes(p->format);
            ig_region region = {.level = level, .layer = layer};
            assert_ok(ig_texture_write(texture, &region, p->levels_at[level] + layer * bytes, 0, 0));
        }
    return texture;
}

// ---- Points ----

static void choose_points(const kind *k, ig_buffer *buffer) {
    random_state random = {11};
    point *points = ig_buffer_contents(buffer);
    for (int i = 0; i < POINTS; i++) {
        for (int d = 0; d < 3; d++) points[i].at[d] = (float)random_below(&random, 4096) / 1024 - 1.5f;
        points[i].layer = (uint32_t)random_below(&random, k->array_length);
        points[i].lod = k->dimensions == 1 ? 0 : (float)random_below(&random, 100) / 16 - 1;
    }
}

// A coordinate so near the border of a texel, or a level so near the middle of two, that rounding decides.
static bool is_on_edge(const kind *k, const ig_texture_sampler_desc *s, const point *p) {
    const uint32_t sides[3] = {k->width, k->height, k->depth};
    if (s->mip_filter == IG_MIP_NEAREST && fabs(p->lod - floor(p->lod) - 0.5) < 1e-3) return true;
    for (uint32_t level = 0; level < k->levels; level++)
        for (uint32_t d = 0; d < k->dimensions; d++) {
            double x = s->pixel_coordinates ? p->at[d] : p->at[d] * level_side(sides[d], level);
            if (fabs(x - rint(x)) < 1e-3) return true;
        }
    return false;
}

// Filters of cubes cross edges of faces, which the reference does not.
static bool is_near_cube_edge(const kind *k, const ig_texture_sampler_desc *s, const point *p) {
    double a[3], largest = 0;
    int near = 0;
    for (int d = 0; d < 3; d++) largest = fmax(largest, a[d] = fabs(p->at[d]));
    double margin = s->mag_filter == IG_FILTER_LINEAR || s->min_filter == IG_FILTER_LINEAR
                        ? 2.0 / level_side(k->width, k->levels - 1)
                        : 1e-3;
    if (largest < 1e-3) return true;
    for (int d = 0; d < 3; d++) {
        near += a[d] / largest > 1 - margin;
        double x = (a[d] / largest + 1) / 2 * k->width;
        if (fabs(x - rint(x)) < 1e-3 && s->mag_filter == IG_FILTER_NEAREST) return true;
    }
    return near > 1;
}

// ---- Comparing ----

static void check_points(const kind *k, const picture *p, const ig_texture_sampler_desc *s, const point *points,
                         const float *found, int *compared) {
    for (int i = 0; i < POINTS; i++) {
        bool nearest = s->mag_filter == IG_FILTER_NEAREST || s->min_filter == IG_FILTER_NEAREST;
        if (k->cube ? is_near_cube_edge(k, s, &points[i]) : nearest && is_on_edge(k, s, &points[i])) continue;
        if (s->mip_filter == IG_MIP_NEAREST && fabs(points[i].lod - floor(points[i].lod) - 0.5) < 1e-3) continue;
        double at[3] = {points[i].at[0], points[i].at[1], points[i].at[2]};
        colour wanted = sample(p, s, at, points[i].layer, points[i].lod);
        if (strcmp(k->kernel, "depth") == 0) wanted.c[1] = wanted.c[2] = 0, wanted.c[3] = 1;
        ++*compared;
        for (int c = 0; c < 4; c++)
            if (!(fabs(wanted.c[c] - (double)found[4 * i + c]) <= tolerance))
                fail_msg(
                    "%s of %s at (%g %g %g), layer %u, level %g; address %d %d %d, filters %d %d %d, border %d, "
                    "channel %d: %.7g instead of %.7g",
                    k->kernel, ig_pixel_format_name(p->format), at[0], at[1], at[2], points[i].layer,
                    (double)points[i].lod, s->s, s->t, s->r, s->mag_filter, s->min_filter, s->mip_filter, s->border, c,
                    (double)found[4 * i + c], wanted.c[c]);
    }
}

typedef struct bench {
    const kind *k;
    picture p;
    ig_texture *texture;
    ig_pipeline *pipeline;
    ig_queue *queue;
    ig_buffer *points, *out;
    int compared;
} bench;

static void check_sampler(bench *b, const ig_texture_sampler_desc *desc) {
    ig_texture_sampler *sampler;
    assert_ok(ig_texture_sampler_create(device, desc, &sampler));
    ig_commands *commands = make_commands(b->queue);
    assert_ok(ig_commands_set_pipeline(commands, b->pipeline));
    assert_ok(ig_commands_set_texture(commands, b->texture, 0));
    assert_ok(ig_commands_set_sampler(commands, sampler, 0));
    assert_ok(ig_commands_set_buffer(commands, b->points, 0, 0));
    assert_ok(ig_commands_set_buffer(commands, b->out, 0, 1));
    assert_ok(ig_commands_dispatch_threads(commands, line(POINTS), line(64)));
    assert_ok(ig_commands_commit(commands));
    assert_ok(ig_commands_wait(commands, IG_FOREVER));
    check_points(b->k, &b->p, desc, ig_buffer_contents(b->points), ig_buffer_contents(b->out), &b->compared);
    ig_commands_release(commands);
    ig_texture_sampler_release(sampler);
}

static void check_filters(bench *b, ig_texture_sampler_desc desc) {
    for (int filters = 0; filters < 12; filters++) {
        desc.mag_filter = (ig_filter)(filters & 1), desc.min_filter = (ig_filter)(filters >> 1 & 1);
        desc.mip_filter = (ig_mip_filter)(filters >> 2);
        check_sampler(b, &desc);
    }
}

static void check_addresses(bench *b) {
    for (int mode = IG_ADDRESS_CLAMP_TO_EDGE; mode <= IG_ADDRESS_MIRROR_CLAMP_TO_EDGE; mode++) {
        ig_address_mode s = (ig_address_mode)mode, t = (ig_address_mode)((mode + 1) % 6),
                        r = (ig_address_mode)((mode + 2) % 6);
        check_filters(b, (ig_texture_sampler_desc){.s = s, .t = s, .r = s, .border = (ig_border)(mode % 3)});
        check_filters(b, (ig_texture_sampler_desc){.s = s, .t = t, .r = r, .border = IG_BORDER_OPAQUE_WHITE});
    }
    check_filters(b, (ig_texture_sampler_desc){.lod_min = 0.75f, .lod_max = 1.5f});
    if (!b->k->cube && b->k->levels == 1)
        check_filters(b, (ig_texture_sampler_desc){.s = IG_ADDRESS_CLAMP_TO_ZERO, .pixel_coordinates = true});
}

static void check_kind(const kind *k, ig_pixel_format format) {
    bench b = {.k = k, .p = make_picture(k, format), .queue = make_queue()};
    b.texture = upload(k, &b.p);
    b.pipeline = pipeline_of(library, k->kernel);
    b.points = make_buffer(POINTS * sizeof(point));
    b.out = make_buffer(POINTS * 16);
    choose_points(k, b.points);
    check_addresses(&b);
    assert_true(b.compared > 1000);
    for (uint32_t i = 0; i < b.p.levels; i++) free((char *)b.p.levels_at[i]);
    ig_buffer_release(b.points), ig_buffer_release(b.out);
    ig_texture_release(b.texture);
    ig_pipeline_release(b.pipeline);
    ig_queue_release(b.queue);
}

// Unless all are asked for, one format for each kind and a few more for the most common one.
static bool is_wanted(const kind *k, ig_pixel_format format) {
    bool common = strcmp(k->kernel, "d2") == 0;
    if (is_integer(format) || is_depth(format) != (strcmp(k->kernel, "depth") == 0)) return false;
    if (all || format == IG_PIXEL_RGBA8_UNORM || format == IG_PIXEL_DEPTH32_FLOAT) return true;
    return common && (format == IG_PIXEL_BGRA8_UNORM_SRGB || format == IG_PIXEL_R16_FLOAT);
}

static void every_kind_is_sampled_as_the_reference_does(void **state) {
    (void)state;
    size_t format_count;
    const ig_pixel_format *formats = all_formats(&format_count);
    for (size_t k = 0; k < LENGTH(kinds); k++)
        for (size_t f = 0; f < format_count; f++)
            if (is_wanted(&kinds[k], formats[f])) check_kind(&kinds[k], formats[f]);
}

int main(int argc, char **argv) {
    all = argc > 1 && strcmp(argv[1], "all") == 0;
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_kind_is_sampled_as_the_reference_does)};
    return cmocka_run_group_tests_name("sampling", tests, open_all, close_all);
}
