// SPDX-License-Identifier: Apache-2.0
// Ring kernels on a device that checks: what is wrong in handlers is found, in both modes, and nothing is found in
// the loop around them.
#include <string.h>

#include "ring-helpers.h"

// One kernel, because checked loops take seconds to compile: the type of a message says what its handler does wrong.
enum { RIGHT, PAST, OWN, UNWRITTEN, PAYLOAD, STATE, OPENED, RACE };
static const char source[] =
    "#include <ingot/ring>\n"
    "using namespace metal;\n"
    "void wrong(thread ring::context &context) {\n"
    "    uint n = *context.payload<uint>(), i = context.thread_index(), table[4] = {1, 2, 3, 4}, value;\n"
    "    device uint *shared = context.buffer<uint>(0);\n"
    "    uint type = uint(context.type());\n"
    "    if (type == 0) shared[i] = n;\n"
    "    if (type == 1) shared[n + i] = 7;\n"
    "    if (type == 2) shared[i] = table[n];\n"
    "    if (type != 3) value = n;\n"
    "    if (type == 3) shared[i] = value;\n"
    "    if (type == 4) shared[i] = context.payload<uint>()[n / 4096];\n"
    "    if (type == 5) context.state<uint>()[n / 1024] = n;\n"
    "    if (type == 6) {\n"
    "        device uint *answer = context.open_reply<uint>(1, 1);\n"
    "        if (context.leads()) answer[0] = n;\n"
    "        answer[n / 4096 + i] = n;\n"
    "    }\n"
    "    if (type == 7) {\n"
    "        shared[i] = n;\n"
    "        shared[64 + i] = shared[(i + 1) % context.thread_count()];\n"
    "    }\n"
    "    if (type != 6) context.reply(1, n);\n"
    "}\n"
    "INGOT_RING_KERNEL(wrong, wrong)\n";
static const struct {
    const char *kind, *message;
    uint32_t lines[2];
} expected[] = {
    [PAST] = {"out-of-bounds", "writes 4 bytes at byte 16384 of", {8}},
    [OWN] = {"out-of-bounds", "'table', which has 16", {9}},
    [UNWRITTEN] = {"uninitialised", "writes", {11}},
    [PAYLOAD] = {"out-of-bounds", "reads 4 bytes at byte 4 of the payload of the message, which has 4", {12}},
    [STATE] = {"out-of-bounds", "writes 4 bytes at byte 16 of the state of the ring kernel, which has 16", {13}},
    [OPENED] = {"out-of-bounds", "writes 4 bytes at byte 4 of the payload of the message to send, which has 4", {17}},
    [RACE] = {"race", "another thread", {20, 21}},
};

static ig_device *checked;

static int open_checked(void **state) {
    (void)state;
    checked = open_device(&(ig_device_desc){.check = IG_CHECK_ALL});
    return ig_ring_runtime_create(checked, NULL, &rings) != IG_STATUS_OK;
}

static int close_checked(void **state) {
    int failed = close_runtime(state);
    ig_device_release(checked);
    return failed;
}

static ig_ring_kernel *launch_wrong(uint32_t block, ig_ring_mode mode, ig_buffer *buffer) {
    return launch(&(ig_ring_launch_desc){.name = "wrong",
                                         .source = source,
                                         .block = block,
                                         .mode = mode,
                                         .buffers = {buffer},
                                         .state_bytes = 16,
                                         .idle_spins = 1000000});
}

static void ask(ig_ring_kernel *kernel, uint64_t type, uint32_t value) {
    ig_message question = IG_MESSAGE(type, &value), answer = {0};
    assert_ok(ig_ring_request(kernel, &question, &answer, SECONDS(60)));
    assert_int_equal(*(const uint32_t *)answer.payload, value);
    ig_message_clear(&answer);
}

static const ig_finding *newest(ig_ring_kernel *kernel, size_t count) {
    const ig_finding *findings;
    assert_ok(ig_ring_deactivate(kernel));
    assert_int_equal(ig_ring_get_findings(kernel, &findings), count);
    assert_ok(ig_ring_activate(kernel));
    return count ? &findings[count - 1] : NULL;
}

