// SPDX-License-Identifier: Apache-2.0
// Points in time: nanoseconds of the monotonic clock, or of the wall clock with the highest bit set.
#include "object.h"

#include <errno.h>

#define WALL (1ULL << 63)

static uint64_t nanoseconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * NSEC_PER_SEC + (uint64_t)now.tv_nsec;
}

uint64_t igi_dispatch_now(void) {
    return nanoseconds(CLOCK_MONOTONIC);
}

// Times outside of the representable range are clamped to it.
static uint64_t moved(uint64_t time, int64_t delta) {
    if (delta >= 0) return time + (uint64_t)delta < WALL ? time + (uint64_t)delta : DISPATCH_TIME_FOREVER;
    uint64_t back = (uint64_t)0 - (uint64_t)delta;
    return time > back ? time - back : 1;
}

dispatch_time_t dispatch_time(dispatch_time_t when, int64_t delta) {
    if (when == DISPATCH_TIME_FOREVER) return when;
    if (!(when & WALL)) return moved(when == DISPATCH_TIME_NOW ? igi_dispatch_now() : when, delta);
    uint64_t time = moved(when & ~WALL, delta);
    return time == DISPATCH_TIME_FOREVER ? time : time | WALL;
}

dispatch_time_t dispatch_walltime(const struct timespec *when, int64_t delta) {
    uint64_t time =
        when ? (uint64_t)when->tv_sec * NSEC_PER_SEC + (uint64_t)when->tv_nsec : nanoseconds(CLOCK_REALTIME);
    return dispatch_time(time | WALL, delta);
}

static uint64_t on_monotonic_clock(dispatch_time_t time) {
    if (!(time & WALL)) return time;
    int64_t left = (int64_t)(time & ~WALL) - (int64_t)nanoseconds(CLOCK_REALTIME);
    return left > 0 ? igi_dispatch_now() + (uint64_t)left : 1;
}

void igi_dispatch_condition_init(pthread_cond_t *condition) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

bool igi_dispatch_wait(pthread_cond_t *condition, pthread_mutex_t *lock, dispatch_time_t until) {
    if (until == DISPATCH_TIME_FOREVER) return pthread_cond_wait(condition, lock) == 0;
    if (until == DISPATCH_TIME_NOW) return false;
    uint64_t time = on_monotonic_clock(until);
    struct timespec limit = {(time_t)(time / NSEC_PER_SEC), (long)(time % NSEC_PER_SEC)};
    return pthread_cond_timedwait(condition, lock, &limit) != ETIMEDOUT;
}
