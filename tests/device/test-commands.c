// SPDX-License-Identifier: Apache-2.0
// Command buffers: states, order, bindings, blits, errors, waiting, timing, lifetimes.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "desk.h"

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
    ig_pipeline *stray = make_pipeline(desk_source, "stray");
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
    ig_pipeline *shift = make_pipeline(desk_source, "shift");
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
    ig_pipeline *pipeline = make_pipeline(desk_source, "fill_shared");
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
    // The command buffer may end on a worker just when this thread begins to help: it must not run the next one.
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
        ig_pipeline *pipeline = make_pipeline(desk_source, "add");
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
        desk_test(times_are_monotonic_and_nested),
        desk_test(the_running_time_covers_the_kernel),
        desk_test(dispatches_are_counted),
        desk_test(released_command_buffers_still_run),
        desk_test(uncommitted_command_buffers_release_what_they_hold),
    };
    return cmocka_run_group_tests_name("commands", tests, open_test_device, close_test_device);
}
