// SPDX-License-Identifier: Apache-2.0
// Everything about textures but formats and filters: arrays, views, copies, mipmaps, argument buffers, atomics, errors.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reference.h"
#include "textures.h"

static const char source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "kernel void pick(array<texture2d<uint, access::read>, 5> t [[texture(2)]], device uint *out,\n"
    "    uint i [[thread_position_in_grid]]) { out[i] = t[i].read(uint2(0)).x; }\n"
    "kernel void pair(array<texture2d<uint, access::read>, 2> t [[texture(0)]], device uint *out,\n"
    "    uint i [[thread_position_in_grid]]) { out[i] = t[i & 1].read(uint2(0)).x; }\n"
    "struct scene { texture2d<float> image; sampler how; float scale; };\n"
    "kernel void argued(constant scene &s [[buffer(0)]], device float4 *out [[buffer(1)]],\n"
    "    uint i [[thread_position_in_grid]]) { out[i] = s.scale * s.image.sample(s.how, float2(0.5f)); }\n"
    "kernel void count(texture2d<uint, access::read_write> t [[texture(0)]], uint i [[thread_position_in_grid]]) {\n"
    "    t.atomic_fetch_add(uint2(i % 3, 0), uint4(i)); t.atomic_fetch_max(uint2(3, 0), uint4(i)); }\n"
    "kernel void count_in_a_buffer(texture_buffer<uint, access::read_write> t [[texture(0)]],\n"
    "    uint i [[thread_position_in_grid]]) { t.atomic_fetch_add(i % 3, uint4(i)); t.atomic_fetch_max(3u, uint4(i)); "
    "}\n"
    "kernel void count_on_faces(texturecube<uint, access::read_write> t [[texture(0)]],\n"
    "    uint i [[thread_position_in_grid]]) { t.atomic_fetch_add(uint2(0), i % 6, uint4(1)); }\n"
    "kernel void count_in_cubes(texturecube_array<uint, access::read_write> t [[texture(0)]],\n"
    "    uint i [[thread_position_in_grid]]) { t.atomic_fetch_add(uint2(0), i % 6, i / 6 % 2, uint4(i / 6 % 2 + 1)); "
    "}\n"
    "kernel void gathered(texture2d<float> t [[texture(0)]], depth2d<float> d [[texture(1)]], device float4 *out,\n"
    "    uint i [[thread_position_in_grid]]) {\n"
    "    constexpr sampler s(filter::linear, address::clamp_to_edge, compare_func::less);\n"
    "    if (i == 0) out[0] = t.gather(s, float2(0.5f));\n"
    "    if (i == 1) out[1] = t.gather(s, float2(0.5f), int2(1, 0), component::y);\n"
    "    if (i == 2) out[2] = d.gather_compare(s, float2(0.5f), 0.35f);\n"
    "    if (i == 3) out[3] = float4(d.sample_compare(s, float2(0.5f), 0.35f)); }\n"
    "kernel void sizes(texture2d_array<float> a, texture3d<float, access::read_write> b, texturecube<float> c,\n"
    "    texture_buffer<float> d, texture2d_ms<float> e, device uint *out) {\n"
    "    uint all[] = {a.get_width(), a.get_height(1), a.get_array_size(), a.get_num_mip_levels(), b.get_depth(),\n"
    "        c.get_width(), d.get_width(), e.get_num_samples()};\n"
    "    for (uint i = 0; i < 8; i++) out[i] = all[i]; }\n"
    "kernel void samples(texture2d_ms<float> t, device float *out, uint2 id [[thread_position_in_grid]]) {\n"
    "    out[id.y * 4 + id.x] = t.read(uint2(1, 0), id.x).x + t.read(uint2(id.y), 9).x; }\n"
    "kernel void look(texture2d<float> t, device float4 *out, uint i [[thread_position_in_grid]]) { out[i] = "
    "t.read(uint2(i, 0)); }\n"
    "kernel void add_rows(texture_buffer<float, access::read_write> t, uint i [[thread_position_in_grid]]) {\n"
    "    t.write(t.read(i) * 2, i); }\n";

const char *const textures_source = source;

static ig_texture *plane(ig_pixel_format format, uint32_t width, uint32_t height) {
    return make_texture((ig_texture_desc){.type = IG_TEXTURE_2D, .format = format, .width = width, .height = height});
}

// ---- Arguments ----

