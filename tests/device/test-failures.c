// SPDX-License-Identifier: Apache-2.0
// User errors: sources, names, constants, bindings, group sizes, NULL. Each has its status and says what to do.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "helpers.h"

static const char source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "struct parameters { float scale; uint count; float4 bias; };\n"
    "constant uint factor [[function_constant(3)]];\n"
    "kernel void scale(device float *data [[buffer(0)]], constant parameters &p [[buffer(1)]],\n"
    "                  uint id [[thread_position_in_grid]]) {\n"
    "    if (id < p.count) data[id] = data[id] * p.scale + p.bias.x;\n"
    "}\n"
    "kernel void multiply(device uint *data [[buffer(0)]], uint id [[thread_position_in_grid]]) {\n"
    "    data[id] *= factor;\n"
    "}\n"
    "kernel void sum(device uint *data [[buffer(0)]], threadgroup uint *shared [[threadgroup(0)]],\n"
    "                uint id [[thread_index_in_threadgroup]], uint size [[threads_per_threadgroup]]) {\n"
    "    threadgroup uint fixed[4096];\n"
    "    fixed[id] = data[id];\n"
    "    threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "    shared[id] = fixed[size - 1 - id];\n"
    "    threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "    data[id] = shared[id];\n"
    "}\n";

// ---- Sources ----

static ig_status fail_to_compile(const char *text, ig_error *error) {
    ig_library *library = (ig_library *)1;
    ig_status status =
        ig_library_create(device, &(ig_library_desc){.source = text, .name = "mine.metal"}, &library, error);
    assert_ptr_equal(library, (ig_library *)1);
    assert_int_equal(error->status, status);
    return status;
}

static void a_bad_source_is_reported_with_file_line_column_and_caret(void **state) {
    (void)state;
    ig_error error = {0};
    assert_status(fail_to_compile("#include <metal_stdlib>\nkernel void k(device float *a [[buffer(0)]]) {\n"
                                  "    a[0] = undeclared;\n}\n",
                                  &error),
                  IG_STATUS_COMPILE_FAILED);
    assert_string_equal(error.file, "mine.metal");
    assert_int_equal(error.line, 3);
    assert_int_equal(error.column, 12);
    assert_contains(error.message, "undeclared");
    assert_contains(error.log, "a[0] = undeclared;");
    assert_contains(error.log, "^");
    ig_error_clear(&error);
}

static void sources_that_break_rules_of_msl_are_refused(void **state) {
    (void)state;
    static const char *const bad[] = {
        "kernel void k(device float *a [[buffer(0)]], device float *b [[buffer(0)]]) { a[0] = b[0]; }",
        "kernel int k(device float *a [[buffer(0)]]) { return 0; }",
        "kernel void k(device float *a [[buffer(99)]]) { a[0] = 0; }",
        "kernel void k(device float *a [[no_such_attribute]]) { a[0] = 0; }",
        "kernel void k(device float *a [[buffer(0)]]) { a[0] = 0;",
        "#include <vector>\nkernel void k(device float *a [[buffer(0)]]) { a[0] = 0; }",
        "#error not today\n",
        "%$#@!",
    };
    for (size_t i = 0; i < LENGTH(bad); i++) {
        ig_error error = {0};
        if (fail_to_compile(bad[i], &error) != IG_STATUS_COMPILE_FAILED)
            fail_msg("%s: %s", bad[i], ig_status_name(error.status));
        assert_non_null(error.message);
        assert_true(strlen(error.message) > 5);
        assert_non_null(error.file);
        ig_error_clear(&error);
    }
}

static void a_source_without_kernels_is_an_empty_library(void **state) {
    (void)state;
    ig_library *library = compile("int helper() { return 1; }\n");
    ig_pipeline *pipeline = NULL;
    ig_error error = {0};
    assert_int_equal(ig_library_kernel_count(library), 0);
    assert_null(ig_library_kernel(library, 0));
    assert_status(ig_pipeline_create(library, &(ig_pipeline_desc){.kernel = "helper"}, &pipeline, &error),
                  IG_STATUS_NOT_FOUND);
    assert_contains(error.message, "none");
    ig_error_clear(&error);
    ig_library_release(library);
}

