// SPDX-License-Identifier: Apache-2.0
// Memory that runs short at any point of any call: a clean status, nothing lost, and the next attempt works.
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "core/memory.h"
#include "helpers.h"

static const char source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "constant uint factor [[function_constant(0)]];\n"
    "kernel void multiply(device uint *a [[buffer(0)]], constant uint &n [[buffer(1)]],\n"
    "                     threadgroup uint *shared [[threadgroup(0)]], uint i [[thread_position_in_grid]],\n"
    "                     uint t [[thread_index_in_threadgroup]]) {\n"
    "    shared[t] = i * factor;\n"
    "    threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "    if (i < n) a[i] = shared[t];\n"
    "}\n";

enum { THREADS = 64, BYTES = 4 * THREADS };

// Calls `attempt` with the n-th allocation failing, for n = 1, 1 + step, ... until it succeeds without needing that
// many. Returns how many failures were tried.
typedef ig_status (*attempt_function)(void *context);
static uint64_t fail_everywhere(attempt_function attempt, void *context, uint64_t step) {
    uint64_t tried = 0;
    for (uint64_t n = 1;; n += step) {
        igi_alloc_fail_at(n);
        ig_status status = attempt(context);
        uint64_t asked = igi_alloc_fail_at(0);
        if (asked < n) {
            if (status != IG_STATUS_OK) fail_msg("with memory: %s", ig_status_name(status));
            return tried;
        }
        tried++;
        // Caches and logs are optional; threads, child processes and files that are not available are reported as
        // failures of the system.
        if (status != IG_STATUS_OK && status != IG_STATUS_OUT_OF_MEMORY && status != IG_STATUS_SYSTEM &&
            status != IG_STATUS_IO)
            fail_msg("allocation %d: %s", (int)n, ig_status_name(status));
        if (n % 5 == 1 && attempt(context) != IG_STATUS_OK) fail_msg("the try after allocation %d", (int)n);
        assert_true(n < 100000);
    }
}

// ---- Objects ----

static ig_status make_device(void *context) {
    ig_device *made = NULL;
    ig_error error = {0};
    ig_status status = ig_device_create(&(ig_device_desc){.cache_dir = context, .worker_count = 3}, &made, &error);
    assert_true((status == IG_STATUS_OK) == (made != NULL));
    assert_int_equal(error.status, status);
    ig_error_clear(&error);
    ig_device_release(made);
    return status;
}

static void devices_survive_short_memory(void **state) {
    (void)state;
    assert_true(fail_everywhere(make_device, cache_dir, 1) >= 5);
    assert_true(fail_everywhere(make_device, (void *)"", 1) >= 4);
}

static ig_status make_objects(void *context) {
    (void)context;
    ig_buffer *buffers[4] = {0};
    ig_queue *queue = NULL;
    ig_event *event = NULL;
    ig_commands *commands = NULL;
    char bytes[100] = "text";
    ig_status status =
        ig_buffer_create(device, &(ig_buffer_desc){.length = 100, .bytes = bytes, .label = "one"}, &buffers[0]);
    if (status == IG_STATUS_OK)
        status = ig_buffer_create(device, &(ig_buffer_desc){.length = 100, .no_copy = bytes}, &buffers[1]);
    if (status == IG_STATUS_OK)
        status = ig_buffer_create(device, &(ig_buffer_desc){.length = 100, .storage = IG_STORAGE_PRIVATE}, &buffers[2]);
    ig_device_trim_pool(device, 0);
    if (status == IG_STATUS_OK)
        status = ig_buffer_create(device, &(ig_buffer_desc){.length = 100, .pooled = true, .label = "p"}, &buffers[3]);
    if (status == IG_STATUS_OK) status = ig_queue_create(device, &queue);
    if (status == IG_STATUS_OK) status = ig_event_create(device, &event);
    if (status == IG_STATUS_OK) status = ig_commands_create(queue, &(ig_commands_desc){.label = "cb"}, &commands);
    ig_commands_release(commands);
    ig_event_release(event);
    ig_queue_release(queue);
    for (int i = 0; i < 4; i++) ig_buffer_release(buffers[i]);
    return status;
}

static void buffers_queues_events_and_commands_survive_short_memory(void **state) {
    (void)state;
    ig_device_stats before, after;
    ig_device_get_stats(device, &before);
    assert_true(fail_everywhere(make_objects, NULL, 1) >= 10);
    ig_device_get_stats(device, &after);
    assert_int_equal(after.buffer_count, before.buffer_count);
    assert_int_equal(after.buffer_bytes, before.buffer_bytes);
}