static void arrays_take_consecutive_slots(void **state) {
    (void)state;
    bound b = {.buffers = {make_buffer(32)}};
    for (uint32_t i = 0; i < 8; i++) {
        b.textures[i] = plane(i % 2 ? IG_PIXEL_R32_UINT : IG_PIXEL_RGBA8_UINT, 1, 1);
        uint32_t value = 10 + i;
        assert_ok(ig_texture_write(b.textures[i], NULL, &value, 0, 0));
    }
    const uint32_t *out = ig_buffer_contents(b.buffers[0]);
    run_kernel("pick", &b, line(5));
    for (uint32_t i = 0; i < 5; i++) assert_int_equal(out[i], 12 + i);
    run_kernel("pair", &b, line(4));
    for (uint32_t i = 0; i < 4; i++) assert_int_equal(out[i], 10 + i % 2);
    const ig_kernel_info *info = ig_library_find_kernel(library, "pick");
    assert_int_equal(info->arguments[0].kind, IG_ARGUMENT_TEXTURE);
    assert_int_equal(info->arguments[0].array_length, 5);
    assert_int_equal(info->arguments[0].access, IG_ACCESS_READ);
    for (int i = 0; i < 8; i++) ig_texture_release(b.textures[i]);
    ig_buffer_release(b.buffers[0]);
}

static void argument_buffers_hold_textures_and_samplers(void **state) {
    (void)state;
    struct {
        uint64_t image, how;
        float scale, pad;
    } scene = {.scale = 3};
    ig_texture *image = plane(IG_PIXEL_RGBA8_UNORM, 2, 2);
    const unsigned char bytes[16] = {0, 0, 0, 0, 255, 0, 0, 0, 0, 255, 0, 0, 255, 255, 0, 255};
    assert_ok(ig_texture_write(image, NULL, bytes, 0, 0));
    ig_texture_sampler *how;
    assert_ok(ig_texture_sampler_create(
        device, &(ig_texture_sampler_desc){.mag_filter = IG_FILTER_LINEAR, .min_filter = IG_FILTER_LINEAR}, &how));
    scene.image = ig_texture_resource_id(image), scene.how = ig_texture_sampler_resource_id(how);
    bound b = {.buffers = {make_buffer(sizeof scene), make_buffer(64)}};
    assert_ok(ig_buffer_write(b.buffers[0], 0, &scene, sizeof scene));
    run_kernel("argued", &b, line(4));
    const float *out = ig_buffer_contents(b.buffers[1]);
    for (int i = 0; i < 4; i++) {
        assert_true(fabsf(out[4 * i] - 1.5f) < 1e-6f && fabsf(out[4 * i + 1] - 1.5f) < 1e-6f);
        assert_true(out[4 * i + 2] == 0 && fabsf(out[4 * i + 3] - 0.75f) < 1e-6f);
    }
    ig_texture_sampler_release(how);
    ig_texture_release(image);
    ig_buffer_release(b.buffers[0]), ig_buffer_release(b.buffers[1]);
}

static void atomics_count(void **state) {
    (void)state;
    bound b = {.textures = {plane(IG_PIXEL_R32_UINT, 4, 1)}};
    run_kernel("count", &b, line(1000));
    uint32_t found[4], wanted[4] = {0, 0, 0, 999};
    for (uint32_t i = 0; i < 1000; i++) wanted[i % 3] += i;
    assert_ok(ig_texture_read(b.textures[0], NULL, found, 0, 0));
    assert_memory_equal(found, wanted, sizeof wanted);
    ig_texture_release(b.textures[0]);
}

static void atomics_count_in_buffers_and_on_faces(void **state) {
    (void)state;
    ig_buffer *buffer = make_buffer(16);
    bound b = {.textures = {make_texture((ig_texture_desc){
                   .type = IG_TEXTURE_BUFFER, .format = IG_PIXEL_R32_UINT, .width = 4, .buffer = buffer})}};
    run_kernel("count_in_a_buffer", &b, line(1000));
    uint32_t found, wanted[4] = {0, 0, 0, 999};
    for (uint32_t i = 0; i < 1000; i++) wanted[i % 3] += i;
    assert_memory_equal(ig_buffer_contents(buffer), wanted, sizeof wanted);
    ig_texture_release(b.textures[0]);
    ig_buffer_release(buffer);
    b.textures[0] =
        make_texture((ig_texture_desc){.type = IG_TEXTURE_CUBE, .format = IG_PIXEL_R32_UINT, .width = 1, .height = 1});
    run_kernel("count_on_faces", &b, line(600));
    for (uint32_t face = 0; face < 6; face++) {
        ig_region region = {.layer = face, .width = 1, .height = 1, .depth = 1};
        assert_ok(ig_texture_read(b.textures[0], &region, &found, 0, 0));
        assert_int_equal(found, 100);
    }
    ig_texture_release(b.textures[0]);
}

