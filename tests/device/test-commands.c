// SPDX-License-Identifier: Apache-2.0
// Command buffers: states, order, bindings, blits, errors, waiting, callbacks, timing, lifetimes.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "helpers.h"

static const char source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "kernel void add(device uint *a [[buffer(0)]], constant uint &n [[buffer(1)]],\n"
    "                uint i [[thread_position_in_grid]]) { a[i] += n; }\n"
    "kernel void affine(device uint *a [[buffer(0)]], constant uint2 &n [[buffer(1)]],\n"
    "                   uint i [[thread_position_in_grid]]) { a[i] = a[i] * n.x + n.y; }\n"
    "kernel void spin(device atomic_uint *flag [[buffer(0)]]) {\n"
    "    while (atomic_load_explicit(flag, memory_order_relaxed) == 0) {}\n"
    "    atomic_store_explicit(flag, 2, memory_order_relaxed);\n"
    "}\n"
    "kernel void shift(device uint *a [[buffer(0)]], uint i [[thread_position_in_grid]],\n"
    "                  uint n [[threads_per_grid]]) { a[n + i] = a[i] + 1; }\n"
    "kernel void fill_shared(device uint *a [[buffer(0)]], threadgroup uint *t [[threadgroup(0)]],\n"
    "                        uint i [[thread_index_in_threadgroup]]) {\n"
    "    t[i] = i;\n"
    "    threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "    a[i] = t[i ^ 1];\n"
    "}\n"
    "kernel void stray(device ulong *a [[buffer(0)]]) { *(device uint *)(a[0]) = 1; }\n";

typedef struct desk {
    ig_pipeline *add, *affine, *spin;
    ig_queue *queue;
    ig_buffer *buffer;
    uint32_t *words;
} desk;

static int open_desk(void **state) {
    desk *d = calloc(1, sizeof *d);
    d->add = make_pipeline(source, "add");
    d->affine = make_pipeline(source, "affine");
    d->spin = make_pipeline(source, "spin");
    d->queue = make_queue();
    d->buffer = make_buffer(4096);
    d->words = ig_buffer_contents(d->buffer);
    *state = d;
    return 0;
}

static int close_desk(void **state) {
    desk *d = *state;
    ig_buffer_release(d->buffer);
    ig_queue_release(d->queue);
    ig_pipeline_release(d->add), ig_pipeline_release(d->affine), ig_pipeline_release(d->spin);
    free(d);
    return 0;
}

static void encode_add(desk *d, ig_commands *commands, uint32_t n, uint32_t threads) {
    assert_ok(ig_commands_set_pipeline(commands, d->add));
    assert_ok(ig_commands_set_buffer(commands, d->buffer, 0, 0));
    assert_ok(ig_commands_set_bytes(commands, &n, sizeof n, 1));
    assert_ok(ig_commands_dispatch_threads(commands, line(threads), (ig_size){0}));
}

// A command buffer that runs until `stop` is called on its buffer.
static ig_commands *start_spinning(desk *d, ig_buffer **flag) {
    ig_commands *commands = make_commands(d->queue);
    *flag = make_buffer(64);
    assert_ok(ig_commands_set_pipeline(commands, d->spin));
    assert_ok(ig_commands_set_buffer(commands, *flag, 0, 0));
    assert_ok(ig_commands_dispatch_threads(commands, line(1), line(1)));
    assert_ok(ig_commands_commit(commands));
    return commands;
}

static void stop(ig_buffer *flag) {
    __atomic_store_n((uint32_t *)ig_buffer_contents(flag), 1, __ATOMIC_SEQ_CST);
}

static void finish(ig_commands *commands) {
    assert_ok(ig_commands_commit(commands));
    assert_ok(ig_commands_wait(commands, IG_FOREVER));
    ig_commands_release(commands);
}

// ---- States ----

static void states_follow_each_other(void **state) {
    desk *d = *state;
    ig_buffer *flag;
    ig_commands *commands = start_spinning(d, &flag), *later = make_commands(d->queue);
    assert_int_equal(ig_commands_get_state(later), IG_COMMANDS_ENCODING);
    assert_status(ig_commands_wait(later, IG_FOREVER), IG_STATUS_WRONG_STATE);
    assert_status(ig_commands_wait(later, 0), IG_STATUS_WRONG_STATE);
    assert_ok(ig_commands_commit(later));
    for (int i = 0; i < 1000 && ig_commands_get_state(commands) == IG_COMMANDS_COMMITTED; i++) sleep_ms(1);
    assert_int_equal(ig_commands_get_state(commands), IG_COMMANDS_RUNNING);
    assert_int_equal(ig_commands_get_state(later), IG_COMMANDS_COMMITTED);
    stop(flag);
    assert_ok(ig_commands_wait(later, IG_FOREVER));
    assert_int_equal(ig_commands_get_state(commands), IG_COMMANDS_COMPLETED);
    assert_int_equal(ig_commands_get_state(later), IG_COMMANDS_COMPLETED);
    assert_ok(ig_commands_wait(commands, 0));
    ig_commands_release(commands), ig_commands_release(later);
    ig_buffer_release(flag);
}

