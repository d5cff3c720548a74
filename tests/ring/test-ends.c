// SPDX-License-Identifier: Apache-2.0
// Every message ends somewhere and is counted there, and a thread that waits for its answer is told.
#include <pthread.h>
#include <string.h>

#include "ring-helpers.h"
#include "ring/rings.h"

// ---- Requests ----

static ig_status ask(ig_ring_kernel *kernel, uint64_t type, uint64_t value, uint64_t deadline_us) {
    ig_message question = IG_MESSAGE(type, &value), answer = {0};
    question.deadline_us = deadline_us;
    ig_status status = ig_ring_request(kernel, &question, &answer, IG_FOREVER);
    ig_message_clear(&answer);
    return status;
}

static void assert_error_says(const ig_ring_kernel *kernel, ig_status status, const char *part) {
    ig_error error = {0};
    assert_status(ig_ring_get_error(kernel, &error), status);
    assert_contains(error.message, part);
    assert_contains(error.message, ig_ring_kernel_name(kernel));
    assert_null(strstr(error.message, "_single"));
    assert_null(strstr(error.message, "command buffer"));
    ig_error_clear(&error);
}

static ig_ring_kernel *launch_restarting(const way *w, const char *handler) {
    ig_ring_launch_desc desc = desc_of(w, handler);
    desc.restart = IG_RESTART_ON_FAILURE;
    desc.max_restarts = 1000;
    desc.deadline_ns = 300000000;  // longer than a busy machine keeps a handler waiting for a core
    return launch(&desc);
}

static void requests_end_when_the_handler_fails(void **state) {
    (void)state;
    use_fault_handlers();
    FOR_ALL_WAYS(w) {
        ig_ring_kernel *kernel = launch_restarting(w, "fail");
        assert_ok(ask(kernel, 1, 0, 0));
        assert_status(ask(kernel, 1, 302, 0), IG_STATUS_INVALID_ARGUMENT);
        assert_error_says(kernel, IG_STATUS_INVALID_ARGUMENT, "302");
        assert_int_equal(status_of(kernel).last_error, 302);
        if (!w->in_c) {
            assert_status(ask(kernel, 98, 0, 0), IG_STATUS_KERNEL_FAULT);
            assert_error_says(kernel, IG_STATUS_KERNEL_FAULT, "handler of ring kernel 'fail' touched address 0x1000");
            assert_int_equal(status_of(kernel).last_error, IG_RING_ERROR_FAULT);
            assert_status(ask(kernel, 99, 0, 0), IG_STATUS_TIMEOUT);
            assert_error_says(kernel, IG_STATUS_TIMEOUT, "deadline of 0.300 s");
            assert_int_equal(status_of(kernel).last_error, IG_RING_ERROR_TIMEOUT);
        }
        assert_ok(ask(kernel, 1, 0, 0));
        end_kernel(kernel);
    }
}

// Without a policy the kernel fails too, and the request still returns the reason.
static void requests_end_when_the_kernel_fails(void **state) {
    (void)state;
    FOR_ALL_WAYS(w) {
        ig_ring_kernel *kernel = launch_way(w, "fail");
        assert_status(ask(kernel, 1, 303, 0), IG_STATUS_INVALID_ARGUMENT);
        ig_ring_wait(kernel, SECONDS(5));  // the request may end a moment before the kernel does
        assert_int_equal(status_of(kernel).state, IG_RING_FAILED);
        assert_status(ask(kernel, 1, 0, 0), IG_STATUS_WRONG_STATE);
        end_kernel(kernel);
    }
}

// Separate calls to send and to wait get the same result, also if the dead letters are full or were taken.
static void waiting_for_an_answer_ends_with_the_message(void **state) {
    (void)state;
    FOR_ALL_WAYS(w) {
        ig_ring_launch_desc desc = desc_of(w, "fail");
        desc.restart = IG_RESTART_ON_FAILURE;
        desc.max_restarts = 1000;
        desc.dead_letter_capacity = 1;
        ig_ring_kernel *kernel = launch(&desc);
        for (int i = 0; i < 20; i++) {
            uint64_t value = 300, id;
            ig_message question = IG_MESSAGE(1, &value), answer = {0};
            assert_ok(ig_ring_send(kernel, &question, SECONDS(5), &id));
            assert_status(ig_ring_receive_correlated(kernel, id, &answer, IG_FOREVER), IG_STATUS_INVALID_ARGUMENT);
            assert_status(ig_ring_receive_correlated(kernel, id, &answer, 0), IG_STATUS_INVALID_ARGUMENT);
        }
        assert_int_equal(status_of(kernel).dead_lost, 19);
        end_kernel(kernel);
    }
}