static void atomics_count_in_arrays_of_cubes(void **state) {
    (void)state;
    bound b = {
        .textures = {make_texture((ig_texture_desc){
            .type = IG_TEXTURE_CUBE_ARRAY, .format = IG_PIXEL_R32_UINT, .width = 1, .height = 1, .array_length = 2})}};
    run_kernel("count_in_cubes", &b, line(600));
    for (uint32_t face = 0; face < 12; face++) {
        ig_region region = {.layer = face, .width = 1, .height = 1, .depth = 1};
        uint32_t found;
        assert_ok(ig_texture_read(b.textures[0], &region, &found, 0, 0));
        assert_int_equal(found, face < 6 ? 50 : 100);
    }
    ig_texture_release(b.textures[0]);
}

static void gathers_and_comparisons(void **state) {
    (void)state;
    bound b = {.textures = {plane(IG_PIXEL_RG32_FLOAT, 3, 2), plane(IG_PIXEL_DEPTH32_FLOAT, 2, 2)},
               .buffers = {make_buffer(64)}};
    const float pixels[] = {0, 10, 1, 11, 2, 12, 3, 13, 4, 14, 5, 15}, depths[] = {0.1f, 0.2f, 0.3f, 0.4f};
    assert_ok(ig_texture_write(b.textures[0], NULL, pixels, 0, 0));
    assert_ok(ig_texture_write(b.textures[1], NULL, depths, 0, 0));
    run_kernel("gathered", &b, line(4));
    const float *out = ig_buffer_contents(b.buffers[0]);
    // At the middle of 3 x 2 the four are columns 1 and 2 of both rows: left below, right below, right above, left above.
    const float wanted[] = {4, 5, 2, 1, 15, 15, 12, 12, 0, 1, 0, 0, 0.25f, 0.25f, 0.25f, 0.25f};
    for (int i = 0; i < 16; i++) assert_true(out[i] == wanted[i]);
    for (int i = 0; i < 2; i++) ig_texture_release(b.textures[i]);
    ig_buffer_release(b.buffers[0]);
}

static void kernels_learn_sizes(void **state) {
    (void)state;
    ig_buffer *row = make_buffer(64);
    bound b = {
        .textures = {make_texture((ig_texture_desc){.type = IG_TEXTURE_2D_ARRAY,
                                                    .format = IG_PIXEL_RGBA8_UNORM,
                                                    .width = 10,
                                                    .height = 7,
                                                    .array_length = 3,
                                                    .levels = 2}),
                     make_texture((ig_texture_desc){
                         .type = IG_TEXTURE_3D, .format = IG_PIXEL_R32_FLOAT, .width = 2, .height = 3, .depth = 5}),
                     make_texture((ig_texture_desc){
                         .type = IG_TEXTURE_CUBE, .format = IG_PIXEL_R8_UNORM, .width = 6, .height = 6}),
                     make_texture((ig_texture_desc){
                         .type = IG_TEXTURE_BUFFER, .format = IG_PIXEL_R32_FLOAT, .width = 16, .buffer = row}),
                     make_texture((ig_texture_desc){.type = IG_TEXTURE_2D_MULTISAMPLE,
                                                    .format = IG_PIXEL_R8_UNORM,
                                                    .width = 2,
                                                    .height = 2,
                                                    .samples = 4})},
        .buffers = {make_buffer(64)}};
    run_kernel("sizes", &b, line(1));
    const uint32_t wanted[] = {10, 3, 3, 2, 5, 6, 16, 4};
    assert_memory_equal(ig_buffer_contents(b.buffers[0]), wanted, sizeof wanted);
    // Samples of pixel (1, 0).
    unsigned char samples[16] = {0};
    for (int i = 0; i < 4; i++) samples[4 + i] = (unsigned char)(51 * (i + 1));
    assert_ok(ig_texture_write(b.textures[4], NULL, samples, 0, 0));
    bound m = {.textures = {b.textures[4]}, .buffers = {b.buffers[0]}};
    run_kernel("samples", &m, (ig_size){4, 1, 1});
    for (int i = 0; i < 4; i++)
        assert_true(fabsf(((float *)ig_buffer_contents(m.buffers[0]))[i] - 0.2f * (float)(i + 1)) < 1e-6f);
    for (int i = 0; i < 5; i++) ig_texture_release(b.textures[i]);
    ig_buffer_release(b.buffers[0]), ig_buffer_release(row);
}

