// SPDX-License-Identifier: Apache-2.0
// Kernels that misbehave: stray pointers, endless loops. The process survives, and the device still works.
#include <stdlib.h>
#include <string.h>

#include "helpers.h"

static const char source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "kernel void ok(device uint *a [[buffer(0)]], uint i [[thread_position_in_grid]]) { a[i] = i + 1; }\n"
    "kernel void at(device uint *a [[buffer(0)]], device ulong *where [[buffer(1)]],\n"
    "               uint i [[thread_position_in_grid]]) {\n"
    "    a[i] = *(device uint *)where[0];\n"
    "}\n"
    "kernel void write_far(device uint *a [[buffer(0)]], device ulong *where [[buffer(1)]],\n"
    "                      uint i [[thread_position_in_grid]]) {\n"
    "    a[where[0] + i] = 1;\n"
    "}\n"
    "kernel void after_barrier(device uint *a [[buffer(0)]], device ulong *where [[buffer(1)]],\n"
    "                          uint i [[thread_index_in_threadgroup]]) {\n"
    "    threadgroup uint shared[64];\n"
    "    shared[i] = i;\n"
    "    threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "    if (i == 13) a[where[0]] = shared[63 - i];\n"
    "    threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "    a[i] = shared[i] + 1;\n"
    "}\n"
    "kernel void one_of_many(device uint *a [[buffer(0)]], device ulong *where [[buffer(1)]],\n"
    "                        uint3 g [[threadgroup_position_in_grid]]) {\n"
    "    a[g.x == 2 && g.y == 3 ? where[0] : g.x] = 1;\n"
    "}\n"
    "kernel void divide(device int *a [[buffer(0)]], uint i [[thread_position_in_grid]]) {\n"
    "    a[i] = a[i] / a[i + 1] + a[i] % a[i + 1];\n"
    "}\n";

static ig_status touch(const char *kernel, uint64_t where, ig_size grid, ig_size group, ig_error *error) {
    ig_pipeline *pipeline = make_pipeline(source, kernel);
    ig_buffer *buffers[2] = {make_buffer(4096), make_buffer(8)};
    memcpy(ig_buffer_contents(buffers[1]), &where, sizeof where);
    use_fault_handlers();
    ig_status status = try_run(&(run){
        .pipeline = pipeline, .buffers = buffers, .buffer_count = 2, .grid = grid, .group = group, .error = error});
    for (int i = 0; i < 2; i++) ig_buffer_release(buffers[i]);
    ig_pipeline_release(pipeline);
    return status;
}

static void expect_working(void) {
    uint32_t words[1000] = {0};
    run_on_words(source, "ok", words, 1000, 1000);
    for (uint32_t i = 0; i < 1000; i++) assert_int_equal(words[i], i + 1);
}

// ---- Faults ----

static void expect_fault(const char *kernel, uint64_t where, ig_size grid, ig_size group, const char *part) {
    ig_error error = {0};
    assert_status(touch(kernel, where, grid, group, &error), IG_STATUS_KERNEL_FAULT);
    assert_contains(error.message, kernel);
    assert_contains(error.message, part);
    ig_error_clear(&error);
    expect_working();
}

static void reading_null_fails_the_command_buffer(void **state) {
    (void)state;
    expect_fault("at", 0, line(1), line(1), "0x0");
    expect_fault("at", 0, line(4096), line(32), "0x0");
}

static void reading_a_wild_pointer_fails_the_command_buffer(void **state) {
    (void)state;
    expect_fault("at", 0x123450, line(64), line(32), "0x123450");
    expect_fault("at", UINT64_MAX / 2 - 3, line(64), line(32), "touched");  // not even canonical
}

static void writing_far_out_of_bounds_fails_the_command_buffer(void **state) {
    (void)state;
    expect_fault("write_far", 1ull << 43, line(64), line(32), "touched an address that no memory can have (SIGSEGV)");
}

static void a_fault_between_barriers_leaves_nothing_behind(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++) expect_fault("after_barrier", 1ull << 43, line(64), line(64), "touched");
    uint64_t harmless = 100;
    assert_ok(touch("after_barrier", harmless, line(64), line(64), NULL));
}

