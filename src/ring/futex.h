// SPDX-License-Identifier: Apache-2.0
// Sleeping until a word changes.
#ifndef INGOT_RING_FUTEX_H
#define INGOT_RING_FUTEX_H

#include <limits.h>
#include <stdint.h>

#include "core/pause.h"

#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// Returns at once if the word has another value; otherwise when woken, after timeout_ns, or spuriously.
static inline void igi_ring_futex_wait(const void *word, uint32_t value, uint64_t timeout_ns) {
    struct timespec timeout = {(time_t)(timeout_ns / 1000000000u), (long)(timeout_ns % 1000000000u)};
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, timeout_ns == UINT64_MAX ? NULL : &timeout, NULL, 0);
}
static inline void igi_ring_futex_wake(const void *word) {
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}
#else
#include <time.h>

// On other systems threads poll every 50 microseconds.
static inline void igi_ring_futex_wait(const void *word, uint32_t value, uint64_t timeout_ns) {
    uint64_t pause = timeout_ns < 50000 ? timeout_ns : 50000;
    if (__atomic_load_n((const uint32_t *)word, __ATOMIC_ACQUIRE) == value)
        nanosleep(&(struct timespec){0, (long)pause}, NULL);
}
static inline void igi_ring_futex_wake(const void *word) {
    (void)word;
}
#endif

#endif