// ---- Libraries and pipelines ----

static ig_status make_library(void *context) {
    ig_device *on = context;
    ig_library *library = NULL;
    ig_error error = {0};
    ig_define define = {"UNUSED", "1"};
    const char *include = "/tmp";
    ig_library_desc desc = {.source = source,
                            .defines = &define,
                            .define_count = 1,
                            .name = "short.metal",
                            .include_dirs = &include,
                            .include_dir_count = 1};
    ig_status status = ig_library_create(on, &desc, &library, &error);
    assert_true((status == IG_STATUS_OK) == (library != NULL));
    if (library) assert_int_equal(ig_library_kernel_count(library), 1);
    ig_error_clear(&error);
    ig_library_release(library);
    return status;
}

static void libraries_from_the_cache_survive_short_memory(void **state) {
    (void)state;
    assert_ok(make_library(device));
    assert_true(fail_everywhere(make_library, device, 1) >= 20);
}

static void libraries_from_memory_survive_short_memory(void **state) {
    (void)state;
    ig_device *uncached = open_device(&(ig_device_desc){.cache_dir = ""});
    ig_define define = {"UNUSED", "1"};
    const char *include = "/tmp";
    ig_library *first = compile_on(uncached, &(ig_library_desc){.source = source,
                                                                .defines = &define,
                                                                .define_count = 1,
                                                                .name = "short.metal",
                                                                .include_dirs = &include,
                                                                .include_dir_count = 1});
    assert_true(fail_everywhere(make_library, uncached, 1) >= 20);
    ig_library_release(first);
    ig_device_release(uncached);
}

static void libraries_from_clang_survive_short_memory(void **state) {
    (void)state;
    ig_device *uncached = open_device(&(ig_device_desc){.cache_dir = ""});
    assert_ok(make_library(uncached));
    assert_true(fail_everywhere(make_library, uncached, 17) >= 10);
    ig_device_release(uncached);
}

static ig_status fail_to_compile(void *context) {
    ig_library *library = NULL;
    ig_error error = {0};
    const char *bad = "kernel void k(device float *a [[buffer(0)]]) { a[0] = undeclared; }\n";
    ig_status status = ig_library_create(context, &(ig_library_desc){.source = bad}, &library, &error);
    if (status == IG_STATUS_COMPILE_FAILED) status = IG_STATUS_OK;  // as expected
    ig_error_clear(&error);
    return status;
}

static void compile_errors_survive_short_memory(void **state) {
    (void)state;
    assert_true(fail_everywhere(fail_to_compile, device, 17) >= 5);
}

// The headers that a cache holds belong to all programs that use it.
static void headers_in_the_cache_outlive_a_device_that_was_short_of_memory(void **state) {
    (void)state;
    char *cache = igi_path_join(cache_dir, "own");
    ig_device *first = open_device(&(ig_device_desc){.cache_dir = cache});
    ig_library_release(compile_on(first, &(ig_library_desc){.source = source}));
    char **names;
    size_t before = list_files(cache, "", &names);
    free_names(names, before);
    ig_device_release(first);
    for (uint64_t n = 1; n < 400; n += 23) {
        ig_device *on = open_device(&(ig_device_desc){.cache_dir = cache});
        igi_alloc_fail_at(n);
        fail_to_compile(on);
        igi_alloc_fail_at(0);
        if (fail_to_compile(on) != IG_STATUS_OK) fail_msg("the try after allocation %d", (int)n);
        ig_device_release(on);
        size_t after = list_files(cache, "", &names);
        free_names(names, after);
        assert_int_equal(after, before);
    }
    free(cache);
}

static ig_status make_one_pipeline(ig_library *library, ig_pipeline **pipeline) {
    uint32_t factor = 3;
    ig_function_constant constants[2] = {{.name = "factor", .type = IG_TYPE_U32, .value = &factor},
                                         {.id = 77, .type = IG_TYPE_U32, .value = &factor}};
    ig_pipeline_desc desc = {.kernel = "multiply", .constants = constants, .constant_count = 2, .label = "l"};
    ig_error error = {0};
    ig_status status = ig_pipeline_create(library, &desc, pipeline, &error);
    ig_error_clear(&error);
    return status;
}

static ig_status make_and_drop_pipeline(void *context) {
    ig_pipeline *pipeline = NULL;
    ig_status status = make_one_pipeline(context, &pipeline);
    assert_true((status == IG_STATUS_OK) == (pipeline != NULL));
    ig_pipeline_release(pipeline);
    return status;
}

