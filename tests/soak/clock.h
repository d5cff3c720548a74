// SPDX-License-Identifier: Apache-2.0
// A wall clock that can be set. Monotonic clocks stay as they are.
#ifndef INGOT_TESTS_SOAK_CLOCK_H
#define INGOT_TESTS_SOAK_CLOCK_H

#include <stdint.h>
#include <time.h>

// From now on, CLOCK_REALTIME differs from the real one by this much.
void soak_shift_clock(int64_t seconds);

#endif