static void a_missing_file_is_not_found(void **state) {
    (void)state;
    ig_library *library = NULL;
    ig_error error = {0};
    assert_status(ig_library_create(device, &(ig_library_desc){.path = "/no/such/file.metal"}, &library, &error),
                  IG_STATUS_NOT_FOUND);
    assert_contains(error.message, "/no/such/file.metal");
    ig_error_clear(&error);
    assert_status(ig_library_create(device, &(ig_library_desc){.path = "/tmp"}, &library, &error), IG_STATUS_IO);
    ig_error_clear(&error);
}

static void an_error_is_replaced_by_the_next_one(void **state) {
    (void)state;
    ig_error error = {0};
    fail_to_compile("#error first\n", &error);
    fail_to_compile("#error second\n", &error);
    assert_contains(error.message, "second");
    assert_null(strstr(error.log, "first"));
    ig_error_clear(&error);
    assert_null(error.message);
    assert_int_equal(error.status, IG_STATUS_OK);
}

// ---- Kernels and constants ----

static ig_status fail_to_make(const char *kernel, const ig_function_constant *constants, size_t count,
                              ig_error *error) {
    ig_library *library = compile(source);
    ig_pipeline *pipeline = (ig_pipeline *)1;
    ig_pipeline_desc desc = {.kernel = kernel, .constants = constants, .constant_count = count};
    ig_status status = ig_pipeline_create(library, &desc, &pipeline, error);
    assert_ptr_equal(pipeline, (ig_pipeline *)1);
    ig_library_release(library);
    return status;
}

static void an_unknown_kernel_is_answered_with_those_there_are(void **state) {
    (void)state;
    ig_error error = {0};
    assert_status(fail_to_make("scale2", NULL, 0, &error), IG_STATUS_NOT_FOUND);
    assert_contains(error.message, "scale2");
    assert_contains(error.message, "multiply");
    ig_error_clear(&error);
}

static void a_constant_of_another_type_is_refused(void **state) {
    (void)state;
    ig_error error = {0};
    const float value = 1;
    ig_function_constant constant = {.name = "factor", .type = IG_TYPE_F32, .value = &value};
    assert_status(fail_to_make("multiply", &constant, 1, &error), IG_STATUS_WRONG_CONSTANT);
    assert_contains(error.message, "factor");
    assert_contains(error.message, "u32");
    assert_contains(error.message, "f32");
    const uint32_t two[2] = {1, 2};
    constant = (ig_function_constant){.id = 3, .type = IG_TYPE_U32, .value = two, .components = 2};
    assert_status(fail_to_make("multiply", &constant, 1, &error), IG_STATUS_WRONG_CONSTANT);
    ig_error_clear(&error);
}

static void a_constant_without_value_or_type_is_refused(void **state) {
    (void)state;
    ig_error error = {0};
    ig_function_constant constant = {.name = "factor", .type = IG_TYPE_U32};
    assert_status(fail_to_make("multiply", &constant, 1, &error), IG_STATUS_INVALID_ARGUMENT);
    const uint32_t value = 1;
    constant = (ig_function_constant){.name = "factor", .type = IG_TYPE_COUNT, .value = &value};
    assert_status(fail_to_make("multiply", &constant, 1, &error), IG_STATUS_INVALID_ARGUMENT);
    ig_error_clear(&error);
}

static void a_missing_constant_is_named(void **state) {
    (void)state;
    ig_error error = {0};
    assert_status(fail_to_make("multiply", NULL, 0, &error), IG_STATUS_WRONG_CONSTANT);
    assert_contains(error.message, "factor");
    ig_error_clear(&error);
}