static void pipelines_from_the_cache_survive_short_memory(void **state) {
    (void)state;
    ig_library *library = compile(source);
    assert_ok(make_and_drop_pipeline(library));
    assert_true(fail_everywhere(make_and_drop_pipeline, library, 1) >= 10);
    ig_library_release(library);
}

static void pipelines_from_llvm_survive_short_memory(void **state) {
    (void)state;
    ig_device *uncached = open_device(&(ig_device_desc){.cache_dir = ""});
    ig_library *library = compile_on(uncached, &(ig_library_desc){.source = source});
    assert_true(fail_everywhere(make_and_drop_pipeline, library, 1) >= 5);
    setenv("INGOT_CODEGEN", "in-process", 1);  // where its allocations are ours to fail
    assert_true(fail_everywhere(make_and_drop_pipeline, library, 1) >= 20);
    unsetenv("INGOT_CODEGEN");
    ig_library_release(library);
    ig_device_release(uncached);
}

static ig_status fail_to_make(void *context) {
    ig_pipeline *pipeline = NULL;
    ig_error error = {0};
    ig_status status = ig_pipeline_create(context, &(ig_pipeline_desc){.kernel = "multipli"}, &pipeline, &error);
    ig_error_clear(&error);
    return status == IG_STATUS_NOT_FOUND ? IG_STATUS_OK : status;
}

static void errors_of_pipelines_survive_short_memory(void **state) {
    (void)state;
    ig_library *library = compile(source);
    fail_everywhere(fail_to_make, library, 1);
    ig_library_release(library);
}

static ig_status emit_all(void *context) {
    static const char *const stages[] = {"llvm", "simt", "asm"};
    for (size_t i = 0; i < LENGTH(stages); i++) {
        char *text = NULL;
        ig_status status = ig_pipeline_emit(context, stages[i], &text);
        if (status != IG_STATUS_OK) return status;
        free(text);
    }
    return IG_STATUS_OK;
}

static void emitted_text_survives_short_memory(void **state) {
    (void)state;
    ig_library *library = compile(source);
    ig_pipeline *pipeline = NULL;
    assert_ok(make_one_pipeline(library, &pipeline));
    assert_true(fail_everywhere(emit_all, pipeline, 1) >= 3);
    setenv("INGOT_CODEGEN", "in-process", 1);  // where its allocations are ours to fail
    assert_true(fail_everywhere(emit_all, pipeline, 13) >= 3);
    unsetenv("INGOT_CODEGEN");
    ig_pipeline_release(pipeline);
    ig_library_release(library);
}

// ---- Commands ----

typedef struct work {
    ig_pipeline *pipeline;
    ig_buffer *buffer, *copy;
    ig_queue *queue;
    ig_event *event;
    uint64_t value;
    uint64_t threadgroup_bytes;  // grows, so that scratch memory must grow too
    uint64_t deadline_ns;
    int called;
} work;

static void called(ig_commands *commands, ig_status status, void *user) {
    (void)commands, (void)status;
    ((work *)user)->called++;
}

static ig_status encode(ig_commands *commands, work *w) {
    uint32_t n = THREADS;
    ig_status status = ig_commands_set_pipeline(commands, w->pipeline);
    if (status == IG_STATUS_OK) status = ig_commands_set_buffer(commands, w->buffer, 0, 0);
    if (status == IG_STATUS_OK) status = ig_commands_set_bytes(commands, &n, sizeof n, 1);
    if (status == IG_STATUS_OK) status = ig_commands_set_threadgroup_memory(commands, w->threadgroup_bytes, 0);
    if (status == IG_STATUS_OK) status = ig_commands_fill(commands, w->buffer, 0, BYTES, 0xff);
    if (status == IG_STATUS_OK) status = ig_commands_barrier(commands);
    for (int i = 0; i < 10 && status == IG_STATUS_OK; i++)
        status = ig_commands_dispatch_threads(commands, line(THREADS), line(32));
    if (status == IG_STATUS_OK) status = ig_commands_copy(commands, w->buffer, 0, w->copy, 0, BYTES);
    if (status == IG_STATUS_OK) status = ig_commands_signal_event(commands, w->event, ++w->value);
    if (status == IG_STATUS_OK) status = ig_commands_wait_event(commands, w->event, w->value);
    if (status == IG_STATUS_OK) status = ig_commands_on_completed(commands, called, w);
    return status;
}

