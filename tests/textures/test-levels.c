// SPDX-License-Identifier: Apache-2.0
// Which level sample() chooses, by gradients, bias and clamps; anisotropy; edges of cubes; atomics of 64 bits.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "textures.h"

enum { SIDE = 16, LEVELS = 5 };

static const char source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "kernel void choose(texture2d<float> t, sampler s, texture3d<float> box [[texture(1)]],\n"
    "    texturecube<float> cube [[texture(2)]], device const float *lods [[buffer(0)]], device float *out "
    "[[buffer(1)]],\n"
    "    uint i [[thread_position_in_grid]]) {\n"
    "    float2 at = 0.5f; float step = exp2(lods[i]) / 16;\n"
    "    out[i * 8] = t.sample(s, at, gradient2d(float2(step, 0), float2(0, step / 4))).x;\n"
    "    out[i * 8 + 1] = t.sample(s, at, gradient2d(float2(0, step / 3), float2(0, step))).x;\n"
    "    out[i * 8 + 2] = t.sample(s, at, bias(lods[i])).x;\n"
    "    out[i * 8 + 3] = t.sample(s, at, min_lod_clamp(lods[i])).x;\n"
    "    out[i * 8 + 4] = t.sample(s, at, bias(0.25f), min_lod_clamp(lods[i])).x;\n"
    "    out[i * 8 + 5] = box.sample(s, float3(0.5f), gradient3d(float3(0, 0, step), float3(step / 2, 0, 0))).x;\n"
    "    out[i * 8 + 6] = cube.sample(s, float3(1, 0, 0), gradientcube(float3(0, 2 * step, 0), float3(0))).x;\n"
    "    out[i * 8 + 7] = t.sample(s, at, level(lods[i])).x; }\n"
    "kernel void stretched(texture2d<float> t, sampler s, device float *out, uint i [[thread_position_in_grid]]) {\n"
    "    out[i] = t.sample(s, float2(0.5f), gradient2d(float2(8.0f / 16, 0), float2(0, 1.0f / 16))).x; }\n"
    "kernel void edges(texturecube<float> cube, sampler s, device float *out, uint i [[thread_position_in_grid]]) {\n"
    "    const float3 at[] = {float3(1, 1, 0), float3(1, 0, -1), float3(0, -1, 1), float3(-1, 0, 0)};\n"
    "    out[i] = cube.sample(s, at[i]).x; }\n"
    "kernel void largest(texture2d<ulong, access::read_write> t, uint i [[thread_position_in_grid]]) {\n"
    "    t.atomic_max(uint2(i & 1, 0), ulong4(ulong(i) << 33 | 1)); }\n";
const char *const textures_source = source;

static ig_texture_sampler *make_sampler(ig_texture_sampler_desc desc) {
    ig_texture_sampler *sampler = NULL;
    assert_ok(ig_texture_sampler_create(device, &desc, &sampler));
    return sampler;
}

// Every pixel of a level is the number of the level.
static ig_texture *numbered(ig_texture_type type) {
    uint32_t depth = type == IG_TEXTURE_3D ? SIDE : 1, layers = type == IG_TEXTURE_CUBE ? 6 : 1;
    ig_texture *texture = make_texture((ig_texture_desc){
        .type = type, .format = IG_PIXEL_R32_FLOAT, .width = SIDE, .height = SIDE, .depth = depth, .levels = LEVELS});
    float *pixels = malloc(sizeof(float) * SIDE * SIDE * SIDE);
    for (uint32_t level = 0; level < LEVELS; level++)
        for (uint32_t layer = 0; layer < layers; layer++) {
            for (int i = 0; i < SIDE * SIDE * SIDE; i++) pixels[i] = (float)level;
            assert_ok(ig_texture_write(texture, &(ig_region){.level = level, .layer = layer}, pixels, 0, 0));
        }
    free(pixels);
    return texture;
}

static void check_lods(const float *lods, int count, ig_texture_sampler_desc desc, float low, float high) {
    bound b = {.textures = {numbered(IG_TEXTURE_2D), numbered(IG_TEXTURE_3D), numbered(IG_TEXTURE_CUBE)},
               .samplers = {make_sampler(desc)},
               .buffers = {make_buffer(4 * (uint64_t)count), make_buffer(32 * (uint64_t)count)}};
    memcpy(ig_buffer_contents(b.buffers[0]), lods, 4 * (size_t)count);
    run_kernel("choose", &b, line((uint32_t)count));
    const float *out = ig_buffer_contents(b.buffers[1]);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 8; k++) {
            float lod = k == 3 ? fmaxf(lods[i], 0) : k == 4 ? fmaxf(lods[i], 0.25f) : lods[i];
            float wanted = fminf(fmaxf(lod, low), high);
            if (!(fabsf(out[i * 8 + k] - wanted) < 1e-3f))
                fail_msg("way %d at level %g: %g instead of %g", k, (double)lods[i], (double)out[i * 8 + k],
                         (double)wanted);
        }
    for (int i = 0; i < 3; i++) ig_texture_release(b.textures[i]);
    for (int i = 0; i < 2; i++) ig_buffer_release(b.buffers[i]);
    ig_texture_sampler_release(b.samplers[0]);
}