static void expect_no_library(const char *text, const char *part) {
    ig_library *library = NULL;
    ig_error error = {0};
    assert_status(ig_library_create(device, &(ig_library_desc){.source = text}, &library, &error),
                  IG_STATUS_COMPILE_FAILED);
    assert_contains(error.message, part);
    assert_true(error.line > 0 && error.column > 0);
    ig_error_clear(&error);
}

static void recursion_is_refused(void **state) {
    (void)state;
    expect_no_library(
        "uint down(uint n, device uint *a) { a[n] = n; return n ? down(n - 1, a) + a[n] : 0; }\n"
        "kernel void k(device uint *a [[buffer(0)]]) { a[0] = down(a[1], a); }\n",
        "down");
}

// ---- Bindings and sizes ----

typedef struct bench {
    ig_library *library;
    ig_pipeline *scale, *sum;
    ig_buffer *buffer;
    ig_queue *queue;
    ig_commands *commands;
    ig_error error;
} bench;

static int open_bench(void **state) {
    bench *b = calloc(1, sizeof *b);
    b->library = compile(source);
    b->scale = pipeline_of(b->library, "scale");
    b->sum = pipeline_of(b->library, "sum");
    b->buffer = make_buffer(4096);
    b->queue = make_queue();
    b->commands = make_commands(b->queue);
    *state = b;
    return 0;
}

static int close_bench(void **state) {
    bench *b = *state;
    ig_error_clear(&b->error);
    ig_commands_release(b->commands);
    ig_queue_release(b->queue);
    ig_buffer_release(b->buffer);
    ig_pipeline_release(b->sum), ig_pipeline_release(b->scale);
    ig_library_release(b->library);
    free(b);
    return 0;
}

// The encoding call returned `status`; commit must return it too, and the error must contain `part`.
static void expect_refused(bench *b, ig_status given, ig_status status, const char *part) {
    assert_status(given, status);
    assert_status(ig_commands_commit(b->commands), status);
    assert_int_equal(ig_commands_get_state(b->commands), IG_COMMANDS_ENCODING);
    assert_status(ig_commands_get_error(b->commands, &b->error), status);
    assert_contains(b->error.message, part);
}

static void an_unbound_argument_is_named(void **state) {
    bench *b = *state;
    ig_commands_set_pipeline(b->commands, b->scale);
    ig_commands_set_buffer(b->commands, b->buffer, 0, 0);
    expect_refused(b, ig_commands_dispatch_threads(b->commands, line(4), (ig_size){0}), IG_STATUS_UNBOUND_ARGUMENT,
                   "'p'");
    assert_contains(b->error.message, "scale");
}

static void an_argument_can_be_unbound_again(void **state) {
    bench *b = *state;
    ig_commands_set_pipeline(b->commands, b->scale);
    ig_commands_set_buffer(b->commands, b->buffer, 0, 0);
    ig_commands_set_buffer(b->commands, b->buffer, 0, 1);
    assert_ok(ig_commands_set_buffer(b->commands, NULL, 0, 1));
    expect_refused(b, ig_commands_dispatch_threads(b->commands, line(4), (ig_size){0}), IG_STATUS_UNBOUND_ARGUMENT,
                   "buffer 1");
}

static void unset_threadgroup_memory_is_named(void **state) {
    bench *b = *state;
    ig_commands_set_pipeline(b->commands, b->sum);
    ig_commands_set_buffer(b->commands, b->buffer, 0, 0);
    expect_refused(b, ig_commands_dispatch_threads(b->commands, line(4), line(4)), IG_STATUS_UNBOUND_ARGUMENT,
                   "'shared'");
}

static void a_buffer_smaller_than_its_struct_is_refused(void **state) {
    bench *b = *state;
    char bytes[31] = {0};  // the struct has 32
    ig_commands_set_pipeline(b->commands, b->scale);
    ig_commands_set_buffer(b->commands, b->buffer, 0, 0);
    ig_commands_set_bytes(b->commands, bytes, sizeof bytes, 1);
    expect_refused(b, ig_commands_dispatch_threads(b->commands, line(4), (ig_size){0}), IG_STATUS_BUFFER_TOO_SMALL,
                   "needs 32 bytes, but only 31");
}

