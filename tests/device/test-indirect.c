// SPDX-License-Identifier: Apache-2.0
// Indirect command buffers: recorded by the host and by kernels, at every width, and with mistakes that name themselves.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/execute.h"
#include "helpers.h"

static const char kernels[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "kernel void twice(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] *= 2; }\n"
    "kernel void add(device float *x [[buffer(0)]], constant float &y [[buffer(3)]],\n"
    "                uint i [[thread_position_in_grid]]) { x[i] += y; }\n"
    "kernel void reverse(device float *x [[buffer(0)]], threadgroup float *t [[threadgroup(1)]],\n"
    "                    uint i [[thread_position_in_threadgroup]], uint n [[threads_per_threadgroup]],\n"
    "                    uint at [[thread_position_in_grid]]) {\n"
    "  t[i] = x[at]; threadgroup_barrier(mem_flags::mem_threadgroup); x[at] = t[n - 1 - i]; }\n"
    "kernel void paint(texture2d<float, access::write> t [[texture(0)]], uint2 i [[thread_position_in_grid]]) {\n"
    "  t.write(float4(1), i); }\n"
    "kernel void count(device atomic_uint *x [[buffer(0)]]) {\n"
    "  atomic_fetch_add_explicit(x, 1, memory_order_relaxed); }\n"
    "struct Recorder {\n"
    "  command_buffer commands [[id(0)]], ready [[id(1)]];\n"
    "  array<compute_pipeline_state, 3> pipelines [[id(2)]];\n"
    "  device float *x; constant float *y;\n"
    "};\n"
    // Threads of one simdgroup record different things, some more often than others.
    "kernel void record(device Recorder &r [[buffer(0)]], device uint *sizes [[buffer(1)]],\n"
    "                   uint i [[thread_position_in_grid]]) {\n"
    "  compute_command c(r.commands, i);\n"
    "  device float *x = r.x + 16 * i;\n"
    "  sizes[i] = uint(r.commands.size());\n"
    "  switch (i % 5) {\n"
    "  case 0:\n"
    "    c.set_compute_pipeline_state(r.pipelines[0]);\n"
    "    c.set_kernel_buffer(x, 0);\n"
    "    c.concurrent_dispatch_threads(uint3(i % 16 + 1, 1, 1), uint3(4, 1, 1));\n"
    "    break;\n"
    "  case 1:\n"
    "    c.set_compute_pipeline_state(r.pipelines[1]);\n"
    "    c.set_kernel_buffer(x, 0);\n"
    "    c.set_kernel_buffer(r.y + i, 3);\n"
    "    c.concurrent_dispatch_threadgroups(uint3(2, 1, 1), uint3(i % 8 + 1, 1, 1));\n"
    "    c.set_barrier();\n"
    "    break;\n"
    "  case 2:\n"
    "    for (uint k = 0; k < i; k++) {\n"
    "      c.reset();\n"
    "      if (k % 3 == 1) c.set_compute_pipeline_state(r.pipelines[0]);\n"
    "      if (k % 3 == 2) c.set_kernel_buffer(x, 0);\n"
    "      if (k % 3 == 2) c.concurrent_dispatch_threads(uint3(16, 1, 1), uint3(16, 1, 1));\n"
    "    }\n"
    "    c.reset();\n"
    "    break;\n"
    "  case 3:\n"
    "    c.copy_command(compute_command(r.ready, i % 2));\n"
    "    c.set_kernel_buffer(x, 0);\n"
    "    break;\n"
    "  default:\n"
    "    c.set_compute_pipeline_state(r.pipelines[2]);\n"
    "    c.set_kernel_buffer(x, 16, 0);\n"
    "    c.set_threadgroup_memory_length(64, 1);\n"
    "    c.concurrent_dispatch_threads(uint3(16, 1, 1), uint3(i % 2 ? 8 : 16, 1, 1));\n"
    "    c.set_barrier(); c.clear_barrier();\n"
    "  }\n"
    "}\n"
    "kernel void choose(device MTLIndirectCommandBufferExecutionRange *range [[buffer(0)]]) {\n"
    "  range->location = 5, range->length = 10; }\n"
    "kernel void wrong(device command_buffer &commands [[buffer(0)]], constant ulong *what [[buffer(1)]],\n"
    "                  device float *x [[buffer(2)]]) {\n"
    "  compute_command c(commands, uint(what[0]));\n"
    "  c.set_kernel_buffer((device float *)what[1], uint(what[2]));\n"
    "  c.concurrent_dispatch_threads(uint3(16, 1, 1), uint3(16, 1, 1));\n"
    "}\n"
    "kernel void draw(device command_buffer &commands [[buffer(0)]]) {\n"
    "  render_command c(commands, 0); c.draw_primitives(primitive_type::triangle, 0, 3, 1, 0); }\n";

enum { COMMANDS = 75, ELEMENTS = 16 };

typedef struct fixture {
    ig_device *on;
    ig_library *library;
    ig_pipeline *twice, *add, *reverse, *record, *wrong;
    ig_queue *queue;
    ig_buffer *x, *y, *sizes, *recorder;
    ig_indirect_commands *commands, *ready;
} fixture;

static ig_indirect_commands *make_indirect(const fixture *f, ig_indirect_commands_desc desc) {
    ig_indirect_commands *made = NULL;
    assert_ok(ig_indirect_commands_create(f->on, &desc, &made));
    return made;
}

// As struct Recorder.
static void fill_recorder(const fixture *f) {
    uint64_t *at = ig_buffer_contents(f->recorder);
    at[0] = ig_indirect_commands_device_address(f->commands);
    at[1] = ig_indirect_commands_device_address(f->ready);
    assert_ok(ig_pipeline_resource_id(f->twice, &at[2]));
    assert_ok(ig_pipeline_resource_id(f->add, &at[3]));
    assert_ok(ig_pipeline_resource_id(f->reverse, &at[4]));
    at[5] = ig_buffer_device_address(f->x);
    at[6] = ig_buffer_device_address(f->y);
}

static void restart(const fixture *f) {
    float *x = ig_buffer_contents(f->x), *y = ig_buffer_contents(f->y);
    for (int i = 0; i < COMMANDS * ELEMENTS; i++) x[i] = (float)i;
    for (int i = 0; i < COMMANDS; i++) y[i] = (float)(1000 * i);
}

static void open_on(fixture *f, ig_device *on) {
    *f = (fixture){.on = on};
    f->library = compile_on(on, &(ig_library_desc){.source = kernels});
    f->twice = pipeline_of(f->library, "twice");
    f->add = pipeline_of(f->library, "add");
    f->reverse = pipeline_of(f->library, "reverse");
    f->record = pipeline_of(f->library, "record");
    f->wrong = pipeline_of(f->library, "wrong");
    assert_ok(ig_queue_create(on, &f->queue));
    f->x = make_buffer_on(on, COMMANDS * ELEMENTS * sizeof(float));
    f->y = make_buffer_on(on, COMMANDS * sizeof(float));
    f->sizes = make_buffer_on(on, COMMANDS * sizeof(uint32_t));
    f->recorder = make_buffer_on(on, 7 * sizeof(uint64_t));
    f->commands = make_indirect(f, (ig_indirect_commands_desc){.count = COMMANDS, .label = "work"});
    f->ready = make_indirect(f, (ig_indirect_commands_desc){.count = 2});
    fill_recorder(f);
    restart(f);
    // The host records what the kernel copies.
    for (uint32_t i = 0; i < 2; i++) {
        assert_ok(ig_indirect_commands_set_pipeline(f->ready, i, i ? f->add : f->twice));
        assert_ok(ig_indirect_commands_set_buffer(f->ready, i, f->y, 4 * sizeof(float), 3));
        assert_ok(ig_indirect_commands_dispatch_threads(f->ready, i, line(ELEMENTS), line(4)));
    }
}

static void close_fixture(fixture *f) {
    ig_pipeline *pipelines[] = {f->twice, f->add, f->reverse, f->record, f->wrong};
    ig_buffer *buffers[] = {f->x, f->y, f->sizes, f->recorder};
    ig_indirect_commands_release(f->commands);
    ig_indirect_commands_release(f->ready);
    for (size_t i = 0; i < LENGTH(pipelines); i++) ig_pipeline_release(pipelines[i]);
    for (size_t i = 0; i < LENGTH(buffers); i++) ig_buffer_release(buffers[i]);
    ig_queue_release(f->queue);
    ig_library_release(f->library);
}

static ig_status end(ig_commands *commands, char message[300]) {
    ig_error error = {0};
    ig_status status = ig_commands_commit(commands);
    if (status == IG_STATUS_OK) status = ig_commands_wait(commands, SECONDS(60));
    ig_commands_get_error(commands, &error);
    if (message) snprintf(message, 300, "%s", error.message ? error.message : "");
    if (!message && error.message) print_error("%s\n", error.message);
    ig_error_clear(&error);
    ig_commands_release(commands);
    return status;
}

static void encode_record(const fixture *f, ig_commands *commands) {
    ig_commands_set_pipeline(commands, f->record);
    ig_commands_set_buffer(commands, f->recorder, 0, 0);
    ig_commands_set_buffer(commands, f->sizes, 0, 1);
    ig_commands_dispatch_threads(commands, line(COMMANDS), line(25));
}

// What a recorded command does to its 16 elements.
static void expect_command(float x[ELEMENTS], uint32_t i) {
    float y = (float)(1000 * i), before[ELEMENTS];
    uint32_t row = i % 2 ? 8 : 16;
    memcpy(before, x, sizeof before);
    for (uint32_t k = 0; k < ELEMENTS; k++) {
        if (i % 5 == 0 && k < i % 16 + 1) x[k] *= 2;
        if (i % 5 == 1 && k < 2 * (i % 8 + 1)) x[k] += y;
        if (i % 5 == 3) x[k] = i % 2 ? x[k] + 4000 : x[k] * 2;
        if (i % 5 == 4) x[k] = before[k / row * row + row - 1 - k % row];
    }
}

static void expect_results(const fixture *f, uint32_t first, uint32_t count) {
    const float *x = ig_buffer_contents(f->x);
    for (uint32_t i = 0; i < COMMANDS; i++) {
        float expected[ELEMENTS];
        for (uint32_t k = 0; k < ELEMENTS; k++) expected[k] = (float)(ELEMENTS * i + k);
        if (i >= first && i - first < count) expect_command(expected, i);
        for (uint32_t k = 0; k < ELEMENTS; k++)
            if (x[ELEMENTS * i + k] != expected[k])
                fail_msg("command %u, element %u: %g instead of %g", i, k, (double)x[ELEMENTS * i + k],
                         (double)expected[k]);
    }
}

static void record_and_execute(const fixture *f) {
    ig_commands *commands = make_commands(f->queue);
    encode_record(f, commands);
    assert_ok(ig_commands_execute(commands, f->commands, 0, COMMANDS));
    assert_ok(end(commands, NULL));
    expect_results(f, 0, COMMANDS);
    for (int i = 0; i < COMMANDS; i++) assert_int_equal(((uint32_t *)ig_buffer_contents(f->sizes))[i], COMMANDS);
}

static void kernels_record_at_every_width(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    static const char *const widths[] = {"0", "1", "4", "8", "16", "32"};
    char *first = NULL;
    size_t bytes = COMMANDS * sizeof(igi_indirect_command);
    for (size_t i = 0; i < LENGTH(widths); i++) {
        setenv("INGOT_SIMT_WIDTH", widths[i], 1);
        ig_device *on = open_device(NULL);
        fixture f;
        open_on(&f, on);
        record_and_execute(&f);
        // The records differ in addresses only: numbers of buffers instead.
        for (uint32_t k = 0; k < COMMANDS; k++)
            for (int slot = 0; slot < IGI_INDIRECT_SLOTS; slot++) {
                uint64_t *at = &igi_device_indirect_at(f.commands, k)->buffers[slot];
                uint64_t x = ig_buffer_device_address(f.x), y = ig_buffer_device_address(f.y);
                if (*at - x < ig_buffer_length(f.x)) *at = 1 + *at - x;
                if (*at - y < ig_buffer_length(f.y)) *at = 1 << 20 | (*at - y);
            }
        const void *records = igi_device_indirect_at(f.commands, 0);
        if (!first)
            first = memcpy(test_malloc(bytes), records, bytes);
        else
            assert_memory_equal(records, first, bytes);
        close_fixture(&f);
        ig_device_release(on);
    }
    unsetenv("INGOT_SIMT_WIDTH");
    test_free(first);
}

static void checked_kernels_record(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    ig_device *on = open_device(&(ig_device_desc){.check = IG_CHECK_ALL});
    fixture f;
    open_on(&f, on);
    record_and_execute(&f);
    // A finding in a kernel that was executed is one of the command buffer: its buffer is too short for the grid.
    char message[300];
    assert_ok(ig_indirect_commands_set_buffer(f.ready, 0, f.y, (COMMANDS - 3) * sizeof(float), 0));
    ig_commands *commands = make_commands(f.queue);
    assert_ok(ig_commands_execute(commands, f.ready, 0, 1));
    assert_status(end(commands, message), IG_STATUS_CHECK_FAILED);
    assert_contains(message, "twice");
    close_fixture(&f);
    ig_device_release(on);
}

static void ranges(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    fixture f;
    open_on(&f, device);
    ig_buffer *range = make_buffer(4 * sizeof(uint32_t));
    ig_pipeline *choose = pipeline_of(f.library, "choose");
    ig_commands *commands = make_commands(f.queue);
    encode_record(&f, commands);
    ig_commands_set_pipeline(commands, choose);
    ig_commands_set_buffer(commands, range, 8, 0);
    ig_commands_dispatch_threads(commands, line(1), line(1));
    assert_ok(ig_commands_execute_indirect(commands, f.commands, range, 8));
    assert_ok(end(commands, NULL));
    expect_results(&f, 5, 10);
    char message[300];
    // What is recorded can be executed again. A wrong range fails when it is read.
    restart(&f);
    ((uint32_t *)ig_buffer_contents(range))[0] = COMMANDS - 1;
    ((uint32_t *)ig_buffer_contents(range))[1] = 2;
    commands = make_commands(f.queue);
    assert_ok(ig_commands_execute(commands, f.commands, 5, 10));
    assert_ok(ig_commands_execute_indirect(commands, f.commands, range, 0));
    assert_status(end(commands, message), IG_STATUS_OUT_OF_RANGE);
    assert_contains(message, "2 commands from 74 on");
    expect_results(&f, 5, 10);
    commands = make_commands(f.queue);
    assert_status(ig_commands_execute(commands, f.commands, COMMANDS, 1), IG_STATUS_OUT_OF_RANGE);
    assert_status(end(commands, message), IG_STATUS_OUT_OF_RANGE);
    commands = make_commands(f.queue);
    assert_status(ig_commands_execute_indirect(commands, f.commands, range, 12), IG_STATUS_OUT_OF_RANGE);
    assert_status(end(commands, message), IG_STATUS_OUT_OF_RANGE);
    ig_pipeline_release(choose);
    ig_buffer_release(range);
    close_fixture(&f);
}

static void reset_and_copy_in_order(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    fixture f;
    open_on(&f, device);
    ig_indirect_commands *copy = make_indirect(&f, (ig_indirect_commands_desc){.count = 4});
    ig_commands *commands = make_commands(f.queue);
    encode_record(&f, commands);
    assert_ok(ig_commands_copy_indirect(commands, f.commands, 10, 3, copy, 1));
    assert_ok(ig_commands_reset_indirect(commands, f.commands, 0, COMMANDS));
    assert_ok(ig_commands_execute(commands, f.commands, 0, COMMANDS));
    assert_ok(ig_commands_execute(commands, copy, 0, 4));
    assert_ok(end(commands, NULL));
    expect_results(&f, 10, 3);
    commands = make_commands(f.queue);
    assert_status(ig_commands_copy_indirect(commands, f.commands, 0, 4, copy, 1), IG_STATUS_OUT_OF_RANGE);
    ig_commands_release(commands);
    ig_indirect_commands_release(copy);
    close_fixture(&f);
}

static void host_records(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    fixture f;
    open_on(&f, device);
    ig_indirect_commands *list = make_indirect(&f, (ig_indirect_commands_desc){.count = 3, .label = "list"});
    assert_int_equal(ig_indirect_commands_count(list), 3);
    assert_ok(ig_indirect_commands_set_pipeline(list, 0, f.twice));
    assert_ok(ig_indirect_commands_set_buffer(list, 0, f.x, 0, 0));
    assert_ok(ig_indirect_commands_dispatch_threads(list, 0, line(4), line(4)));
    assert_ok(ig_indirect_commands_set_pipeline(list, 2, f.reverse));
    assert_ok(ig_indirect_commands_set_buffer(list, 2, f.x, 4 * sizeof(float), 0));
    assert_ok(ig_indirect_commands_set_threadgroup_memory(list, 2, 32, 1));
    assert_ok(ig_indirect_commands_set_barrier(list, 2, true));
    assert_ok(ig_indirect_commands_dispatch_threadgroups(list, 2, line(1), line(4)));
    // The list keeps what it uses.
    ig_buffer *x = f.x;
    ig_pipeline_release(f.twice), f.twice = NULL;
    ig_commands *commands = make_commands(f.queue);
    assert_ok(ig_commands_execute(commands, list, 0, 3));
    assert_ok(ig_commands_execute(commands, list, 0, 3));
    assert_ok(end(commands, NULL));
    static const float expected[] = {0, 4, 8, 12, 4, 5, 6, 7};
    assert_memory_equal(ig_buffer_contents(x), expected, sizeof expected);
    assert_ok(ig_indirect_commands_reset(list, 0, 3));
    commands = make_commands(f.queue);
    assert_ok(ig_commands_execute(commands, list, 0, 3));
    assert_ok(end(commands, NULL));
    assert_memory_equal(ig_buffer_contents(x), expected, sizeof expected);
    ig_indirect_commands_release(list);
    close_fixture(&f);
}

static void inherited_state(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    fixture f;
    open_on(&f, device);
    ig_indirect_commands *list =
        make_indirect(&f, (ig_indirect_commands_desc){.count = 2, .inherit_pipeline = true, .inherit_buffers = true});
    char message[300];
    float y = 7;
    assert_ok(ig_indirect_commands_dispatch_threads(list, 0, line(3), line(1)));
    assert_status(ig_indirect_commands_set_pipeline(list, 0, f.add), IG_STATUS_WRONG_STATE);
    assert_status(ig_indirect_commands_set_buffer(list, 0, f.x, 0, 0), IG_STATUS_WRONG_STATE);
    ig_commands *commands = make_commands(f.queue);
    ig_commands_set_pipeline(commands, f.add);
    ig_commands_set_buffer(commands, f.x, 4, 0);
    ig_commands_set_bytes(commands, &y, sizeof y, 3);
    assert_ok(ig_commands_execute(commands, list, 0, 2));
    // What is set later does not count.
    ig_commands_set_pipeline(commands, f.twice);
    assert_ok(end(commands, NULL));
    static const float expected[] = {0, 8, 9, 10, 4};
    assert_memory_equal(ig_buffer_contents(f.x), expected, sizeof expected);
    commands = make_commands(f.queue);
    assert_ok(ig_commands_execute(commands, list, 0, 2));
    assert_status(end(commands, message), IG_STATUS_WRONG_STATE);
    assert_contains(message, "command 0 of indirect command buffer: it inherits the pipeline, but none is set");
    ig_indirect_commands_release(list);
    close_fixture(&f);
}

// ---- Mistakes ----

static ig_status execute(const fixture *f, ig_indirect_commands *list, uint32_t command, char message[300]) {
    ig_commands *commands = make_commands(f->queue);
    assert_ok(ig_commands_execute(commands, list, command, 1));
    return end(commands, message);
}

#define EXPECT_FAILURE(status, text)                                               \
    do {                                                                           \
        char message[300];                                                         \
        assert_status(execute(&f, list, 1, message), status);                      \
        assert_contains(message, "command 1 of indirect command buffer 'list': "); \
        assert_contains(message, text);                                            \
        *record = good;                                                            \
    } while (0)

static void wrong_records(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    fixture f;
    open_on(&f, device);
    ig_indirect_commands *list = make_indirect(&f, (ig_indirect_commands_desc){.count = 2, .label = "list"});
    assert_ok(ig_indirect_commands_set_pipeline(list, 1, f.twice));
    assert_ok(ig_indirect_commands_set_buffer(list, 1, f.x, 0, 0));
    assert_ok(ig_indirect_commands_dispatch_threads(list, 1, line(4), line(4)));
    igi_indirect_command *record = igi_device_indirect_at(list, 1), good = *record;
    record->pipeline = 0;
    EXPECT_FAILURE(IG_STATUS_WRONG_STATE, "it has no pipeline");
    record->pipeline = UINT64_MAX;
    EXPECT_FAILURE(IG_STATUS_NOT_FOUND, "with resource id 0xffffffffffffffff, does not exist");
    record->pipeline += 1ull << 32;
    EXPECT_FAILURE(IG_STATUS_NOT_FOUND, "does not exist");
    record->kind = 3;
    EXPECT_FAILURE(IG_STATUS_INVALID_ARGUMENT, "kind 3");
    record->group[1] = 0;
    EXPECT_FAILURE(IG_STATUS_INVALID_ARGUMENT, "no threads");
    record->group[0] = 4096;
    EXPECT_FAILURE(IG_STATUS_THREADGROUP_TOO_LARGE, "kernel 'twice'");
    record->kind = IGI_INDIRECT_GROUPS, record->grid[0] = UINT32_MAX;
    EXPECT_FAILURE(IG_STATUS_OVERFLOW, "2^32 - 1");
    record->buffers[0] = 0;
    EXPECT_FAILURE(IG_STATUS_UNBOUND_ARGUMENT, "argument 'x'");
    record->buffers[0] = 64;
    EXPECT_FAILURE(IG_STATUS_NOT_FOUND, "buffer 0 is at address 0x40, where no buffer is");
    record->buffers[30] = UINT64_MAX;
    EXPECT_FAILURE(IG_STATUS_NOT_FOUND, "buffer 30");
    record->buffers[0] += ig_buffer_length(f.x);
    EXPECT_FAILURE(IG_STATUS_NOT_FOUND, "where no buffer is");
    record->buffers[0] += ig_buffer_length(f.x) - 2;
    EXPECT_FAILURE(IG_STATUS_BUFFER_TOO_SMALL, "needs 4 bytes, but only 2");
    record->threadgroup_lengths[0] = UINT32_MAX;
    EXPECT_FAILURE(IG_STATUS_THREADGROUP_TOO_LARGE, "4294967295 bytes");
    record->missing_slot = 40;
    EXPECT_FAILURE(IG_STATUS_OUT_OF_RANGE, "argument 39");
    record->grid[2] = 0, record->pipeline = 0;  // nothing runs, so nothing is missing
    assert_ok(execute(&f, list, 1, NULL));
    *record = good;
    assert_ok(execute(&f, list, 1, NULL));
    ig_indirect_commands_release(list);
    close_fixture(&f);
}

// Whatever is in the memory, an execution ends and touches only buffers. Its kernel touches one word, however large its grid.
static void any_bytes(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    fixture f;
    open_on(&f, device);
    ig_indirect_commands *list = make_indirect(&f, (ig_indirect_commands_desc){.count = 2});
    ig_pipeline *count = pipeline_of(f.library, "count");
    assert_ok(ig_indirect_commands_set_pipeline(list, 1, count));
    assert_ok(ig_indirect_commands_set_buffer(list, 1, f.x, 0, 0));
    assert_ok(ig_indirect_commands_dispatch_threads(list, 1, line(16), line(16)));
    igi_indirect_command *record = igi_device_indirect_at(list, 1), good = *record;
    random_state random = {7};
    size_t ran = 0, refused = 0;
    for (int i = 0; i < 2000; i++) {
        *record = good;
        for (uint64_t k = random_below(&random, 2); k < 2; k++) {
            unsigned char *byte = (unsigned char *)record + random_below(&random, sizeof *record);
            *byte = (unsigned char)(random_below(&random, 2) ? random_u64(&random)
                                                             : *byte ^ 1ull << random_below(&random, 8));
        }
        for (int d = 0; d < 3; d++) record->grid[d] &= 31;
        char message[300];
        ig_status status = execute(&f, list, 1, message);
        assert_true(status == IG_STATUS_OK || *message);
        ran += status == IG_STATUS_OK, refused += status != IG_STATUS_OK;
    }
    if (ran < 100 || refused < 100) fail_msg("%zu ran, %zu were refused", ran, refused);
    ig_pipeline_release(count);
    ig_indirect_commands_release(list);
    close_fixture(&f);
}

static void released_objects(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    fixture f;
    open_on(&f, device);
    ig_indirect_commands *list = make_indirect(&f, (ig_indirect_commands_desc){.count = 2, .label = "list"});
    igi_indirect_command *record = igi_device_indirect_at(list, 1), good;
    ig_buffer *buffer = make_buffer(64), *pooled = NULL;
    ig_pipeline *pipeline = pipeline_of(f.library, "twice");
    *record = (igi_indirect_command){.kind = IGI_INDIRECT_THREADS, .grid = {4, 1, 1}, .group = {4, 1, 1}};
    record->buffers[0] = ig_buffer_device_address(buffer);
    assert_ok(ig_pipeline_resource_id(pipeline, &record->pipeline));
    good = *record;
    assert_ok(execute(&f, list, 1, NULL));
    ig_buffer_release(buffer);
    EXPECT_FAILURE(IG_STATUS_NOT_FOUND, "or no longer");
    // Memory that the pool keeps is nobody's.
    assert_ok(ig_buffer_create(device, &(ig_buffer_desc){.length = 64, .pooled = true}, &pooled));
    record->buffers[0] = ig_buffer_device_address(pooled);
    good = *record;
    assert_ok(execute(&f, list, 1, NULL));
    ig_buffer_release(pooled);
    EXPECT_FAILURE(IG_STATUS_NOT_FOUND, "or no longer");
    // Another pipeline does not get the id of one that is gone.
    record->buffers[0] = ig_buffer_device_address(f.x);
    good = *record;
    ig_pipeline_release(pipeline);
    pipeline = pipeline_of(f.library, "twice");
    uint64_t id;
    assert_ok(ig_pipeline_resource_id(pipeline, &id));
    assert_true(id != good.pipeline);
    EXPECT_FAILURE(IG_STATUS_NOT_FOUND, "its pipeline");
    ig_pipeline_release(pipeline);
    ig_indirect_commands_release(list);
    close_fixture(&f);
}

// Both may be in memory of the caller that two buffers share: the one that begins last is meant.
static void buffers_in_one_memory(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    fixture f;
    open_on(&f, device);
    static float memory[64];
    ig_buffer *whole = NULL, *part = NULL;
    assert_ok(ig_buffer_create(device, &(ig_buffer_desc){.length = sizeof memory, .no_copy = memory}, &whole));
    assert_ok(ig_buffer_create(device, &(ig_buffer_desc){.length = 16, .no_copy = memory + 8}, &part));
    for (int i = 0; i < 64; i++) memory[i] = 1;
    ig_indirect_commands *list = make_indirect(&f, (ig_indirect_commands_desc){.count = 2});
    for (uint32_t i = 0; i < 2; i++) {
        igi_indirect_command *record = igi_device_indirect_at(list, i);
        assert_ok(ig_indirect_commands_set_pipeline(list, i, f.twice));
        assert_ok(ig_indirect_commands_dispatch_threads(list, i, line(2), line(2)));
        record->buffers[0] = (uintptr_t)(memory + (i ? 9 : 12));
    }
    ig_commands *commands = make_commands(f.queue);
    assert_ok(ig_commands_execute(commands, list, 0, 2));
    assert_ok(end(commands, NULL));
    for (int i = 0; i < 64; i++) assert_true(memory[i] == (i == 9 || i == 10 || i == 12 || i == 13 ? 2 : 1));
    ig_indirect_commands_release(list);
    ig_buffer_release(part);
    ig_buffer_release(whole);
    close_fixture(&f);
}

static ig_status run_wrong(const fixture *f, ig_indirect_commands *list, uint64_t command, uint64_t address,
                           uint64_t index, char message[300]) {
    const uint64_t handle = ig_indirect_commands_device_address(list), what[] = {command, address, index};
    ig_commands *commands = make_commands(f->queue);
    ig_commands_set_pipeline(commands, f->wrong);
    ig_commands_set_bytes(commands, &handle, sizeof handle, 0);
    ig_commands_set_bytes(commands, what, sizeof what, 1);
    ig_commands_dispatch_threads(commands, line(1), line(1));
    assert_ok(ig_commands_execute(commands, list, 1, 1));
    return end(commands, message);
}

static void mistakes_of_kernels(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    fixture f;
    open_on(&f, device);
    ig_indirect_commands *list =
        make_indirect(&f, (ig_indirect_commands_desc){.count = 2, .max_buffers = 4, .label = "list"});
    assert_ok(ig_indirect_commands_set_pipeline(list, 1, f.twice));
    char message[300];
    uint64_t x = ig_buffer_device_address(f.x);
    assert_ok(run_wrong(&f, list, 1, x, 0, NULL));
    assert_status(run_wrong(&f, list, 2, x, 0, message), IG_STATUS_OUT_OF_RANGE);
    assert_contains(message, "a kernel has encoded command 2 of indirect command buffer 'list', which has 2");
    assert_status(run_wrong(&f, list, UINT32_MAX, x, 0, message), IG_STATUS_OUT_OF_RANGE);
    assert_ok(run_wrong(&f, list, 1, x, 0, NULL));
    assert_status(run_wrong(&f, list, 1, x, 4, message), IG_STATUS_OUT_OF_RANGE);
    assert_contains(message, "a kernel has set buffer or threadgroup argument 4");
    assert_status(ig_indirect_commands_set_buffer(list, 1, f.x, 0, 4), IG_STATUS_OUT_OF_RANGE);
    ig_indirect_commands_release(list);
    close_fixture(&f);
}

static void kernels_that_cannot_be_executed(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    fixture f;
    open_on(&f, device);
    ig_indirect_commands *list = make_indirect(&f, (ig_indirect_commands_desc){.count = 1});
    ig_pipeline *paint = pipeline_of(f.library, "paint"), *draw = NULL;
    char message[300];
    assert_ok(ig_indirect_commands_set_pipeline(list, 0, paint));
    assert_ok(ig_indirect_commands_dispatch_threads(list, 0, line(1), line(1)));
    assert_status(execute(&f, list, 0, message), IG_STATUS_UNSUPPORTED);
    assert_contains(message, "argument 't' of kernel 'paint' is a texture");
    ig_error error = {0};
    assert_status(ig_pipeline_create(f.library, &(ig_pipeline_desc){.kernel = "draw"}, &draw, &error),
                  IG_STATUS_UNSUPPORTED);
    assert_contains(error.message, "kernel 'draw' encodes render commands");
    ig_error_clear(&error);
    ig_pipeline_release(paint);
    ig_indirect_commands_release(list);
    close_fixture(&f);
}

// Doubling and adding do not commute.
static float result_of(uint64_t schedule, bool barrier) {
    ig_device *on = open_device(&(ig_device_desc){.schedule = schedule});
    fixture f;
    open_on(&f, on);
    ((float *)ig_buffer_contents(f.y))[4] = 5;
    for (uint32_t i = 0; i < 2; i++) assert_ok(ig_indirect_commands_set_buffer(f.ready, i, f.x, 4 * sizeof(float), 0));
    assert_ok(ig_indirect_commands_set_barrier(f.ready, 1, barrier));
    ig_commands *commands = make_commands(f.queue);
    assert_ok(ig_commands_execute(commands, f.ready, 0, 2));
    assert_ok(end(commands, NULL));
    float result = ((float *)ig_buffer_contents(f.x))[4];
    close_fixture(&f);
    ig_device_release(on);
    return result;
}

static void schedules_show_missing_barriers(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    bool other = false;
    for (uint64_t seed = 0; seed < 8; seed++) {
        assert_true(result_of(seed, true) == 13);
        float result = result_of(seed, false);
        assert_true(result == 13 || (seed && result == 18));
        other |= result == 18;
    }
    assert_true(other);
}

static void unset_buffers_may_be_zero(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    fixture f;
    open_on(&f, device);
    ig_indirect_commands *list =
        make_indirect(&f, (ig_indirect_commands_desc){.count = 2, .unset_buffers_are_zero = true});
    for (uint32_t i = 0; i < 2; i++) {
        assert_ok(ig_indirect_commands_set_pipeline(list, i, i ? f.reverse : f.add));
        assert_ok(ig_indirect_commands_set_buffer(list, i, f.x, 0, 0));
        assert_ok(ig_indirect_commands_dispatch_threads(list, i, line(4), line(4)));
    }
    ig_commands *commands = make_commands(f.queue);
    assert_ok(ig_commands_execute(commands, list, 0, 2));
    assert_ok(end(commands, NULL));
    static const float expected[] = {3, 2, 1, 0, 4};
    assert_memory_equal(ig_buffer_contents(f.x), expected, sizeof expected);
    ig_indirect_commands_release(list);
    close_fixture(&f);
}

static void wrong_descriptors(void **state) {
    (void)state;
    ig_indirect_commands *made = NULL;
    if (!on_software_device()) {
        assert_status(ig_indirect_commands_create(device, &(ig_indirect_commands_desc){.count = 1}, &made),
                      IG_STATUS_UNSUPPORTED);
        return;
    }
    assert_status(ig_indirect_commands_create(device, &(ig_indirect_commands_desc){0}, &made),
                  IG_STATUS_INVALID_ARGUMENT);
    assert_status(
        ig_indirect_commands_create(device, &(ig_indirect_commands_desc){.count = 1, .max_buffers = 32}, &made),
        IG_STATUS_INVALID_ARGUMENT);
    assert_status(ig_indirect_commands_create(NULL, NULL, &made), IG_STATUS_INVALID_ARGUMENT);
    assert_null(made);
    ig_indirect_commands_release(NULL);
}

static void executions_are_counted(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    ig_device *on = open_device(&(ig_device_desc){.profile = true});
    fixture f;
    open_on(&f, on);
    ig_kernel_profile *rows = NULL;
    size_t count = 0;
    ig_commands *commands = make_commands(f.queue);
    assert_ok(ig_commands_execute(commands, f.ready, 0, 2));
    assert_status(end(commands, NULL), IG_STATUS_UNBOUND_ARGUMENT);
    for (uint32_t i = 0; i < 2; i++) assert_ok(ig_indirect_commands_set_buffer(f.ready, i, f.x, 0, 0));
    commands = make_commands(f.queue);
    assert_ok(ig_commands_execute(commands, f.ready, 0, 2));
    assert_ok(end(commands, NULL));
    assert_ok(ig_device_get_profile(on, &rows, &count));
    uint64_t calls = 0;
    for (size_t i = 0; i < count; i++) calls += rows[i].calls;
    assert_int_equal(calls, 2);
    free(rows);
    close_fixture(&f);
    ig_device_release(on);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_record_at_every_width),
        cmocka_unit_test(checked_kernels_record),
        cmocka_unit_test(ranges),
        cmocka_unit_test(reset_and_copy_in_order),
        cmocka_unit_test(host_records),
        cmocka_unit_test(inherited_state),
        cmocka_unit_test(wrong_records),
        cmocka_unit_test(any_bytes),
        cmocka_unit_test(released_objects),
        cmocka_unit_test(buffers_in_one_memory),
        cmocka_unit_test(mistakes_of_kernels),
        cmocka_unit_test(kernels_that_cannot_be_executed),
        cmocka_unit_test(schedules_show_missing_barriers),
        cmocka_unit_test(unset_buffers_may_be_zero),
        cmocka_unit_test(wrong_descriptors),
        cmocka_unit_test(executions_are_counted),
    };
    return cmocka_run_group_tests(tests, open_test_device, close_test_device);
}