static void gradients_bias_and_clamps_choose_the_level(void **state) {
    (void)state;
    const float lods[] = {0, 0.5f, 1, 1.75f, 2, 3.25f, 4, -1, 6};
    ig_texture_sampler_desc desc = {.mip_filter = IG_MIP_LINEAR, .min_filter = IG_FILTER_LINEAR};
    check_lods(lods, LENGTH(lods), desc, 0, 4);
    desc.lod_min = 0.5f, desc.lod_max = 2.5f;
    check_lods(lods, LENGTH(lods), desc, 0.5f, 2.5f);
}

// Eight pixels along x for one along y: without anisotropy level 3, with it eight pixels of level 0.
static void anisotropy_averages_along_the_longer_axis(void **state) {
    (void)state;
    ig_texture *t = numbered(IG_TEXTURE_2D);
    float columns[SIDE * SIDE];
    for (int i = 0; i < SIDE * SIDE; i++) columns[i] = 100.0f + (float)(i % SIDE);
    assert_ok(ig_texture_write(t, NULL, columns, 0, 0));
    for (uint32_t most = 1; most <= 8; most *= 8) {
        bound b = {
            .textures = {t},
            .samplers = {make_sampler((ig_texture_sampler_desc){.mip_filter = IG_MIP_NEAREST, .max_anisotropy = most})},
            .buffers = {make_buffer(4)}};
        run_kernel("stretched", &b, line(1));
        float found = *(const float *)ig_buffer_contents(b.buffers[0]), wanted = most == 1 ? 3 : 107.5f;
        assert_true(fabsf(found - wanted) < 1e-3f);
        ig_buffer_release(b.buffers[0]);
        ig_texture_sampler_release(b.samplers[0]);
    }
    ig_texture_release(t);
}

// On an edge, half of each face.
static void filters_of_cubes_reach_across_edges(void **state) {
    (void)state;
    ig_texture *cube = make_texture(
        (ig_texture_desc){.type = IG_TEXTURE_CUBE, .format = IG_PIXEL_R32_FLOAT, .width = SIDE, .height = SIDE});
    for (uint32_t face = 0; face < 6; face++) {
        float pixels[SIDE * SIDE];
        for (int i = 0; i < SIDE * SIDE; i++) pixels[i] = (float)(1 << face);
        assert_ok(ig_texture_write(cube, &(ig_region){.layer = face}, pixels, 0, 0));
    }
    bound b = {.textures = {cube},
               .samplers = {make_sampler(
                   (ig_texture_sampler_desc){.mag_filter = IG_FILTER_LINEAR, .min_filter = IG_FILTER_LINEAR})},
               .buffers = {make_buffer(16)}};
    run_kernel("edges", &b, line(4));
    const float wanted[] = {(1 + 4) / 2.0f, (1 + 32) / 2.0f, (8 + 16) / 2.0f, 2};
    const float *found = ig_buffer_contents(b.buffers[0]);
    for (int i = 0; i < 4; i++) assert_true(fabsf(found[i] - wanted[i]) < 1e-3f);
    ig_buffer_release(b.buffers[0]);
    ig_texture_sampler_release(b.samplers[0]);
    ig_texture_release(cube);
}

static void atomics_have_64_bits(void **state) {
    (void)state;
    ig_texture *t =
        make_texture((ig_texture_desc){.type = IG_TEXTURE_2D, .format = IG_PIXEL_RG32_UINT, .width = 2, .height = 1});
    run_kernel("largest", &(bound){.textures = {t}}, line(1000));
    uint64_t found[2];
    assert_ok(ig_texture_read(t, NULL, found, 0, 0));
    assert_true(found[0] == (998ull << 33 | 1) && found[1] == (999ull << 33 | 1));
    ig_texture_release(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_bias_and_clamps_choose_the_level),
        cmocka_unit_test(anisotropy_averages_along_the_longer_axis),
        cmocka_unit_test(filters_of_cubes_reach_across_edges),
        cmocka_unit_test(atomics_have_64_bits),
    };
    return cmocka_run_group_tests_name("levels", tests, open_all, close_all);
}
