// SPDX-License-Identifier: Apache-2.0
// Events: counters that only grow, shared by queues and host.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "helpers.h"

static const char source[] =
    "kernel void add(device uint *a [[buffer(0)]], constant uint &n [[buffer(1)]],\n"
    "                uint i [[thread_position_in_grid]]) { a[i] = a[i] * 3 + n; }\n";

static ig_event *make_event(void) {
    ig_event *event = NULL;
    assert_ok(ig_event_create(device, &event));
    return event;
}

static ig_commands *waiting_for(ig_queue *queue, ig_event *event, uint64_t value) {
    ig_commands *commands = make_commands(queue);
    assert_ok(ig_commands_wait_event(commands, event, value));
    return commands;
}

static void encode_add(ig_commands *commands, ig_pipeline *pipeline, ig_buffer *buffer, uint32_t n) {
    assert_ok(ig_commands_set_pipeline(commands, pipeline));
    assert_ok(ig_commands_set_buffer(commands, buffer, 0, 0));
    assert_ok(ig_commands_set_bytes(commands, &n, sizeof n, 1));
    assert_ok(ig_commands_dispatch_threads(commands, line(64), (ig_size){0}));
}

// ---- Host ----

static void an_event_only_grows(void **state) {
    (void)state;
    ig_event *event = make_event();
    assert_int_equal(ig_event_value(event), 0);
    assert_ok(ig_event_signal(event, 5));
    assert_int_equal(ig_event_value(event), 5);
    assert_ok(ig_event_signal(event, 3));
    assert_int_equal(ig_event_value(event), 5);
    assert_ok(ig_event_signal(event, UINT64_MAX));
    assert_true(ig_event_value(event) == UINT64_MAX);
    assert_ok(ig_event_wait(event, UINT64_MAX, 0));
    ig_event_release(event);
}

static void the_host_waits_no_longer_than_told(void **state) {
    (void)state;
    ig_event *event = make_event();
    assert_ok(ig_event_wait(event, 0, 0));
    assert_status(ig_event_wait(event, 1, 0), IG_STATUS_TIMEOUT);
    uint64_t start = now_ns();
    assert_status(ig_event_wait(event, 1, SECONDS(0.05)), IG_STATUS_TIMEOUT);
    uint64_t elapsed = now_ns() - start;
    assert_true(elapsed >= SECONDS(0.05) && elapsed < SECONDS(10));
    assert_ok(ig_event_signal(event, 1));
    assert_ok(ig_event_wait(event, 1, IG_FOREVER));
    assert_status(ig_event_wait(event, 2, SECONDS(0.01)), IG_STATUS_TIMEOUT);
    ig_event_release(event);
}

typedef struct later {
    ig_event *event;
    uint64_t value;
    unsigned delay_ms;
} later;

static void *signal_later(void *argument) {
    later *l = argument;
    sleep_ms(l->delay_ms);
    ig_event_signal(l->event, l->value);
    return NULL;
}

static void the_host_is_woken_by_another_thread(void **state) {
    (void)state;
    for (int i = 0; i < 20; i++) {
        ig_event *event = make_event();
        later l = {event, 7, (unsigned)i % 3};
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, signal_later, &l), 0);
        assert_ok(ig_event_wait(event, i % 2 ? 7 : 1, i % 3 ? IG_FOREVER : SECONDS(60)));
        pthread_join(thread, NULL);
        ig_event_release(event);
    }
}

// ---- Queues ----

static void the_host_is_woken_by_a_queue(void **state) {
    (void)state;
    ig_event *event = make_event();
    ig_queue *queue = make_queue();
    for (uint64_t i = 1; i <= 200; i++) {
        ig_commands *commands = make_commands(queue);
        assert_ok(ig_commands_signal_event(commands, event, i));
        assert_ok(ig_commands_commit(commands));
        assert_ok(ig_event_wait(event, i, SECONDS(60)));
        ig_commands_release(commands);
    }
    ig_queue_release(queue);
    ig_event_release(event);
}

static void a_value_reached_already_is_passed(void **state) {
    (void)state;
    ig_event *event = make_event();
    ig_queue *queue = make_queue();
    assert_ok(ig_event_signal(event, 10));
    ig_commands *commands = waiting_for(queue, event, 10);
    assert_ok(ig_commands_wait_event(commands, event, 3));
    assert_ok(ig_commands_commit(commands));
    assert_ok(ig_commands_wait(commands, IG_FOREVER));
    ig_commands_release(commands);
    ig_queue_release(queue);
    ig_event_release(event);
}