static void nothing_can_be_encoded_after_commit(void **state) {
    desk *d = *state;
    ig_commands *commands = make_commands(d->queue);
    ig_event *event = NULL;
    uint32_t n = 1;
    assert_ok(ig_event_create(device, &event));
    encode_add(d, commands, 1, 4);
    assert_ok(ig_commands_commit(commands));
    for (int i = 0; i < 2; i++) {
        assert_status(ig_commands_commit(commands), IG_STATUS_WRONG_STATE);
        assert_status(ig_commands_set_pipeline(commands, d->add), IG_STATUS_WRONG_STATE);
        assert_status(ig_commands_set_buffer(commands, d->buffer, 0, 0), IG_STATUS_WRONG_STATE);
        assert_status(ig_commands_set_bytes(commands, &n, 4, 0), IG_STATUS_WRONG_STATE);
        assert_status(ig_commands_set_threadgroup_memory(commands, 64, 0), IG_STATUS_WRONG_STATE);
        assert_status(ig_commands_dispatch_threads(commands, line(1), line(1)), IG_STATUS_WRONG_STATE);
        assert_status(ig_commands_dispatch_threadgroups(commands, line(1), line(1)), IG_STATUS_WRONG_STATE);
        assert_status(ig_commands_dispatch_indirect(commands, d->buffer, 0, line(1)), IG_STATUS_WRONG_STATE);
        assert_status(ig_commands_copy(commands, d->buffer, 0, d->buffer, 8, 4), IG_STATUS_WRONG_STATE);
        assert_status(ig_commands_fill(commands, d->buffer, 0, 4, 0), IG_STATUS_WRONG_STATE);
        assert_status(ig_commands_barrier(commands), IG_STATUS_WRONG_STATE);
        assert_status(ig_commands_wait_event(commands, event, 1), IG_STATUS_WRONG_STATE);
        assert_status(ig_commands_signal_event(commands, event, 1), IG_STATUS_WRONG_STATE);
        assert_ok(ig_commands_wait(commands, IG_FOREVER));
    }
    assert_ok(ig_commands_get_error(commands, NULL));
    assert_int_equal(d->words[3], 1);
    assert_int_equal(ig_event_value(event), 0);
    ig_event_release(event);
    ig_commands_release(commands);
}

static void empty_command_buffers_complete(void **state) {
    desk *d = *state;
    for (int i = 0; i < 100; i++) finish(make_commands(d->queue));
}

static void a_failed_command_buffer_cannot_be_committed_again(void **state) {
    desk *d = *state;
    ig_pipeline *stray = make_pipeline(source, "stray");
    ig_commands *commands = NULL;
    ig_error error = {0};
    assert_ok(ig_commands_create(d->queue, &(ig_commands_desc){.label = "the bad one"}, &commands));
    ig_commands_set_pipeline(commands, stray);
    ig_commands_set_buffer(commands, d->buffer, 0, 0);
    assert_ok(ig_commands_dispatch_threads(commands, line(1), line(1)));
    use_fault_handlers();
    assert_ok(ig_commands_commit(commands));
    assert_status(ig_commands_wait(commands, IG_FOREVER), IG_STATUS_KERNEL_FAULT);
    assert_status(ig_commands_commit(commands), IG_STATUS_WRONG_STATE);
    assert_status(ig_commands_get_error(commands, &error), IG_STATUS_KERNEL_FAULT);
    assert_contains(error.message, "the bad one");
    assert_contains(error.message, "stray");
    ig_error_clear(&error);
    ig_commands_release(commands);
    ig_pipeline_release(stray);
}

// ---- Order ----

static void dispatches_run_in_order(void **state) {
    desk *d = *state;
    ig_commands *commands = make_commands(d->queue);
    uint32_t expected = 0;
    ig_commands_set_pipeline(commands, d->affine);
    ig_commands_set_buffer(commands, d->buffer, 0, 0);
    for (uint32_t i = 0; i < 500; i++) {
        uint32_t n[2] = {3 + i % 5, i};
        assert_ok(ig_commands_set_bytes(commands, n, sizeof n, 1));
        assert_ok(ig_commands_dispatch_threads(commands, line(1000), line(1 + i % 64)));
        expected = expected * n[0] + n[1];
    }
    assert_int_equal(ig_commands_dispatch_count(commands), 500);
    finish(commands);
    for (int i = 0; i < 1000; i++) assert_int_equal(d->words[i], expected);
}

