// SPDX-License-Identifier: Apache-2.0
// Visible functions of a .metallib: a kernel calls them by name and through a table.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "assemble.h"
#include "core/memory.h"
#include "helpers.h"

static ig_library *open_library(void) {
    static const char *const names[] = {"tables", "negated", "doubled", "rooted", "hoarding"};
    igi_text file = {0};
    assert_true(assemble_metallib(getenv("AIR_KERNELS"), names, 5, &file));
    ig_library *library = compile_on(device, &(ig_library_desc){.data = file.data, .data_length = file.length});
    igi_text_free(&file);
    return library;
}

static ig_pipeline *link(ig_library *library, const ig_linked_function *functions, size_t count) {
    ig_pipeline *pipeline = NULL;
    ig_error error = {0};
    const ig_pipeline_desc desc = {.kernel = "tables", .linked_functions = functions, .linked_function_count = count};
    if (ig_pipeline_create(library, &desc, &pipeline, &error) != IG_STATUS_OK) fail_msg("%s", error.message);
    return pipeline;
}

static void run_table(ig_pipeline *pipeline, const char *even, const char *odd, ig_buffer *buffer) {
    ig_function_table *table = NULL;
    assert_ok(ig_function_table_create(pipeline, 2, &table));
    assert_ok(ig_function_table_set(table, 0, even));
    assert_ok(ig_function_table_set(table, 1, odd));
    ig_queue *queue = make_queue();
    ig_commands *commands = make_commands(queue);
    ig_commands_set_pipeline(commands, pipeline);
    ig_commands_set_buffer(commands, buffer, 0, 0);
    ig_commands_set_function_table(commands, table, 1);
    assert_ok(ig_commands_dispatch_threads(commands, line(8), line(8)));
    assert_ok(ig_commands_commit(commands));
    assert_ok(ig_commands_wait(commands, SECONDS(60)));
    ig_commands_release(commands), ig_queue_release(queue), ig_function_table_release(table);
}

static void kernels_call_functions_by_name_and_through_tables(void **state) {
    (void)state;
    ig_library *library = open_library();
    const ig_linked_function functions[] = {{.name = "negated"}, {.name = "doubled"}, {.name = "rooted"}};
    ig_pipeline *pipeline = link(library, functions, 3);
    assert_int_equal(ig_pipeline_kernel(pipeline)->arguments[1].kind, IG_ARGUMENT_FUNCTION_TABLE);
    ig_buffer *buffer = make_buffer(8 * sizeof(float));
    float *x = ig_buffer_contents(buffer);
    for (int i = 0; i < 8; i++) x[i] = (float)(i * i);
    run_table(pipeline, "doubled", "rooted", buffer);
    for (int i = 0; i < 8; i++) assert_true(x[i] == (i % 2 ? -(float)i : -2.0f * (float)(i * i)));
    run_table(pipeline, "negated", "doubled", buffer);
    for (int i = 0; i < 8; i++) assert_true(x[i] == (i % 2 ? 2.0f * (float)i : -2.0f * (float)(i * i)));
    ig_buffer_release(buffer), ig_pipeline_release(pipeline), ig_library_release(library);
}

static void a_source_can_give_functions_of_tables(void **state) {
    (void)state;
    ig_library *library = open_library();
    ig_library *source = compile(
        "[[visible]] float lowered(float x) { return x - 100; }\n"
        "[[visible]] float same(float x) { return x; }\n");
    const ig_linked_function functions[] = {{source, "lowered"}, {library, "negated"}, {source, "same"}};
    ig_pipeline *pipeline = link(library, functions, 3);
    ig_buffer *buffer = make_buffer(8 * sizeof(float));
    float *x = ig_buffer_contents(buffer);
    for (int i = 0; i < 8; i++) x[i] = (float)i;
    run_table(pipeline, "lowered", "same", buffer);
    for (int i = 0; i < 8; i++) assert_true(x[i] == (float)(i % 2 ? -i : 100 - i));
    ig_buffer_release(buffer), ig_pipeline_release(pipeline);
    ig_library_release(source), ig_library_release(library);
}

static void a_function_that_is_missing_is_named(void **state) {
    (void)state;
    ig_library *library = open_library();
    ig_pipeline *pipeline = NULL;
    ig_error error = {0};
    assert_true(ig_pipeline_create(library, &(ig_pipeline_desc){.kernel = "tables"}, &pipeline, &error) !=
                IG_STATUS_OK);
    assert_contains(error.message, "negated");
    ig_error_clear(&error);
    ig_library_release(library);
}

static void a_function_that_cannot_be_translated_is_named(void **state) {
    (void)state;
    ig_library *library = open_library();
    ig_pipeline *pipeline = NULL;
    ig_error error = {0};
    const ig_linked_function functions[] = {{.name = "negated"}, {.name = "hoarding"}};
    const ig_pipeline_desc desc = {.kernel = "tables", .linked_functions = functions, .linked_function_count = 2};
    assert_status(ig_pipeline_create(library, &desc, &pipeline, &error), IG_STATUS_UNSUPPORTED);
    assert_contains(error.message, "'hoarding' uses threadgroup memory of a visible function");
    ig_error_clear(&error);
    ig_library_release(library);
}

static void its_air_is_shown(void **state) {
    (void)state;
    ig_library *library = open_library();
    const ig_linked_function functions[] = {{.name = "negated"}};
    ig_pipeline *pipeline = link(library, functions, 1);
    char *text = NULL;
    assert_ok(ig_pipeline_emit(pipeline, "air", &text));
    assert_contains(text, "addrspace(1)");
    assert_contains(text, "call void @air.os_log");
    free(text), ig_pipeline_release(pipeline), ig_library_release(library);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_call_functions_by_name_and_through_tables),
        cmocka_unit_test(a_source_can_give_functions_of_tables),
        cmocka_unit_test(a_function_that_is_missing_is_named),
        cmocka_unit_test(a_function_that_cannot_be_translated_is_named),
        cmocka_unit_test(its_air_is_shown),
    };
    return cmocka_run_group_tests(tests, open_test_device, close_test_device);
}
