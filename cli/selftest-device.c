// SPDX-License-Identifier: Apache-2.0
// ingot selftest: memory, the compiler's messages, copies, events, command buffers.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "selftest.h"

// ---- Memory ----

static void count_up(uint8_t *bytes, size_t count) {
    for (size_t i = 0; i < count; i++) bytes[i] = (uint8_t)(i * 7 + 1);
}

// Runs copies and fills and waits for them.
static ig_status run_commands(ig_commands *commands) {
    ig_status status = ig_commands_commit(commands);
    return status == IG_STATUS_OK ? ig_commands_wait(commands, IG_FOREVER) : status;
}

static ig_status copy(selftest *test, ig_buffer *source, uint64_t from, ig_buffer *target, uint64_t to,
                      uint64_t length) {
    ig_commands *commands = NULL;
    ig_status status = ig_commands_create(test->queue, NULL, &commands);
    if (status == IG_STATUS_OK) ig_commands_copy(commands, source, from, target, to, length);
    if (status == IG_STATUS_OK) status = run_commands(commands);
    ig_commands_release(commands);
    return status;
}

enum { BYTES = 1003 };  // not a multiple of anything

// Checks the contents of a buffer of this kind, through a shared one.
static selftest_result check_storage(selftest *test, const ig_buffer_desc *desc, const uint8_t *expected) {
    ig_buffer *buffer = NULL, *shown = selftest_buffer(test, BYTES);
    ig_status status = ig_buffer_create(test->device, desc, &buffer);
    if (status == IG_STATUS_OK) status = copy(test, buffer, 0, shown, 0, BYTES);
    bool same = status == IG_STATUS_OK && memcmp(ig_buffer_contents(shown), expected, BYTES) == 0;
    ig_buffer_release(buffer);
    ig_buffer_release(shown);
    if (status != IG_STATUS_OK) return selftest_call_failed(test, "buffer", status, NULL);
    return same ? SELFTEST_PASSED : selftest_fail(test, "storage %d holds other bytes", (int)desc->storage);
}

static selftest_result check_buffers(selftest *test) {
    uint8_t bytes[BYTES];
    count_up(bytes, BYTES);
    for (ig_storage storage = IG_STORAGE_SHARED; storage <= IG_STORAGE_MANAGED; storage++) {
        ig_buffer_desc desc = {.length = BYTES, .bytes = bytes, .storage = storage};
        if (check_storage(test, &desc, bytes) != SELFTEST_PASSED) return SELFTEST_FAILED;
    }
    return selftest_pass(test, "shared, private and managed");
}

// Memory of the host, at any address.
static selftest_result check_no_copy(selftest *test) {
    long page = sysconf(_SC_PAGESIZE);
    uint8_t *memory = malloc((size_t)page * 4);
    if (!memory) return selftest_skip(test, "not enough memory");
    static const size_t offsets[] = {0, 16, 1008};
    selftest_result result = SELFTEST_PASSED;
    for (size_t i = 0; i < 3 && result == SELFTEST_PASSED; i++) {
        uint8_t *start = memory + offsets[i];
        count_up(start, BYTES);
        result = check_storage(test, &(ig_buffer_desc){.length = BYTES, .no_copy = start}, start);
    }
    free(memory);
    return result == SELFTEST_PASSED ? selftest_pass(test, "host memory used in place") : result;
}

// ---- The compiler ----

static selftest_result check_diagnostics(selftest *test) {
    static const char source[] =
        "#include <metal_stdlib>\nkernel void k(device float *p [[buffer(0)]]) { p[0] = q; }\n";
    ig_library *library = NULL;
    ig_error error = {0};
    ig_status status = ig_library_create(test->device, &(ig_library_desc){.source = source}, &library, &error);
    ig_library_release(library);
    selftest_result result = SELFTEST_PASSED;
    if (status != IG_STATUS_COMPILE_FAILED)
        result = selftest_fail(test, "bad source gave %s", ig_status_name(status));
    else if (error.line != 2)
        result = selftest_fail(test, "the error is said to be in line %u, not 2", error.line);
    else
        selftest_pass(test, "%u:%u: %.60s", error.line, error.column, error.message);
    ig_error_clear(&error);
    return result;
}

