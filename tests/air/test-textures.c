// SPDX-License-Identifier: Apache-2.0
// Kernels of a .metallib that use textures and samplers give the bits of the same kernels compiled from source. Both are
// made by kernels/make-textures.py.
#include "helpers.h"
//
#include <ingot/texture.h>
#include <stdlib.h>
#include <string.h>

#include "assemble.h"
#include "core/file.h"

static const char *const kernels[] = {"sampled", "integers", "written", "filtered", "cubes", "depths"};
enum {
    KERNELS = sizeof kernels / sizeof *kernels,
    THREADS = 64,
    MOST_ROWS = 24,
    MOST_TEXTURES = 8,
    MOST_BYTES = 1 << 16
};

static ig_library *theirs, *ours;

// ---- Libraries ----

static char *path_in_kernels(const char *name) {
    char *path = igi_format("%s/%s", getenv("AIR_KERNELS"), name);
    assert_non_null(path);
    return path;
}

static int open_libraries(void **state) {
    if (open_test_device(state) != 0) return -1;
    igi_text file = {0};
    char *source = path_in_kernels("textures.metal");
    assert_true(assemble_metallib(getenv("AIR_KERNELS"), kernels, KERNELS, &file));
    theirs = compile_on(device, &(ig_library_desc){.data = file.data, .data_length = file.length});
    ours = compile_on(device, &(ig_library_desc){.path = source, .math_mode = IG_MATH_SAFE});
    igi_text_free(&file);
    free(source);
    return 0;
}

static int close_libraries(void **state) {
    ig_library_release(theirs), ig_library_release(ours);
    return close_test_device(state);
}

// ---- Textures ----

static const ig_texture_desc plain = {
    .type = IG_TEXTURE_2D, .format = IG_PIXEL_RGBA32_FLOAT, .width = 8, .height = 8, .levels = 3};

static ig_texture_desc as(ig_texture_type type, ig_pixel_format format) {
    ig_texture_desc desc = plain;
    desc.type = type, desc.format = format;
    bool array = type == IG_TEXTURE_2D_ARRAY || type == IG_TEXTURE_CUBE_ARRAY;
    bool flat = type == IG_TEXTURE_1D || type == IG_TEXTURE_BUFFER;
    if (array) desc.array_length = 2;
    if (flat) desc.height = 0;
    if (type == IG_TEXTURE_3D) desc.depth = 4;
    if (flat || type == IG_TEXTURE_2D_MULTISAMPLE) desc.levels = 1;
    if (type == IG_TEXTURE_2D_MULTISAMPLE) desc.samples = 2;
    return desc;
}

static uint32_t layers_of(const ig_texture_desc *desc) {
    bool cube = desc->type == IG_TEXTURE_CUBE || desc->type == IG_TEXTURE_CUBE_ARRAY;
    return (desc->array_length ? desc->array_length : 1) * (cube ? 6 : 1);
}

static bool holds_floats(ig_pixel_format format) {
    return format == IG_PIXEL_RGBA32_FLOAT || format == IG_PIXEL_DEPTH32_FLOAT;
}

// Numbers from 0 to 1, or any bytes.
static void fill(ig_texture *texture, const ig_texture_desc *desc) {
    static union {
        float floats[MOST_BYTES / sizeof(float)];
        uint8_t bytes[MOST_BYTES];
    } pixels;
    random_state random = {.state = 7};
    for (uint32_t level = 0; level < (desc->levels ? desc->levels : 1); level++)
        for (uint32_t layer = 0; layer < layers_of(desc); layer++) {
            for (size_t i = 0; i < MOST_BYTES / sizeof(float); i++) {
                if (holds_floats(desc->format))
                    pixels.floats[i] = (float)random_below(&random, 256) / 255.0f;
                else
                    for (size_t k = 0; k < 4; k++) pixels.bytes[4 * i + k] = (uint8_t)random_u64(&random);
            }
            assert_ok(ig_texture_write(texture, &(ig_region){.level = level, .layer = layer}, pixels.bytes, 0, 0));
        }
}

typedef struct example {
    ig_texture_desc textures[MOST_TEXTURES];
    size_t count;
    bool written;  // the textures start as zeros, and are compared
} example;

static void make_textures(const example *e, ig_texture **textures) {
    for (size_t i = 0; i < e->count; i++) {
        ig_texture_desc desc = e->textures[i];
        if (desc.type == IG_TEXTURE_BUFFER) desc.buffer = make_buffer(desc.width * 16);
        assert_ok(ig_texture_create(device, &desc, &textures[i]));
        ig_buffer_release(desc.buffer);
        if (!e->written) fill(textures[i], &e->textures[i]);
    }
}

// ---- Running both ----