static ig_status run_commands(void *context) {
    work *w = context;
    ig_commands *commands = NULL;
    ig_error error = {0};
    ig_status status =
        ig_commands_create(w->queue, &(ig_commands_desc){.label = "short", .deadline_ns = w->deadline_ns}, &commands);
    if (status != IG_STATUS_OK) return status;
    w->called = 0;
    if (w->threadgroup_bytes + 64 <= 32768) w->threadgroup_bytes += 64;
    memset(ig_buffer_contents(w->copy), 0, BYTES);
    status = encode(commands, w);
    ig_status committed = ig_commands_commit(commands);
    // The caller must notice a callback that could not be added; everything else makes commit fail.
    if (status != IG_STATUS_OK && committed == IG_STATUS_OK) ig_commands_wait(commands, IG_FOREVER);
    if (status == IG_STATUS_OK) status = committed;
    if (status == IG_STATUS_OK) {
        status = ig_commands_wait(commands, IG_FOREVER);
        assert_int_equal(w->called, 1);
        assert_status(ig_commands_get_error(commands, &error), status);
        const uint32_t *words = ig_buffer_contents(w->copy);
        for (uint32_t i = 0; i < THREADS && status == IG_STATUS_OK; i++) assert_int_equal(words[i], i * 3);
    }
    ig_error_clear(&error);
    ig_commands_release(commands);
    return status;
}

static void run_short_of_memory(uint64_t deadline_ns) {
    ig_library *library = compile(source);
    work w = {.queue = make_queue(), .buffer = make_buffer(4096), .copy = make_buffer(4096), .threadgroup_bytes = 128};
    w.deadline_ns = deadline_ns;
    assert_ok(ig_event_create(device, &w.event));
    assert_ok(make_one_pipeline(library, &w.pipeline));
    assert_true(fail_everywhere(run_commands, &w, 1) >= 5);
    for (int i = 0; i < 5; i++) assert_ok(run_commands(&w));
    ig_pipeline_release(w.pipeline);
    ig_event_release(w.event);
    ig_buffer_release(w.buffer), ig_buffer_release(w.copy);
    ig_queue_release(w.queue);
    ig_library_release(library);
}

static void commands_survive_short_memory(void **state) {
    (void)state;
    run_short_of_memory(0);
}

static void commands_with_a_deadline_survive_short_memory(void **state) {
    (void)state;
    run_short_of_memory(SECONDS(100));
}

// ---- Large requests ----

static void buffers_larger_than_the_machine_are_refused(void **state) {
    (void)state;
    ig_device_properties properties;
    ig_device_get_properties(device, &properties);
    ig_buffer *buffer = NULL;
    const uint64_t lengths[] = {properties.max_buffer_bytes + 1, 1ull << 62, UINT64_MAX, UINT64_MAX - 4095};
    for (size_t i = 0; i < LENGTH(lengths); i++)
        assert_status(ig_buffer_create(device, &(ig_buffer_desc){.length = lengths[i]}, &buffer),
                      IG_STATUS_OUT_OF_MEMORY);
    assert_null(buffer);
}

static void bytes_that_cannot_be_copied_stick_as_an_error(void **state) {
    (void)state;
    ig_queue *queue = make_queue();
    ig_commands *commands = make_commands(queue);
    assert_status(ig_commands_set_bytes(commands, "", UINT64_MAX, 0), IG_STATUS_OUT_OF_MEMORY);
    assert_status(ig_commands_commit(commands), IG_STATUS_OUT_OF_MEMORY);
    ig_commands_release(commands);
    ig_queue_release(queue);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_survive_short_memory),
        cmocka_unit_test(buffers_queues_events_and_commands_survive_short_memory),
        cmocka_unit_test(libraries_from_the_cache_survive_short_memory),
        cmocka_unit_test(libraries_from_memory_survive_short_memory),
        cmocka_unit_test(libraries_from_clang_survive_short_memory),
        cmocka_unit_test(compile_errors_survive_short_memory),
        cmocka_unit_test(headers_in_the_cache_outlive_a_device_that_was_short_of_memory),
        cmocka_unit_test(pipelines_from_the_cache_survive_short_memory),
        cmocka_unit_test(pipelines_from_llvm_survive_short_memory),
        cmocka_unit_test(errors_of_pipelines_survive_short_memory),
        cmocka_unit_test(emitted_text_survives_short_memory),
        cmocka_unit_test(commands_survive_short_memory),
        cmocka_unit_test(commands_with_a_deadline_survive_short_memory),
        cmocka_unit_test(buffers_larger_than_the_machine_are_refused),
        cmocka_unit_test(bytes_that_cannot_be_copied_stick_as_an_error),
    };
    return cmocka_run_group_tests_name("failures-memory", tests, open_test_device, close_test_device);
}