static void an_offset_that_leaves_too_little_is_refused(void **state) {
    bench *b = *state;
    ig_commands_set_pipeline(b->commands, b->scale);
    ig_commands_set_buffer(b->commands, b->buffer, 0, 0);
    ig_commands_set_buffer(b->commands, b->buffer, 4096 - 16, 1);
    expect_refused(b, ig_commands_dispatch_threads(b->commands, line(4), (ig_size){0}), IG_STATUS_BUFFER_TOO_SMALL,
                   "only 16");
}

static void an_offset_outside_the_buffer_is_refused(void **state) {
    bench *b = *state;
    expect_refused(b, ig_commands_set_buffer(b->commands, b->buffer, 4096, 0), IG_STATUS_OUT_OF_RANGE, "4096");
}

static void a_slot_past_the_last_is_refused(void **state) {
    bench *b = *state;
    assert_status(ig_commands_set_bytes(b->commands, "x", 1, 31), IG_STATUS_OUT_OF_RANGE);
    assert_status(ig_commands_set_threadgroup_memory(b->commands, 16, 31), IG_STATUS_OUT_OF_RANGE);
    expect_refused(b, ig_commands_set_buffer(b->commands, b->buffer, 0, UINT32_MAX), IG_STATUS_OUT_OF_RANGE,
                   "set_bytes: index 31");
}

static void more_threads_than_a_group_may_have_are_refused(void **state) {
    bench *b = *state;
    ig_commands_set_pipeline(b->commands, b->scale);
    ig_commands_set_buffer(b->commands, b->buffer, 0, 0);
    ig_commands_set_buffer(b->commands, b->buffer, 0, 1);
    expect_refused(b, ig_commands_dispatch_threads(b->commands, line(4096), (ig_size){32, 33, 1}),
                   IG_STATUS_THREADGROUP_TOO_LARGE, "1024");
}

static void group_sizes_that_overflow_are_refused(void **state) {
    bench *b = *state;
    ig_commands_set_pipeline(b->commands, b->scale);
    ig_commands_set_buffer(b->commands, b->buffer, 0, 0);
    ig_commands_set_buffer(b->commands, b->buffer, 0, 1);
    expect_refused(b, ig_commands_dispatch_threads(b->commands, line(4), (ig_size){1ull << 32, 1ull << 32, 1}),
                   IG_STATUS_THREADGROUP_TOO_LARGE, "4294967296");
}

static void more_threadgroup_memory_than_there_is_is_refused(void **state) {
    bench *b = *state;  // the kernel itself has 16 KiB
    ig_commands_set_pipeline(b->commands, b->sum);
    ig_commands_set_buffer(b->commands, b->buffer, 0, 0);
    assert_ok(ig_commands_set_threadgroup_memory(b->commands, 16384, 0));
    assert_ok(ig_commands_dispatch_threads(b->commands, line(64), line(64)));
    assert_ok(ig_commands_set_threadgroup_memory(b->commands, 16385, 0));
    expect_refused(b, ig_commands_dispatch_threads(b->commands, line(64), line(64)), IG_STATUS_THREADGROUP_TOO_LARGE,
                   "32768");
}

static void one_threadgroup_argument_larger_than_the_device_is_refused(void **state) {
    bench *b = *state;
    expect_refused(b, ig_commands_set_threadgroup_memory(b->commands, 32769, 0), IG_STATUS_THREADGROUP_TOO_LARGE,
                   "32769");
}