static void each_dispatch_sees_what_the_one_before_wrote(void **state) {
    desk *d = *state;
    ig_pipeline *shift = make_pipeline(source, "shift");
    ig_commands *commands = make_commands(d->queue);
    ig_commands_set_pipeline(commands, shift);
    for (uint64_t i = 0; i < 15; i++) {
        ig_commands_set_buffer(commands, d->buffer, i * 256, 0);
        assert_ok(ig_commands_dispatch_threads(commands, line(64), line(7)));
        if (i % 2) assert_ok(ig_commands_barrier(commands));
    }
    finish(commands);
    for (uint32_t i = 0; i < 1024; i++) assert_int_equal(d->words[i], i / 64);
    ig_pipeline_release(shift);
}

static void command_buffers_of_a_queue_run_in_order(void **state) {
    desk *d = *state;
    enum { COUNT = 300 };
    ig_commands *all[COUNT];
    uint32_t expected = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t n[2] = {3, i};
        all[i] = make_commands(d->queue);
        ig_commands_set_pipeline(all[i], d->affine);
        ig_commands_set_buffer(all[i], d->buffer, 0, 0);
        ig_commands_set_bytes(all[i], n, sizeof n, 1);
        assert_ok(ig_commands_dispatch_threads(all[i], line(500), (ig_size){0}));
        assert_ok(ig_commands_commit(all[i]));
        expected = expected * 3 + i;
    }
    assert_ok(ig_commands_wait(all[COUNT - 1], IG_FOREVER));
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(ig_commands_get_state(all[i]), IG_COMMANDS_COMPLETED);
        ig_commands_release(all[i]);
    }
    for (int i = 0; i < 500; i++) assert_int_equal(d->words[i], expected);
}

// ---- Bindings ----

static void bytes_are_copied_when_set(void **state) {
    desk *d = *state;
    ig_commands *commands = make_commands(d->queue);
    uint32_t n = 5;
    ig_commands_set_pipeline(commands, d->add);
    ig_commands_set_buffer(commands, d->buffer, 0, 0);
    assert_ok(ig_commands_set_bytes(commands, &n, sizeof n, 1));
    n = 1000000;
    assert_ok(ig_commands_dispatch_threads(commands, line(10), (ig_size){0}));
    finish(commands);
    assert_int_equal(d->words[9], 5);
}

static void many_bytes_of_many_sizes_are_kept(void **state) {
    desk *d = *state;
    ig_commands *commands = make_commands(d->queue);
    char *bytes = calloc(1, 70000);
    uint32_t sum = 0;
    ig_commands_set_pipeline(commands, d->add);
    ig_commands_set_buffer(commands, d->buffer, 0, 0);
    for (uint32_t i = 1; i <= 400; i++) {
        memcpy(bytes, &i, sizeof i);
        assert_ok(ig_commands_set_bytes(commands, bytes, 4 + i * 163, 1));
        assert_ok(ig_commands_dispatch_threads(commands, line(1), (ig_size){0}));
        sum += i;
    }
    memset(bytes, 0xff, 70000);
    free(bytes);
    finish(commands);
    assert_int_equal(d->words[0], sum);
}

static void bindings_stay_until_they_are_changed(void **state) {
    desk *d = *state;
    ig_buffer *other = make_buffer(64);
    ig_commands *commands = make_commands(d->queue);
    encode_add(d, commands, 1, 10);
    ig_commands_dispatch_threads(commands, line(10), (ig_size){0});
    assert_ok(ig_commands_set_buffer(commands, other, 16, 0));
    ig_commands_dispatch_threads(commands, line(2), (ig_size){0});
    assert_ok(ig_commands_set_buffer(commands, d->buffer, 4, 0));
    assert_ok(ig_commands_set_buffer(commands, d->buffer, 0, 1));  // n is the first word
    ig_commands_dispatch_threads(commands, line(1), (ig_size){0});
    finish(commands);
    assert_int_equal(d->words[0], 2);
    assert_int_equal(d->words[1], 4);
    assert_int_equal(d->words[2], 2);
    const uint32_t *words = ig_buffer_contents(other);
    assert_int_equal(words[3], 0);
    assert_int_equal(words[4], 1);
    assert_int_equal(words[5], 1);
    assert_int_equal(words[6], 0);
    ig_buffer_release(other);
}

static void extra_bindings_do_no_harm(void **state) {
    desk *d = *state;
    ig_commands *commands = make_commands(d->queue);
    for (uint32_t i = 0; i < 31; i++) {
        ig_commands_set_buffer(commands, d->buffer, 0, i);
        ig_commands_set_threadgroup_memory(commands, 32768, i);
    }
    encode_add(d, commands, 2, 3);
    finish(commands);
    assert_int_equal(d->words[2], 2);
}