// ---- Copies and fills ----

static bool encode_odd_copies(selftest *test, ig_buffer *buffer) {
    ig_commands *commands = NULL;
    if (ig_commands_create(test->queue, NULL, &commands) != IG_STATUS_OK) return false;
    ig_commands_fill(commands, buffer, 3, 10, 0xaa);
    ig_commands_fill(commands, buffer, 100, 200, 0xbb);
    ig_commands_copy(commands, buffer, 401, buffer, 405, 101);  // onto itself
    ig_commands_copy(commands, buffer, 601, buffer, 801, 99);
    bool done = run_commands(commands) == IG_STATUS_OK;
    ig_commands_release(commands);
    return done;
}

static selftest_result check_copies(selftest *test) {
    uint8_t expected[BYTES];
    ig_buffer *buffer = selftest_buffer(test, BYTES);
    count_up(expected, BYTES);
    memcpy(ig_buffer_contents(buffer), expected, BYTES);
    memset(expected + 3, 0xaa, 10);
    memset(expected + 100, 0xbb, 200);
    memmove(expected + 405, expected + 401, 101);
    memcpy(expected + 801, expected + 601, 99);
    bool right = encode_odd_copies(test, buffer) && memcmp(ig_buffer_contents(buffer), expected, BYTES) == 0;
    ig_buffer_release(buffer);
    return right ? selftest_pass(test, "odd sizes, and onto itself") : selftest_fail(test, "bytes differ");
}

// ---- Command buffers and events ----

static void record_status(ig_commands *commands, ig_status status, void *user) {
    (void)commands;
    *(ig_status *)user = status;
}

static selftest_result check_events(selftest *test) {
    ig_event *event = NULL;
    ig_commands *commands = NULL;
    ig_status called = IG_STATUS_COUNT, status = ig_event_create(test->device, &event);
    if (status == IG_STATUS_OK) status = ig_commands_create(test->queue, NULL, &commands);
    if (status == IG_STATUS_OK) {
        ig_commands_wait_event(commands, event, 1);
        ig_commands_signal_event(commands, event, 2);
        ig_commands_on_completed(commands, record_status, &called);
        status = ig_commands_commit(commands);
    }
    bool waited = status == IG_STATUS_OK && ig_commands_wait(commands, 20000000) == IG_STATUS_TIMEOUT;
    if (status == IG_STATUS_OK) status = ig_event_signal(event, 1);
    if (status == IG_STATUS_OK) status = ig_event_wait(event, 2, 5000000000);
    if (status == IG_STATUS_OK) status = ig_commands_wait(commands, IG_FOREVER);
    ig_commands_release(commands);
    ig_event_release(event);
    if (status != IG_STATUS_OK) return selftest_call_failed(test, "events", status, NULL);
    if (!waited) return selftest_fail(test, "a command buffer did not wait for its event");
    if (called != IG_STATUS_OK) return selftest_fail(test, "the completion callback was not called");
    return selftest_pass(test, "host to device and back, completion callback");
}

static selftest_result check_timing(selftest *test) {
    ig_commands *commands = NULL;
    ig_buffer *buffer = selftest_buffer(test, 1 << 22);
    ig_status status = ig_commands_create(test->queue, NULL, &commands);
    if (status == IG_STATUS_OK) ig_commands_fill(commands, buffer, 0, 1 << 22, 1);
    if (status == IG_STATUS_OK) status = run_commands(commands);
    ig_timing timing = {0};
    if (status == IG_STATUS_OK) ig_commands_get_timing(commands, &timing);
    ig_commands_release(commands);
    ig_buffer_release(buffer);
    if (status != IG_STATUS_OK) return selftest_call_failed(test, "fill", status, NULL);
    if (timing.end_ns <= timing.start_ns) return selftest_fail(test, "the device reports no times");
    return selftest_pass(test, "4 MiB filled in %.0f us", (double)(timing.end_ns - timing.start_ns) * 1e-3);
}

const selftest_check selftest_device_checks[] = {
    {"buffers", check_buffers},
    {"no-copy buffers", check_no_copy},
    {"compiler errors", check_diagnostics},
    {"copies", check_copies},
    {"events", check_events},
    {"timestamps", check_timing},
    {NULL, NULL},
};
