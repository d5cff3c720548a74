// SPDX-License-Identifier: Apache-2.0
// Linux has this as a system call. Elsewhere, waiters for a word meet at one of a few conditions, chosen by its address.
#include "ring/futex.h"

#if __has_include(<linux/futex.h>) && !defined(IGI_RING_FUTEX_BY_CONDITIONS)
#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void igi_ring_futex_wait(const void *word, uint32_t value, uint64_t timeout_ns) {
    struct timespec timeout = {(time_t)(timeout_ns / 1000000000u), (long)(timeout_ns % 1000000000u)};
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, timeout_ns == UINT64_MAX ? NULL : &timeout, NULL, 0);
}

void igi_ring_futex_wake(const void *word) {
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}
#else
#include "core/clock.h"

enum { PLACES = 64 };

static struct place {
    _Alignas(128) pthread_mutex_t lock;
    pthread_cond_t changed;
} places[PLACES];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void open_places(void) {
    for (int i = 0; i < PLACES; i++) {
        pthread_mutex_init(&places[i].lock, NULL);
        igi_monotonic_cond_init(&places[i].changed);
    }
}

static struct place *place_of(const void *word) {
    pthread_once(&once, open_places);
    return &places[((uint64_t)(uintptr_t)word >> 2) * 0x9e3779b97f4a7c15u >> 58];
}

// No change is missed: whoever changes the word wakes afterwards, under the lock that is held from the comparison on.
void igi_ring_futex_wait(const void *word, uint32_t value, uint64_t timeout_ns) {
    uint64_t deadline = igi_deadline_ns(timeout_ns);
    struct place *place = place_of(word);
    pthread_mutex_lock(&place->lock);
    if (__atomic_load_n((const uint32_t *)word, __ATOMIC_SEQ_CST) == value)
        igi_cond_wait_until(&place->changed, &place->lock, deadline);
    pthread_mutex_unlock(&place->lock);
}

void igi_ring_futex_wake(const void *word) {
    struct place *place = place_of(word);
    pthread_mutex_lock(&place->lock);
    pthread_cond_broadcast(&place->changed);
    pthread_mutex_unlock(&place->lock);
}
#endif