static void threadgroup_memory_is_set_per_dispatch(void **state) {
    desk *d = *state;
    ig_pipeline *pipeline = make_pipeline(source, "fill_shared");
    ig_commands *commands = make_commands(d->queue);
    ig_commands_set_pipeline(commands, pipeline);
    ig_commands_set_buffer(commands, d->buffer, 0, 0);
    assert_ok(ig_commands_set_threadgroup_memory(commands, 4096, 0));
    assert_ok(ig_commands_dispatch_threadgroups(commands, line(1), line(1024)));
    assert_ok(ig_commands_set_threadgroup_memory(commands, 32, 0));
    ig_commands_set_buffer(commands, d->buffer, 64, 0);
    assert_ok(ig_commands_dispatch_threadgroups(commands, line(1), line(8)));
    finish(commands);
    for (uint32_t i = 0; i < 1024; i++) assert_int_equal(d->words[i], i < 16 || i >= 24 ? i ^ 1 : (i - 16) ^ 1);
    ig_pipeline_release(pipeline);
}

// ---- Copies and fills ----

static void copies_and_fills_match_a_model(void **state) {
    desk *d = *state;
    enum { LENGTH_OF_BUFFER = 4096 };
    random_state random = {5};
    ig_buffer *buffers[2] = {d->buffer, make_buffer(LENGTH_OF_BUFFER)};
    unsigned char model[2][LENGTH_OF_BUFFER];
    for (int b = 0; b < 2; b++)
        for (int i = 0; i < LENGTH_OF_BUFFER; i++)
            model[b][i] = ((unsigned char *)ig_buffer_contents(buffers[b]))[i] = (unsigned char)random_u64(&random);
    ig_commands *commands = make_commands(d->queue);
    for (int i = 0; i < 500; i++) {
        size_t from = random_below(&random, 2), to = random_below(&random, 2);
        uint64_t length = random_below(&random, i % 10 ? 300 : LENGTH_OF_BUFFER + 1);
        uint64_t a = random_below(&random, LENGTH_OF_BUFFER - length + 1);
        uint64_t b = random_below(&random, LENGTH_OF_BUFFER - length + 1);
        if (random_below(&random, 3)) {
            assert_ok(ig_commands_copy(commands, buffers[from], a, buffers[to], b, length));
            memmove(model[to] + b, model[from] + a, length);
        } else {
            assert_ok(ig_commands_fill(commands, buffers[to], b, length, (uint8_t)i));
            memset(model[to] + b, (uint8_t)i, length);
        }
    }
    finish(commands);
    for (int b = 0; b < 2; b++) assert_memory_equal(ig_buffer_contents(buffers[b]), model[b], LENGTH_OF_BUFFER);
    ig_buffer_release(buffers[1]);
}

static void overlapping_copies_behave_like_memmove(void **state) {
    desk *d = *state;
    for (int direction = 0; direction < 2; direction++) {
        for (uint32_t i = 0; i < 1024; i++) d->words[i] = i;
        ig_commands *commands = make_commands(d->queue);
        assert_ok(ig_commands_copy(commands, d->buffer, direction ? 4 : 0, d->buffer, direction ? 0 : 4, 4092));
        finish(commands);
        for (uint32_t i = 0; i < 1023; i++) assert_int_equal(d->words[direction ? i : i + 1], direction ? i + 1 : i);
    }
}

// ---- Errors ----

static void the_first_error_of_encoding_sticks(void **state) {
    desk *d = *state;
    ig_commands *commands = make_commands(d->queue);
    ig_error error = {0};
    encode_add(d, commands, 1, 4);
    assert_status(ig_commands_set_buffer(commands, d->buffer, 5000, 0), IG_STATUS_OUT_OF_RANGE);
    assert_status(ig_commands_set_bytes(commands, NULL, 4, 1), IG_STATUS_INVALID_ARGUMENT);
    encode_add(d, commands, 1, 4);  // good calls still succeed
    for (int i = 0; i < 2; i++) {
        assert_status(ig_commands_commit(commands), IG_STATUS_OUT_OF_RANGE);
        assert_status(ig_commands_get_error(commands, &error), IG_STATUS_OUT_OF_RANGE);
        assert_contains(error.message, "offset 5000");
    }
    assert_int_equal(ig_commands_get_state(commands), IG_COMMANDS_ENCODING);
    assert_status(ig_commands_wait(commands, IG_FOREVER), IG_STATUS_WRONG_STATE);
    assert_int_equal(d->words[0], 0);
    ig_error_clear(&error);
    ig_commands_release(commands);
}

static void a_good_command_buffer_has_no_error(void **state) {
    desk *d = *state;
    ig_commands *commands = make_commands(d->queue);
    ig_error error = {.status = IG_STATUS_IO, .message = strdup("old")};
    encode_add(d, commands, 1, 4);
    assert_ok(ig_commands_commit(commands));
    assert_ok(ig_commands_wait(commands, IG_FOREVER));
    assert_ok(ig_commands_get_error(commands, &error));
    assert_int_equal(error.status, IG_STATUS_OK);
    assert_null(error.message);
    ig_commands_release(commands);
}

// ---- Waiting ----

