// SPDX-License-Identifier: Apache-2.0
// Checked execution through the device API: findings as an array, how command buffers end, and overruns of any length.
#include <string.h>

#include "helpers.h"

static const char source[] =
    "#include <metal_stdlib>\nusing namespace metal;\n"
    "kernel void past(device uint *a [[buffer(0)]], constant long &at [[buffer(1)]],\n"
    "                 uint i [[thread_position_in_grid]]) {\n"
    "  a[long(i) + at] = i;\n"
    "}\n"
    "kernel void shared(device uint *a [[buffer(0)]], constant long &at [[buffer(1)]],\n"
    "                   uint i [[thread_position_in_grid]]) {\n"
    "  threadgroup uint x[64]; x[i] = i; threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "  a[i] = x[long(i) + at];\n"
    "}\n"
    "kernel void own(device uint *a [[buffer(0)]], constant long &at [[buffer(1)]],\n"
    "                uint i [[thread_position_in_grid]]) {\n"
    "  uint p[64]; for (uint k = 0; k < 64; k++) p[k] = k + i; p[long(i) + at] = 7; a[i] = p[i];\n"
    "}\n"
    "kernel void count(device uint *a [[buffer(0)]], constant long &at [[buffer(1)]],\n"
    "                  uint i [[thread_position_in_grid]]) {\n"
    "  a[i % 32768] += 1; if (i >= 32768) a[at] = i;\n"
    "}\n"
    "kernel void meet(device uint *a [[buffer(0)]], uint i [[thread_position_in_grid]]) {\n"
    "  if (i == 63 || i == 65535) a[9] = i;\n"
    "}\n"
    "kernel void same(device uint *a [[buffer(0)]], uint i [[thread_position_in_grid]]) { a[0] = 7; }\n"
    "kernel void right(device uint *a [[buffer(0)]], uint i [[thread_position_in_grid]]) { a[i] = i; }\n";

typedef struct session {
    ig_device *on;
    ig_library *library;
    ig_queue *queue;
    ig_buffer *buffer;
} session;

static session open_session(uint32_t checks) {
    session s = {.on = open_device(&(ig_device_desc){.check = checks})};
    s.library = compile_on(s.on, &(ig_library_desc){.source = source, .name = "kernels.metal"});
    assert_ok(ig_queue_create(s.on, &s.queue));
    ig_buffer_desc desc = {.length = 256, .label = "numbers"};
    assert_ok(ig_buffer_create(s.on, &desc, &s.buffer));
    return s;
}

static void close_session(session *s) {
    ig_buffer_release(s->buffer);
    ig_queue_release(s->queue);
    ig_library_release(s->library);
    ig_device_release(s->on);
}

// The finished commands; the caller releases them.
static ig_commands *run_threads(const session *s, const char *kernel, uint64_t threads, int64_t at, ig_status *status) {
    ig_pipeline *pipeline = pipeline_of(s->library, kernel);
    ig_commands *commands;
    assert_ok(ig_commands_create(s->queue, NULL, &commands));
    assert_ok(ig_commands_set_pipeline(commands, pipeline));
    assert_ok(ig_commands_set_buffer(commands, s->buffer, 0, 0));
    assert_ok(ig_commands_set_bytes(commands, &at, sizeof at, 1));
    assert_ok(ig_commands_dispatch_threads(commands, line(threads), line(64)));
    assert_ok(ig_commands_commit(commands));
    *status = ig_commands_wait(commands, IG_FOREVER);
    ig_pipeline_release(pipeline);
    return commands;
}

static ig_commands *run_kernel(const session *s, const char *kernel, int64_t at, ig_status *status) {
    return run_threads(s, kernel, 64, at, status);
}

