// SPDX-License-Identifier: Apache-2.0
// Many threads, many queues, many processes: the same results, no races, never a broken cache.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "helpers.h"

enum { THREADS = 8 };

// Threads and child processes cannot use cmocka's asserts: they return what went wrong, or NULL.
#define TRY(call)                                                          \
    do {                                                                   \
        ig_status try_status = (call);                                     \
        if (try_status != IG_STATUS_OK) return ig_status_name(try_status); \
    } while (0)
#define CHECK(condition) \
    if (!(condition)) return #condition

static const char source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "kernel void mix(device uint *a [[buffer(0)]], constant uint &n [[buffer(1)]],\n"
    "                uint i [[thread_position_in_grid]]) { a[i] = a[i] * 3 + n; }\n"
    "kernel void rotate(device uint *a [[buffer(0)]], uint i [[thread_index_in_threadgroup]],\n"
    "                   uint size [[threads_per_threadgroup]], uint g [[threadgroup_position_in_grid]]) {\n"
    "    threadgroup uint t[64];\n"
    "    t[i] = a[g * 64 + i];\n"
    "    threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "    a[g * 64 + i] = simd_sum(t[(i + 1) % size]);\n"
    "}\n"
    "kernel void total(device atomic_uint *a [[buffer(0)]]) { atomic_fetch_add_explicit(a, 1u, memory_order_relaxed); "
    "}\n"
    "kernel void spin(device atomic_uint *a [[buffer(0)]]) {\n"
    "    while (atomic_load_explicit(a, memory_order_relaxed) == 0) {}\n"
    "}\n"
    "kernel void stray(device ulong *a [[buffer(0)]]) { *(device uint *)(a[0]) = 1; }\n";

// ---- One run, without asserts ----

static const char *make(ig_device *on, const char *text, const char *kernel, ig_pipeline **pipeline) {
    ig_library *library = NULL;
    TRY(ig_library_create(on, &(ig_library_desc){.source = text}, &library, NULL));
    ig_status status = ig_pipeline_create(library, &(ig_pipeline_desc){.kernel = kernel}, pipeline, NULL);
    ig_library_release(library);
    return status == IG_STATUS_OK ? NULL : ig_status_name(status);
}

static const char *run_mix(ig_queue *queue, ig_pipeline *pipeline, ig_buffer *buffer, uint32_t n, uint32_t threads) {
    ig_commands *commands = NULL;
    TRY(ig_commands_create(queue, NULL, &commands));
    ig_commands_set_pipeline(commands, pipeline);
    ig_commands_set_buffer(commands, buffer, 0, 0);
    ig_commands_set_bytes(commands, &n, sizeof n, 1);
    ig_commands_dispatch_threads(commands, line(threads), (ig_size){0});
    ig_status status = ig_commands_commit(commands);
    if (status == IG_STATUS_OK) status = ig_commands_wait(commands, n % 2 ? IG_FOREVER : SECONDS(100));
    ig_commands_release(commands);
    return status == IG_STATUS_OK ? NULL : ig_status_name(status);
}

// Compiles and runs a kernel made for `number`.
static const char *compile_and_run(ig_device *on, uint32_t number) {
    char text[200];
    snprintf(
        text, sizeof text,
        "kernel void k(device uint *a [[buffer(0)]], uint i [[thread_position_in_grid]]) { a[i] = %uu * (i + 1); }\n",
        number);
    ig_pipeline *pipeline = NULL;
    ig_buffer *buffer = NULL;
    ig_queue *queue = NULL;
    const char *problem = make(on, text, "k", &pipeline);
    if (problem) return problem;
    TRY(ig_buffer_create(on, &(ig_buffer_desc){.length = 400}, &buffer));
    TRY(ig_queue_create(on, &queue));
    problem = run_mix(queue, pipeline, buffer, number, 100);
    const uint32_t *words = ig_buffer_contents(buffer);
    for (uint32_t i = 0; i < 100 && !problem; i++)
        if (words[i] != number * (i + 1)) problem = "wrong words";
    ig_queue_release(queue);
    ig_buffer_release(buffer);
    ig_pipeline_release(pipeline);
    return problem;
}

