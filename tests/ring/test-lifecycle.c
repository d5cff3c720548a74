// SPDX-License-Identifier: Apache-2.0
// Launching, activating, deactivating, terminating; failures and their consequences.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/memory.h"
#include "ring-helpers.h"

// ---- States ----

static void assert_state(const ig_ring_kernel *kernel, ig_ring_state expected) {
    assert_string_equal(ig_ring_state_name(status_of(kernel).state), ig_ring_state_name(expected));
}

static void assert_error_names(const ig_ring_kernel *kernel, const char *a, const char *b) {
    ig_error error = {0};
    assert_status(ig_ring_get_error(kernel, &error), IG_STATUS_WRONG_STATE);
    assert_contains(error.message, a);
    assert_contains(error.message, b);
    ig_error_clear(&error);
}

static void kernels_go_through_their_states(void **state) {
    (void)state;
    FOR_ALL_WAYS(w) {
        ig_ring_launch_desc desc = desc_of(w, "add");
        desc.start_inactive = true;
        ig_ring_kernel *kernel = launch(&desc);
        uint64_t one = 1;
        ig_message message = IG_MESSAGE(1, &one);
        assert_state(kernel, IG_RING_LAUNCHED);
        assert_status(ig_ring_send(kernel, &message, 0, NULL), IG_STATUS_WRONG_STATE);
        assert_status(ig_ring_deactivate(kernel), IG_STATUS_WRONG_STATE);
        assert_error_names(kernel, "is launched", "when active");
        assert_ok(ig_ring_activate(kernel));
        assert_state(kernel, IG_RING_ACTIVE);
        assert_status(ig_ring_activate(kernel), IG_STATUS_WRONG_STATE);
        assert_error_names(kernel, "is active", "when launched, deactivated or failed");
        send_u64(kernel, 1, 1);
        assert_int_equal(receive_u64(kernel), 1);
        assert_ok(ig_ring_deactivate(kernel));
        assert_state(kernel, IG_RING_DEACTIVATED);
        assert_status(ig_ring_send(kernel, &message, 0, NULL), IG_STATUS_WRONG_STATE);
        assert_ok(ig_ring_activate(kernel));
        send_u64(kernel, 1, 5);
        assert_int_equal(receive_u64(kernel), 6);  // the state was kept
        assert_ok(ig_ring_terminate(kernel, IG_RING_DRAIN));
        assert_ok(ig_ring_wait(kernel, SECONDS(20)));
        assert_state(kernel, IG_RING_TERMINATED);
        assert_ok(ig_ring_wait(kernel, 0));
        assert_status(ig_ring_terminate(kernel, IG_RING_DROP), IG_STATUS_WRONG_STATE);
        assert_status(ig_ring_activate(kernel), IG_STATUS_WRONG_STATE);
        assert_status(ig_ring_send(kernel, &message, SECONDS(1), NULL), IG_STATUS_WRONG_STATE);
        ig_message none = {0};
        assert_status(ig_ring_receive(kernel, &none, SECONDS(20)), IG_STATUS_WRONG_STATE);
        ig_ring_kernel_release(kernel);
    }
}

static void deactivated_kernels_keep_their_messages(void **state) {
    (void)state;
    FOR_ALL_WAYS(w) {
        ig_ring_kernel *kernel = launch_way(w, "add");
        ig_ring_slot held;
        assert_ok(ig_ring_reserve(kernel, 8, 0, &held));
        for (uint64_t i = 1; i <= 10; i++) send_u64(kernel, 1, i);
        assert_ok(ig_ring_deactivate(kernel));
        ig_ring_cancel(kernel, &held);
        sleep_ms(5);
        ig_message none = {0};
        assert_status(ig_ring_receive(kernel, &none, 0), IG_STATUS_TIMEOUT);
        assert_int_equal(status_of(kernel).input_depth, 11);
        assert_ok(ig_ring_activate(kernel));
        uint64_t sum = 0;
        for (uint64_t i = 1; i <= 10; i++) assert_int_equal(receive_u64(kernel), sum += i);
        end_kernel(kernel);
    }
}