static void a_fault_names_its_threadgroup(void **state) {
    (void)state;
    // Threads that do not use their threadgroup may have run in longer rows than dispatched.
    expect_fault("write_far", 1ull << 43, line(1 << 20), line(256), "in one of threadgroups (");
    expect_fault("write_far", 1ull << 43, line(1 << 20), line(1024), "in threadgroup (");
    expect_fault("one_of_many", 1ull << 43, (ig_size){16, 16, 1}, (ig_size){1, 1, 1}, "(2, 3, 0)");
}

static void what_follows_a_fault_does_not_run(void **state) {
    (void)state;
    ig_pipeline *bad = make_pipeline(source, "at"), *good = make_pipeline(source, "ok");
    ig_buffer *a = make_buffer(64), *where = make_buffer(8);
    ig_queue *queue = make_queue();
    ig_commands *first = make_commands(queue), *second = make_commands(queue);
    ig_commands_set_buffer(first, a, 0, 0), ig_commands_set_buffer(first, where, 0, 1);
    ig_commands_set_pipeline(first, bad), ig_commands_dispatch_threads(first, line(1), line(1));
    ig_commands_set_pipeline(first, good), ig_commands_dispatch_threads(first, line(1), line(1));
    ig_commands_set_buffer(second, a, 4, 0), ig_commands_set_pipeline(second, good);
    ig_commands_dispatch_threads(second, line(1), line(1));
    use_fault_handlers();
    assert_ok(ig_commands_commit(first));
    assert_ok(ig_commands_commit(second));
    assert_ok(ig_commands_wait(second, IG_FOREVER));
    assert_status(ig_commands_wait(first, IG_FOREVER), IG_STATUS_KERNEL_FAULT);
    assert_int_equal(ig_commands_get_state(first), IG_COMMANDS_FAILED);
    const uint32_t *words = ig_buffer_contents(a);
    assert_int_equal(words[0], 0);
    assert_int_equal(words[1], 1);
    ig_commands_release(first), ig_commands_release(second);
    ig_queue_release(queue);
    ig_buffer_release(a), ig_buffer_release(where);
    ig_pipeline_release(bad), ig_pipeline_release(good);
}

static void many_faults_in_a_row_do_no_harm(void **state) {
    (void)state;
    for (int i = 0; i < 200; i++) assert_status(touch("at", 64, line(256), line(32), NULL), IG_STATUS_KERNEL_FAULT);
    expect_working();
}

static void integer_division_never_faults(void **state) {
    (void)state;
    uint32_t words[6] = {7, 0, 0x80000000u, (uint32_t)-1, 1, 0};
    use_fault_handlers();
    run_on_words(source, "divide", words, 6, 5);
}

// ---- Endless kernels ----

