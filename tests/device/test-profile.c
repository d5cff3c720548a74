// SPDX-License-Identifier: Apache-2.0
// Profiles and traces: what is counted, and that a trace is JSON with everything in it.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/file.h"
#include "core/json-read.h"
#include "core/trace.h"
#include "helpers.h"

static const char source[] =
    "kernel void one(device int *a [[buffer(0)]], uint i [[thread_position_in_grid]]) { a[i] += 1; }\n"
    "kernel void two(device int *a [[buffer(0)]], uint i [[thread_position_in_grid]]) { a[i] += 2; }\n";

static void dispatch(ig_device *on, const char *kernel, const char *label, unsigned times) {
    ig_pipeline *pipeline = make_pipeline_on(on, source, kernel);
    ig_buffer *buffer = make_buffer_on(on, 4096);
    ig_queue *queue;
    ig_commands *commands;
    assert_ok(ig_queue_create(on, &queue));
    assert_ok(ig_commands_create(queue, &(ig_commands_desc){.label = label}, &commands));
    ig_commands_set_pipeline(commands, pipeline);
    ig_commands_set_buffer(commands, buffer, 96, 0);
    for (unsigned i = 0; i < times; i++) ig_commands_dispatch_threads(commands, line(1000), line(100));
    assert_ok(ig_commands_commit(commands));
    assert_ok(ig_commands_wait(commands, IG_FOREVER));
    ig_commands_release(commands);
    ig_queue_release(queue);
    ig_buffer_release(buffer);
    ig_pipeline_release(pipeline);
}

static void kernels_are_counted(void **state) {
    (void)state;
    ig_device *on = open_device(&(ig_device_desc){.profile = true});
    dispatch(on, "one", NULL, 3);
    dispatch(on, "two", NULL, 200);
    dispatch(on, "one", NULL, 2);
    ig_kernel_profile *rows;
    size_t count;
    assert_ok(ig_device_get_profile(on, &rows, &count));
    assert_int_equal(count, 2);
    const ig_kernel_profile *one = strcmp(rows[0].kernel, "one") == 0 ? &rows[0] : &rows[1];
    assert_true(rows[0].time_ns >= rows[1].time_ns);
    assert_int_equal(one->calls, 5);
    assert_int_equal(one->threads, 5000);
    assert_int_equal(one->bytes, 5 * 4000);
    assert_true(one->best_ns > 0 && one->best_ns * 5 <= one->time_ns);
    assert_true(one->compile_ns > 0 && one->width > 0);
    free(rows);
    ig_device_release(on);
}

static void textures_count_as_bytes(void **state) {
    (void)state;
    ig_device *on = open_device(&(ig_device_desc){.profile = true});
    const char *copy =
        "kernel void copy(metal::texture2d<uint, metal::access::read> from [[texture(0)]],\n"
        "                 metal::texture2d<uint, metal::access::read> again [[texture(1)]],\n"
        "                 device uint *to [[buffer(0)]], uint i [[thread_position_in_grid]]) {\n"
        "    to[i] = from.read(uint2(i, 0)).x + again.read(uint2(i, 0)).x; }\n";
    ig_pipeline *pipeline = make_pipeline_on(on, copy, "copy");
    ig_buffer *buffer = make_buffer_on(on, 400);
    ig_texture *texture;
    ig_queue *queue;
    ig_commands *commands;
    assert_ok(ig_texture_create(
        on, &(ig_texture_desc){.type = IG_TEXTURE_2D, .format = IG_PIXEL_R32_UINT, .width = 100, .height = 50},
        &texture));
    assert_ok(ig_queue_create(on, &queue));
    assert_ok(ig_commands_create(queue, NULL, &commands));
    ig_commands_set_pipeline(commands, pipeline);
    ig_commands_set_buffer(commands, buffer, 0, 0);
    for (uint32_t i = 0; i < 2; i++) ig_commands_set_texture(commands, texture, i);
    assert_ok(ig_commands_dispatch_threads(commands, line(100), line(100)));
    assert_ok(ig_commands_commit(commands));
    assert_ok(ig_commands_wait(commands, IG_FOREVER));
    ig_kernel_profile *rows;
    size_t count;
    assert_ok(ig_device_get_profile(on, &rows, &count));
    assert_int_equal(count, 1);
    assert_true(rows[0].bytes >= 400 + 20000 && rows[0].bytes < 400 + 2 * 20000);  // once, with unused ends of rows
    free(rows);
    ig_commands_release(commands);
    ig_queue_release(queue);
    ig_texture_release(texture);
    ig_buffer_release(buffer);
    ig_pipeline_release(pipeline);
    ig_device_release(on);
}