static void requests_end_when_the_message_expires(void **state) {
    (void)state;
    FOR_ALL_WAYS(w) {
        ig_ring_kernel *kernel = launch_way(w, "add");
        assert_ok(ig_ring_deactivate(kernel));
        assert_ok(ig_ring_activate(kernel));
        // The clock of kernels advances every millisecond: some of these expire.
        ig_status status = IG_STATUS_OK;
        for (int i = 0; i < 100000 && status == IG_STATUS_OK; i++) status = ask(kernel, 1, 0, 1);
        assert_status(status, IG_STATUS_TIMEOUT);
        assert_error_says(kernel, IG_STATUS_TIMEOUT, "deadline had passed");
        assert_ok(ask(kernel, 1, 0, 0));
        end_kernel(kernel);
    }
}

static void requests_that_nobody_answers_end(void **state) {
    (void)state;
    FOR_ALL_WAYS(w) {
        ig_ring_kernel *kernel;
        ig_ring_launch_desc desc = desc_of(w, "relay");
        desc.user = &kernel;
        kernel = launch(&desc);
        for (uint64_t i = 0; i < 5; i++) {
            assert_status(ask(kernel, 1, i, 0), IG_STATUS_NOT_FOUND);
            assert_error_says(kernel, IG_STATUS_NOT_FOUND, "did not answer");
            assert_int_equal(receive_u64(kernel), i);  // what it sent to the host instead
        }
        end_kernel(kernel);
    }
}

static void *ask_for_ever(void *kernel) {
    return (void *)(uintptr_t)ask(kernel, 1, 5, 0);
}

static void requests_end_with_the_kernel(void **state) {
    (void)state;
    FOR_ALL_WAYS(w) {
        ig_ring_kernel *kernel = launch_way(w, "add");
        ig_ring_slot held;
        assert_ok(ig_ring_reserve(kernel, 8, 0, &held));
        pthread_t threads[3];
        for (int i = 0; i < 3; i++) assert_int_equal(pthread_create(&threads[i], NULL, ask_for_ever, kernel), 0);
        for (int i = 0; i < 5000 && status_of(kernel).input_depth < 4; i++) sleep_ms(1);
        sleep_ms(5);
        assert_ok(ig_ring_deactivate(kernel));
        ig_ring_cancel(kernel, &held);
        assert_ok(ig_ring_terminate(kernel, IG_RING_DROP));
        for (int i = 0; i < 3; i++) {
            void *result;
            pthread_join(threads[i], &result);
            assert_status((ig_status)(uintptr_t)result, IG_STATUS_WRONG_STATE);
        }
        assert_ok(ig_ring_wait(kernel, SECONDS(20)));
        assert_int_equal(status_of(kernel).dropped, 3);
        ig_ring_kernel_release(kernel);
    }
}

// ---- Counters ----

typedef struct letters {
    uint64_t count;
    uint64_t by_reason[IG_DEAD_MAX_HOPS + 1];
} letters;

static void take_letters(ig_ring_kernel *kernel, letters *taken) {
    ig_message letter = {0};
    while (ig_ring_receive_dead(kernel, &letter) == IG_STATUS_OK) {
        taken->count++;
        taken->by_reason[letter.header.dead_reason]++;
    }
    ig_message_clear(&letter);
}

// An answer may arrive before the kernel has published its progress.
static void wait_for_rest(const ig_ring_kernel *kernel) {
    for (int i = 0; i < 5000 && (status_of(kernel).input_depth || status_of(kernel).in_flight); i++) sleep_ms(1);
}

// For a kernel at rest: everything that arrived, and everything that it sent, is somewhere.
static void assert_all_are_accounted_for(const ig_ring_kernel *kernel, uint64_t came, uint64_t delivered,
                                         const letters *taken) {
    wait_for_rest(kernel);
    ig_ring_status s = status_of(kernel);
    assert_int_equal(came, s.processed + s.stopped + s.expired + s.invalid + s.dropped + s.input_depth + s.inbox_depth);
    assert_int_equal(s.sent, delivered + s.output_depth + s.outbox_depth + s.undelivered);
    assert_int_equal(s.failed + s.stopped + s.expired + s.invalid + s.dropped + s.undelivered + s.refused,
                     taken->count + s.dead_letters + s.dead_lost);
    assert_int_equal(s.in_flight, 0);
}