// ---- Memory ----

static void textures_in_buffers_share_their_memory(void **state) {
    (void)state;
    ig_buffer *buffer = make_buffer(1024);
    float *values = ig_buffer_contents(buffer);
    for (int i = 0; i < 16; i++) values[4 + i] = (float)i;
    bound b = {
        .textures = {make_texture((ig_texture_desc){
            .type = IG_TEXTURE_BUFFER, .format = IG_PIXEL_R32_FLOAT, .width = 16, .buffer = buffer, .offset = 16})}};
    run_kernel("add_rows", &b, line(20));
    for (int i = 0; i < 16; i++) assert_true(values[4 + i] == 2 * (float)i);
    assert_true(values[20] == 0);
    ig_texture_release(b.textures[0]);
    ig_buffer_release(buffer);
}

static void views_share_pixels(void **state) {
    (void)state;
    ig_texture *array = make_texture((ig_texture_desc){.type = IG_TEXTURE_2D_ARRAY,
                                                       .format = IG_PIXEL_RGBA8_UNORM,
                                                       .width = 4,
                                                       .height = 4,
                                                       .array_length = 3,
                                                       .levels = 3});
    const unsigned char pixel[] = {255, 51, 0, 102, 0, 0, 0, 0};
    assert_ok(ig_texture_write(array, &(ig_region){.level = 1, .layer = 2, .width = 2, .height = 1}, pixel, 0, 0));
    ig_texture *view;
    ig_texture_view_desc desc = {.type = IG_TEXTURE_2D,
                                 .level = 1,
                                 .levels = 2,
                                 .layer = 2,
                                 .layers = 1,
                                 .swizzle = {IG_SWIZZLE_ALPHA, IG_SWIZZLE_SAME, IG_SWIZZLE_ONE, IG_SWIZZLE_RED}};
    assert_ok(ig_texture_create_view(array, &desc, &view));
    ig_texture_release(array);  // the view keeps its memory
    bound b = {.textures = {view}, .buffers = {make_buffer(64)}};
    run_kernel("look", &b, line(3));
    const float *out = ig_buffer_contents(b.buffers[0]);
    const float wanted[] = {0.4f, 0.2f, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0};
    for (int i = 0; i < 12; i++) assert_true(fabsf(out[i] - wanted[i]) < 1e-6f);
    ig_texture_desc shown;
    ig_texture_get_desc(view, &shown);
    assert_int_equal(shown.width, 2);
    assert_int_equal(shown.levels, 2);
    ig_texture *bad;
    desc.format = IG_PIXEL_R8_UNORM;
    assert_status(ig_texture_create_view(view, &desc, &bad), IG_STATUS_INVALID_ARGUMENT);
    desc.format = IG_PIXEL_INVALID, desc.levels = 3;
    assert_status(ig_texture_create_view(view, &desc, &bad), IG_STATUS_INVALID_ARGUMENT);
    ig_texture_release(view);
    ig_buffer_release(b.buffers[0]);
}

static void copies_move_regions(void **state) {
    (void)state;
    ig_texture *a = plane(IG_PIXEL_R8_UINT, 8, 8), *b = plane(IG_PIXEL_R8_SINT, 8, 8);
    unsigned char bytes[64], found[64] = {0};
    for (int i = 0; i < 64; i++) bytes[i] = (unsigned char)i;
    assert_ok(ig_texture_write(a, NULL, bytes, 0, 0));
    ig_buffer *buffer = make_buffer(64);
    ig_queue *queue = make_queue();
    ig_commands *commands = make_commands(queue);
    assert_ok(ig_commands_copy_texture(commands, a, &(ig_region){.x = 1, .y = 2, .width = 3, .height = 4}, b,
                                       &(ig_region){.x = 5, .y = 4}));
    assert_ok(ig_commands_copy_from_texture(commands, b, &(ig_region){.x = 5, .y = 4}, buffer, 2, 10, 0));
    assert_ok(ig_commands_copy_to_texture(commands, buffer, 2, 10, 0, a, &(ig_region){.width = 3, .height = 2}));
    assert_ok(ig_commands_commit(commands));
    assert_ok(ig_commands_wait(commands, IG_FOREVER));
    const unsigned char *copied = ig_buffer_contents(buffer);
    for (int y = 0; y < 4; y++)
        for (int x = 0; x < 3; x++) assert_int_equal(copied[2 + 10 * y + x], (2 + y) * 8 + 1 + x);
    assert_ok(ig_texture_read(a, &(ig_region){.width = 3, .height = 2}, found, 0, 0));
    const unsigned char wanted[] = {17, 18, 19, 25, 26, 27};
    assert_memory_equal(found, wanted, sizeof wanted);
    ig_commands_release(commands);
    commands = make_commands(queue);
    assert_status(ig_commands_copy_from_texture(commands, b, NULL, buffer, 1, 0, 0), IG_STATUS_OUT_OF_RANGE);
    assert_status(ig_commands_copy_texture(commands, a, &(ig_region){.x = 7, .width = 2}, b, NULL),
                  IG_STATUS_OUT_OF_RANGE);
    assert_status(ig_commands_commit(commands), IG_STATUS_OUT_OF_RANGE);
    ig_commands_release(commands);
    ig_queue_release(queue);
    ig_buffer_release(buffer);
    ig_texture_release(a), ig_texture_release(b);
}