static const char endless[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "kernel void plain(device uint *a [[buffer(0)]]) { for (;;) a[0]++; }\n"
    "kernel void silent(device uint *a [[buffer(0)]]) { while (true) {} }\n"
    "kernel void barrier(device uint *a [[buffer(0)]], uint i [[thread_index_in_threadgroup]]) {\n"
    "    for (;;) { a[i]++; threadgroup_barrier(mem_flags::mem_device); }\n"
    "}\n"
    "kernel void simd(device uint *a [[buffer(0)]], uint i [[thread_index_in_threadgroup]]) {\n"
    "    uint sum = i;\n"
    "    for (;;) { sum = simd_sum(sum) + 1; a[i] = sum; }\n"
    "}\n"
    "kernel void spin(device atomic_uint *a [[buffer(0)]]) {\n"
    "    while (atomic_load_explicit(a, memory_order_relaxed) == 0) {}\n"
    "}\n"
    "kernel void missed(device uint *a [[buffer(0)]]) { for (uint i = 0; i != 7; i += 2) a[i & 15]++; }\n"
    "kernel void restarted(device uint *a [[buffer(0)]]) {\n"
    "    for (uint i = 0; i < 100; i++) { a[i & 15]++; if (i == 50) i = 0; }\n"
    "}\n"
    "kernel void nested(device uint *a [[buffer(0)]]) {\n"
    "    for (;;) for (uint i = 0; i < 10; i++) a[i]++;\n"
    "}\n"
    "kernel void product(device uint *a [[buffer(0)]]) {\n"
    "    uint s = a[0];\n"
    "    for (int i = 0; i < 4096; i++) for (int j = 0; j < 4096; j++) for (int k = 0; k < 4096; k++) {\n"
    "        s = s * 1664525u + 1013904223u;\n"
    "        a[s & 15] = s;\n"
    "    }\n"
    "}\n"
    "kernel void stepped_over(device uint *a [[buffer(0)]]) {\n"
    "    uint s = a[0];\n"
    "    for (uint i = 1; i != 4096; i += 2) { s = s * 1664525u + 1; a[s & 7] = i; }\n"
    "}\n"
    "kernel void filled(device uint *a [[buffer(0)]]) {\n"
    "    a[0] = 4000;\n"
    "    for (int i = 0; i < 4096; i++) for (int j = 0; j < 4096; j++) __builtin_memset(a + 1, i ^ j, a[0]);\n"
    "}\n"
    "kernel void met_often(device uint *a [[buffer(0)]], uint t [[thread_index_in_threadgroup]]) {\n"
    "    threadgroup uint x[64];\n"
    "    for (int i = 0; i < 32768; i++) for (int j = 0; j < 32768; j++) {\n"
    "        x[t] = i + j;\n"
    "        threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "        a[t] += x[63 - t];\n"
    "        threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "    }\n"
    "}\n"
    "kernel void half_of_them(device uint *a [[buffer(0)]], uint i [[thread_index_in_threadgroup]]) {\n"
    "    while (i & 1) a[i]++;\n"
    "    threadgroup_barrier(mem_flags::mem_device);\n"
    "    a[i] = 1;\n"
    "}\n";

static void expect_timeout(const char *kernel, ig_size grid, ig_size group) {
    ig_pipeline *pipeline = make_pipeline(endless, kernel);
    ig_buffer *buffer = make_buffer(4096);
    ig_error error = {0};
    run r = {
        .pipeline = pipeline, .buffers = &buffer, .buffer_count = 1, .grid = grid, .group = group, .error = &error};
    r.deadline_ns = SECONDS(0.15);
    uint64_t start = now_ns();
    ig_status status = try_run(&r);
    double elapsed = (double)(now_ns() - start) * 1e-9;
    if (status != IG_STATUS_TIMEOUT) fail_msg("%s: %s", kernel, ig_status_name(status));
    if (elapsed < 0.14 || elapsed > 8) fail_msg("%s: stopped after %.3f s", kernel, elapsed);
    assert_contains(error.message, kernel);
    assert_contains(error.message, "0.150 s");
    ig_error_clear(&error);
    ig_buffer_release(buffer);
    ig_pipeline_release(pipeline);
    expect_working();
}

static void endless_kernels_end_at_the_deadline(void **state) {
    (void)state;
    static const char *const kernels[] = {"plain",  "silent",    "barrier",     "simd",    "spin",
                                          "missed", "restarted", "nested",      "product", "stepped_over",
                                          "filled", "met_often", "half_of_them"};
    for (size_t i = 0; i < LENGTH(kernels); i++) expect_timeout(kernels[i], line(64), line(64));
}

static void the_deadline_stops_all_workers_and_groups(void **state) {
    (void)state;
    static const char *const kernels[] = {"plain", "barrier", "simd", "spin"};
    for (size_t i = 0; i < LENGTH(kernels); i++) expect_timeout(kernels[i], line(1 << 20), line(32));
}

static void a_grid_too_large_to_ever_end_meets_its_deadline(void **state) {
    (void)state;
    ig_pipeline *pipeline = make_pipeline(
        "kernel void count(device metal::atomic_uint *a [[buffer(0)]]) {\n"
        "    metal::atomic_fetch_add_explicit(a, 1, metal::memory_order_relaxed);\n}\n",
        "count");
    ig_buffer *buffer = make_buffer(64);
    static const ig_size grids[] = {{UINT32_MAX, UINT32_MAX, 1}, {UINT32_MAX, 1u << 31, 2}, {UINT32_MAX, 65536, 1}};
    for (size_t i = 0; i < LENGTH(grids); i++) {
        run r = {.pipeline = pipeline, .buffers = &buffer, .buffer_count = 1, .grid = grids[i], .group = line(1)};
        r.deadline_ns = SECONDS(0.1);
        uint64_t start = now_ns();
        assert_status(try_run(&r), IG_STATUS_TIMEOUT);
        assert_true(now_ns() - start < SECONDS(8));
    }
    ig_buffer_release(buffer);
    ig_pipeline_release(pipeline);
}

