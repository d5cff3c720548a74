// SPDX-License-Identifier: Apache-2.0
// Samples by source line: the hot line is first, and signals of the program stay its own.
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "helpers.h"

static const char source[] =
    "#include <metal_stdlib>\nusing namespace metal;\n"
    "static float heat(float x) {\n"
    "  return sin(x) + cos(x);\n"
    "}\n"
    "kernel void hot(device float *a [[buffer(0)]], constant uint &n [[buffer(1)]],\n"
    "                uint i [[thread_position_in_grid]]) {\n"
    "  float x = a[i];\n"
    "  for (uint k = 0; k < n; k++) x = heat(x);\n"
    "  a[i] = x + 1;\n"
    "}\n"
    "kernel void waits(device float *a [[buffer(0)]], constant uint &n [[buffer(1)]],\n"
    "                  uint i [[thread_position_in_grid]]) {\n"
    "  threadgroup float t[64];\n"
    "  for (uint k = 0; k < n; k++) {\n"
    "    t[i % 64] = a[i];\n"
    "    threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "    for (uint j = 0; j < 64; j++)\n"
    "      a[i] = tan(a[i]) + t[j];\n"
    "    threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "  }\n"
    "}\n";

static void run_for(ig_device *on, const char *kernel, uint32_t rounds) {
    ig_library *library = compile_on(on, &(ig_library_desc){.source = source, .name = "hot.metal"});
    ig_pipeline *pipeline = pipeline_of(library, kernel);
    ig_buffer *buffer = make_buffer_on(on, 4096 * 4);
    ig_queue *queue;
    assert_ok(ig_queue_create(on, &queue));
    ig_commands *commands = make_commands(queue);
    assert_ok(ig_commands_set_pipeline(commands, pipeline));
    assert_ok(ig_commands_set_buffer(commands, buffer, 0, 0));
    assert_ok(ig_commands_set_bytes(commands, &rounds, sizeof rounds, 1));
    assert_ok(ig_commands_dispatch_threads(commands, line(4096), line(64)));
    assert_ok(ig_commands_commit(commands));
    assert_ok(ig_commands_wait(commands, IG_FOREVER));
    ig_commands_release(commands);
    ig_queue_release(queue);
    ig_buffer_release(buffer);
    ig_pipeline_release(pipeline);
    ig_library_release(library);
}

static uint64_t samples_of(ig_device *on, ig_line_profile **rows, size_t *count) {
    uint64_t total = 0;
    assert_ok(ig_device_get_line_profile(on, rows, count));
    for (size_t i = 0; i < *count; i++) total += (*rows)[i].samples;
    return total;
}

// Runs until there are enough samples, however fast the machine is.
static void expect_hot(const char *kernel, uint32_t line_number, const char *text) {
    ig_device *on = open_device(&(ig_device_desc){.profile_lines = true});
    ig_line_profile *rows = NULL;
    size_t count = 0;
    uint32_t rounds = 200;
    do {
        free(rows);
        run_for(on, kernel, rounds *= 2);
    } while (samples_of(on, &rows, &count) < 20);
    assert_true(count >= 1);
    assert_string_equal(rows[0].kernel, kernel);
    assert_string_equal(rows[0].file, "hot.metal");
    assert_int_equal(rows[0].line, line_number);
    assert_string_equal(rows[0].source, text);
    for (size_t i = 1; i < count; i++) assert_true(rows[i].samples <= rows[i - 1].samples);
    free(rows);
    ig_device_release(on);
}

static void the_hot_line_is_first(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    expect_hot("hot", 4, "  return sin(x) + cos(x);");
}

static void lines_between_barriers_are_counted(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    expect_hot("waits", 19, "      a[i] = tan(a[i]) + t[j];");
}

static void a_device_that_counts_nothing_says_so(void **state) {
    (void)state;
    ig_line_profile *rows;
    size_t count;
    assert_status(ig_device_get_line_profile(device, &rows, &count), IG_STATUS_WRONG_STATE);
}

static void on_profile(int number) {
    (void)number;
}

static void a_handler_of_the_program_stays(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    struct sigaction own = {.sa_handler = on_profile}, now;
    ig_device *on;
    ig_error error = {0};
    sigaction(SIGPROF, &own, NULL);
    assert_status(ig_device_create(&(ig_device_desc){.profile_lines = true, .cache_dir = cache_dir}, &on, &error),
                  IG_STATUS_WRONG_STATE);
    assert_contains(error.message, "SIGPROF");
    ig_error_clear(&error);
    sigaction(SIGPROF, NULL, &now);
    assert_true(now.sa_handler == on_profile);
    signal(SIGPROF, SIG_DFL);
}

static void without_it_the_signal_is_not_touched(void **state) {
    (void)state;
    struct sigaction now;
    signal(SIGPROF, SIG_DFL);
    ig_device *on = open_device(&(ig_device_desc){.profile = true});
    run_for(on, "hot", 1);
    sigaction(SIGPROF, NULL, &now);
    assert_true(now.sa_handler == SIG_DFL);
    ig_device_release(on);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_hot_line_is_first),
        cmocka_unit_test(lines_between_barriers_are_counted),
        cmocka_unit_test(a_device_that_counts_nothing_says_so),
        cmocka_unit_test(a_handler_of_the_program_stays),
        cmocka_unit_test(without_it_the_signal_is_not_touched),
    };
    return cmocka_run_group_tests(tests, open_test_device, close_test_device);
}
