// SPDX-License-Identifier: Apache-2.0
// Functions of a .metallib that draw: they are listed with their arguments, and no pipeline can be made of them.
#include <stdlib.h>
#include <string.h>

#include "air/container.h"
#include "assemble.h"
#include "core/memory.h"
#include "helpers.h"
#include "writer.h"

static ig_library *open_drawing(void) {
    static const char *const names[] = {"placed", "denormals", "shaded", "spread"};
    igi_text file = {0};
    assert_true(assemble_metallib(getenv("AIR_KERNELS"), names, LENGTH(names), &file));
    ig_library *library = compile_on(device, &(ig_library_desc){.data = file.data, .data_length = file.length});
    igi_text_free(&file);
    return library;
}

// One function under another name and kind.
static ig_library *open_as(const char *name, const char *title, igi_air_function_kind kind) {
    igi_text bitcode = {0}, file = {0};
    assert_true(assemble_bitcode(getenv("AIR_KERNELS"), name, &bitcode));
    const written_function function = {
        .name = title, .kind = (uint8_t)kind, .bitcode = bitcode.data, .bitcode_length = bitcode.length};
    write_metallib(&function, 1, &file);
    ig_library *library = compile_on(device, &(ig_library_desc){.data = file.data, .data_length = file.length});
    igi_text_free(&bitcode), igi_text_free(&file);
    return library;
}

typedef struct expected_argument {
    ig_argument_kind kind;
    const char *name, *type, *attribute;
    uint32_t index;
} expected_argument;

static void expect_arguments(const ig_kernel_info *info, const expected_argument *expected, size_t count) {
    assert_int_equal(info->argument_count, count);
    for (size_t i = 0; i < count; i++) {
        const ig_argument *argument = &info->arguments[i];
        assert_string_equal(argument->name, expected[i].name);
        assert_string_equal(argument->type, expected[i].type);
        assert_string_equal(argument->attribute, expected[i].attribute);
        assert_int_equal(argument->kind, expected[i].kind);
        assert_int_equal(argument->index, expected[i].index);
    }
}

static void they_are_listed_with_their_kinds(void **state) {
    (void)state;
    static const ig_function_kind kinds[] = {IG_FUNCTION_VERTEX, IG_FUNCTION_FRAGMENT, IG_FUNCTION_OBJECT};
    static const char *const names[] = {"placed", "shaded", "spread"};
    ig_library *library = open_drawing();
    assert_int_equal(ig_library_kernel_count(library), 1);
    assert_int_equal(ig_library_other_count(library), LENGTH(names));
    for (size_t i = 0; i < LENGTH(names); i++) {
        assert_string_equal(ig_library_other_name(library, i), names[i]);
        assert_int_equal(ig_library_other_kind(library, i), kinds[i]);
        assert_int_equal(ig_library_other(library, i)->kind, kinds[i]);
        assert_ptr_equal(ig_library_other(library, i), ig_library_find_other(library, names[i]));
    }
    assert_null(ig_library_other(library, LENGTH(names)));
    assert_null(ig_library_other_name(library, LENGTH(names)));
    assert_null(ig_library_find_other(library, "denormals"));
    ig_library_release(library);
}

static void their_arguments_are_described(void **state) {
    (void)state;
    static const expected_argument placed[] = {
        {IG_ARGUMENT_STAGE_INPUT, "position", "float3", "attribute", 0},
        {IG_ARGUMENT_STAGE_INPUT, "uv", "float2", "attribute", 3},
        {IG_ARGUMENT_BUFFER, "scale", "const float&", "buffer", 2},
        {IG_ARGUMENT_BUILTIN, "id", "uint", "vertex_id", 0},
    };
    static const expected_argument shaded[] = {
        {IG_ARGUMENT_BUILTIN, "place", "float4", "position", 0},
        {IG_ARGUMENT_BUILTIN, "uv", "float2", "stage_in", 0},
        {IG_ARGUMENT_TEXTURE, "image", "texture2d<float, access::sample>", "texture", 5},
        {IG_ARGUMENT_SAMPLER, "filter", "sampler", "sampler", 1},
        {IG_ARGUMENT_BUILTIN, "before", "float4", "color", 0},
    };
    static const expected_argument spread[] = {
        {IG_ARGUMENT_BUILTIN, "shared", "Payload", "payload", 0},
        {IG_ARGUMENT_BUILTIN, "grid", "mesh_grid_properties", "", 0},
        {IG_ARGUMENT_BUILTIN, "id", "uint", "thread_index_in_threadgroup", 0},
    };
    // The second time from the cache.
    for (int i = 0; i < 2; i++) {
        ig_library *library = open_drawing();
        expect_arguments(ig_library_find_other(library, "placed"), placed, LENGTH(placed));
        expect_arguments(ig_library_find_other(library, "shaded"), shaded, LENGTH(shaded));
        expect_arguments(ig_library_find_other(library, "spread"), spread, LENGTH(spread));
        assert_int_equal(ig_library_find_other(library, "spread")->max_total_threads, 32);
        assert_int_equal(ig_library_find_other(library, "placed")->arguments[2].min_bytes, 4);
        ig_library_release(library);
    }
}

static void no_pipeline_is_made_of_them(void **state) {
    (void)state;
    ig_library *library = open_drawing();
    ig_pipeline *pipeline = NULL;
    ig_error error = {0};
    assert_status(ig_pipeline_create(library, &(ig_pipeline_desc){.kernel = "shaded"}, &pipeline, &error),
                  IG_STATUS_UNSUPPORTED);
    assert_contains(error.message, "Ingot does not run fragment functions, and 'shaded' is one");
    assert_null(pipeline);
    ig_error_clear(&error);
    pipeline = pipeline_of(library, "denormals");
    ig_pipeline_release(pipeline), ig_library_release(library);
}

// The list of a library says what a function is, and its module says it again.
static void functions_that_are_not_what_the_library_says_are_refused(void **state) {
    (void)state;
    ig_library *library = open_as("placed", "k", IGI_AIR_KERNEL);
    ig_pipeline *pipeline = NULL;
    ig_error error = {0};
    assert_status(ig_pipeline_create(library, &(ig_pipeline_desc){.kernel = "k"}, &pipeline, &error),
                  IG_STATUS_BAD_FORMAT);
    assert_contains(error.message, "'k' has no kernel");
    ig_error_clear(&error);
    assert_int_equal(ig_library_kernel(library, 0)->argument_count, 0);
    ig_library_release(library);
    library = open_as("doubled", "k", IGI_AIR_KERNEL);
    assert_status(ig_pipeline_create(library, &(ig_pipeline_desc){.kernel = "k"}, &pipeline, &error),
                  IG_STATUS_BAD_FORMAT);
    ig_error_clear(&error), ig_library_release(library);
    library = open_as("denormals", "v", IGI_AIR_VERTEX);
    for (int i = 0; i < 2; i++) assert_int_equal(ig_library_find_other(library, "v")->argument_count, 0);
    ig_library_release(library);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_are_listed_with_their_kinds),
        cmocka_unit_test(their_arguments_are_described),
        cmocka_unit_test(no_pipeline_is_made_of_them),
        cmocka_unit_test(functions_that_are_not_what_the_library_says_are_refused),
    };
    return cmocka_run_group_tests(tests, open_test_device, close_test_device);
}