static void mipmaps_are_averages(void **state) {
    (void)state;
    ig_texture *t = make_texture(
        (ig_texture_desc){.type = IG_TEXTURE_2D, .format = IG_PIXEL_R32_FLOAT, .width = 6, .height = 5, .levels = 3});
    float pixels[30], half[6], quarter[1];
    for (int i = 0; i < 30; i++) pixels[i] = (float)(i * i % 17);
    assert_ok(ig_texture_write(t, NULL, pixels, 0, 0));
    ig_queue *queue = make_queue();
    ig_commands *commands = make_commands(queue);
    assert_ok(ig_commands_generate_mipmaps(commands, t));
    assert_ok(ig_commands_commit(commands));
    assert_ok(ig_commands_wait(commands, IG_FOREVER));
    assert_ok(ig_texture_read(t, &(ig_region){.level = 1}, half, 0, 0));
    assert_ok(ig_texture_read(t, &(ig_region){.level = 2}, quarter, 0, 0));
    // 5 rows become 2: rows 0, 1 and half of 2, weighted by what each pixel covers.
    for (int y = 0; y < 2; y++)
        for (int x = 0; x < 3; x++) {
            double wanted = 0;
            for (int j = 0; j < 5; j++) {
                double covered = fmin((y + 1) * 2.5, j + 1) - fmax(y * 2.5, j);
                if (covered > 0) wanted += covered / 2.5 * (pixels[j * 6 + 2 * x] + pixels[j * 6 + 2 * x + 1]) / 2;
            }
            assert_true(fabs(half[y * 3 + x] - wanted) < 1e-5);
        }
    double all = 0;
    for (int i = 0; i < 6; i++) all += half[i] / 6.0;
    assert_true(fabs(quarter[0] - all) < 1e-5);
    ig_commands_release(commands);
    ig_queue_release(queue);
    ig_texture_release(t);
}

// ---- Errors ----

static void refused(ig_texture_desc desc, const char *why) {
    ig_texture *texture = NULL;
    ig_error error = {0};
    assert_true(ig_texture_create(device, &desc, &texture) != IG_STATUS_OK);
    ig_last_error(&error);
    assert_contains(error.message, why);
    ig_error_clear(&error);
}

static void wrong_descriptions_are_refused(void **state) {
    (void)state;
    ig_buffer *buffer = make_buffer(100);
    refused((ig_texture_desc){.type = IG_TEXTURE_2D, .format = IG_PIXEL_R8_UNORM, .width = 4}, "height");
    refused((ig_texture_desc){.type = IG_TEXTURE_1D, .format = (ig_pixel_format)9, .width = 4}, "pixel format 9");
    refused((ig_texture_desc){.type = (ig_texture_type)99, .format = IG_PIXEL_R8_UNORM, .width = 4}, "texture type 99");
    refused((ig_texture_desc){.type = IG_TEXTURE_1D, .format = IG_PIXEL_R8_UNORM, .width = 100000}, "16384");
    refused((ig_texture_desc){.type = IG_TEXTURE_CUBE, .format = IG_PIXEL_R8_UNORM, .width = 4, .height = 5}, "square");
    refused((ig_texture_desc){.type = IG_TEXTURE_2D, .format = IG_PIXEL_R8_UNORM, .width = 4, .height = 4, .levels = 4},
            "at most 3 levels");
    refused(
        (ig_texture_desc){.type = IG_TEXTURE_2D, .format = IG_PIXEL_R8_UNORM, .width = 4, .height = 4, .samples = 4},
        "multisample");
    refused(
        (ig_texture_desc){
            .type = IG_TEXTURE_2D, .format = IG_PIXEL_R8_UNORM, .width = 4, .height = 4, .array_length = 2},
        "one element");
    refused(
        (ig_texture_desc){
            .type = IG_TEXTURE_2D, .format = IG_PIXEL_R8_UNORM, .width = 20, .height = 6, .buffer = buffer},
        "need 120 bytes");
    refused((ig_texture_desc){.type = IG_TEXTURE_BUFFER, .format = IG_PIXEL_R8_UNORM, .width = 20}, "needs a buffer");
    ig_buffer_release(buffer);
}