static void a_kernel_with_too_much_threadgroup_memory_cannot_be_dispatched(void **state) {
    bench *b = *state;
    ig_library *library = compile(
        "kernel void k(device uint *a [[buffer(0)]], uint i [[thread_index_in_threadgroup]]) {\n"
        "    threadgroup uint big[10000];\n"
        "    big[i] = a[i];\n"
        "    metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);\n"
        "    a[i] = big[(i * 7) % 10000];\n}\n");
    ig_pipeline *pipeline = NULL;
    ig_error error = {0};
    ig_status status = ig_pipeline_create(library, &(ig_pipeline_desc){.kernel = "k"}, &pipeline, &error);
    if (status == IG_STATUS_OK) {
        ig_commands_set_pipeline(b->commands, pipeline);
        ig_commands_set_buffer(b->commands, b->buffer, 0, 0);
        status = ig_commands_dispatch_threads(b->commands, line(32), line(32));
    }
    assert_status(status, IG_STATUS_THREADGROUP_TOO_LARGE);
    ig_error_clear(&error);
    ig_pipeline_release(pipeline);
    ig_library_release(library);
}

static void a_dispatch_without_pipeline_is_a_wrong_state(void **state) {
    bench *b = *state;
    expect_refused(b, ig_commands_dispatch_threads(b->commands, line(4), line(4)), IG_STATUS_WRONG_STATE,
                   "set_pipeline");
}

static void grids_past_32_bits_are_refused(void **state) {
    bench *b = *state;
    ig_commands_set_pipeline(b->commands, b->scale);
    ig_commands_set_buffer(b->commands, b->buffer, 0, 0);
    ig_commands_set_buffer(b->commands, b->buffer, 0, 1);
    ig_size wide = {1ull << 32, 1, 1}, many = {UINT64_MAX / 2, 1, 1}, group = {256, 1, 1};
    assert_status(ig_commands_dispatch_threadgroups(b->commands, many, group), IG_STATUS_OVERFLOW);
    expect_refused(b, ig_commands_dispatch_threads(b->commands, wide, group), IG_STATUS_OVERFLOW, "2^32");
}

static void a_group_with_a_zero_side_is_refused(void **state) {
    bench *b = *state;
    ig_commands_set_pipeline(b->commands, b->scale);
    ig_commands_set_buffer(b->commands, b->buffer, 0, 0);
    ig_commands_set_buffer(b->commands, b->buffer, 0, 1);
    expect_refused(b, ig_commands_dispatch_threads(b->commands, line(4), (ig_size){0, 4, 1}),
                   IG_STATUS_INVALID_ARGUMENT, "no threads");
}

static void blits_outside_their_buffers_are_refused(void **state) {
    bench *b = *state;
    ig_buffer *a = b->buffer;
    assert_status(ig_commands_copy(b->commands, a, 4090, a, 0, 7), IG_STATUS_OUT_OF_RANGE);
    assert_status(ig_commands_copy(b->commands, a, 0, a, UINT64_MAX, 2), IG_STATUS_OUT_OF_RANGE);
    assert_status(ig_commands_fill(b->commands, a, 1, UINT64_MAX, 0), IG_STATUS_OUT_OF_RANGE);
    assert_status(ig_commands_dispatch_indirect(b->commands, a, 4088, line(1)), IG_STATUS_OUT_OF_RANGE);
    assert_status(ig_commands_dispatch_indirect(b->commands, a, 2, line(1)), IG_STATUS_OUT_OF_RANGE);
    assert_status(ig_commands_dispatch_threads_indirect(b->commands, a, 4076), IG_STATUS_OUT_OF_RANGE);
    expect_refused(b, ig_commands_fill(b->commands, a, 4097, 0, 0), IG_STATUS_OUT_OF_RANGE, "copy source: 7 bytes");
}

