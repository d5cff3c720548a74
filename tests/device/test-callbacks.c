// SPDX-License-Identifier: Apache-2.0
// Callbacks of command buffers: when they are called, and what they may do.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "desk.h"

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

// By then not only the work is done, but also everything that was to follow it.
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

int main(void) {
    const struct CMUnitTest tests[] = {
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
    };
    return cmocka_run_group_tests_name("callbacks", tests, open_test_device, close_test_device);
}