static void a_wait_with_a_time_limit_gives_up_and_the_work_goes_on(void **state) {
    desk *d = *state;
    ig_buffer *flag;
    ig_commands *commands = start_spinning(d, &flag);
    uint64_t start = now_ns();
    assert_status(ig_commands_wait(commands, 0), IG_STATUS_TIMEOUT);
    assert_status(ig_commands_wait(commands, SECONDS(0.05)), IG_STATUS_TIMEOUT);
    uint64_t elapsed = now_ns() - start;
    assert_true(elapsed >= SECONDS(0.05) && elapsed < SECONDS(10));
    assert_ok(ig_commands_get_error(commands, NULL));
    stop(flag);
    assert_ok(ig_commands_wait(commands, SECONDS(60)));
    assert_int_equal(*(uint32_t *)ig_buffer_contents(flag), 2);
    ig_commands_release(commands);
    ig_buffer_release(flag);
}

static void waiting_for_one_does_not_run_what_comes_after(void **state) {
    desk *d = *state;
    // The command buffer may end on a worker just when this thread begins to help: it must not slip into the next one.
    for (int i = 0; i < 200; i++) {
        ig_commands *quick = make_commands(d->queue);
        ig_buffer *flag;
        encode_add(d, quick, 1, 1);
        assert_ok(ig_commands_commit(quick));
        ig_commands *endless = start_spinning(d, &flag);
        for (volatile int k = 0; k < i * 37; k++) {
        }
        assert_ok(ig_commands_wait(quick, IG_FOREVER));
        stop(flag);
        assert_ok(ig_commands_wait(endless, IG_FOREVER));
        ig_commands_release(quick), ig_commands_release(endless);
        ig_buffer_release(flag);
    }
}

static void *wait_here(void *commands) {
    return ig_commands_wait(commands, IG_FOREVER) == IG_STATUS_OK ? commands : NULL;
}

static void many_threads_may_wait_for_one_command_buffer(void **state) {
    desk *d = *state;
    pthread_t threads[8];
    ig_buffer *flag;
    ig_commands *commands = start_spinning(d, &flag);
    for (int i = 0; i < 8; i++) assert_int_equal(pthread_create(&threads[i], NULL, wait_here, commands), 0);
    sleep_ms(20);
    stop(flag);
    for (int i = 0; i < 8; i++) {
        void *result = NULL;
        pthread_join(threads[i], &result);
        assert_ptr_equal(result, commands);
    }
    ig_commands_release(commands);
    ig_buffer_release(flag);
}

// ---- Callbacks ----

typedef struct witness {
    atomic_int count;
    ig_status status;
    ig_commands_state state;
    ig_commands *next;
    ig_status next_status;
    bool with_limit;
} witness;

static void note(ig_commands *commands, ig_status status, void *user) {
    witness *w = user;
    w->status = status;
    w->state = ig_commands_get_state(commands);
    atomic_fetch_add(&w->count, 1);
}

static void a_callback_is_called_once_before_wait_returns(void **state) {
    desk *d = *state;
    for (int i = 0; i < 100; i++) {
        ig_commands *commands = make_commands(d->queue);
        witness w = {.status = IG_STATUS_INTERNAL};
        encode_add(d, commands, 1, 4);
        assert_ok(ig_commands_on_completed(commands, note, &w));
        assert_ok(ig_commands_commit(commands));
        assert_status(ig_commands_on_completed(commands, note, &w), IG_STATUS_WRONG_STATE);
        assert_ok(ig_commands_wait(commands, i % 2 ? IG_FOREVER : SECONDS(60)));
        assert_int_equal(atomic_load(&w.count), 1);
        assert_int_equal(w.status, IG_STATUS_OK);
        assert_int_equal(w.state, IG_COMMANDS_COMPLETED);
        ig_commands_release(commands);
    }
}

static void note_slowly(ig_commands *commands, ig_status status, void *user) {
    nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
    note(commands, status, user);
}

// Not only the work is done by then, but everything that was to follow it.
static void waiting_includes_slow_callbacks(void **state) {
    desk *d = *state;
    for (int i = 0; i < 4; i++) {
        ig_commands *commands = make_commands(d->queue);
        witness w = {.status = IG_STATUS_INTERNAL};
        encode_add(d, commands, 1, 4);
        for (int k = 0; k < 3; k++) assert_ok(ig_commands_on_completed(commands, note_slowly, &w));
        assert_ok(ig_commands_commit(commands));
        assert_ok(ig_commands_wait(commands, i % 2 ? IG_FOREVER : SECONDS(60)));
        assert_int_equal(atomic_load(&w.count), 3);
        ig_commands_release(commands);
    }
}

static void append(ig_commands *commands, ig_status status, void *user) {
    (void)commands, (void)status;
    int **next = user;
    *(*next)++ = 1;
}

static void several_callbacks_are_all_called(void **state) {
    desk *d = *state;
    ig_commands *commands = make_commands(d->queue);
    int calls[50] = {0}, *next = calls;
    for (int i = 0; i < 50; i++) assert_ok(ig_commands_on_completed(commands, append, &next));
    finish(commands);
    assert_ptr_equal(next, calls + 50);
}