static void findings_are_an_array_with_places(void **state) {
    (void)state;
    session s = open_session(IG_CHECK_ALL);
    ig_status status;
    ig_commands *commands = run_kernel(&s, "past", 4, &status);
    const ig_finding *findings;
    ig_error error = {0};
    assert_status(status, IG_STATUS_CHECK_FAILED);
    assert_int_equal(ig_commands_get_findings(commands, &findings), 1);
    assert_string_equal(findings[0].kind, "out-of-bounds");
    assert_string_equal(findings[0].kernel, "past");
    assert_string_equal(findings[0].object, "buffer 0 'a'");
    assert_int_equal(findings[0].offset, 256);
    assert_int_equal(findings[0].bytes, 4);
    assert_int_equal(findings[0].object_bytes, 256);
    assert_int_equal(findings[0].count, 4);
    assert_int_equal(findings[0].side_count, 1);
    assert_string_equal(findings[0].sides[0].file, "kernels.metal");
    assert_int_equal(findings[0].sides[0].line, 5);
    assert_string_equal(findings[0].sides[0].source, "  a[long(i) + at] = i;");
    assert_int_equal(findings[0].sides[0].thread[0], 60);
    assert_int_equal(findings[0].sides[0].simdgroup, 1);
    assert_status(ig_commands_get_error(commands, &error), IG_STATUS_CHECK_FAILED);
    assert_contains(error.message, "kernels.metal:5:");
    ig_error_clear(&error);
    ig_commands_release(commands);
    close_session(&s);
}

static void warnings_do_not_fail_commands(void **state) {
    (void)state;
    session s = open_session(IG_CHECK_ALL);
    ig_status status;
    ig_commands *commands = run_kernel(&s, "same", 0, &status);
    const ig_finding *findings;
    assert_ok(status);
    assert_int_equal(ig_commands_get_findings(commands, &findings), 1);
    assert_true(findings[0].warning);
    assert_string_equal(findings[0].kind, "same-value-race");
    ig_commands_release(commands);
    commands = run_kernel(&s, "right", 0, &status);
    assert_ok(status);
    assert_int_equal(ig_commands_get_findings(commands, NULL), 0);
    ig_commands_release(commands);
    close_session(&s);
}

// Wrong accesses are not executed: nothing faults, however far off they are.
static void overruns_of_any_length_are_found(void **state) {
    (void)state;
    static const int64_t distances[] = {1, 3, 64, 1000, 1 << 20, 1 << 28};
    static const char *const kernels[] = {"past", "shared", "own"};
    static const uint32_t checks[] = {IG_CHECK_MEMORY, IG_CHECK_ALL};
    for (size_t c = 0; c < LENGTH(checks); c++) {
        session s = open_session(checks[c]);
        for (size_t i = 0; i < LENGTH(distances) * LENGTH(kernels) * 2; i++) {
            int64_t at = distances[i / 2 % LENGTH(distances)] * (i % 2 ? -1 : 1);
            ig_status status;
            ig_commands *commands = run_kernel(&s, kernels[i / 2 / LENGTH(distances)], at, &status);
            const ig_finding *findings;
            size_t count = ig_commands_get_findings(commands, &findings), outside = 0;
            for (size_t k = 0; k < count; k++) outside += strcmp(findings[k].kind, "out-of-bounds") == 0;
            assert_status(status, IG_STATUS_CHECK_FAILED);
            assert_int_equal(outside, 1);
            ig_commands_release(commands);
        }
        close_session(&s);
    }
}

// Code that is made for their size of threadgroup is checked as well.
static void large_dispatches_are_checked(void **state) {
    (void)state;
    static const uint32_t checks[] = {IG_CHECK_MEMORY, IG_CHECK_ALL};
    for (size_t i = 0; i < LENGTH(checks); i++) {
        session s = open_session(checks[i]);
        ig_status status;
        const ig_finding *findings;
        ig_commands *commands = run_threads(&s, "past", 1 << 16, 0, &status);
        assert_status(status, IG_STATUS_CHECK_FAILED);
        assert_int_equal(ig_commands_get_findings(commands, &findings), 1);
        assert_string_equal(findings[0].kind, "out-of-bounds");
        assert_int_equal(findings[0].count, (1 << 16) - 64);
        ig_commands_release(commands);
        close_session(&s);
    }
}

