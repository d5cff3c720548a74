// SPDX-License-Identifier: Apache-2.0
// The clock that programs for a Mac use for measurements: here nanoseconds of the monotonic clock.
#ifndef INGOT_MACH_TIME_H
#define INGOT_MACH_TIME_H

#include <mach/mach.h>
#include <stdint.h>
#include <time.h>

typedef struct mach_timebase_info {
    uint32_t numer, denom;
} mach_timebase_info_data_t, *mach_timebase_info_t;

static inline kern_return_t mach_timebase_info(mach_timebase_info_t info) {
    info->numer = info->denom = 1;
    return KERN_SUCCESS;
}

static inline uint64_t mach_absolute_time(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif
