// SPDX-License-Identifier: Apache-2.0
// Wall clocks that jump: by seconds or years, forwards or back, once or all the time.
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "ring-helpers.h"
#include "ring/hlc.h"
#include "ring/rings.h"
#include "ring/steady.h"

static const int64_t second = 1000000000, day = 86400 * second, year = 365 * day;

// ---- A wall clock to be set ----

static _Atomic int64_t shift_ns;
static _Atomic int64_t jitter_ns;
static atomic_uint looks;

static uint64_t shifted_wall(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t jitter = atomic_load(&jitter_ns);
    int64_t apart = atomic_fetch_add(&looks, 1) & 1 ? jitter : -jitter;
    return (uint64_t)((int64_t)now.tv_sec * second + now.tv_nsec + atomic_load(&shift_ns) + apart);
}

// The process starts anew with this wall clock.
static void begin_at(int64_t shift) {
    atomic_store(&shift_ns, shift);
    atomic_store(&jitter_ns, 0);
    igi_ring_set_wall(shifted_wall);
    igi_ring_now_ns();
}

static int use_shifted_wall(void **state) {
    begin_at(0);
    return open_runtime(state);
}

static int use_system_wall(void **state) {
    int failed = close_runtime(state);
    igi_ring_set_wall(NULL);
    return failed;
}

static const struct {
    const char *name;
    int64_t shift, jitter;
} jumps[] = {{"nothing", 0, 0},
             {"a second back", -1, 0},
             {"a second on", 1, 0},
             {"two minutes back", -120, 0},
             {"two minutes on", 120, 0},
             {"a day back", -86400, 0},
             {"a day on", 86400, 0},
             {"twenty years back", -20ll * 365 * 86400, 0},
             {"twenty years on", 20ll * 365 * 86400, 0},
             {"a jitter of a minute", 0, 60},
             {"a jitter of a day", 0, 100000}};

static void jump_to(size_t which) {
    atomic_store(&shift_ns, jumps[which].shift * second);
    atomic_store(&jitter_ns, jumps[which].jitter * second);
}

// ---- Messages ----

// Deadlines count elapsed time, whatever the wall clock is set to.
static void ask_in_time(ig_ring_kernel *kernel, const char *when, ig_hlc_timestamp *last) {
    uint64_t value = 7;
    ig_message question = IG_MESSAGE(1, &value), answer = {0};
    question.deadline_us = 60000000;
    ig_status status = ig_ring_request(kernel, &question, &answer, SECONDS(20));
    if (status != IG_STATUS_OK) fail_msg("after %s: %s", when, ig_status_name(status));
    if (ig_hlc_compare(*last, answer.header.timestamp) >= 0) fail_msg("after %s: answers are not in order", when);
    *last = answer.header.timestamp;
    assert_ok(ig_hlc_update(ig_ring_runtime_clock(rings), answer.header.timestamp, NULL));
    ig_message_clear(&answer);
}

static void every_message_is_answered_whatever_the_wall_clock_does(void **state) {
    (void)state;
    FOR_ALL_WAYS(w) {
        ig_ring_kernel *kernel = launch_way(w, "echo");
        ig_hlc_timestamp last = {0};
        for (size_t i = 0; i < LENGTH(jumps); i++) {
            jump_to(i);
            sleep_ms(2);  // the kernel's time is updated
            for (int k = 0; k < 20; k++) ask_in_time(kernel, jumps[i].name, &last);
            ig_ring_status now = status_of(kernel);
            assert_int_equal(now.invalid + now.expired + now.dead_letters, 0);
            assert_true(ig_ring_latency_quantile(&now, 1) < (uint64_t)day);
        }
        jump_to(0);
        end_kernel(kernel);
    }
}

// A message that waited while the clock was set forward has not waited longer because of it, and an expired one does
// not become valid again when the clock is set back.
static void deadlines_do_not_move_with_the_wall_clock(void **state) {
    (void)state;
    FOR_ALL_WAYS(w) {
        ig_ring_kernel *kernel = launch_way(w, "add");
        ig_ring_slot held;
        assert_ok(ig_ring_reserve(kernel, 8, 0, &held));
        send_u64_within(kernel, 1, 100, 1);
        atomic_store(&shift_ns, -year);
        send_u64_within(kernel, 2, 1, 60000000);
        atomic_store(&shift_ns, year);
        send_u64_within(kernel, 2, 1, 60000000);
        atomic_store(&shift_ns, -year);
        sleep_ms(25);
        ig_ring_cancel(kernel, &held);
        assert_int_equal(receive_u64(kernel), 1);
        assert_int_equal(receive_u64(kernel), 2);
        assert_int_equal(status_of(kernel).expired, 1);
        atomic_store(&shift_ns, 0);
        end_kernel(kernel);
    }
}

// How long a message was kept does not follow from its timestamp, which may be ahead.
static void messages_are_kept_no_longer_when_the_clock_is_ahead(void **state) {
    (void)state;
    ig_ring_runtime *outer = rings;
    assert_ok(ig_ring_runtime_create(device, &(ig_ring_runtime_desc){.inbox_capacity = 4, .pending_ms = 20}, &rings));
    ig_hlc_timestamp ahead = {igi_ring_now_us() + 50000000, 0, 7};
    assert_ok(ig_hlc_update(ig_ring_runtime_clock(rings), ahead, NULL));
    FOR_ALL_WAYS(w) {
        ig_ring_kernel *self = NULL;
        ig_ring_launch_desc from = desc_of(w, "relay"), to = desc_of(w, "echo");
        from.k2k = to.k2k = true;
        from.user = &self;
        ig_ring_kernel *sender = self = launch(&from), *receiver = launch(&to);
        assert_ok(ig_ring_connect(sender, receiver));
        assert_ok(ig_ring_deactivate(receiver));
        for (uint64_t i = 0; i < 6; i++) send_u64(sender, 1, i);
        for (int i = 0; i < 5000 && status_of(sender).undelivered < 2; i++) sleep_ms(1);
        assert_int_equal(status_of(sender).undelivered, 2);
        assert_ok(ig_ring_activate(receiver));
        end_kernel(sender);
        end_kernel(receiver);
    }
    assert_ok(ig_ring_runtime_shutdown(rings));
    rings = outer;
}

// Several threads set a kernel's time. One that was delayed, and sets it late, must not make messages look as if they
// came from the future, and lose them.
static void time_that_is_told_late_loses_no_message(void **state) {
    (void)state;
    ig_ring_runtime *outer = rings;
    assert_ok(ig_ring_runtime_create(device, &(ig_ring_runtime_desc){.inbox_capacity = 4}, &rings));
    FOR_ALL_WAYS(w) {
        ig_ring_kernel *self = NULL;
        ig_ring_launch_desc from = desc_of(w, "relay"), to = desc_of(w, "echo");
        from.k2k = to.k2k = true;
        from.user = &self;
        ig_ring_kernel *sender = self = launch(&from), *receiver = launch(&to);
        assert_ok(ig_ring_connect(sender, receiver));
        assert_ok(ig_ring_deactivate(receiver));
        for (uint64_t i = 0; i < 6; i++) send_u64(sender, 1, i);
        for (int i = 0; i < 50; i++) {
            igi_ring_set_time(sender, igi_ring_now_us() - 10000, igi_ring_horizon_us());
            sleep_ms(1);
        }
        assert_int_equal(status_of(sender).undelivered, 0);
        assert_ok(ig_ring_activate(receiver));
        end_kernel(sender);
        end_kernel(receiver);
    }
    assert_ok(ig_ring_runtime_shutdown(rings));
    rings = outer;
}

// ---- Clocks ----

static void a_clock_never_goes_back_and_never_refuses_itself(void **state) {
    (void)state;
    ig_hlc *clock, *other;
    assert_ok(ig_hlc_create(1, &clock));
    assert_ok(ig_hlc_create(2, &other));
    ig_hlc_timestamp last = ig_hlc_tick(clock), now;
    for (size_t i = 0; i < LENGTH(jumps); i++) {
        jump_to(i);
        for (int k = 0; k < 100; k++) {
            now = ig_hlc_tick(clock);
            assert_true(ig_hlc_compare(last, now) < 0);
            assert_ok(ig_hlc_update(other, now, &last));
            assert_ok(ig_hlc_update(clock, last, &now));
            assert_true(ig_hlc_compare(last, now) < 0);
            last = now;
        }
    }
    ig_hlc_release(clock);
    ig_hlc_release(other);
}

// A computer without a battery for its clock starts in 1970 and learns the time later.
static void a_clock_that_was_wrong_at_first_agrees_with_others_later(void **state) {
    (void)state;
    ig_hlc *clock;
    begin_at(-50 * year);
    assert_ok(ig_hlc_create(1, &clock));
    ig_hlc_timestamp first = ig_hlc_tick(clock), now;
    uint64_t right = first.physical + (uint64_t)(50 * year) / 1000;
    assert_status(ig_hlc_update(clock, (ig_hlc_timestamp){right, 0, 2}, NULL), IG_STATUS_CLOCK_SKEW);
    atomic_store(&shift_ns, 0);
    assert_ok(ig_hlc_update(clock, (ig_hlc_timestamp){right, 0, 2}, &now));
    assert_true(now.physical >= right);
    assert_status(ig_hlc_update(clock, (ig_hlc_timestamp){right + 200000000, 0, 2}, NULL), IG_STATUS_CLOCK_SKEW);
    atomic_store(&shift_ns, -50 * year);
    assert_ok(ig_hlc_update(clock, (ig_hlc_timestamp){right, 0, 2}, NULL));  // no further than it already is
    // Kernels accept what their own node sends, however far ahead its clock is.
    begin_at(-50 * year);
    atomic_store(&shift_ns, 0);
    assert_ok(ig_hlc_update(ig_ring_runtime_clock(rings), (ig_hlc_timestamp){right, 0, 2}, NULL));
    atomic_store(&shift_ns, -50 * year);
    FOR_ALL_WAYS(w) {
        ig_ring_kernel *kernel = launch_way(w, "echo");
        ig_hlc_timestamp last = {right, 0, 0};
        for (int k = 0; k < 20; k++) ask_in_time(kernel, "going back to 1970", &last);
        end_kernel(kernel);
    }
    ig_hlc_release(clock);
}

int main(void) {
#define WITH_WALL(test) cmocka_unit_test_setup_teardown(test, use_shifted_wall, use_system_wall)
    const struct CMUnitTest tests[] = {
        WITH_WALL(every_message_is_answered_whatever_the_wall_clock_does),
        WITH_WALL(deadlines_do_not_move_with_the_wall_clock),
        WITH_WALL(messages_are_kept_no_longer_when_the_clock_is_ahead),
        cmocka_unit_test(time_that_is_told_late_loses_no_message),
        WITH_WALL(a_clock_never_goes_back_and_never_refuses_itself),
        WITH_WALL(a_clock_that_was_wrong_at_first_agrees_with_others_later),
    };
    return cmocka_run_group_tests_name("clocks", tests, open_test_device, close_test_device);
}