// What a quick look has written is undone before the dispatch runs again.
static void nothing_is_done_twice(void **state) {
    (void)state;
    enum { COUNT = 32768, PAST = COUNT };
    static const uint32_t checks[] = {IG_CHECK_MEMORY, IG_CHECK_RACES, IG_CHECK_ALL};
    static uint32_t numbers[COUNT];
    for (size_t i = 0; i < LENGTH(checks); i++) {
        session s = open_session(checks[i]);
        ig_buffer_release(s.buffer);
        memset(numbers, 0, sizeof numbers);
        assert_ok(ig_buffer_create(s.on, &(ig_buffer_desc){.length = sizeof numbers, .bytes = numbers}, &s.buffer));
        // The last threads write where there is nothing, or where others do.
        ig_status status;
        bool races = checks[i] == IG_CHECK_RACES;
        ig_commands *commands = run_threads(&s, "count", COUNT + (races ? 64 : 1), races ? 7 : PAST, &status);
        assert_status(status, IG_STATUS_CHECK_FAILED);
        assert_ok(ig_buffer_read(s.buffer, 0, numbers, sizeof numbers));
        for (uint32_t k = 64; k < COUNT; k++) assert_int_equal(numbers[k], 1);
        ig_commands_release(commands);
        close_session(&s);
    }
}

// Threadgroups run on several threads of the host, which compare what they saw.
static void races_between_threadgroups_are_found(void **state) {
    (void)state;
    session s = open_session(IG_CHECK_RACES);
    for (int i = 0; i < 10; i++) {
        ig_status status;
        ig_commands *commands = run_threads(&s, "meet", 1 << 16, 0, &status);
        assert_status(status, IG_STATUS_CHECK_FAILED);
        ig_commands_release(commands);
    }
    close_session(&s);
}

static void names_of_checks_are_read(void **state) {
    (void)state;
    uint32_t checks = 0;
    ig_error error = {0};
    assert_ok(ig_check_parse("all", &checks, NULL));
    assert_int_equal(checks, IG_CHECK_ALL);
    assert_ok(ig_check_parse("memory,arithmetic", &checks, NULL));
    assert_int_equal(checks, IG_CHECK_MEMORY | IG_CHECK_ARITHMETIC);
    assert_status(ig_check_parse("memory,bounds", &checks, &error), IG_STATUS_INVALID_ARGUMENT);
    assert_contains(error.message, "'bounds'");
    ig_error_clear(&error);
}

static void an_order_of_threads_can_be_repeated(void **state) {
    (void)state;
    static const char kernel[] =
        "#include <metal_stdlib>\nusing namespace metal;\n"
        "kernel void order(device uint *a [[buffer(0)]], device atomic_uint *n [[buffer(1)]],\n"
        "                  uint i [[thread_position_in_grid]]) {\n"
        "  a[i] = atomic_fetch_add_explicit(n, 1u, memory_order_relaxed);\n"
        "}\n";
    uint32_t orders[3][64];
    static const uint64_t seeds[] = {1, 2, 1};
    for (int i = 0; i < 3; i++) {
        ig_device *on = open_device(&(ig_device_desc){.schedule = seeds[i]});
        ig_pipeline *pipeline = make_pipeline_on(on, kernel, "order");
        ig_buffer *buffers[] = {make_buffer_on(on, 256), make_buffer_on(on, 4)};
        run r = {
            .on = on, .pipeline = pipeline, .buffers = buffers, .buffer_count = 2, .grid = line(64), .group = line(16)};
        assert_ok(try_run(&r));
        assert_ok(ig_buffer_read(buffers[0], 0, orders[i], sizeof orders[i]));
        ig_buffer_release(buffers[0]), ig_buffer_release(buffers[1]);
        ig_pipeline_release(pipeline);
        ig_device_release(on);
    }
    assert_memory_equal(orders[0], orders[2], sizeof orders[0]);
    assert_memory_not_equal(orders[0], orders[1], sizeof orders[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(findings_are_an_array_with_places),    cmocka_unit_test(warnings_do_not_fail_commands),
        cmocka_unit_test(overruns_of_any_length_are_found),     cmocka_unit_test(names_of_checks_are_read),
        cmocka_unit_test(large_dispatches_are_checked),         cmocka_unit_test(nothing_is_done_twice),
        cmocka_unit_test(races_between_threadgroups_are_found), cmocka_unit_test(an_order_of_threads_can_be_repeated),
    };
    return cmocka_run_group_tests(tests, open_test_device, close_test_device);
}