// Complete, and damaged without the library's knowledge while a reservation holds it up.
static void send_spoilt(ig_ring_kernel *kernel, const ig_ring_slot *held) {
    igi_ring input = igi_ring_of(kernel, IGI_RING_INPUT);
    uint32_t position = igi_ring_load_acquire(igi_ring_tail(input));
    send_u64(kernel, 1, 0);
    igi_ring_slot_at(input, position)->checksum ^= 1;
    assert_true(position != held->position);
}

static uint64_t receive_all(ig_ring_kernel *kernel) {
    ig_message message = {0};
    uint64_t received = 0;
    while (ig_ring_receive(kernel, &message, 0) == IG_STATUS_OK) received++;
    ig_message_clear(&message);
    return received;
}

static void every_message_to_a_kernel_is_counted_once(void **state) {
    (void)state;
    use_fault_handlers();
    FOR_ALL_WAYS(w) {
        for (uint32_t capacity = 4; capacity <= 256; capacity *= 64) {
            ig_ring_launch_desc desc = desc_of(w, "fail");
            desc.restart = IG_RESTART_ON_FAILURE;
            desc.max_restarts = 1000;
            desc.deadline_ns = 200000000;
            desc.dead_letter_capacity = capacity;
            ig_ring_kernel *kernel = launch(&desc);
            letters taken = {0};
            uint64_t sent = 0, zero = 0;
            ig_ring_slot held;
            assert_ok(ig_ring_reserve(kernel, 8, 0, &held));
            for (uint64_t i = 0; i < 40; i++) {
                ig_message late = IG_MESSAGE(1, &zero);
                late.deadline_us = 1;
                send_u64(kernel, 1, i % 5 == 0 ? 300 : 0);
                if (i % 7 == 0) assert_ok(ig_ring_send(kernel, &late, 0, NULL));
                sent += 1 + (i % 7 == 0);
                if (w->in_c || i % 10) continue;
                send_u64(kernel, i % 20 ? 98 : 99, 0);
                sent++;
            }
            uint64_t many[100] = {0};
            ig_message batch = {.header = {.message_type = 1, .payload_size = 8}, .payload = many};
            assert_ok(ig_ring_send_array(kernel, &batch, 100, SECONDS(5), NULL));
            sent += 100;
            sleep_ms(25);
            send_spoilt(kernel, &held);
            sent++;
            ig_ring_cancel(kernel, &held);
            assert_ok(ask(kernel, 1, 0, 0));  // after all of them
            sent++;
            uint64_t answers = 1 + receive_all(kernel);
            assert_all_are_accounted_for(kernel, sent, answers, &taken);
            ig_ring_status s = status_of(kernel);
            assert_int_equal(s.failed, 8);
            assert_int_equal(s.expired, 6);
            assert_int_equal(s.invalid, 1);
            assert_int_equal(s.stopped, w->in_c ? 0 : 4);
            assert_int_equal(s.processed, answers + s.failed);
            take_letters(kernel, &taken);
            assert_all_are_accounted_for(kernel, sent, answers, &taken);
            assert_ok(ig_ring_reserve(kernel, 8, 0, &held));
            for (int i = 0; i < 10; i++) send_u64(kernel, 1, 0);
            assert_ok(ig_ring_send_array(kernel, &batch, 100, SECONDS(5), NULL));
            sent += 110;
            assert_ok(ig_ring_deactivate(kernel));
            ig_ring_cancel(kernel, &held);
            assert_ok(ig_ring_terminate(kernel, IG_RING_DROP));
            assert_ok(ig_ring_wait(kernel, SECONDS(20)));
            assert_int_equal(status_of(kernel).dropped, 110);
            assert_all_are_accounted_for(kernel, sent, answers, &taken);
            ig_ring_kernel_release(kernel);
        }
    }
}

// ---- Between kernels ----

typedef struct pair {
    ig_ring_kernel *sender, *receiver;
} pair;

static pair launch_pair(const way *w, const char *to) {
    static ig_ring_kernel *selves[2];
    ig_ring_launch_desc sender = desc_of(w, "relay"), receiver = desc_of(w, to);
    sender.name = "sender", receiver.name = "receiver";
    sender.k2k = receiver.k2k = true;
    sender.user = &selves[0], receiver.user = &selves[1];
    pair made = {launch(&sender), launch(&receiver)};
    selves[0] = made.sender, selves[1] = made.receiver;
    assert_ok(ig_ring_connect(made.sender, made.receiver));
    return made;
}

