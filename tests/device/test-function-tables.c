// SPDX-License-Identifier: Apache-2.0
// Function tables: functions of the kernel's library and of others, direct calls of functions that another library
// defines, and mistakes.
#include <string.h>

#include "helpers.h"

static const char kernels[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "[[visible]] float twice(float x) { return 2 * x; }\n"
    "[[visible]] float elsewhere(float x);\n"
    "kernel void each(device float *x [[buffer(0)]], visible_function_table<float(float)> table [[buffer(1)]],\n"
    "                 uint i [[thread_position_in_grid]]) { x[i] = table[i % table.size()](x[i]); }\n"
    "kernel void by_name(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] = elsewhere(x[i]); "
    "}\n"
    "struct Arguments { visible_function_table<float(float)> table; };\n"
    "kernel void indirect(device float *x [[buffer(0)]], constant Arguments &arguments [[buffer(1)]],\n"
    "                     uint i [[thread_position_in_grid]]) { x[i] = arguments.table[0](x[i]); }\n";

static const char others[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "constant float weights[2] = {10, 20};\n"
    "static float helper(float x) { return x + weights[uint(x) & 1]; }\n"
    "[[visible]] float elsewhere(float x) { return helper(x); }\n"
    "[[visible]] float twice(float x) { return -2 * x; }\n";

typedef struct fixture {
    ig_library *library, *other;
    ig_buffer *buffer;
    ig_queue *queue;
} fixture;

static void open_fixture(fixture *f) {
    f->library = compile(kernels);
    f->other = compile(others);
    f->buffer = make_buffer(8 * sizeof(float));
    f->queue = make_queue();
    for (int i = 0; i < 8; i++) ((float *)ig_buffer_contents(f->buffer))[i] = (float)i;
}

static void close_fixture(fixture *f) {
    ig_queue_release(f->queue);
    ig_buffer_release(f->buffer);
    ig_library_release(f->other);
    ig_library_release(f->library);
}

static ig_pipeline *linked(fixture *f, const char *kernel, const ig_linked_function *functions, size_t count) {
    ig_pipeline *pipeline = NULL;
    ig_error error = {0};
    ig_pipeline_desc desc = {.kernel = kernel, .linked_functions = functions, .linked_function_count = count};
    if (ig_pipeline_create(f->library, &desc, &pipeline, &error) != IG_STATUS_OK) fail_msg("%s", error.message);
    return pipeline;
}

static ig_status run_with(fixture *f, ig_pipeline *pipeline, ig_function_table *table) {
    ig_commands *commands = make_commands(f->queue);
    ig_commands_set_pipeline(commands, pipeline);
    ig_commands_set_buffer(commands, f->buffer, 0, 0);
    if (table) ig_commands_set_function_table(commands, table, 1);
    ig_status status = ig_commands_dispatch_threads(commands, line(8), line(8));
    if (status == IG_STATUS_OK) status = ig_commands_commit(commands);
    if (status == IG_STATUS_OK) status = ig_commands_wait(commands, SECONDS(60));
    ig_commands_release(commands);
    return status;
}

static void expect_values(const fixture *f, const float expected[8]) {
    const float *x = ig_buffer_contents(f->buffer);
    for (int i = 0; i < 8; i++) assert_true(x[i] == expected[i]);
}

static void functions_of_two_libraries(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    fixture f;
    open_fixture(&f);
    // `twice` is in both libraries: the first that is linked under a name is meant.
    ig_pipeline *pipeline =
        linked(&f, "each", (ig_linked_function[]){{f.other, "elsewhere"}, {NULL, "twice"}, {f.other, "twice"}}, 3);
    ig_function_table *table = NULL;
    assert_ok(ig_function_table_create(pipeline, 2, &table));
    assert_int_equal(ig_function_table_count(table), 2);
    assert_ok(ig_function_table_set(table, 0, "twice"));
    assert_ok(ig_function_table_set(table, 1, "elsewhere"));
    assert_ok(run_with(&f, pipeline, table));
    expect_values(&f, (float[]){0, 21, 4, 23, 8, 25, 12, 27});
    // The table can change between dispatches.
    assert_ok(ig_function_table_set(table, 1, NULL));
    assert_ok(run_with(&f, pipeline, table));
    expect_values(&f, (float[]){0, 0, 8, 0, 16, 0, 24, 0});
    ig_function_table_release(table);
    ig_pipeline_release(pipeline);
    close_fixture(&f);
}

static void libraries_may_be_released(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    fixture f;
    open_fixture(&f);
    ig_pipeline *pipeline = linked(&f, "by_name", (ig_linked_function[]){{f.other, "elsewhere"}}, 1);
    ig_library_release(f.other);
    f.other = NULL;
    assert_ok(run_with(&f, pipeline, NULL));
    expect_values(&f, (float[]){10, 21, 12, 23, 14, 25, 16, 27});
    ig_pipeline_release(pipeline);
    close_fixture(&f);
}

static void table_in_an_argument_buffer(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    fixture f;
    open_fixture(&f);
    ig_pipeline *pipeline = linked(&f, "indirect", (ig_linked_function[]){{NULL, "twice"}}, 1);
    ig_function_table *table = NULL;
    assert_ok(ig_function_table_create(pipeline, 1, &table));
    assert_ok(ig_function_table_set(table, 0, "twice"));
    uint64_t address = ig_function_table_device_address(table);
    ig_commands *commands = make_commands(f.queue);
    ig_commands_set_pipeline(commands, pipeline);
    ig_commands_set_buffer(commands, f.buffer, 0, 0);
    ig_commands_set_bytes(commands, &address, sizeof address, 1);
    assert_ok(ig_commands_dispatch_threads(commands, line(8), line(8)));
    assert_ok(ig_commands_commit(commands));
    assert_ok(ig_commands_wait(commands, SECONDS(60)));
    expect_values(&f, (float[]){0, 2, 4, 6, 8, 10, 12, 14});
    ig_commands_release(commands);
    ig_function_table_release(table);
    ig_pipeline_release(pipeline);
    close_fixture(&f);
}

static void a_library_lists_its_functions(void **state) {
    (void)state;
    fixture f;
    open_fixture(&f);
    if (on_software_device()) {
        assert_int_equal(ig_library_function_count(f.other), 2);
        assert_string_equal(ig_library_function(f.other, 0), "elsewhere");
        assert_string_equal(ig_library_function(f.other, 1), "twice");
        assert_null(ig_library_function(f.other, 2));
        const ig_kernel_info *kernel = ig_library_find_kernel(f.library, "each");
        assert_int_equal(kernel->arguments[1].kind, IG_ARGUMENT_FUNCTION_TABLE);
        assert_int_equal(kernel->arguments[1].index, 1);
    }
    close_fixture(&f);
}

static void mistakes_are_named(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    fixture f;
    open_fixture(&f);
    ig_error error = {0};
    ig_pipeline *none = NULL, *pipeline = linked(&f, "each", (ig_linked_function[]){{NULL, "twice"}}, 1);
    ig_pipeline *other = linked(&f, "each", (ig_linked_function[]){{f.other, "twice"}}, 1);
    ig_function_table *table = NULL;
    ig_pipeline_desc desc = {
        .kernel = "each", .linked_functions = &(ig_linked_function){.name = "helper"}, .linked_function_count = 1};
    assert_status(ig_pipeline_create(f.library, &desc, &none, &error), IG_STATUS_NOT_FOUND);
    assert_contains(error.message, "no [[visible]] function 'helper'; it has twice");
    ig_error_clear(&error);
    assert_ok(ig_function_table_create(pipeline, 1, &table));
    assert_status(ig_function_table_set(table, 0, "elsewhere"), IG_STATUS_NOT_FOUND);
    assert_status(ig_function_table_set(table, 1, "twice"), IG_STATUS_OUT_OF_RANGE);
    ig_last_error(&error);
    assert_contains(error.message, "index 1 is outside a table of 1");
    ig_error_clear(&error);
    assert_status(run_with(&f, other, table), IG_STATUS_INVALID_ARGUMENT);
    ig_last_error(&error);
    assert_contains(error.message, "another pipeline");
    ig_error_clear(&error);
    assert_status(run_with(&f, pipeline, NULL), IG_STATUS_UNBOUND_ARGUMENT);
    ig_function_table_release(table);
    ig_pipeline_release(other);
    ig_pipeline_release(pipeline);
    close_fixture(&f);
}

// As of dynamic libraries: nobody lists the functions, and a library calls those of a third one.
static void libraries_are_given_to_a_library(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    fixture f;
    open_fixture(&f);
    const char *middle_source =
        "[[visible]] float elsewhere(float x);\n"
        "[[visible]] float around(float x) { return elsewhere(x) + 100; }\n";
    const char *user_source =
        "[[visible]] float around(float x);\n"
        "[[visible]] float twice(float x) { return 2 * x; }\n"
        "kernel void call(device float *x, uint i [[thread_position_in_grid]])\n"
        "{ x[i] = around(x[i]) + twice(1); }\n";
    ig_library *middle =
        compile_on(device, &(ig_library_desc){.source = middle_source, .libraries = &f.other, .library_count = 1});
    ig_library *user =
        compile_on(device, &(ig_library_desc){.source = user_source, .libraries = &middle, .library_count = 1});
    ig_library_release(middle);
    ig_library_release(f.other);
    f.other = NULL;
    ig_pipeline *pipeline = pipeline_of(user, "call");
    ig_library_release(user);
    assert_ok(run_with(&f, pipeline, NULL));
    expect_values(&f, (const float[]){112, 123, 114, 125, 116, 127, 118, 129});
    ig_pipeline_release(pipeline);
    ig_error error = {0};
    ig_library *none = NULL;
    ig_library_desc wrong = {.source = user_source, .libraries = &none, .library_count = 1};
    assert_status(ig_library_create(device, &wrong, &none, &error), IG_STATUS_INVALID_ARGUMENT);
    assert_contains(error.message, "library 0 is NULL");
    ig_error_clear(&error);
    close_fixture(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_of_two_libraries),  cmocka_unit_test(libraries_may_be_released),
        cmocka_unit_test(table_in_an_argument_buffer), cmocka_unit_test(a_library_lists_its_functions),
        cmocka_unit_test(mistakes_are_named),          cmocka_unit_test(libraries_are_given_to_a_library),
    };
    return cmocka_run_group_tests(tests, open_test_device, close_test_device);
}