static void objects_of_another_device_are_refused(void **state) {
    bench *b = *state;
    ig_device *other = open_device(NULL);
    ig_pipeline *pipeline = make_pipeline_on(other, source, "scale");
    ig_buffer *buffer = make_buffer_on(other, 64), *mine = b->buffer;
    assert_status(ig_commands_set_pipeline(b->commands, pipeline), IG_STATUS_INVALID_ARGUMENT);
    assert_status(ig_commands_set_buffer(b->commands, buffer, 0, 0), IG_STATUS_INVALID_ARGUMENT);
    assert_status(ig_commands_copy(b->commands, buffer, 0, mine, 0, 4), IG_STATUS_INVALID_ARGUMENT);
    assert_status(ig_commands_copy(b->commands, mine, 0, buffer, 0, 4), IG_STATUS_INVALID_ARGUMENT);
    assert_status(ig_commands_fill(b->commands, buffer, 0, 4, 0), IG_STATUS_INVALID_ARGUMENT);
    ig_commands_set_pipeline(b->commands, b->scale);
    expect_refused(b, ig_commands_dispatch_indirect(b->commands, buffer, 0, line(1)), IG_STATUS_INVALID_ARGUMENT,
                   "another device");
    ig_buffer_release(buffer);
    ig_pipeline_release(pipeline);
    ig_device_release(other);
}

// ---- NULL ----

static void releasing_nothing_does_nothing(void **state) {
    (void)state;
    ig_device_release(NULL);
    ig_buffer_release(NULL);
    ig_library_release(NULL);
    ig_pipeline_release(NULL);
    ig_queue_release(NULL);
    ig_commands_release(NULL);
    ig_event_release(NULL);
    ig_error_clear(NULL);
    assert_null(ig_device_retain(NULL));
    assert_null(ig_buffer_retain(NULL));
    assert_null(ig_library_retain(NULL));
    assert_null(ig_pipeline_retain(NULL));
    assert_null(ig_queue_retain(NULL));
    assert_null(ig_commands_retain(NULL));
    assert_null(ig_event_retain(NULL));
}

#define assert_invalid(call) assert_status(call, IG_STATUS_INVALID_ARGUMENT)

static void null_instead_of_an_object_is_an_invalid_argument(void **state) {
    (void)state;
    ig_library *library = NULL;
    ig_buffer *buffer = NULL;
    ig_queue *queue = NULL;
    ig_commands *commands = NULL;
    ig_event *event = NULL;
    ig_pipeline *pipeline = NULL;
    ig_timing timing;
    ig_size one = {1, 1, 1};
    char *text = NULL;
    assert_invalid(ig_device_enumerate(NULL, 0, NULL));
    assert_invalid(ig_device_create(NULL, NULL, NULL));
    assert_invalid(ig_buffer_create(NULL, &(ig_buffer_desc){.length = 1}, &buffer));
    assert_invalid(ig_buffer_did_modify(NULL, 0, 0));
    assert_invalid(ig_buffer_write(NULL, 0, "", 1));
    assert_invalid(ig_buffer_read(NULL, 0, text, 0));
    assert_invalid(ig_library_create(NULL, &(ig_library_desc){.source = source}, &library, NULL));
    assert_invalid(ig_pipeline_create(NULL, &(ig_pipeline_desc){.kernel = "scale"}, &pipeline, NULL));
    assert_invalid(ig_pipeline_emit(NULL, "asm", &text));
    assert_invalid(ig_queue_create(NULL, &queue));
    assert_invalid(ig_commands_create(NULL, NULL, &commands));
    assert_invalid(ig_commands_set_pipeline(NULL, NULL));
    assert_invalid(ig_commands_set_buffer(NULL, NULL, 0, 0));
    assert_invalid(ig_commands_set_bytes(NULL, "", 1, 0));
    assert_invalid(ig_commands_set_threadgroup_memory(NULL, 16, 0));
    assert_invalid(ig_commands_dispatch_threads(NULL, one, one));
    assert_invalid(ig_commands_dispatch_threadgroups(NULL, one, one));
    assert_invalid(ig_commands_dispatch_indirect(NULL, NULL, 0, one));
    assert_invalid(ig_commands_dispatch_threads_indirect(NULL, NULL, 0));
    assert_invalid(ig_commands_copy(NULL, NULL, 0, NULL, 0, 0));
    assert_invalid(ig_commands_fill(NULL, NULL, 0, 0, 0));
    assert_invalid(ig_commands_barrier(NULL));
    assert_invalid(ig_commands_wait_event(NULL, NULL, 0));
    assert_invalid(ig_commands_signal_event(NULL, NULL, 0));
    assert_invalid(ig_commands_on_completed(NULL, NULL, NULL));
    assert_invalid(ig_commands_commit(NULL));
    assert_invalid(ig_commands_wait(NULL, 0));
    assert_invalid(ig_commands_get_error(NULL, NULL));
    assert_invalid(ig_commands_get_dispatch_timing(NULL, 0, &timing));
    assert_invalid(ig_event_create(NULL, &event));
    assert_invalid(ig_event_signal(NULL, 1));
    assert_invalid(ig_event_wait(NULL, 1, 0));
}

