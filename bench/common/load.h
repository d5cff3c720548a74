// SPDX-License-Identifier: Apache-2.0
// The load of other programs on this machine while we measure.
#ifndef INGOT_BENCH_COMMON_LOAD_H
#define INGOT_BENCH_COMMON_LOAD_H

#include <stdint.h>

// The CPU time used so far, to find out how much of it was not ours.
typedef struct bench_load {
    uint64_t ns;
    double busy, ours;  // seconds of CPU time
} bench_load;
bench_load bench_load_now(void);
// The share of all cores that others have used since then, 0 to 1. Children count as ours once they have been waited
// for.
double bench_load_of_others(const bench_load *start);
// Prints a warning if that was much.
void bench_warn_of_load(const bench_load *start);

#endif