static void callbacks_hear_of_failures(void **state) {
    desk *d = *state;
    ig_buffer *flag = make_buffer(64);
    ig_commands *commands = NULL;
    witness w = {0};
    assert_ok(ig_commands_create(d->queue, &(ig_commands_desc){.deadline_ns = SECONDS(0.05)}, &commands));
    ig_commands_set_pipeline(commands, d->spin);
    ig_commands_set_buffer(commands, flag, 0, 0);
    ig_commands_dispatch_threads(commands, line(1), line(1));
    ig_commands_on_completed(commands, note, &w);
    assert_ok(ig_commands_commit(commands));
    assert_status(ig_commands_wait(commands, IG_FOREVER), IG_STATUS_TIMEOUT);
    assert_int_equal(atomic_load(&w.count), 1);
    assert_int_equal(w.status, IG_STATUS_TIMEOUT);
    assert_int_equal(w.state, IG_COMMANDS_FAILED);
    ig_commands_release(commands);
    ig_buffer_release(flag);
}

static void callbacks_of_what_was_never_committed_are_not_called(void **state) {
    desk *d = *state;
    ig_commands *commands = make_commands(d->queue);
    witness w = {0};
    assert_ok(ig_commands_on_completed(commands, note, &w));
    ig_commands_set_bytes(commands, NULL, 0, 0);
    assert_status(ig_commands_commit(commands), IG_STATUS_INVALID_ARGUMENT);
    ig_commands_release(commands);
    assert_int_equal(atomic_load(&w.count), 0);
}

static void wait_for_myself(ig_commands *commands, ig_status status, void *user) {
    witness *w = user;
    w->next_status = ig_commands_wait(commands, IG_FOREVER);
    note(commands, status, user);
}

static void wait_for_next(ig_commands *commands, ig_status status, void *user) {
    witness *w = user;
    w->next_status = ig_commands_wait(w->next, w->with_limit ? SECONDS(30) : IG_FOREVER);
    note(commands, status, user);
}

static void commit_and_wait_for_next(ig_commands *commands, ig_status status, void *user) {
    witness *w = user;
    w->next_status = ig_commands_commit(w->next);
    if (w->next_status == IG_STATUS_OK) w->next_status = ig_commands_wait(w->next, IG_FOREVER);
    note(commands, status, user);
}

static void a_callback_may_wait_for_its_own_command_buffer(void **state) {
    desk *d = *state;
    ig_commands *commands = make_commands(d->queue);
    witness w = {.next_status = IG_STATUS_INTERNAL};
    assert_ok(ig_commands_on_completed(commands, wait_for_myself, &w));
    finish(commands);
    assert_int_equal(atomic_load(&w.count), 1);
    assert_int_equal(w.next_status, IG_STATUS_OK);
}

static void a_callback_may_wait_for_a_later_command_buffer(void **state) {
    desk *d = *state;
    for (int i = 0; i < 50; i++) {
        ig_event *all_there = NULL;
        ig_commands *first = make_commands(d->queue), *second = make_commands(d->queue),
                    *third = make_commands(d->queue);
        assert_ok(ig_event_create(device, &all_there));
        assert_ok(ig_commands_wait_event(first, all_there, 1));
        witness w = {.next = second, .next_status = IG_STATUS_INTERNAL, .with_limit = i % 2};
        encode_add(d, first, 1, 100), encode_add(d, second, 1, 100), encode_add(d, third, 1, 100);
        assert_ok(ig_commands_on_completed(first, wait_for_next, &w));
        assert_ok(ig_commands_commit(first));
        assert_ok(ig_commands_commit(second));
        assert_ok(ig_commands_commit(third));
        assert_ok(ig_event_signal(all_there, 1));
        assert_ok(ig_commands_wait(third, i % 3 ? IG_FOREVER : SECONDS(60)));
        assert_ok(ig_commands_wait(first, IG_FOREVER));
        assert_int_equal(w.next_status, IG_STATUS_OK);
        assert_int_equal(atomic_load(&w.count), 1);
        ig_commands_release(first), ig_commands_release(second), ig_commands_release(third);
        ig_event_release(all_there);
    }
    assert_int_equal(d->words[99], 150);
}

static void a_callback_may_commit_and_wait(void **state) {
    desk *d = *state;
    for (int i = 0; i < 50; i++) {
        ig_commands *first = make_commands(d->queue), *second = make_commands(d->queue);
        witness w = {.next = second, .next_status = IG_STATUS_INTERNAL};
        encode_add(d, second, 1, 10);
        assert_ok(ig_commands_on_completed(first, commit_and_wait_for_next, &w));
        assert_ok(ig_commands_commit(first));
        assert_ok(ig_commands_wait(first, i % 2 ? IG_FOREVER : SECONDS(60)));
        assert_int_equal(w.next_status, IG_STATUS_OK);
        assert_ok(ig_commands_wait(second, IG_FOREVER));
        ig_commands_release(first), ig_commands_release(second);
    }
    assert_int_equal(d->words[0], 50);
}

