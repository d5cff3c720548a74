// SPDX-License-Identifier: Apache-2.0
// The wall clock of this process, which the soak sets forward and back. Defined here, clock_gettime overrides libc's.
#include "clock.h"

#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Atomic int64_t shift;  // seconds

void soak_shift_clock(int64_t seconds) {
    atomic_store(&shift, seconds);
}

// Where the system call has no number of its own, the clock stays as it is.
#ifdef SYS_clock_gettime
int clock_gettime(clockid_t clock, struct timespec *time) {
    int failed = (int)syscall(SYS_clock_gettime, clock, time);
    if (!failed && clock == CLOCK_REALTIME) time->tv_sec += atomic_load(&shift);
    return failed;
}
#endif