// Threads that still use a kernel that ended must not affect the next one with its number.
static void numbers_are_used_again_while_the_last_one_leaves(void **state) {
    (void)state;
    FOR_ALL_WAYS(w) {
        for (uint64_t i = 1; i <= 60; i++) {
            ig_ring_kernel *kernel = launch_way(w, "add");
            send_u64(kernel, 1, i);
            assert_ok(ig_ring_terminate(kernel, IG_RING_DRAIN));
            assert_ok(ig_ring_wait(kernel, SECONDS(20)));
            ig_message message = {0};
            assert_ok(ig_ring_receive(kernel, &message, 0));
            assert_int_equal(*(uint64_t *)message.payload, i);
            ig_message_clear(&message);
            ig_ring_kernel_release(kernel);
        }
    }
}

static void draining_handles_what_waits_and_dropping_does_not(void **state) {
    (void)state;
    FOR_ALL_WAYS(w) {
        for (int drop = 0; drop < 2; drop++) {
            ig_ring_kernel *kernel = launch_way(w, "add");
            ig_ring_slot held;
            assert_ok(ig_ring_reserve(kernel, 8, 0, &held));
            for (uint64_t i = 1; i <= 20; i++) send_u64(kernel, 1, i);
            assert_ok(ig_ring_deactivate(kernel));
            ig_ring_cancel(kernel, &held);
            assert_ok(ig_ring_terminate(kernel, drop ? IG_RING_DROP : IG_RING_DRAIN));
            assert_ok(ig_ring_wait(kernel, SECONDS(20)));
            ig_message message = {0};
            for (int i = 1; i <= 20; i++) {
                assert_ok(drop ? ig_ring_receive_dead(kernel, &message) : ig_ring_receive(kernel, &message, 0));
                if (drop) assert_int_equal(message.header.dead_reason, IG_DEAD_DROPPED);
                assert_int_equal(*(uint64_t *)message.payload, drop ? i : i * (i + 1) / 2);
            }
            assert_status(drop ? ig_ring_receive(kernel, &message, 0) : ig_ring_receive_dead(kernel, &message),
                          IG_STATUS_TIMEOUT);
            ig_message_clear(&message);
            ig_ring_kernel_release(kernel);
        }
    }
}

// ---- Many kernels ----

static void kernels_have_names_and_numbers(void **state) {
    (void)state;
    ig_ring_launch_desc desc = desc_of(&ways[0], "echo");
    desc.name = "a";
    ig_ring_kernel *a = launch(&desc), *again;
    ig_error error = {0};
    assert_status(ig_ring_launch(rings, &desc, &again, &error), IG_STATUS_INVALID_ARGUMENT);
    assert_contains(error.message, "'a'");
    desc.name = "b";
    ig_ring_kernel *b = launch(&desc), *found = ig_ring_find(rings, "b"), *all[4];
    assert_ptr_equal(found, b);
    ig_ring_kernel_release(found);
    assert_null(ig_ring_find(rings, "c"));
    assert_int_equal(ig_ring_list(rings, all, 1), 2);
    assert_ptr_equal(all[0], a);
    ig_ring_kernel_release(all[0]);
    assert_int_equal(ig_ring_kernel_id(b), 1);
    end_kernel(a);
    desc.name = "c";
    ig_ring_kernel *c = launch(&desc);
    assert_int_equal(ig_ring_kernel_id(c), 0);  // a's number
    end_kernel(b);
    end_kernel(c);
    ig_error_clear(&error);
}