static void a_queue_waits_for_the_host(void **state) {
    (void)state;
    ig_pipeline *pipeline = make_pipeline(source, "add");
    ig_buffer *buffer = make_buffer(256);
    ig_event *event = make_event();
    ig_queue *queue = make_queue();
    ig_commands *commands = make_commands(queue);
    encode_add(commands, pipeline, buffer, 1);
    assert_ok(ig_commands_wait_event(commands, event, 2));
    encode_add(commands, pipeline, buffer, 2);
    assert_ok(ig_commands_commit(commands));
    assert_status(ig_commands_wait(commands, SECONDS(0.03)), IG_STATUS_TIMEOUT);
    assert_int_equal(ig_commands_get_state(commands), IG_COMMANDS_RUNNING);
    assert_ok(ig_event_signal(event, 1));
    assert_status(ig_commands_wait(commands, SECONDS(0.03)), IG_STATUS_TIMEOUT);
    assert_ok(ig_event_signal(event, 2));
    assert_ok(ig_commands_wait(commands, SECONDS(60)));
    assert_int_equal(*(uint32_t *)ig_buffer_contents(buffer), 5);
    ig_commands_release(commands);
    ig_queue_release(queue);
    ig_event_release(event);
    ig_buffer_release(buffer);
    ig_pipeline_release(pipeline);
}

static void threads_may_wait_for_ever_for_a_queue_that_waits(void **state) {
    (void)state;
    ig_queue *queue = make_queue();
    for (unsigned i = 0; i < 20; i++) {
        ig_event *event = make_event();
        ig_commands *commands = waiting_for(queue, event, 1);
        assert_ok(ig_commands_commit(commands));
        if (i % 2) sleep_ms(5);  // a worker has reached the event already, or this thread will
        later l = {event, 1, 10};
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, signal_later, &l), 0);
        assert_ok(ig_commands_wait(commands, IG_FOREVER));
        pthread_join(thread, NULL);
        ig_commands_release(commands);
        ig_event_release(event);
    }
    ig_queue_release(queue);
}

static void commits_to_a_queue_that_waits_keep_their_order(void **state) {
    (void)state;
    ig_pipeline *pipeline = make_pipeline(source, "add");
    ig_buffer *buffer = make_buffer(256);
    ig_event *event = make_event();
    ig_queue *queue = make_queue();
    ig_commands *first = waiting_for(queue, event, 1), *last = NULL;
    assert_ok(ig_commands_commit(first));
    uint32_t expected = 0;
    for (uint32_t i = 0; i < 50; i++) {
        ig_commands_release(last);
        last = make_commands(queue);
        encode_add(last, pipeline, buffer, i);
        assert_ok(ig_commands_commit(last));
        if (i % 10 == 0) sleep_ms(1);
        expected = expected * 3 + i;
    }
    assert_status(ig_commands_wait(last, SECONDS(0.02)), IG_STATUS_TIMEOUT);
    assert_int_equal(*(uint32_t *)ig_buffer_contents(buffer), 0);
    assert_ok(ig_event_signal(event, 1));
    assert_ok(ig_commands_wait(last, IG_FOREVER));
    assert_int_equal(*(uint32_t *)ig_buffer_contents(buffer), expected);
    assert_ok(ig_commands_wait(first, 0));
    ig_commands_release(first), ig_commands_release(last);
    ig_queue_release(queue);
    ig_event_release(event);
    ig_buffer_release(buffer);
    ig_pipeline_release(pipeline);
}

static void a_queue_that_waits_does_not_hold_up_others(void **state) {
    (void)state;
    enum { BLOCKED = 20 };  // more than there are workers
    ig_event *event = make_event();
    ig_queue *queues[BLOCKED], *free_queue = make_queue();
    ig_commands *blocked[BLOCKED];
    for (int i = 0; i < BLOCKED; i++) {
        queues[i] = make_queue();
        blocked[i] = waiting_for(queues[i], event, 1 + (uint64_t)i % 3);
        assert_ok(ig_commands_commit(blocked[i]));
    }
    for (int i = 0; i < 50; i++) {
        ig_commands *commands = make_commands(free_queue);
        assert_ok(ig_commands_commit(commands));
        assert_ok(ig_commands_wait(commands, SECONDS(60)));
        ig_commands_release(commands);
    }
    for (uint64_t value = 1; value <= 3; value++) {
        for (int i = 0; i < BLOCKED; i++)
            if (1 + (uint64_t)i % 3 >= value)
                assert_int_not_equal(ig_commands_get_state(blocked[i]), IG_COMMANDS_COMPLETED);
        assert_ok(ig_event_signal(event, value));
        for (int i = 0; i < BLOCKED; i++)
            if (1 + (uint64_t)i % 3 == value) assert_ok(ig_commands_wait(blocked[i], SECONDS(60)));
    }
    for (int i = 0; i < BLOCKED; i++) {
        ig_commands_release(blocked[i]);
        ig_queue_release(queues[i]);
    }
    ig_queue_release(free_queue);
    ig_event_release(event);
}

static void several_events_in_one_command_buffer_are_all_waited_for(void **state) {
    (void)state;
    ig_event *events[5];
    ig_queue *queue = make_queue();
    ig_commands *commands = make_commands(queue);
    for (int i = 0; i < 5; i++) {
        events[i] = make_event();
        assert_ok(ig_commands_wait_event(commands, events[i], 1));
    }
    assert_ok(ig_commands_commit(commands));
    static const int order[] = {3, 0, 4, 1, 2};
    for (int i = 0; i < 5; i++) {
        assert_status(ig_commands_wait(commands, SECONDS(0.005)), IG_STATUS_TIMEOUT);
        assert_ok(ig_event_signal(events[order[i]], 1));
    }
    assert_ok(ig_commands_wait(commands, SECONDS(60)));
    for (int i = 0; i < 5; i++) ig_event_release(events[i]);
    ig_commands_release(commands);
    ig_queue_release(queue);
}