static void null_instead_of_an_output_or_descriptor_is_an_invalid_argument(void **state) {
    bench *b = *state;
    ig_library *library = NULL;
    ig_pipeline *pipeline = NULL;
    ig_buffer *buffer = NULL;
    char *text = NULL;
    assert_invalid(ig_buffer_create(device, NULL, &buffer));
    assert_invalid(ig_buffer_create(device, &(ig_buffer_desc){.length = 1}, NULL));
    assert_invalid(ig_buffer_write(b->buffer, 0, NULL, 1));
    assert_invalid(ig_buffer_read(b->buffer, 0, NULL, 1));
    assert_invalid(ig_library_create(device, NULL, &library, NULL));
    assert_invalid(ig_library_create(device, &(ig_library_desc){0}, &library, NULL));
    assert_invalid(ig_library_create(device, &(ig_library_desc){.source = source, .path = "x"}, &library, NULL));
    assert_invalid(ig_library_create(device, &(ig_library_desc){.source = source}, NULL, NULL));
    assert_invalid(ig_library_create(device, &(ig_library_desc){.source = source, .define_count = 1}, &library, NULL));
    assert_invalid(
        ig_library_create(device, &(ig_library_desc){.source = source, .include_dir_count = 1}, &library, NULL));
    ig_define nameless = {.value = "1"};
    assert_invalid(ig_library_create(
        device, &(ig_library_desc){.source = source, .defines = &nameless, .define_count = 1}, &library, NULL));
    assert_invalid(ig_pipeline_create(b->library, NULL, &pipeline, NULL));
    assert_invalid(ig_pipeline_create(b->library, &(ig_pipeline_desc){0}, &pipeline, NULL));
    assert_invalid(ig_pipeline_create(b->library, &(ig_pipeline_desc){.kernel = "scale"}, NULL, NULL));
    assert_invalid(
        ig_pipeline_create(b->library, &(ig_pipeline_desc){.kernel = "scale", .constant_count = 1}, &pipeline, NULL));
    assert_invalid(ig_pipeline_emit(b->scale, NULL, &text));
    assert_invalid(ig_pipeline_emit(b->scale, "asm", NULL));
    if (on_software_device()) assert_invalid(ig_pipeline_emit(b->scale, "tea", &text));
    assert_invalid(ig_queue_create(device, NULL));
    assert_invalid(ig_commands_create(b->queue, NULL, NULL));
    assert_invalid(ig_commands_on_completed(b->commands, NULL, NULL));
    assert_invalid(ig_event_create(device, NULL));
    assert_null(ig_library_find_kernel(b->library, NULL));
    assert_null(ig_library_function_constant(b->library, 99));
    assert_ok(ig_commands_get_error(b->commands, NULL));
    assert_invalid(ig_commands_get_dispatch_timing(b->commands, 0, NULL));
}