static void bad_launches_are_explained(void **state) {
    (void)state;
    ig_ring_launch_desc good = desc_of(&ways[2], "echo");
    static const struct {
        ig_status status;
        const char *part;
    } expected[] = {{IG_STATUS_INVALID_ARGUMENT, "name"},          {IG_STATUS_INVALID_ARGUMENT, "exactly one"},
                    {IG_STATUS_NOT_FOUND, "echo_kernel"},          {IG_STATUS_COMPILE_FAILED, "wrong"},
                    {IG_STATUS_INVALID_ARGUMENT, "powers of two"}, {IG_STATUS_UNSUPPORTED, "larger block"},
                    {IG_STATUS_NOT_FOUND, "INGOT_RING_KERNEL"},    {IG_STATUS_INVALID_ARGUMENT, "65536"},
                    {IG_STATUS_THREADGROUP_TOO_LARGE, "2000"},     {IG_STATUS_UNSUPPORTED, "variables of its own"}};
    ig_ring_launch_desc bad[LENGTH(expected)];
    for (size_t i = 0; i < LENGTH(bad); i++) bad[i] = good;
    bad[0].name = "";
    bad[1].path = "x.metal";
    bad[2].kernel = "missing";
    bad[3].source = "void wrong(\n";
    bad[4].input_capacity = 100;
    bad[5].grid = 2;
    bad[6].source = "#include <metal_stdlib>\nkernel void k() {}\n";
    bad[7].max_payload = 65537;
    bad[8].block = 2000;
    bad[9] = desc_of(&ways[0], "echo");
    bad[9].shared_memory = 1024;
    for (size_t i = 0; i < LENGTH(bad); i++) {
        ig_ring_kernel *kernel = (ig_ring_kernel *)&bad;
        ig_error error = {0};
        ig_status status = ig_ring_launch(rings, &bad[i], &kernel, &error);
        if (status != expected[i].status) fail_msg("launch %zu: %s", i, ig_status_name(status));
        assert_ptr_equal(kernel, &bad);
        if (i != 3) assert_contains(error.message, expected[i].part);
        ig_error_clear(&error);
    }
    assert_int_equal(ig_ring_list(rings, NULL, 0), 0);
    assert_status(ig_ring_runtime_create(device, &(ig_ring_runtime_desc){.inbox_capacity = 3}, &(ig_ring_runtime *){0}),
                  IG_STATUS_INVALID_ARGUMENT);
}

static const char mirror_source[] =
    "#include <ingot/ring>\n"
    "using namespace metal;\n"
    "void mirror(thread ring::context &context) {\n"
    "    threadgroup uint *all = context.shared<uint>();\n"
    "    uint i = context.thread_index(), n = context.thread_count();\n"
    "    all[i] = *context.payload<uint>() + i;\n"
    "    threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "    device uint *out = context.open_reply<uint>(1, n);\n"
    "    if (out) out[i] = all[n - 1 - i];\n"
    "}\n"
    "INGOT_RING_KERNEL(mirror_kernel, mirror)\n";

static void expect_mirrored(ig_ring_kernel *kernel, uint32_t first, uint32_t block) {
    ig_message question = IG_MESSAGE(1, &first), answer = {0};
    assert_ok(ig_ring_send(kernel, &question, SECONDS(20), NULL));
    assert_ok(ig_ring_receive(kernel, &answer, SECONDS(20)));
    assert_int_equal(answer.header.payload_size, block * sizeof(uint32_t));
    for (uint32_t i = 0; i < block; i++) assert_int_equal(((const uint32_t *)answer.payload)[i], first + block - 1 - i);
    ig_message_clear(&answer);
}

static void threads_of_a_block_share_memory(void **state) {
    (void)state;
    static const uint32_t blocks[] = {1, 48, 256};
    for (size_t b = 0; b < LENGTH(blocks); b++)
        for (int mode = 0; mode < 2; mode++) {
            ig_ring_launch_desc desc = {.name = "mirror",
                                        .kernel = "mirror_kernel",
                                        .source = mirror_source,
                                        .mode = mode ? IG_RING_EVENT_DRIVEN : IG_RING_PERSISTENT,
                                        .block = blocks[b],
                                        .shared_memory = blocks[b] * (uint32_t)sizeof(uint32_t)};
            ig_ring_kernel *kernel = launch(&desc);
            expect_mirrored(kernel, 1000, blocks[b]);
            expect_mirrored(kernel, 7, blocks[b]);
            end_kernel(kernel);
        }
}

static void more_shared_memory_than_there_is_is_refused(void **state) {
    (void)state;
    ig_ring_launch_desc desc = {
        .name = "mirror", .kernel = "mirror_kernel", .source = mirror_source, .block = 32, .shared_memory = 1 << 24};
    ig_ring_kernel *kernel = NULL;
    ig_error error = {0};
    assert_status(ig_ring_launch(rings, &desc, &kernel, &error), IG_STATUS_THREADGROUP_TOO_LARGE);
    assert_contains(error.message, "16777216");
    ig_error_clear(&error);
}