// Mostly inside of the texture, in any case in all directions.
static ig_buffer *make_coordinates(float scale) {
    ig_buffer *buffer = make_buffer(THREADS * 4 * sizeof(float));
    float *values = ig_buffer_contents(buffer);
    random_state random = {.state = 3};
    for (size_t i = 0; i < THREADS * 4; i++) values[i] = scale * ((float)random_below(&random, 3000) / 2000.0f - 0.25f);
    return buffer;
}

static ig_buffer *run_with(ig_library *library, const char *name, const example *e, ig_texture **textures) {
    static const ig_texture_sampler_desc how = {.s = IG_ADDRESS_MIRRORED_REPEAT,
                                                .mag_filter = IG_FILTER_LINEAR,
                                                .min_filter = IG_FILTER_LINEAR,
                                                .mip_filter = IG_MIP_LINEAR};
    ig_texture_sampler *sampler = NULL;
    assert_ok(ig_texture_sampler_create(device, &how, &sampler));
    ig_pipeline *pipeline = pipeline_of(library, name);
    ig_queue *queue = make_queue();
    ig_commands *commands = make_commands(queue);
    ig_buffer *in = make_coordinates(e->written ? 20.0f : 1.0f), *out = make_buffer(MOST_ROWS * THREADS * 16);
    memset(ig_buffer_contents(out), 0, MOST_ROWS * THREADS * 16);
    make_textures(e, textures);
    assert_ok(ig_commands_set_pipeline(commands, pipeline));
    assert_ok(ig_commands_set_buffer(commands, in, 0, 0));
    assert_ok(ig_commands_set_buffer(commands, out, 0, 1));
    assert_ok(ig_commands_set_sampler(commands, sampler, 0));
    for (uint32_t i = 0; i < e->count; i++) assert_ok(ig_commands_set_texture(commands, textures[i], i));
    assert_ok(ig_commands_dispatch_threads(commands, (ig_size){THREADS, 1, 1}, (ig_size){0}));
    assert_ok(ig_commands_commit(commands));
    assert_ok(ig_commands_wait(commands, IG_FOREVER));
    ig_commands_release(commands), ig_queue_release(queue), ig_pipeline_release(pipeline);
    ig_texture_sampler_release(sampler), ig_buffer_release(in);
    return out;
}

static void compare_pixels(const ig_texture_desc *desc, ig_texture *a, ig_texture *b, bool *any) {
    static uint8_t left[MOST_BYTES], right[MOST_BYTES];
    for (uint32_t layer = 0; layer < layers_of(desc); layer++) {
        memset(left, 0, sizeof left), memset(right, 0, sizeof right);
        assert_ok(ig_texture_read(a, &(ig_region){.layer = layer}, left, 0, 0));
        assert_ok(ig_texture_read(b, &(ig_region){.layer = layer}, right, 0, 0));
        assert_memory_equal(left, right, sizeof left);
        for (size_t i = 0; i < sizeof left; i++) *any |= left[i] != 0;
    }
}

// Each row has to have given something: zeros everywhere would be the same too.
static void compare_rows(ig_buffer *a, ig_buffer *b, size_t rows) {
    const uint32_t *left = ig_buffer_contents(a), *right = ig_buffer_contents(b);
    for (size_t row = 0; row < rows; row++) {
        bool any = false;
        for (size_t i = row * THREADS * 4; i < (row + 1) * THREADS * 4; i++) {
            if (left[i] != right[i])
                fail_msg("row %zu, thread %zu: bits %#x instead of %#x", row, i / 4 % THREADS, left[i], right[i]);
            any |= left[i] != 0;
        }
        if (!any) fail_msg("row %zu is zero", row);
    }
    assert_memory_equal(left, right, MOST_ROWS * THREADS * 16);
}

static void compare(const char *name, const example *e, size_t rows) {
    ig_texture *a[MOST_TEXTURES], *b[MOST_TEXTURES];
    ig_buffer *from_air = run_with(theirs, name, e, a), *from_source = run_with(ours, name, e, b);
    compare_rows(from_air, from_source, rows);
    for (size_t i = 0; i < e->count; i++) {
        bool any = false;
        if (e->written) compare_pixels(&e->textures[i], a[i], b[i], &any);
        assert_true(any || !e->written);
        ig_texture_release(a[i]), ig_texture_release(b[i]);
    }
    ig_buffer_release(from_air), ig_buffer_release(from_source);
}

// ---- Tests ----

static void compare_sampling(const char *name, size_t rows) {
    const ig_pixel_format f = IG_PIXEL_RGBA32_FLOAT;
    compare(name,
            &(example){.textures = {as(IG_TEXTURE_1D, f), as(IG_TEXTURE_2D, f), as(IG_TEXTURE_2D_ARRAY, f),
                                    as(IG_TEXTURE_3D, f), as(IG_TEXTURE_2D, IG_PIXEL_RGBA8_UNORM)},
                       .count = 5},
            rows);
}