// A wrong handler answers all the same, and the kernel goes on.
static void expect_findings(uint32_t block, ig_ring_mode mode, uint64_t last) {
    ig_buffer *buffer = make_buffer_on(checked, 1024);
    ig_ring_kernel *kernel = launch_wrong(block, mode, buffer);
    ig_error error = {0};
    ask(kernel, RIGHT, 4096);
    assert_null(newest(kernel, 0));
    for (uint64_t type = PAST; type <= last; type++) {
        for (uint32_t i = 0; i < 3; i++) ask(kernel, type, 4096);
        const ig_finding *found = newest(kernel, type);
        assert_string_equal(found->kind, expected[type].kind);
        assert_string_equal(found->kernel, "wrong");
        assert_contains(found->message, expected[type].message);
        uint32_t line = found->sides[0].line;
        assert_true(line == expected[type].lines[0] || line == expected[type].lines[1]);
        assert_true(found->count >= 3);
    }
    assert_status(ig_ring_get_error(kernel, &error), IG_STATUS_CHECK_FAILED);
    assert_contains(error.message, "out-of-bounds: kernel 'wrong' writes 4 bytes at byte 16384 of");
    assert_int_equal(error.line, 8);
    ig_error_clear(&error);
    end_kernel(kernel);
    ig_buffer_release(buffer);
}

static void wrong_handlers_are_found_in_both_modes(void **state) {
    (void)state;
    expect_findings(1, IG_RING_EVENT_DRIVEN, OPENED);
    expect_findings(1, IG_RING_PERSISTENT, OPENED);
    expect_findings(40, IG_RING_EVENT_DRIVEN, RACE);
    expect_findings(40, IG_RING_PERSISTENT, RACE);
}

// While it is in its loop, dispatches are checked too.
static void dispatches_are_checked_beside_a_kernel(void **state) {
    (void)state;
    ig_buffer *buffer = make_buffer_on(checked, 256);
    ig_ring_kernel *kernel = launch_wrong(1, IG_RING_PERSISTENT, buffer);
    ig_pipeline *pipeline = make_pipeline_on(
        checked, "kernel void f(device uint *a [[buffer(0)]], uint i [[thread_position_in_grid]]) { a[i] = i; }", "f");
    for (uint32_t i = 0; i < 3; i++) {
        ig_error error = {0};
        ask(kernel, RIGHT, 1);
        assert_status(try_run(&(run){.on = checked,
                                     .pipeline = pipeline,
                                     .buffers = &buffer,
                                     .buffer_count = 1,
                                     .grid = line(257),
                                     .group = line(32),
                                     .error = &error}),
                      IG_STATUS_CHECK_FAILED);
        ig_error_clear(&error);
    }
    ig_pipeline_release(pipeline);
    end_kernel(kernel);
    ig_buffer_release(buffer);
}

// What a ring kernel may have written into a private buffer counts as written.
static void private_buffers_of_ring_kernels_count_as_written(void **state) {
    (void)state;
    ig_buffer *from, *to = make_buffer_on(checked, 256);
    const ig_finding *findings;
    assert_ok(ig_buffer_create(checked, &(ig_buffer_desc){.length = 1024, .storage = IG_STORAGE_PRIVATE}, &from));
    ig_ring_kernel *kernel = launch_wrong(40, IG_RING_EVENT_DRIVEN, from);
    ask(kernel, RIGHT, 1);
    assert_ok(ig_ring_deactivate(kernel));
    assert_int_equal(ig_ring_get_findings(kernel, &findings), 0);
    end_kernel(kernel);
    ig_pipeline *pipeline = make_pipeline_on(checked,
                                             "kernel void f(device const uint *a [[buffer(0)]], device uint *b "
                                             "[[buffer(1)]], uint i [[thread_position_in_grid]]) { b[i] = a[i]; }",
                                             "f");
    assert_ok(try_run(&(run){.on = checked,
                             .pipeline = pipeline,
                             .buffers = (ig_buffer *[]){from, to},
                             .buffer_count = 2,
                             .grid = line(64),
                             .group = line(32)}));
    ig_pipeline_release(pipeline);
    ig_buffer_release(from);
    ig_buffer_release(to);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(wrong_handlers_are_found_in_both_modes, open_checked, close_checked),
        cmocka_unit_test_setup_teardown(dispatches_are_checked_beside_a_kernel, open_checked, close_checked),
        cmocka_unit_test_setup_teardown(private_buffers_of_ring_kernels_count_as_written, open_checked, close_checked),
    };
    return cmocka_run_group_tests_name("ring check", tests, open_test_device, close_test_device);
}