static void a_runtime_has_room_for_as_many_kernels_as_it_says(void **state) {
    (void)state;
    ig_ring_runtime *outer = rings;
    assert_ok(ig_ring_runtime_create(device, &(ig_ring_runtime_desc){.max_kernels = 2}, &rings));
    ig_ring_launch_desc desc = desc_of(&ways[1], "echo");
    ig_ring_kernel *kernels[3];
    const char *const names[] = {"a", "b", "c"};
    for (int lap = 0; lap < 3; lap++) {
        for (int i = 0; i < 2; i++) {
            desc.name = names[i];
            kernels[i] = launch(&desc);
        }
        desc.name = names[2];
        ig_error error = {0};
        assert_status(ig_ring_launch(rings, &desc, &kernels[2], &error), IG_STATUS_OUT_OF_RANGE);
        ig_error_clear(&error);
        for (int i = 0; i < 2; i++) end_kernel(kernels[i]);
    }
    assert_ok(ig_ring_runtime_shutdown(rings));
    rings = outer;
}

// ---- Shutdown ----

static void shutdown_ends_kernels_with_messages_in_flight(void **state) {
    (void)state;
    FOR_ALL_WAYS(w) {
        ig_ring_runtime *outer = rings;
        assert_ok(ig_ring_runtime_create(device, NULL, &rings));
        ig_ring_kernel *kernel = launch_way(w, "echo");
        for (uint64_t i = 0; i < 500; i++) send_u64(kernel, 1, i);
        assert_ok(ig_ring_runtime_shutdown(rings));
        assert_state(kernel, IG_RING_TERMINATED);
        uint64_t value = 1;
        ig_message message = IG_MESSAGE(1, &value);
        assert_status(ig_ring_send(kernel, &message, 0, NULL), IG_STATUS_WRONG_STATE);
        ig_ring_kernel_release(kernel);  // the handle outlives the runtime
        rings = outer;
    }
}

static void *receive_for_ever(void *argument) {
    ig_message message = {0};
    while (ig_ring_receive(argument, &message, IG_FOREVER) == IG_STATUS_OK);
    ig_message_clear(&message);
    return NULL;
}

static void sleeping_receivers_learn_of_the_end(void **state) {
    (void)state;
    FOR_ALL_WAYS(w) {
        ig_ring_kernel *kernel = launch_way(w, "echo");
        pthread_t receivers[3];
        for (int i = 0; i < 3; i++) assert_int_equal(pthread_create(&receivers[i], NULL, receive_for_ever, kernel), 0);
        for (uint64_t i = 0; i < 50; i++) send_u64(kernel, 1, i);
        sleep_ms(3);
        assert_ok(ig_ring_terminate(kernel, IG_RING_DRAIN));
        for (int i = 0; i < 3; i++) pthread_join(receivers[i], NULL);
        assert_ok(ig_ring_wait(kernel, SECONDS(20)));
        ig_ring_kernel_release(kernel);
    }
}

// ---- Memory ----

static void launches_survive_every_failed_allocation(void **state) {
    (void)state;
    ig_ring_kernel *first = launch_way(&ways[2], "echo");  // compiled, so that the rest is quick
    FOR_ALL_WAYS(w) {
        if (w->block > 1 || w->mode == IG_RING_EVENT_DRIVEN) continue;
        ig_ring_launch_desc desc = desc_of(w, "echo");
        desc.name = "second";
        ig_status status = IG_STATUS_OUT_OF_MEMORY;
        // Most allocations for kernels in MSL are the compiler's, which has tests of its own.
        uint64_t step = w->in_c ? 1 : 7;
        for (uint64_t n = 1; status != IG_STATUS_OK && n < 5000; n += step) {
            ig_ring_kernel *kernel = NULL;
            ig_error error = {0};
            igi_alloc_fail_at(n);
            status = ig_ring_launch(rings, &desc, &kernel, &error);
            igi_alloc_fail_at(0);
            ig_error_clear(&error);
            if (status == IG_STATUS_OK) end_kernel(kernel);
        }
        assert_ok(status);
        send_u64(first, 1, 5);
        assert_int_equal(receive_u64(first), 5);
    }
    end_kernel(first);
    ig_status status = IG_STATUS_OUT_OF_MEMORY;
    for (uint64_t n = 1; status != IG_STATUS_OK && n < 1000; n++) {
        ig_ring_runtime *made;
        igi_alloc_fail_at(n);
        status = ig_ring_runtime_create(device, NULL, &made);
        igi_alloc_fail_at(0);
        if (status == IG_STATUS_OK) assert_ok(ig_ring_runtime_shutdown(made));
    }
    assert_ok(status);
}

