// SPDX-License-Identifier: Apache-2.0
// Monotonic time in nanoseconds.
#ifndef INGOT_CORE_CLOCK_H
#define INGOT_CORE_CLOCK_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

static inline uint64_t igi_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

// The time `timeout_ns` from now; a timeout too long to represent (IG_FOREVER) gives UINT64_MAX.
static inline uint64_t igi_deadline_ns(uint64_t timeout_ns) {
    uint64_t deadline;
    return __builtin_add_overflow(igi_now_ns(), timeout_ns, &deadline) ? UINT64_MAX : deadline;
}

static inline struct timespec igi_timespec(uint64_t ns) {
    return (struct timespec){.tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u)};
}

// Initialises a condition for igi_cond_wait_until.
static inline void igi_monotonic_cond_init(pthread_cond_t *condition) {
#if _POSIX_CLOCK_SELECTION > 0
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &monotonic);
    pthread_condattr_destroy(&monotonic);
#else
    pthread_cond_init(condition, NULL);
#endif
}

#if !(_POSIX_CLOCK_SELECTION > 0)
static inline int igi_cond_wait_for(pthread_cond_t *condition, pthread_mutex_t *lock, uint64_t left_ns) {
#ifdef IGI_HAS_PTHREAD_COND_TIMEDWAIT_RELATIVE_NP
    struct timespec left = igi_timespec(left_ns);
    return pthread_cond_timedwait_relative_np(condition, lock, &left);
#else
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    struct timespec until = igi_timespec((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec + left_ns);
    return pthread_cond_timedwait(condition, lock, &until);
#endif
}
#endif

// Returns ETIMEDOUT once igi_now_ns has passed the deadline, which never happens for UINT64_MAX.
static inline int igi_cond_wait_until(pthread_cond_t *condition, pthread_mutex_t *lock, uint64_t deadline_ns) {
    if (deadline_ns == UINT64_MAX) return pthread_cond_wait(condition, lock);
#if _POSIX_CLOCK_SELECTION > 0
    struct timespec until = igi_timespec(deadline_ns);
    return pthread_cond_timedwait(condition, lock, &until);
#else
    uint64_t now = igi_now_ns(), left = deadline_ns > now ? deadline_ns - now : 0;
    return igi_cond_wait_for(condition, lock, left);
#endif
}

#endif