// ---- Threads ----

typedef struct worker {
    pthread_t thread;
    int index;
    void *context;
    const char *(*body)(int index, void *context);
    const char *problem;
} worker;

static void *work(void *argument) {
    worker *w = argument;
    w->problem = w->body(w->index, w->context);
    return NULL;
}

static void in_threads(int count, const char *(*body)(int index, void *context), void *context) {
    worker workers[32];
    for (int i = 0; i < count; i++) {
        workers[i] = (worker){.index = i, .body = body, .context = context};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < count; i++) pthread_join(workers[i].thread, NULL);
    for (int i = 0; i < count; i++)
        if (workers[i].problem) fail_msg("thread %d: %s", i, workers[i].problem);
}

static const char *compile_different(int index, void *context) {
    for (uint32_t i = 0; i < 3; i++) {
        const char *problem = compile_and_run(context, 1000 + (uint32_t)index * 10 + i);
        if (problem) return problem;
    }
    return NULL;
}

static const char *compile_identical(int index, void *context) {
    (void)index;
    for (uint32_t i = 0; i < 4; i++) {
        const char *problem = compile_and_run(context, 77 + i);
        if (problem) return problem;
    }
    return NULL;
}

static void threads_compile_different_libraries(void **state) {
    (void)state;
    in_threads(THREADS, compile_different, device);
}

static void threads_compile_identical_libraries(void **state) {
    (void)state;
    char *directory = make_temp_dir();
    const char *const caches[] = {directory, ""};
    for (size_t i = 0; i < LENGTH(caches); i++) {
        ig_device *fresh = open_device(&(ig_device_desc){.cache_dir = caches[i]});
        in_threads(THREADS, compile_identical, fresh);
        ig_device_release(fresh);
    }
    remove_temp_dir(directory);
}

static const char *compile_badly(int index, void *context) {
    char text[100];
    snprintf(text, sizeof text, "#error number %d\n", index);
    for (int i = 0; i < 3; i++) {
        ig_library *library = NULL;
        ig_error error = {0};
        ig_status status = ig_library_create(context, &(ig_library_desc){.source = text}, &library, &error);
        bool right = status == IG_STATUS_COMPILE_FAILED && strncmp(error.message, text + 7, strlen(text) - 8) == 0;
        ig_error_clear(&error);
        CHECK(right);
    }
    return NULL;
}

static void every_thread_gets_its_own_errors(void **state) {
    (void)state;
    in_threads(THREADS, compile_badly, device);
}

// ---- Queues ----

typedef struct shared {
    ig_pipeline *mix, *rotate, *total, *spin, *stray;
    ig_queue *queue;
    ig_buffer *buffer;
    ig_event *event;
} shared;

static int open_shared(void **state) {
    shared *s = calloc(1, sizeof *s);
    s->mix = make_pipeline(source, "mix");
    s->rotate = make_pipeline(source, "rotate");
    s->total = make_pipeline(source, "total");
    s->spin = make_pipeline(source, "spin");
    s->stray = make_pipeline(source, "stray");
    s->queue = make_queue();
    s->buffer = make_buffer(4096);
    assert_ok(ig_event_create(device, &s->event));
    *state = s;
    return 0;
}

static int close_shared(void **state) {
    shared *s = *state;
    ig_pipeline_release(s->mix), ig_pipeline_release(s->rotate), ig_pipeline_release(s->total);
    ig_pipeline_release(s->spin), ig_pipeline_release(s->stray);
    ig_queue_release(s->queue);
    ig_buffer_release(s->buffer);
    ig_event_release(s->event);
    free(s);
    return 0;
}

static const char *dispatch_own_queue(int index, void *context) {
    shared *s = context;
    ig_queue *queue = NULL;
    ig_buffer *buffer = NULL;
    TRY(ig_queue_create(device, &queue));
    TRY(ig_buffer_create(device, &(ig_buffer_desc){.length = 40000}, &buffer));
    uint32_t expected = 0;
    const char *problem = NULL;
    for (uint32_t i = 0; i < 100 && !problem; i++) {
        uint32_t n = i * (uint32_t)(index + 1);
        problem = run_mix(queue, s->mix, buffer, n, i % 10 ? 1 + i : 10000);
        expected = expected * 3 + n;
        if (*(uint32_t *)ig_buffer_contents(buffer) != expected) problem = "wrong word";
    }
    ig_queue_release(queue);
    ig_buffer_release(buffer);
    return problem;
}

static void threads_with_their_own_queues_share_pipelines(void **state) {
    in_threads(THREADS, dispatch_own_queue, *state);
}

static const char *dispatch_same_queue(int index, void *context) {
    shared *s = context;
    (void)index;
    for (int i = 0; i < 100; i++) {
        ig_commands *commands = NULL;
        TRY(ig_commands_create(s->queue, NULL, &commands));
        ig_commands_set_pipeline(commands, s->total);
        ig_commands_set_buffer(commands, s->buffer, 0, 0);
        ig_commands_dispatch_threads(commands, line(100), line(7));
        ig_status status = ig_commands_commit(commands);
        if (status == IG_STATUS_OK && i % 5 == 0) status = ig_commands_wait(commands, IG_FOREVER);
        ig_commands_release(commands);
        TRY(status);
    }
    return NULL;
}

static void threads_commit_to_the_same_queue(void **state) {
    shared *s = *state;
    in_threads(THREADS, dispatch_same_queue, s);
    ig_commands *last = make_commands(s->queue);
    assert_ok(ig_commands_commit(last));
    assert_ok(ig_commands_wait(last, IG_FOREVER));
    ig_commands_release(last);
    assert_int_equal(*(uint32_t *)ig_buffer_contents(s->buffer), THREADS * 100 * 100);
}

static void one_device_takes_many_queues(void **state) {
    shared *s = *state;
    enum { QUEUES = 64, EACH = 10 };
    ig_queue *queues[QUEUES];
    ig_buffer *buffers[QUEUES];
    ig_commands *last[QUEUES];
    uint32_t expected = 0;
    for (uint32_t i = 0; i < EACH; i++) expected = expected * 3 + i;
    for (int q = 0; q < QUEUES; q++) {
        queues[q] = make_queue();
        buffers[q] = make_buffer(4000);
    }
    for (uint32_t i = 0; i < EACH; i++)
        for (int q = 0; q < QUEUES; q++) {
            ig_commands *commands = make_commands(queues[q]);
            ig_commands_set_pipeline(commands, s->mix);
            ig_commands_set_buffer(commands, buffers[q], 0, 0);
            ig_commands_set_bytes(commands, &i, sizeof i, 1);
            assert_ok(ig_commands_dispatch_threads(commands, line(1000), (ig_size){0}));
            assert_ok(ig_commands_commit(commands));
            if (i) ig_commands_release(last[q]);
            last[q] = commands;
        }
    for (int q = QUEUES; q-- > 0;) {
        assert_ok(ig_commands_wait(last[q], IG_FOREVER));
        for (int i = 0; i < 1000; i++) assert_int_equal(((uint32_t *)ig_buffer_contents(buffers[q]))[i], expected);
        ig_commands_release(last[q]);
        ig_buffer_release(buffers[q]);
        ig_queue_release(queues[q]);
    }
}

static const char *rotate_own(int index, void *context) {
    shared *s = context;
    (void)index;
    ig_queue *queue = NULL;
    ig_buffer *buffer = NULL;
    TRY(ig_queue_create(device, &queue));
    TRY(ig_buffer_create(device, &(ig_buffer_desc){.length = 12800}, &buffer));
    uint32_t *words = ig_buffer_contents(buffer);
    bool right = true;
    for (uint32_t round = 0; round < 20 && right; round++) {
        for (uint32_t i = 0; i < 64 * 50; i++) words[i] = i;
        ig_commands *commands = NULL;
        TRY(ig_commands_create(queue, NULL, &commands));
        ig_commands_set_pipeline(commands, s->rotate);
        ig_commands_set_buffer(commands, buffer, 0, 0);
        ig_commands_dispatch_threadgroups(commands, line(50), line(64));
        TRY(ig_commands_commit(commands));
        TRY(ig_commands_wait(commands, IG_FOREVER));
        ig_commands_release(commands);
        for (uint32_t i = 0; i < 64 * 50; i++) {
            // Lanes 0..31 hold words 1..32 of the group, lanes 32..63 words 33..63 and 0.
            uint32_t base = i / 64 * 64, sum = 32 * base + (i % 64 < 32 ? 528 : 33 * 31 + 31 * 30 / 2);
            right = right && words[i] == sum;
        }
    }
    ig_queue_release(queue);
    ig_buffer_release(buffer);
    CHECK(right);
    return NULL;
}

static void barriers_and_lane_operations_hold_in_every_thread(void **state) {
    in_threads(THREADS, rotate_own, *state);
}

// ---- Events ----

static const char *play_host_ping_pong(int index, void *context) {
    shared *s = context;
    for (uint64_t i = 0; i < 500; i++) {
        TRY(ig_event_wait(s->event, 2 * i + (uint64_t)index, SECONDS(100)));
        TRY(ig_event_signal(s->event, 2 * i + (uint64_t)index + 1));
    }
    return NULL;
}

static void two_threads_play_ping_pong(void **state) {
    shared *s = *state;
    in_threads(2, play_host_ping_pong, s);
    assert_int_equal(ig_event_value(s->event), 1000);
}

static const char *play_queue_ping_pong(int index, void *context) {
    shared *s = context;
    ig_queue *queue = NULL;
    TRY(ig_queue_create(device, &queue));
    ig_commands *last = NULL;
    for (uint32_t i = 0; i < 300; i++) {
        uint32_t turn = 2 * i + (uint32_t)index;
        ig_commands *commands = NULL;
        TRY(ig_commands_create(queue, NULL, &commands));
        ig_commands_wait_event(commands, s->event, turn);
        ig_commands_set_pipeline(commands, s->mix);
        ig_commands_set_buffer(commands, s->buffer, 0, 0);
        ig_commands_set_bytes(commands, &turn, sizeof turn, 1);
        ig_commands_dispatch_threads(commands, line(10), (ig_size){0});
        ig_commands_signal_event(commands, s->event, turn + 1);
        TRY(ig_commands_commit(commands));
        ig_commands_release(last);
        last = commands;
    }
    ig_status status = ig_commands_wait(last, index ? IG_FOREVER : SECONDS(100));
    ig_commands_release(last);
    ig_queue_release(queue);
    return status == IG_STATUS_OK ? NULL : ig_status_name(status);
}

static void two_queues_of_two_threads_play_ping_pong(void **state) {
    shared *s = *state;
    in_threads(2, play_queue_ping_pong, s);
    uint32_t expected = 0;
    for (uint32_t i = 0; i < 600; i++) expected = expected * 3 + i;
    assert_int_equal(((uint32_t *)ig_buffer_contents(s->buffer))[9], expected);
}

static const char *signal_or_wait(int index, void *context) {
    shared *s = context;
    ig_queue *queue = NULL;
    ig_commands *commands = NULL;
    TRY(ig_queue_create(device, &queue));
    for (uint64_t round = 1; round <= 50; round++) {
        if (index == 0) {
            if (round % 3 == 0) sleep_ms(1);
            TRY(ig_event_signal(s->event, round));
            continue;
        }
        TRY(ig_commands_create(queue, NULL, &commands));
        ig_commands_wait_event(commands, s->event, round);
        TRY(ig_commands_commit(commands));
        ig_status status = ig_commands_wait(commands, index % 2 ? IG_FOREVER : SECONDS(100));
        ig_commands_release(commands);
        TRY(status);
    }
    ig_queue_release(queue);
    return NULL;
}

static void one_host_signal_wakes_every_queue(void **state) {
    in_threads(THREADS, signal_or_wait, *state);
}