typedef struct chain {
    desk *d;
    atomic_int left;
    ig_event *done;
} chain;

static void commit_next_link(ig_commands *commands, ig_status status, void *user) {
    (void)status;
    chain *c = user;
    ig_commands_release(commands);
    if (atomic_fetch_sub(&c->left, 1) <= 1) {
        ig_event_signal(c->done, 1);
        return;
    }
    ig_commands *next = NULL;
    uint32_t n = 1;
    if (ig_commands_create(c->d->queue, NULL, &next) != IG_STATUS_OK) return;
    ig_commands_set_pipeline(next, c->d->add);
    ig_commands_set_buffer(next, c->d->buffer, 0, 0);
    ig_commands_set_bytes(next, &n, sizeof n, 1);
    ig_commands_dispatch_threads(next, line(10), (ig_size){0});
    ig_commands_on_completed(next, commit_next_link, c);
    ig_commands_commit(next);
}

static void callbacks_may_release_and_commit_the_next(void **state) {
    desk *d = *state;
    chain c = {.d = d, .left = 300};
    assert_ok(ig_event_create(device, &c.done));
    ig_commands *first = make_commands(d->queue);
    assert_ok(ig_commands_on_completed(first, commit_next_link, &c));
    assert_ok(ig_commands_commit(first));
    assert_ok(ig_event_wait(c.done, 1, SECONDS(60)));
    assert_int_equal(d->words[9], 299);
    ig_event_release(c.done);
}

static void release_device(ig_commands *commands, ig_status status, void *user) {
    (void)commands, (void)status;
    ig_device_release(user);
}

static void the_last_reference_to_a_device_may_go_in_a_callback(void **state) {
    (void)state;
    for (int i = 0; i < 20; i++) {
        ig_device *made = open_device(&(ig_device_desc){.worker_count = 1 + (uint32_t)i % 3});
        ig_queue *queue = NULL;
        ig_commands *commands = NULL;
        assert_ok(ig_queue_create(made, &queue));
        assert_ok(ig_commands_create(queue, NULL, &commands));
        assert_ok(ig_commands_on_completed(commands, release_device, made));
        ig_queue_release(queue);
        assert_ok(ig_commands_commit(commands));
        ig_commands_release(commands);
    }
}

// ---- Timing ----

static void times_are_monotonic_and_nested(void **state) {
    desk *d = *state;
    ig_commands *commands = make_commands(d->queue);
    ig_timing whole, one = {7, 7};
    ig_commands_get_timing(commands, &whole);
    assert_int_equal(whole.start_ns, 0);
    assert_int_equal(whole.end_ns, 0);
    for (uint32_t i = 0; i < 10; i++) encode_add(d, commands, 1, 1000);
    assert_status(ig_commands_get_dispatch_timing(commands, 0, &one), IG_STATUS_WRONG_STATE);
    assert_int_equal(one.start_ns, 7);
    uint64_t before = now_ns();
    assert_ok(ig_commands_commit(commands));
    assert_ok(ig_commands_wait(commands, IG_FOREVER));
    uint64_t after = now_ns();
    ig_commands_get_timing(commands, &whole);
    assert_true(before <= whole.start_ns && whole.start_ns <= whole.end_ns && whole.end_ns <= after);
    uint64_t last = whole.start_ns;
    for (size_t i = 0; i < 10; i++) {
        ig_status expected = on_software_device() ? IG_STATUS_OK : IG_STATUS_UNSUPPORTED;
        assert_status(ig_commands_get_dispatch_timing(commands, i, &one), expected);
        if (expected != IG_STATUS_OK) continue;
        assert_true(last <= one.start_ns && one.start_ns <= one.end_ns);
        last = one.end_ns;
    }
    assert_true(last <= whole.end_ns);
    assert_status(ig_commands_get_dispatch_timing(commands, 10, &one), IG_STATUS_OUT_OF_RANGE);
    assert_status(ig_commands_get_dispatch_timing(commands, SIZE_MAX, &one), IG_STATUS_OUT_OF_RANGE);
    ig_commands_release(commands);
}

static void the_running_time_covers_the_kernel(void **state) {
    desk *d = *state;
    ig_buffer *flag;
    ig_timing timing;
    ig_commands *commands = start_spinning(d, &flag);
    while (ig_commands_get_state(commands) == IG_COMMANDS_COMMITTED) sleep_ms(1);
    sleep_ms(30);
    stop(flag);
    assert_ok(ig_commands_wait(commands, IG_FOREVER));
    ig_commands_get_timing(commands, &timing);
    assert_true(timing.end_ns - timing.start_ns >= SECONDS(0.03));
    assert_ok(ig_commands_get_dispatch_timing(commands, 0, &timing));
    assert_true(timing.end_ns - timing.start_ns >= SECONDS(0.02));
    ig_commands_release(commands);
    ig_buffer_release(flag);
}