// ---- Failing handlers ----

static void a_failed_handler_stops_its_kernel_and_keeps_its_queue(void **state) {
    (void)state;
    FOR_ALL_WAYS(w) {
        ig_ring_kernel *kernel = launch_way(w, "fail");
        ig_ring_slot held;
        assert_ok(ig_ring_reserve(kernel, 8, 0, &held));
        send_u64(kernel, 1, 0);
        send_u64(kernel, 2, 300);
        send_u64(kernel, 3, 0);
        ig_ring_cancel(kernel, &held);
        assert_int_equal(receive_u64(kernel), 0);
        assert_status(ig_ring_wait(kernel, SECONDS(20)), IG_STATUS_INVALID_ARGUMENT);
        assert_state(kernel, IG_RING_FAILED);
        ig_ring_status status = status_of(kernel);
        assert_int_equal(status.last_error, 300);
        assert_int_equal(status.errors, 1);
        assert_int_equal(status.restarts, 0);
        ig_error error = {0};
        ig_ring_get_error(kernel, &error);
        assert_contains(error.message, "300");
        ig_error_clear(&error);
        ig_message message = {0};
        assert_ok(ig_ring_receive_dead(kernel, &message));
        assert_int_equal(message.header.dead_reason, IG_DEAD_HANDLER);
        assert_int_equal(message.header.message_type, 2);
        assert_status(ig_ring_receive(kernel, &message, SECONDS(1)), IG_STATUS_WRONG_STATE);
        assert_ok(ig_ring_activate(kernel));
        assert_ok(ig_ring_receive(kernel, &message, SECONDS(20)));
        assert_int_equal(message.header.message_type, 3);
        ig_message_clear(&message);
        end_kernel(kernel);
    }
}

static void failed_kernels_restart_within_their_budget(void **state) {
    (void)state;
    FOR_ALL_WAYS(w) {
        ig_ring_launch_desc desc = desc_of(w, "fail");
        desc.restart = IG_RESTART_ON_FAILURE;
        desc.max_restarts = 2;
        ig_ring_kernel *kernel = launch(&desc);
        for (uint64_t i = 0; i < 2; i++) {
            send_u64(kernel, 1, 500);
            send_u64(kernel, 1, 0);
            assert_int_equal(receive_u64(kernel), 0);
        }
        assert_int_equal(status_of(kernel).restarts, 2);
        send_u64(kernel, 1, 501);
        assert_status(ig_ring_wait(kernel, SECONDS(20)), IG_STATUS_INVALID_ARGUMENT);
        assert_int_equal(status_of(kernel).errors, 3);
        assert_int_equal(status_of(kernel).dead_letters, 3);
        assert_ok(ig_ring_terminate(kernel, IG_RING_DROP));
        assert_ok(ig_ring_wait(kernel, SECONDS(20)));
        ig_ring_kernel_release(kernel);
    }
}