static const char *time_out_or_be_signalled(int index, void *context) {
    shared *s = context;
    ig_queue *queue = NULL;
    TRY(ig_queue_create(device, &queue));
    for (uint64_t round = 1; round <= 30; round++) {
        ig_commands *commands = NULL;
        TRY(ig_commands_create(queue, &(ig_commands_desc){.deadline_ns = 1000000}, &commands));
        ig_commands_wait_event(commands, s->event, (uint64_t)index * 1000 + round);
        TRY(ig_commands_commit(commands));
        // The signal comes at about the same time as the deadline.
        struct timespec about = {0, (long)(800000 + 20000 * round)};
        nanosleep(&about, NULL);
        TRY(ig_event_signal(s->event, (uint64_t)index * 1000 + round));
        ig_status status = ig_commands_wait(commands, IG_FOREVER);
        ig_commands_release(commands);
        CHECK(status == IG_STATUS_OK || status == IG_STATUS_TIMEOUT);
    }
    ig_queue_release(queue);
    return NULL;
}

static void deadlines_and_signals_may_come_together(void **state) {
    in_threads(4, time_out_or_be_signalled, *state);
}

// ---- Everything at once ----

static const char *come_and_go(int index, void *context) {
    shared *s = context;
    for (int i = 0; i < 50; i++) {
        ig_pipeline *pipeline = NULL;
        const char *problem = make(device, source, index % 2 ? "mix" : "total", &pipeline);
        if (problem) return problem;
        ig_buffer *buffer = NULL;
        TRY(ig_buffer_create(device, &(ig_buffer_desc){.length = 100 + (uint64_t)i}, &buffer));
        ig_event *event = NULL;
        TRY(ig_event_create(device, &event));
        ig_pipeline_release(ig_pipeline_retain(s->mix));
        ig_event_release(event);
        ig_buffer_release(buffer);
        ig_pipeline_release(pipeline);
    }
    return NULL;
}

static void objects_come_and_go_in_every_thread(void **state) {
    ig_device_stats before, after;
    ig_device_get_stats(device, &before);
    in_threads(THREADS, come_and_go, *state);
    ig_device_get_stats(device, &after);
    assert_int_equal(after.buffer_count, before.buffer_count);
    assert_int_equal(after.buffer_bytes, before.buffer_bytes);
}

static const char *open_and_close(int index, void *context) {
    (void)context;
    for (uint32_t i = 0; i < 5; i++) {
        ig_device *own = NULL;
        TRY(ig_device_create(&(ig_device_desc){.cache_dir = cache_dir, .worker_count = 1 + i % 3}, &own, NULL));
        const char *problem = compile_and_run(own, 500 + (uint32_t)index % 2);
        ig_device_release(own);
        if (problem) return problem;
    }
    return NULL;
}

static void devices_come_and_go_in_every_thread(void **state) {
    (void)state;
    in_threads(4, open_and_close, NULL);
}

static const char *misbehave_or_work(int index, void *context) {
    shared *s = context;
    if (index >= 3) return dispatch_own_queue(index, s);
    ig_queue *queue = NULL;
    ig_buffer *buffer = NULL;
    TRY(ig_queue_create(device, &queue));
    TRY(ig_buffer_create(device, &(ig_buffer_desc){.length = 64}, &buffer));
    for (int i = 0; i < 10; i++) {
        ig_commands *commands = NULL;
        TRY(ig_commands_create(queue, &(ig_commands_desc){.deadline_ns = index ? SECONDS(0.01) : 0}, &commands));
        ig_commands_set_pipeline(commands, index ? s->spin : s->stray);
        ig_commands_set_buffer(commands, buffer, 0, 0);
        ig_commands_dispatch_threads(commands, line(64), line(8));
        TRY(ig_commands_commit(commands));
        ig_status status = ig_commands_wait(commands, IG_FOREVER);
        ig_commands_release(commands);
        CHECK(status == (index ? IG_STATUS_TIMEOUT : IG_STATUS_KERNEL_FAULT));
    }
    ig_queue_release(queue);
    ig_buffer_release(buffer);
    return NULL;
}

static void faults_and_deadlines_of_some_do_not_touch_others(void **state) {
    use_fault_handlers();
    in_threads(THREADS, misbehave_or_work, *state);
}

