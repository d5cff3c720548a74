// SPDX-License-Identifier: Apache-2.0
// Sleeping until a word changes: with the system's futexes, and with the conditions that stand in for them elsewhere.
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
// cmocka last: it needs the four headers before it.
#include <cmocka.h>

#include "core/clock.h"
#include "ring/futex.h"

enum { TURNS = 5000, WAITERS = 4 };
static const uint64_t second = 1000000000u;

static void another_value_is_not_waited_for(void **state) {
    (void)state;
    atomic_uint word = 1;
    uint64_t start = igi_now_ns();
    igi_ring_futex_wait(&word, 0, 60 * second);
    assert_true(igi_now_ns() - start < 30 * second);
}

static void a_wait_ends_in_time(void **state) {
    (void)state;
    atomic_uint word = 1;
    uint64_t start = igi_now_ns(), waits = 0;
    for (; igi_now_ns() - start < second / 20; waits++) igi_ring_futex_wait(&word, 1, second / 20);
    assert_true(waits > 0 && waits < 10);  // it sleeps, and does not poll
}

typedef struct player {
    atomic_uint *word;
    unsigned parity;
} player;

// Two threads that alternate: a wake that gets lost stops both.
static void *alternate(void *argument) {
    const player *me = argument;
    for (unsigned i = 0; i < TURNS; i++) {
        unsigned now;
        while ((now = atomic_load(me->word)) % 2 != me->parity) igi_ring_futex_wait(me->word, now, UINT64_MAX);
        atomic_store(me->word, now + 1);
        igi_ring_futex_wake(me->word);
    }
    return NULL;
}

static void no_wake_is_lost(void **state) {
    (void)state;
    atomic_uint word = 0;
    player even = {&word, 0}, odd = {&word, 1};
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, alternate, &even), 0);
    alternate(&odd);
    pthread_join(other, NULL);
    assert_int_equal(atomic_load(&word), 2 * TURNS);
}

static void *wait_for_change(void *word) {
    while (atomic_load((atomic_uint *)word) == 0) igi_ring_futex_wait(word, 0, UINT64_MAX);
    return NULL;
}

static void all_that_wait_are_woken(void **state) {
    (void)state;
    atomic_uint word = 0;
    pthread_t waiters[WAITERS];
    for (int i = 0; i < WAITERS; i++) assert_int_equal(pthread_create(&waiters[i], NULL, wait_for_change, &word), 0);
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    atomic_store(&word, 1);
    igi_ring_futex_wake(&word);
    for (int i = 0; i < WAITERS; i++) pthread_join(waiters[i], NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_value_is_not_waited_for),
        cmocka_unit_test(a_wait_ends_in_time),
        cmocka_unit_test(no_wake_is_lost),
        cmocka_unit_test(all_that_wait_are_woken),
    };
    return cmocka_run_group_tests_name("futex", tests, NULL, NULL);
}
