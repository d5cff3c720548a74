// SPDX-License-Identifier: Apache-2.0
#include "ring/steady.h"

#include <ingot/ring-layout.h>
#include <stdatomic.h>
#include <time.h>

#include "core/clock.h"

static uint64_t system_wall_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t (*_Atomic wall_source)(void);
static _Atomic uint64_t offset;  // from the monotonic clock; 0: not known yet

static uint64_t wall_ns(void) {
    uint64_t (*source)(void) = atomic_load(&wall_source);
    return source ? source() : system_wall_ns();
}

// The first thread to ask decides.
static uint64_t find_offset(void) {
    uint64_t none = 0, found = wall_ns() - igi_now_ns();
    if (!found) found = 1;
    return atomic_compare_exchange_strong(&offset, &none, found) ? found : none;
}

uint64_t igi_ring_now_ns(void) {
    uint64_t known = atomic_load_explicit(&offset, memory_order_relaxed);
    if (!known) known = find_offset();
    return igi_now_ns() + known;
}

uint64_t igi_ring_horizon_us(void) {
    uint64_t steady = igi_ring_now_us(), wall = wall_ns() / 1000, latest = steady > wall ? steady : wall;
    return latest > UINT64_MAX - IG_HLC_SKEW_US ? UINT64_MAX : latest + IG_HLC_SKEW_US;
}

void igi_ring_set_wall(uint64_t (*source)(void)) {
    atomic_store(&wall_source, source);
    atomic_store(&offset, 0);
}
