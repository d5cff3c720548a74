// SPDX-License-Identifier: Apache-2.0
// A wall clock that can be set. Monotonic clocks stay as they are.
#ifndef INGOT_TESTS_SOAK_CLOCK_H
#define INGOT_TESTS_SOAK_CLOCK_H

#include <stdint.h>
#include <time.h>

// CLOCK_REALTIME is so far from the real one from now on.
void soak_shift_clock(int64_t seconds);

#endif