static void check_misbehaviour(const way *w, uint64_t type, ig_dead_reason reason, ig_status error) {
    ig_ring_launch_desc desc = desc_of(w, "add");
    desc.restart = IG_RESTART_ON_FAILURE;
    desc.max_restarts = 1;
    desc.deadline_ns = 20000000;
    ig_ring_kernel *kernel = launch(&desc);
    send_u64(kernel, 1, 7);
    assert_int_equal(receive_u64(kernel), 7);
    send_u64(kernel, type, 1);
    send_u64(kernel, 1, 5);
    assert_int_equal(receive_u64(kernel), 5);  // started anew, with its queue kept
    assert_int_equal(status_of(kernel).restarts, 1);
    send_u64(kernel, type, 2);
    assert_status(ig_ring_wait(kernel, SECONDS(30)), error);
    ig_message dead = {0};
    for (uint64_t i = 1; i <= 2; i++) {
        assert_ok(ig_ring_receive_dead(kernel, &dead));
        assert_string_equal(ig_dead_reason_text(dead.header.dead_reason), ig_dead_reason_text(reason));
        assert_int_equal(*(uint64_t *)dead.payload, i);
    }
    ig_message_clear(&dead);
    assert_ok(ig_ring_terminate(kernel, IG_RING_DRAIN));
    assert_ok(ig_ring_wait(kernel, SECONDS(20)));
    ig_ring_kernel_release(kernel);
}

static void handlers_that_never_return_are_stopped(void **state) {
    (void)state;
    FOR_ALL_WAYS(w)
    if (!w->in_c) check_misbehaviour(w, 99, IG_DEAD_DEADLINE, IG_STATUS_TIMEOUT);
}

static void kernels_whose_handler_never_returns_can_be_ended(void **state) {
    (void)state;
    FOR_ALL_WAYS(w) {
        if (w->in_c) continue;
        ig_ring_kernel *kernel = launch_way(w, "add");
        send_u64(kernel, 99, 1);
        send_u64(kernel, 1, 2);
        assert_ok(ig_ring_terminate(kernel, IG_RING_DROP));
        assert_ok(ig_ring_wait(kernel, SECONDS(30)));
        assert_int_equal(status_of(kernel).dead_letters, 2);
        ig_ring_kernel_release(kernel);
    }
}

static void handlers_that_touch_foreign_memory_are_stopped(void **state) {
    (void)state;
    use_fault_handlers();
    FOR_ALL_WAYS(w)
    if (!w->in_c) check_misbehaviour(w, 98, IG_DEAD_FAULT, IG_STATUS_KERNEL_FAULT);
}

// ---- Handlers that cannot be stopped ----

static atomic_int held_up, may_return;

static void wait_until_told(ig_ring_context *context, void *user) {
    (void)context, (void)user;
    atomic_fetch_add(&held_up, 1);
    while (!atomic_load(&may_return)) sleep_ms(1);
    atomic_fetch_sub(&held_up, 1);
}

static uint64_t milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void open_impatient_runtime(ig_ring_runtime **runtime) {
    assert_ok(ig_ring_runtime_create(device, &(ig_ring_runtime_desc){.stop_ms = 60}, runtime));
}

static ig_ring_kernel *launch_waiting(ig_ring_runtime *runtime, ig_ring_mode mode, const char *name) {
    ig_ring_kernel *kernel;
    ig_ring_launch_desc desc = {.name = name, .handler = wait_until_told, .mode = mode};
    assert_ok(ig_ring_launch(runtime, &desc, &kernel, NULL));
    int before = atomic_load(&held_up);
    send_u64(kernel, 1, 1);
    for (int i = 0; i < 10000 && atomic_load(&held_up) == before; i++) sleep_ms(1);
    return kernel;
}

static void assert_handler_is_blamed(const ig_ring_kernel *kernel) {
    ig_error error = {0};
    assert_status(ig_ring_get_error(kernel, &error), IG_STATUS_TIMEOUT);
    assert_contains(error.message, ig_ring_kernel_name(kernel));
    assert_contains(error.message, "has not returned within 0.060 s");
    assert_contains(error.message, "a handler in C cannot be stopped");
    ig_error_clear(&error);
}