static void the_device_deadline_holds_for_commands_without_one(void **state) {
    (void)state;
    ig_device *strict = open_device(&(ig_device_desc){.deadline_ns = SECONDS(0.1)});
    ig_pipeline *pipeline = make_pipeline_on(strict, endless, "plain");
    ig_buffer *buffer = make_buffer_on(strict, 64);
    run r = {.on = strict, .pipeline = pipeline, .buffers = &buffer, .buffer_count = 1, .grid = line(1)};
    assert_status(try_run(&r), IG_STATUS_TIMEOUT);
    ig_buffer_release(buffer);
    ig_pipeline_release(pipeline);
    ig_device_release(strict);
}

static void a_deadline_that_is_not_reached_changes_nothing(void **state) {
    (void)state;
    ig_pipeline *pipeline = make_pipeline(source, "ok");
    ig_buffer *buffer = make_buffer(4000);
    static const uint64_t deadlines[] = {SECONDS(100), UINT64_MAX, UINT64_MAX - 1};
    for (size_t i = 0; i < LENGTH(deadlines); i++) {
        memset(ig_buffer_contents(buffer), 0, 4000);
        run r = {.pipeline = pipeline, .buffers = &buffer, .buffer_count = 1, .grid = line(1000)};
        r.deadline_ns = deadlines[i];
        do_run(&r);
        for (uint32_t k = 0; k < 1000; k++) assert_int_equal(((uint32_t *)ig_buffer_contents(buffer))[k], k + 1);
    }
    ig_buffer_release(buffer);
    ig_pipeline_release(pipeline);
}

static void a_deadline_ends_waiting_for_an_event(void **state) {
    (void)state;
    ig_queue *queue = make_queue();
    ig_event *event = NULL;
    ig_commands *commands = NULL, *next = make_commands(queue);
    assert_ok(ig_event_create(device, &event));
    assert_ok(ig_commands_create(queue, &(ig_commands_desc){.deadline_ns = SECONDS(0.1)}, &commands));
    assert_ok(ig_commands_wait_event(commands, event, 1));
    assert_ok(ig_commands_commit(commands));
    assert_ok(ig_commands_commit(next));
    assert_status(ig_commands_wait(commands, SECONDS(5)), IG_STATUS_TIMEOUT);
    assert_int_equal(ig_commands_get_state(commands), IG_COMMANDS_FAILED);
    assert_ok(ig_commands_wait(next, SECONDS(5)));
    assert_ok(ig_event_signal(event, 1));  // nobody waits any more
    ig_commands_release(commands), ig_commands_release(next);
    ig_event_release(event);
    ig_queue_release(queue);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reading_null_fails_the_command_buffer),
        cmocka_unit_test(reading_a_wild_pointer_fails_the_command_buffer),
        cmocka_unit_test(writing_far_out_of_bounds_fails_the_command_buffer),
        cmocka_unit_test(a_fault_between_barriers_leaves_nothing_behind),
        cmocka_unit_test(a_fault_names_its_threadgroup),
        cmocka_unit_test(what_follows_a_fault_does_not_run),
        cmocka_unit_test(many_faults_in_a_row_do_no_harm),
        cmocka_unit_test(integer_division_never_faults),
        cmocka_unit_test(endless_kernels_end_at_the_deadline),
        cmocka_unit_test(the_deadline_stops_all_workers_and_groups),
        cmocka_unit_test(a_grid_too_large_to_ever_end_meets_its_deadline),
        cmocka_unit_test(the_device_deadline_holds_for_commands_without_one),
        cmocka_unit_test(a_deadline_that_is_not_reached_changes_nothing),
        cmocka_unit_test(a_deadline_ends_waiting_for_an_event),
    };
    return cmocka_run_group_tests_name("failures-kernel", tests, open_test_device, close_test_device);
}