static void sampling_is_the_same(void **state) {
    (void)state;
    compare_sampling("sampled", 14);  // after them comes is_null_texture, which is false
}

static void filters_are_the_same(void **state) {
    (void)state;
    compare_sampling("filtered", 9);
}

static void cubes_are_the_same(void **state) {
    (void)state;
    compare("cubes",
            &(example){.textures = {as(IG_TEXTURE_CUBE, IG_PIXEL_RGBA32_FLOAT),
                                    as(IG_TEXTURE_CUBE_ARRAY, IG_PIXEL_RGBA32_FLOAT),
                                    as(IG_TEXTURE_CUBE, IG_PIXEL_RGBA8_SINT)},
                       .count = 3},
            10);
}

static void depths_are_the_same(void **state) {
    (void)state;
    const ig_pixel_format f = IG_PIXEL_DEPTH32_FLOAT;
    compare(
        "depths",
        &(example){.textures = {as(IG_TEXTURE_2D, f), as(IG_TEXTURE_2D_ARRAY, f), as(IG_TEXTURE_CUBE, f)}, .count = 3},
        11);
}

static void integers_and_arrays_are_the_same(void **state) {
    (void)state;
    compare(
        "integers",
        &(example){.textures = {as(IG_TEXTURE_2D, IG_PIXEL_RGBA8_UINT), as(IG_TEXTURE_2D_ARRAY, IG_PIXEL_RGBA32_SINT),
                                as(IG_TEXTURE_2D, IG_PIXEL_RGBA16_SINT), as(IG_TEXTURE_BUFFER, IG_PIXEL_R32_UINT),
                                as(IG_TEXTURE_2D_MULTISAMPLE, IG_PIXEL_RGBA32_FLOAT),
                                as(IG_TEXTURE_2D, IG_PIXEL_RGBA32_FLOAT), as(IG_TEXTURE_2D, IG_PIXEL_RGBA8_SNORM)},
                   .count = 7},
        11);
}

static void writing_is_the_same(void **state) {
    (void)state;
    compare("written",
            &(example){
                .textures = {as(IG_TEXTURE_2D, IG_PIXEL_RGBA32_FLOAT), as(IG_TEXTURE_2D_ARRAY, IG_PIXEL_RGBA16_FLOAT),
                             as(IG_TEXTURE_3D, IG_PIXEL_RGBA32_FLOAT), as(IG_TEXTURE_CUBE, IG_PIXEL_RGBA32_FLOAT),
                             as(IG_TEXTURE_2D, IG_PIXEL_RGBA8_UINT), as(IG_TEXTURE_2D, IG_PIXEL_RGBA16_SINT),
                             as(IG_TEXTURE_2D, IG_PIXEL_R32_UINT), as(IG_TEXTURE_2D_ARRAY, IG_PIXEL_R32_SINT)},
                .count = 8,
                .written = true},
            5);
}

static void textures_are_described(void **state) {
    (void)state;
    const ig_kernel_info *info = ig_library_find_kernel(theirs, "integers");
    assert_non_null(info);
    const ig_argument *array = &info->arguments[7], *buffer = &info->arguments[5];
    assert_int_equal(info->argument_count, 10);
    assert_int_equal(buffer->kind, IG_ARGUMENT_TEXTURE);
    assert_string_equal(buffer->type, "texture_buffer<uint, access::read>");
    assert_int_equal(buffer->index, 3);
    assert_int_equal(array->index, 5);
    assert_int_equal(array->array_length, 2);
    assert_int_equal(info->arguments[8].kind, IG_ARGUMENT_SAMPLER);
    info = ig_library_find_kernel(theirs, "written");
    assert_int_equal(info->arguments[2].access, IG_ACCESS_WRITE);
    assert_int_equal(info->arguments[8].access, IG_ACCESS_READ_WRITE);
}

// Code for filters takes LLVM seconds: without "all" there is one of each kind of operation.
int main(int argc, char **argv) {
    const struct CMUnitTest some[] = {
        cmocka_unit_test(sampling_is_the_same),
        cmocka_unit_test(integers_and_arrays_are_the_same),
        cmocka_unit_test(writing_is_the_same),
        cmocka_unit_test(textures_are_described),
    };
    const struct CMUnitTest others[] = {
        cmocka_unit_test(filters_are_the_same),
        cmocka_unit_test(cubes_are_the_same),
        cmocka_unit_test(depths_are_the_same),
    };
    if (argc > 1 && strcmp(argv[1], "all") == 0) return cmocka_run_group_tests(others, open_libraries, close_libraries);
    return cmocka_run_group_tests(some, open_libraries, close_libraries);
}