// Nothing that ends a kernel waits forever for a handler. What the handler holds is released when it returns.
static void handlers_in_c_that_do_not_return_hold_nobody_up(void **state) {
    (void)state;
    for (int mode = IG_RING_PERSISTENT; mode <= IG_RING_EVENT_DRIVEN; mode++) {
        ig_ring_runtime *runtime;
        open_impatient_runtime(&runtime);
        atomic_store(&may_return, 0);
        ig_ring_kernel *kernel = launch_waiting(runtime, (ig_ring_mode)mode, "one");
        ig_ring_kernel *other = launch_waiting(runtime, (ig_ring_mode)mode, "other");
        uint64_t begun = milliseconds();
        assert_status(ig_ring_deactivate(kernel), IG_STATUS_TIMEOUT);
        assert_state(kernel, IG_RING_DEACTIVATED);
        assert_handler_is_blamed(kernel);
        assert_status(ig_ring_deactivate(kernel), IG_STATUS_TIMEOUT);
        assert_ok(ig_ring_terminate(kernel, IG_RING_DROP));
        assert_status(ig_ring_wait(kernel, IG_FOREVER), IG_STATUS_TIMEOUT);
        assert_status(ig_ring_runtime_shutdown(runtime), IG_STATUS_TIMEOUT);
        assert_true(milliseconds() - begun < 10000);
        assert_handler_is_blamed(other);
        assert_state(other, IG_RING_TERMINATING);
        atomic_store(&may_return, 1);
        for (int i = 0; i < 10000 && status_of(other).state != IG_RING_TERMINATED; i++) sleep_ms(1);
        assert_state(other, IG_RING_TERMINATED);
        for (int i = 0; i < 10000 && status_of(kernel).state != IG_RING_TERMINATED; i++) sleep_ms(1);
        assert_state(kernel, IG_RING_TERMINATED);
        ig_ring_kernel_release(kernel);
        ig_ring_kernel_release(other);
    }
}

static void *shut_down(void *runtime) {
    return (void *)(uintptr_t)ig_ring_runtime_shutdown(runtime);
}

static void launches_and_shutdowns_may_meet(void **state) {
    (void)state;
    for (int i = 0; i < 60; i++) {
        ig_ring_runtime *runtime;
        pthread_t thread;
        assert_ok(ig_ring_runtime_create(device, NULL, &runtime));
        ig_ring_launch_desc desc = desc_of(&ways[i % 4], "echo");
        ig_ring_kernel *kernel = NULL;
        ig_error error = {0};
        ig_ring_runtime_retain(runtime);
        assert_int_equal(pthread_create(&thread, NULL, shut_down, runtime), 0);
        ig_status status = ig_ring_launch(runtime, &desc, &kernel, &error);
        if (status != IG_STATUS_OK) assert_status(status, IG_STATUS_WRONG_STATE);
        void *result;
        pthread_join(thread, &result);
        assert_ok((ig_status)(uintptr_t)result);
        if (status == IG_STATUS_OK) assert_ok(ig_ring_wait(kernel, SECONDS(20)));
        ig_ring_kernel_release(kernel);
        ig_ring_runtime_release(runtime);
        ig_error_clear(&error);
    }
}

// In MSL they are stopped. If one is not, shutdown still ends.
static void shutdown_takes_no_longer_than_it_may_whatever_a_handler_does(void **state) {
    (void)state;
    static const char endless[] =
        "#include <ingot/ring>\n"
        "void never(thread ring::context &context) {\n"
        "    device uint *words = context.state<uint>();\n"
        "    for (uint i = 1; i != 4096; i += 2) words[i & 7] = i;\n"
        "}\n"
        "INGOT_RING_KERNEL(never, never)\n";
    for (int mode = IG_RING_PERSISTENT; mode <= IG_RING_EVENT_DRIVEN; mode++) {
        ig_ring_runtime *runtime;
        ig_ring_kernel *kernel;
        assert_ok(ig_ring_runtime_create(device, &(ig_ring_runtime_desc){.stop_ms = 1000}, &runtime));
        ig_ring_launch_desc desc = {.name = "never", .source = endless, .block = 1, .mode = (ig_ring_mode)mode};
        assert_ok(ig_ring_launch(runtime, &desc, &kernel, NULL));
        send_u64(kernel, 1, 1);
        for (int i = 0; i < 10000 && !status_of(kernel).in_flight; i++) sleep_ms(1);
        uint64_t begun = milliseconds();
        ig_status status = ig_ring_runtime_shutdown(runtime);
        assert_true(status == IG_STATUS_OK || status == IG_STATUS_TIMEOUT);
        assert_true(milliseconds() - begun < 10000);
        ig_ring_kernel_release(kernel);
    }
}

