// SPDX-License-Identifier: Apache-2.0
// The time of this process for ring kernels: it begins at the wall clock's time and then runs with the monotonic clock,
// so that setting the wall clock, in either direction, changes neither the order of messages nor any deadline.
#ifndef INGOT_RING_STEADY_H
#define INGOT_RING_STEADY_H

#include <stdint.h>

// Nanoseconds since 1970, as the wall clock had it when the process first asked.
uint64_t igi_ring_now_ns(void);
static inline uint64_t igi_ring_now_us(void) {
    return igi_ring_now_ns() / 1000;
}

// The latest physical time that a timestamp of another node may have: IG_HLC_SKEW_US past this process' time or past
// the wall clock, whichever is later. If the wall clock was wrong when the process began and has been corrected since,
// nodes whose clocks are right are not refused.
uint64_t igi_ring_horizon_us(void);

// For tests: uses this function as the wall clock, in nanoseconds, and starts anew; NULL is the system's clock.
void igi_ring_set_wall(uint64_t (*wall_ns)(void));

#endif
