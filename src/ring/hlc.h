// SPDX-License-Identifier: Apache-2.0
// Clocks for callers that have read the time already.
#ifndef INGOT_RING_HLC_H
#define INGOT_RING_HLC_H

#include <ingot/ring.h>
#include <time.h>

static inline uint64_t igi_wall_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

ig_hlc_timestamp igi_hlc_tick_at(ig_hlc *clock, uint64_t wall_us);
// The first of `count` new moments, whose logical parts follow each other. pre: count > 0.
ig_hlc_timestamp igi_hlc_tick_many_at(ig_hlc *clock, uint64_t wall_us, uint32_t count);
ig_status igi_hlc_update_at(ig_hlc *clock, ig_hlc_timestamp received, uint64_t wall_us, ig_hlc_timestamp *now);

#endif