static void a_chain_through_many_queues_runs_in_its_order(void **state) {
    (void)state;
    enum { STEPS = 200 };
    ig_pipeline *pipeline = make_pipeline(source, "add");
    ig_buffer *buffer = make_buffer(256);
    ig_event *event = make_event();
    uint32_t expected = 0;
    for (uint32_t step = 0; step < STEPS; step++) expected = expected * 3 + step;
    // Committed in reverse, so that nearly everything has to wait.
    for (uint32_t step = STEPS; step-- > 0;) {
        ig_queue *queue = make_queue();
        ig_commands *commands = waiting_for(queue, event, step);
        encode_add(commands, pipeline, buffer, step);
        assert_ok(ig_commands_signal_event(commands, event, step + 1));
        assert_ok(ig_commands_commit(commands));
        ig_commands_release(commands);
        ig_queue_release(queue);
    }
    assert_ok(ig_event_wait(event, STEPS, SECONDS(60)));
    assert_int_equal(*(uint32_t *)ig_buffer_contents(buffer), expected);
    ig_event_release(event);
    ig_buffer_release(buffer);
    ig_pipeline_release(pipeline);
}

static void events_and_queues_may_be_released_while_waited_on(void **state) {
    (void)state;
    ig_event *event = make_event(), *done = make_event();
    ig_queue *queue = make_queue();
    ig_commands *commands = waiting_for(queue, event, 1);
    assert_ok(ig_commands_signal_event(commands, done, 1));
    assert_ok(ig_commands_commit(commands));
    sleep_ms(2);
    ig_commands_release(commands);
    ig_queue_release(queue);
    assert_ok(ig_event_signal(event, 1));
    ig_event_release(event);
    assert_ok(ig_event_wait(done, 1, SECONDS(60)));
    ig_event_release(done);
}

// Devices report each signal separately: some reports may arrive after the last value was seen and the event was
// released.
static void an_event_may_end_while_its_signals_arrive(void **state) {
    (void)state;
    enum { ROUNDS = 300, SIGNALS = 8 };
    ig_queue *queue = make_queue();
    for (int round = 0; round < ROUNDS; round++) {
        ig_event *event = make_event();
        for (uint64_t value = 1; value <= SIGNALS; value++) {
            ig_commands *commands = make_commands(queue);
            assert_ok(ig_commands_signal_event(commands, event, value));
            assert_ok(ig_commands_commit(commands));
            ig_commands_release(commands);
        }
        assert_ok(ig_event_wait(event, SIGNALS, SECONDS(60)));
        ig_event_release(event);
    }
    ig_queue_release(queue);
}

static void two_queues_play_ping_pong(void **state) {
    (void)state;
    enum { ROUNDS = 500 };
    ig_pipeline *pipeline = make_pipeline(source, "add");
    ig_buffer *buffer = make_buffer(256);
    ig_event *event = make_event();
    ig_queue *queues[2] = {make_queue(), make_queue()};
    ig_commands *last = NULL;
    uint32_t expected = 0;
    for (uint32_t i = 0; i < 2 * ROUNDS; i++) {
        ig_commands_release(last);
        last = waiting_for(queues[i % 2], event, i);
        encode_add(last, pipeline, buffer, i);
        assert_ok(ig_commands_signal_event(last, event, i + 1));
        assert_ok(ig_commands_commit(last));
        expected = expected * 3 + i;
    }
    assert_ok(ig_commands_wait(last, IG_FOREVER));
    for (int i = 0; i < 64; i++) assert_int_equal(((uint32_t *)ig_buffer_contents(buffer))[i], expected);
    ig_commands_release(last);
    for (int i = 0; i < 2; i++) ig_queue_release(queues[i]);
    ig_event_release(event);
    ig_buffer_release(buffer);
    ig_pipeline_release(pipeline);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_event_only_grows),
        cmocka_unit_test(the_host_waits_no_longer_than_told),
        cmocka_unit_test(the_host_is_woken_by_another_thread),
        cmocka_unit_test(the_host_is_woken_by_a_queue),
        cmocka_unit_test(a_value_reached_already_is_passed),
        cmocka_unit_test(a_queue_waits_for_the_host),
        cmocka_unit_test(threads_may_wait_for_ever_for_a_queue_that_waits),
        cmocka_unit_test(commits_to_a_queue_that_waits_keep_their_order),
        cmocka_unit_test(a_queue_that_waits_does_not_hold_up_others),
        cmocka_unit_test(several_events_in_one_command_buffer_are_all_waited_for),
        cmocka_unit_test(a_chain_through_many_queues_runs_in_its_order),
        cmocka_unit_test(events_and_queues_may_be_released_while_waited_on),
        cmocka_unit_test(an_event_may_end_while_its_signals_arrive),
        cmocka_unit_test(two_queues_play_ping_pong),
    };
    return cmocka_run_group_tests_name("events", tests, open_test_device, close_test_device);
}