static void wrong_bindings_are_refused(void **state) {
    (void)state;
    ig_error error = {0};
    bound b = {.buffers = {make_buffer(64)}};
    assert_status(try_kernel("look", &b, line(1), &error), IG_STATUS_UNBOUND_ARGUMENT);
    assert_contains(error.message, "set_texture");
    ig_error_clear(&error);
    b.textures[0] = plane(IG_PIXEL_R8_UINT, 1, 1);
    assert_status(try_kernel("look", &b, line(1), &error), IG_STATUS_INVALID_ARGUMENT);
    assert_contains(error.message, "holds floating-point numbers, but the texture is 2d of r8_uint");
    ig_error_clear(&error);
    ig_texture_release(b.textures[0]);
    b.textures[0] = make_texture((ig_texture_desc){.type = IG_TEXTURE_1D, .format = IG_PIXEL_R8_UNORM, .width = 1});
    assert_status(try_kernel("look", &b, line(1), &error), IG_STATUS_INVALID_ARGUMENT);
    assert_contains(error.message, "another type");
    ig_error_clear(&error);
    ig_texture_release(b.textures[0]);
    ig_buffer_release(b.buffers[0]);
}

static void objects_of_other_devices_are_refused(void **state) {
    (void)state;
    ig_device *other = NULL;
    ig_texture *texture = NULL;
    ig_texture_sampler *sampler = NULL;
    ig_error error = {0};
    assert_ok(ig_device_create(&(ig_device_desc){0}, &other, NULL));
    ig_texture_desc desc = {.type = IG_TEXTURE_1D, .format = IG_PIXEL_R8_UNORM, .width = 1};
    assert_ok(ig_texture_create(other, &desc, &texture));
    assert_ok(ig_texture_sampler_create(other, &(ig_texture_sampler_desc){0}, &sampler));
    ig_queue *queue = make_queue();
    ig_commands *commands = make_commands(queue);
    assert_status(ig_commands_set_sampler(commands, sampler, 0), IG_STATUS_INVALID_ARGUMENT);
    ig_commands_get_error(commands, &error);
    assert_contains(error.message, "set_sampler 0: the sampler belongs to another device");
    ig_error_clear(&error);
    ig_commands_release(commands);
    commands = make_commands(queue);
    assert_status(ig_commands_set_texture(commands, texture, 3), IG_STATUS_INVALID_ARGUMENT);
    ig_commands_release(commands);
    commands = make_commands(queue);
    assert_status(ig_commands_set_sampler(commands, NULL, 16), IG_STATUS_OUT_OF_RANGE);
    ig_commands_release(commands);
    ig_queue_release(queue);
    ig_texture_release(texture);
    ig_texture_sampler_release(sampler);
    ig_device_release(other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_take_consecutive_slots),
        cmocka_unit_test(argument_buffers_hold_textures_and_samplers),
        cmocka_unit_test(atomics_count),
        cmocka_unit_test(atomics_count_in_buffers_and_on_faces),
        cmocka_unit_test(atomics_count_in_arrays_of_cubes),
        cmocka_unit_test(gathers_and_comparisons),
        cmocka_unit_test(kernels_learn_sizes),
        cmocka_unit_test(textures_in_buffers_share_their_memory),
        cmocka_unit_test(views_share_pixels),
        cmocka_unit_test(copies_move_regions),
        cmocka_unit_test(mipmaps_are_averages),
        cmocka_unit_test(wrong_descriptions_are_refused),
        cmocka_unit_test(wrong_bindings_are_refused),
        cmocka_unit_test(objects_of_other_devices_are_refused),
    };
    return cmocka_run_group_tests_name("textures", tests, open_all, close_all);
}