static void dispatches_are_counted(void **state) {
    desk *d = *state;
    ig_device_stats before, after;
    ig_device_get_stats(device, &before);
    ig_commands *commands = make_commands(d->queue);
    for (int i = 0; i < 7; i++) encode_add(d, commands, 1, 1);
    ig_commands_fill(commands, d->buffer, 0, 4, 0);
    assert_int_equal(ig_commands_dispatch_count(commands), 7);
    finish(commands);
    ig_device_get_stats(device, &after);
    assert_int_equal(after.dispatches - before.dispatches, 7);
}

// ---- Lifetimes ----

static void released_command_buffers_still_run(void **state) {
    desk *d = *state;
    ig_event *event = NULL;
    assert_ok(ig_event_create(device, &event));
    for (uint64_t i = 1; i <= 100; i++) {
        ig_commands *commands = make_commands(d->queue);
        ig_buffer *temporary = make_buffer(400);
        ig_pipeline *pipeline = make_pipeline(source, "add");
        uint32_t n = (uint32_t)i;
        ig_commands_set_pipeline(commands, pipeline);
        ig_commands_set_buffer(commands, temporary, 0, 0);
        ig_commands_set_bytes(commands, &n, sizeof n, 1);
        ig_commands_dispatch_threads(commands, line(100), (ig_size){0});
        ig_commands_copy(commands, temporary, 396, d->buffer, 4 * i, 4);
        ig_commands_signal_event(commands, event, i);
        assert_ok(ig_commands_commit(commands));
        ig_commands_release(commands);
        ig_buffer_release(temporary);
        ig_pipeline_release(pipeline);
    }
    assert_ok(ig_event_wait(event, 100, SECONDS(60)));
    for (uint32_t i = 1; i <= 100; i++) assert_int_equal(d->words[i], i);
    ig_event_release(event);
}

static void uncommitted_command_buffers_release_what_they_hold(void **state) {
    desk *d = *state;
    ig_device_stats before, after;
    ig_device_get_stats(device, &before);
    ig_commands *commands = make_commands(d->queue);
    for (int i = 0; i < 50; i++) {
        ig_buffer *buffer = make_buffer(100);
        ig_commands_set_buffer(commands, buffer, 0, (uint32_t)i % 31);
        ig_buffer_release(buffer);
    }
    ig_device_get_stats(device, &after);
    assert_int_equal(after.buffer_count, before.buffer_count + 50);
    ig_commands_release(commands);
    ig_device_get_stats(device, &after);
    assert_int_equal(after.buffer_count, before.buffer_count);
}

#define desk_test(name) cmocka_unit_test_setup_teardown(name, open_desk, close_desk)

int main(void) {
    const struct CMUnitTest tests[] = {
        desk_test(states_follow_each_other),
        desk_test(nothing_can_be_encoded_after_commit),
        desk_test(empty_command_buffers_complete),
        desk_test(a_failed_command_buffer_cannot_be_committed_again),
        desk_test(dispatches_run_in_order),
        desk_test(each_dispatch_sees_what_the_one_before_wrote),
        desk_test(command_buffers_of_a_queue_run_in_order),
        desk_test(bytes_are_copied_when_set),
        desk_test(many_bytes_of_many_sizes_are_kept),
        desk_test(bindings_stay_until_they_are_changed),
        desk_test(extra_bindings_do_no_harm),
        desk_test(threadgroup_memory_is_set_per_dispatch),
        desk_test(copies_and_fills_match_a_model),
        desk_test(overlapping_copies_behave_like_memmove),
        desk_test(the_first_error_of_encoding_sticks),
        desk_test(a_good_command_buffer_has_no_error),
        desk_test(a_wait_with_a_time_limit_gives_up_and_the_work_goes_on),
        desk_test(waiting_for_one_does_not_run_what_comes_after),
        desk_test(many_threads_may_wait_for_one_command_buffer),
        desk_test(a_callback_is_called_once_before_wait_returns),
        desk_test(waiting_includes_slow_callbacks),
        desk_test(several_callbacks_are_all_called),
        desk_test(callbacks_hear_of_failures),
        desk_test(callbacks_of_what_was_never_committed_are_not_called),
        desk_test(a_callback_may_wait_for_its_own_command_buffer),
        desk_test(a_callback_may_wait_for_a_later_command_buffer),
        desk_test(a_callback_may_commit_and_wait),
        desk_test(callbacks_may_release_and_commit_the_next),
        desk_test(the_last_reference_to_a_device_may_go_in_a_callback),
        desk_test(times_are_monotonic_and_nested),
        desk_test(the_running_time_covers_the_kernel),
        desk_test(dispatches_are_counted),
        desk_test(released_command_buffers_still_run),
        desk_test(uncommitted_command_buffers_release_what_they_hold),
    };
    return cmocka_run_group_tests_name("commands", tests, open_test_device, close_test_device);
}