// ---- Under traffic ----

typedef struct traffic {
    ig_ring_kernel *kernel;
    uint64_t sent;
} traffic;

static void *send_until_it_ends(void *argument) {
    traffic *t = argument;
    for (;;) {
        ig_message message = IG_MESSAGE(1, &t->sent);
        ig_status status = ig_ring_send(t->kernel, &message, 1000000, NULL);
        if (status == IG_STATUS_WRONG_STATE) return NULL;
        t->sent += status == IG_STATUS_OK;
    }
}

static void terminating_during_traffic_loses_nothing(void **state) {
    (void)state;
    FOR_ALL_WAYS(w) {
        ig_ring_kernel *kernel = launch_way(w, "echo");
        traffic senders[3] = {{kernel, 0}, {kernel, 0}, {kernel, 0}};
        pthread_t threads[3];
        for (int i = 0; i < 3; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, send_until_it_ends, &senders[i]), 0);
        uint64_t received = 0;
        ig_message message = {0};
        for (int i = 0; i < 100; i++) {
            assert_ok(ig_ring_receive(kernel, &message, SECONDS(20)));
            received++;
        }
        assert_ok(ig_ring_terminate(kernel, IG_RING_DRAIN));
        while (ig_ring_receive(kernel, &message, SECONDS(20)) == IG_STATUS_OK) received++;
        uint64_t sent = 0;
        for (int i = 0; i < 3; i++) {
            pthread_join(threads[i], NULL);
            sent += senders[i].sent;
        }
        // A message that was sent while the kernel ended is counted there, whether or not it was handled.
        ig_ring_status last = status_of(kernel);
        assert_int_equal(received, last.processed);
        assert_int_equal(sent, last.processed + last.input_depth);
        ig_message_clear(&message);
        ig_ring_kernel_release(kernel);
    }
}

int main(void) {
#define WITH_RUNTIME(test) cmocka_unit_test_setup_teardown(test, open_runtime, close_runtime)
    const struct CMUnitTest tests[] = {
        WITH_RUNTIME(kernels_go_through_their_states),
        WITH_RUNTIME(deactivated_kernels_keep_their_messages),
        WITH_RUNTIME(numbers_are_used_again_while_the_last_one_leaves),
        WITH_RUNTIME(draining_handles_what_waits_and_dropping_does_not),
        WITH_RUNTIME(kernels_have_names_and_numbers),
        WITH_RUNTIME(bad_launches_are_explained),
        WITH_RUNTIME(threads_of_a_block_share_memory),
        WITH_RUNTIME(more_shared_memory_than_there_is_is_refused),
        WITH_RUNTIME(a_runtime_has_room_for_as_many_kernels_as_it_says),
        WITH_RUNTIME(shutdown_ends_kernels_with_messages_in_flight),
        WITH_RUNTIME(sleeping_receivers_learn_of_the_end),
        WITH_RUNTIME(launches_survive_every_failed_allocation),
        WITH_RUNTIME(a_failed_handler_stops_its_kernel_and_keeps_its_queue),
        WITH_RUNTIME(failed_kernels_restart_within_their_budget),
        WITH_RUNTIME(handlers_that_never_return_are_stopped),
        WITH_RUNTIME(kernels_whose_handler_never_returns_can_be_ended),
        WITH_RUNTIME(handlers_that_touch_foreign_memory_are_stopped),
        WITH_RUNTIME(terminating_during_traffic_loses_nothing),
        WITH_RUNTIME(handlers_in_c_that_do_not_return_hold_nobody_up),
        WITH_RUNTIME(launches_and_shutdowns_may_meet),
        // May leave threads that nothing can stop.
        WITH_RUNTIME(shutdown_takes_no_longer_than_it_may_whatever_a_handler_does),
    };
    return cmocka_run_group_tests_name("lifecycle", tests, open_test_device, close_test_device);
}