// ---- Processes: these run first, before there is any thread ----

static char *common;
static char common_cache[1024];

static int make_common(void **state) {
    (void)state;
    common = make_temp_dir();
    snprintf(common_cache, sizeof common_cache, "%s/cache", common);
    setenv("TMPDIR", common, 1);  // so that files left by killed children are removed with it
    return 0;
}

static int remove_common(void **state) {
    (void)state;
    unsetenv("TMPDIR");
    remove_temp_dir(common);
    return 0;
}

static const char *compile_range(uint32_t first, uint32_t count, ig_device_stats *stats) {
    ig_device *own = NULL;
    TRY(ig_device_create(&(ig_device_desc){.cache_dir = common_cache, .worker_count = 2}, &own, NULL));
    const char *problem = NULL;
    for (uint32_t i = 0; i < count && !problem; i++) problem = compile_and_run(own, first + i);
    if (stats) ig_device_get_stats(own, stats);
    ig_device_release(own);
    return problem;
}

static pid_t start_child(uint32_t first, uint32_t count, bool all_cached) {
    pid_t child = fork();
    if (child != 0) return child;
    ig_device_stats stats = {0};
    const char *problem = compile_range(first, count, &stats);
    if (!problem && all_cached && (stats.compilations || stats.disk_hits != 2ull * count)) problem = "not cached";
    if (problem) fprintf(stderr, "child %d: %s\n", (int)getpid(), problem);
    _exit(problem ? 1 : 0);
}

static void expect_good_end(pid_t child) {
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void processes_share_one_cache(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    pid_t children[4];
    for (int i = 0; i < 4; i++) children[i] = start_child(1, 5, false);
    for (int i = 0; i < 4; i++) expect_good_end(children[i]);
    expect_good_end(start_child(1, 5, true));
}

static void a_killed_process_never_leaves_a_broken_cache(void **state) {
    (void)state;
    SOFTWARE_DEVICE_ONLY();
    random_state random = {99};
    for (uint32_t i = 0; i < 30; i++) {
        if (i % 10 == 5) remove_temp_dir(strdup(common_cache));  // from nothing: headers are made as well
        pid_t child = start_child(10 * i, 10, false);
        struct timespec pause = {0, (long)random_below(&random, 300000000)};
        nanosleep(&pause, NULL);
        kill(child, SIGKILL);
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        // Killed in the middle or successful: never a failure.
        assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
        if (i % 3 == 2) {
            expect_good_end(start_child(10 * i, 3, false));
            expect_good_end(start_child(10 * i, 3, true));
        }
    }
}

#define shared_test(name) cmocka_unit_test_setup_teardown(name, open_shared, close_shared)

// With an argument, only what threads share.
int main(int argc, char **argv) {
    (void)argv;
    const struct CMUnitTest processes[] = {
        cmocka_unit_test(processes_share_one_cache),
        cmocka_unit_test(a_killed_process_never_leaves_a_broken_cache),
    };
    const struct CMUnitTest threads[] = {
        cmocka_unit_test(threads_compile_different_libraries),
        cmocka_unit_test(threads_compile_identical_libraries),
        cmocka_unit_test(every_thread_gets_its_own_errors),
        shared_test(threads_with_their_own_queues_share_pipelines),
        shared_test(threads_commit_to_the_same_queue),
        shared_test(one_device_takes_many_queues),
        shared_test(barriers_and_lane_operations_hold_in_every_thread),
        shared_test(two_threads_play_ping_pong),
        shared_test(two_queues_of_two_threads_play_ping_pong),
        shared_test(one_host_signal_wakes_every_queue),
        shared_test(deadlines_and_signals_may_come_together),
        shared_test(objects_come_and_go_in_every_thread),
        cmocka_unit_test(devices_come_and_go_in_every_thread),
        shared_test(faults_and_deadlines_of_some_do_not_touch_others),
    };
    int failed = argc > 1 ? 0 : cmocka_run_group_tests_name("processes", processes, make_common, remove_common);
    return failed + cmocka_run_group_tests_name("threads", threads, open_test_device, close_test_device);
}