static void null_while_encoding_is_remembered(void **state) {
    bench *b = *state;
    assert_invalid(ig_commands_set_bytes(b->commands, NULL, 4, 0));
    assert_invalid(ig_commands_set_bytes(b->commands, "", 0, 0));
    assert_invalid(ig_commands_set_pipeline(b->commands, NULL));
    assert_invalid(ig_commands_dispatch_indirect(b->commands, NULL, 0, line(1)));
    assert_invalid(ig_commands_dispatch_threads_indirect(b->commands, NULL, 0));
    assert_invalid(ig_commands_copy(b->commands, NULL, 0, b->buffer, 0, 0));
    assert_invalid(ig_commands_copy(b->commands, b->buffer, 0, NULL, 0, 0));
    assert_invalid(ig_commands_fill(b->commands, NULL, 0, 0, 0));
    assert_invalid(ig_commands_wait_event(b->commands, NULL, 0));
    expect_refused(b, ig_commands_signal_event(b->commands, NULL, 0), IG_STATUS_INVALID_ARGUMENT, "set_bytes 0");
}

static void every_status_has_a_name_and_a_sentence(void **state) {
    (void)state;
    for (int i = 0; i <= IG_STATUS_COUNT; i++) {
        assert_contains(ig_status_name((ig_status)i), "IG_STATUS_");
        assert_true(strlen(ig_status_text((ig_status)i)) > 5);
    }
    ig_status strange;
    memset(&strange, 0xff, sizeof strange);
    assert_string_equal(ig_status_name(strange), "IG_STATUS_UNKNOWN");
    assert_true(strlen(ig_status_text(strange)) > 5);
    assert_string_equal(ig_status_name(IG_STATUS_TIMEOUT), "IG_STATUS_TIMEOUT");
    assert_string_equal(ig_status_name(IG_STATUS_COUNT), "IG_STATUS_UNKNOWN");
}

#define bench_test(name) cmocka_unit_test_setup_teardown(name, open_bench, close_bench)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bad_source_is_reported_with_file_line_column_and_caret),
        cmocka_unit_test(sources_that_break_rules_of_msl_are_refused),
        cmocka_unit_test(a_source_without_kernels_is_an_empty_library),
        cmocka_unit_test(a_missing_file_is_not_found),
        cmocka_unit_test(an_error_is_replaced_by_the_next_one),
        cmocka_unit_test(an_unknown_kernel_is_answered_with_those_there_are),
        cmocka_unit_test(a_constant_of_another_type_is_refused),
        cmocka_unit_test(a_constant_without_value_or_type_is_refused),
        cmocka_unit_test(a_missing_constant_is_named),
        cmocka_unit_test(recursion_is_refused),
        bench_test(an_unbound_argument_is_named),
        bench_test(an_argument_can_be_unbound_again),
        bench_test(unset_threadgroup_memory_is_named),
        bench_test(a_buffer_smaller_than_its_struct_is_refused),
        bench_test(an_offset_that_leaves_too_little_is_refused),
        bench_test(an_offset_outside_the_buffer_is_refused),
        bench_test(a_slot_past_the_last_is_refused),
        bench_test(more_threads_than_a_group_may_have_are_refused),
        bench_test(group_sizes_that_overflow_are_refused),
        bench_test(more_threadgroup_memory_than_there_is_is_refused),
        bench_test(one_threadgroup_argument_larger_than_the_device_is_refused),
        bench_test(a_kernel_with_too_much_threadgroup_memory_cannot_be_dispatched),
        bench_test(a_dispatch_without_pipeline_is_a_wrong_state),
        bench_test(grids_past_32_bits_are_refused),
        bench_test(a_group_with_a_zero_side_is_refused),
        bench_test(blits_outside_their_buffers_are_refused),
        bench_test(objects_of_another_device_are_refused),
        cmocka_unit_test(releasing_nothing_does_nothing),
        cmocka_unit_test(null_instead_of_an_object_is_an_invalid_argument),
        bench_test(null_instead_of_an_output_or_descriptor_is_an_invalid_argument),
        bench_test(null_while_encoding_is_remembered),
        cmocka_unit_test(every_status_has_a_name_and_a_sentence),
    };
    return cmocka_run_group_tests_name("failures", tests, open_test_device, close_test_device);
}