static void a_device_that_measures_nothing_says_so(void **state) {
    (void)state;
    ig_kernel_profile *rows = NULL;
    size_t count;
    assert_status(ig_device_get_profile(device, &rows, &count), IG_STATUS_WRONG_STATE);
    assert_null(rows);
}

// The last reference to a device, which writes the rest, may be a worker's.
static igi_json_document read_trace(const char *path) {
    igi_trace *trace;
    assert_ok(igi_trace_open(path, &trace, NULL));
    igi_trace_flush(trace, true);
    char *text;
    size_t length;
    igi_json_document document;
    ig_error error = {0};
    assert_ok(igi_file_read(path, &text, &length, NULL));
    if (igi_json_parse(path, text, length, &document, &error) != IG_STATUS_OK) fail_msg("%s", error.message);
    free(text);
    return document;
}

static size_t count_events(const igi_json_document *trace, const char *category, const char *name) {
    size_t count = 0;
    for (const igi_json_value *event = trace->root->first; event; event = event->next) {
        const char *c = igi_json_get_string(igi_json_member(event, "cat"));
        const char *n = igi_json_get_string(igi_json_member(event, "name"));
        count += c && strcmp(c, category) == 0 && strcmp(n, name) == 0;
    }
    return count;
}

static void a_trace_has_commands_dispatches_and_compilations(void **state) {
    (void)state;
    const char *path = path_of("%s/trace.json", cache_dir);
    ig_device *on = open_device(&(ig_device_desc){.trace = path});
    dispatch(on, "one", "odd \"label\"\n", 3);
    ig_device_release(on);
    igi_json_document trace = read_trace(path);
    assert_int_equal(count_events(&trace, "commands", "odd \"label\"\n"), 1);
    assert_int_equal(count_events(&trace, "dispatch", "one"), 3);
    assert_int_equal(count_events(&trace, "compile", "one"), 1);
    assert_int_equal(count_events(&trace, "compile", "program_source"), 1);
    igi_json_document_free(&trace);
    // Another device goes on in the same file.
    on = open_device(&(ig_device_desc){.trace = path});
    dispatch(on, "two", NULL, 1);
    ig_device_release(on);
    trace = read_trace(path);
    assert_int_equal(count_events(&trace, "dispatch", "one"), 3);
    assert_int_equal(count_events(&trace, "dispatch", "two"), 1);
    igi_json_document_free(&trace);
}

static void a_trace_that_cannot_be_written_is_an_error(void **state) {
    (void)state;
    ig_device *none = NULL;
    ig_error error = {0};
    assert_status(ig_device_create(&(ig_device_desc){.trace = "/nonexistent/trace.json"}, &none, &error), IG_STATUS_IO);
    assert_contains(error.message, "/nonexistent/trace.json");
    ig_error_clear(&error);
}

static void a_name_may_have_the_number_of_the_process(void **state) {
    (void)state;
    igi_trace *trace;
    assert_ok(igi_trace_open(path_of("%s/%%p.json", cache_dir), &trace, NULL));
    igi_trace_flush(trace, true);
    igi_json_document document = read_trace(path_of("%s/%ld.json", cache_dir, (long)getpid()));
    assert_int_equal(document.root->count, 1);
    igi_json_document_free(&document);
}

static void events_past_the_limit_are_left_out(void **state) {
    (void)state;
    igi_trace *trace;
    const char *path = path_of("%s/long.json", cache_dir);
    assert_ok(igi_trace_open(path, &trace, NULL));
    igi_trace_set_limit(trace, 1000);
    for (int i = 0; i < 5000; i++) igi_trace_add(trace, &(igi_trace_event){.name = "e", .category = "c", .track = 1});
    igi_trace_flush(trace, true);
    char *text;
    size_t length, lines = 0;
    assert_ok(igi_file_read(path, &text, &length, NULL));
    for (size_t i = 0; i < length; i++) lines += text[i] == '\n';
    assert_int_equal(lines, 1002);
    assert_string_equal(text + length - 4, "}\n]\n");
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_are_counted),
        cmocka_unit_test(textures_count_as_bytes),
        cmocka_unit_test(a_device_that_measures_nothing_says_so),
        cmocka_unit_test(a_trace_has_commands_dispatches_and_compilations),
        cmocka_unit_test(a_trace_that_cannot_be_written_is_an_error),
        cmocka_unit_test(a_name_may_have_the_number_of_the_process),
        cmocka_unit_test(events_past_the_limit_are_left_out),
    };
    return cmocka_run_group_tests(tests, open_test_device, close_test_device);
}