static void end_pair(pair *p) {
    end_kernel(p->sender);
    end_kernel(p->receiver);
}

static void answers_without_a_way_back_are_dead_letters(void **state) {
    (void)state;
    static const char *const handlers[] = {"echo", "add"};  // open_reply and reply
    FOR_ALL_WAYS(w) {
        for (size_t h = 0; h < LENGTH(handlers); h++) {
            pair p = launch_pair(w, handlers[h]);
            for (uint64_t i = 0; i < 3; i++) send_u64(p.sender, 1, 7);
            wait_processed(p.receiver, 3);
            ig_ring_status s = status_of(p.receiver);
            assert_int_equal(s.refused, 3);
            assert_int_equal(s.sent, 0);
            assert_int_equal(s.dead_letters, 3);
            letters taken = {0};
            take_letters(p.receiver, &taken);
            assert_int_equal(taken.by_reason[IG_DEAD_NO_ROUTE], 3);
            assert_all_are_accounted_for(p.receiver, 3, 0, &taken);
            assert_all_are_accounted_for(p.sender, 3, 3, &(letters){0});
            end_pair(&p);
        }
    }
}

static void messages_to_a_kernel_that_has_ended_are_dead_letters(void **state) {
    (void)state;
    FOR_ALL_WAYS(w) {
        pair p = launch_pair(w, "echo");
        end_kernel(p.receiver);
        assert_status(ig_ring_connect(p.sender, p.receiver), IG_STATUS_WRONG_STATE);
        ig_k2k_routing_table routes;
        ig_ring_get_routes(p.sender, &routes);
        assert_int_equal(routes.routes[0].is_active, 0);
        end_kernel(p.sender);
    }
}

static void what_waits_for_room_is_counted_when_the_kernel_ends(void **state) {
    (void)state;
    ig_ring_runtime *outer = rings;
    assert_ok(ig_ring_runtime_create(device, &(ig_ring_runtime_desc){.inbox_capacity = 4}, &rings));
    FOR_ALL_WAYS(w) {
        for (int closed = 0; closed < 2; closed++) {
            pair p = launch_pair(w, "echo");
            assert_ok(ig_ring_deactivate(p.receiver));
            for (uint64_t i = 0; i < 10; i++) send_u64(p.sender, 1, i);
            wait_processed(p.sender, 10);
            if (closed) assert_ok(ig_ring_disconnect(p.sender, p.receiver));
            for (int i = 0; i < 5000 && closed && status_of(p.sender).outbox_depth; i++) sleep_ms(1);
            assert_ok(ig_ring_terminate(p.sender, IG_RING_DROP));
            assert_ok(ig_ring_wait(p.sender, SECONDS(20)));
            letters taken = {0};
            take_letters(p.sender, &taken);
            assert_int_equal(taken.by_reason[closed ? IG_DEAD_NO_ROUTE : IG_DEAD_DROPPED], 6);
            assert_all_are_accounted_for(p.sender, 10, 4, &taken);
            ig_ring_kernel_release(p.sender);
            assert_int_equal(status_of(p.receiver).inbox_depth, 4);
            assert_ok(ig_ring_activate(p.receiver));
            wait_processed(p.receiver, 4);
            end_kernel(p.receiver);
        }
    }
    assert_ok(ig_ring_runtime_shutdown(rings));
    rings = outer;
}

int main(void) {
#define WITH_RUNTIME(test) cmocka_unit_test_setup_teardown(test, open_runtime, close_runtime)
    const struct CMUnitTest tests[] = {
        WITH_RUNTIME(requests_end_when_the_handler_fails),
        WITH_RUNTIME(requests_end_when_the_kernel_fails),
        WITH_RUNTIME(waiting_for_an_answer_ends_with_the_message),
        WITH_RUNTIME(requests_end_when_the_message_expires),
        WITH_RUNTIME(requests_that_nobody_answers_end),
        WITH_RUNTIME(requests_end_with_the_kernel),
        WITH_RUNTIME(every_message_to_a_kernel_is_counted_once),
        WITH_RUNTIME(answers_without_a_way_back_are_dead_letters),
        WITH_RUNTIME(messages_to_a_kernel_that_has_ended_are_dead_letters),
        WITH_RUNTIME(what_waits_for_room_is_counted_when_the_kernel_ends),
    };
    return cmocka_run_group_tests_name("ends", tests, open_test_device, close_test_device);
}
