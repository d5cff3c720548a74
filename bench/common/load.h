// SPDX-License-Identifier: Apache-2.0
// How busy others keep this machine while we measure.
#ifndef INGOT_BENCH_COMMON_LOAD_H
#define INGOT_BENCH_COMMON_LOAD_H

#include <stdint.h>

// What the machine has done so far, to tell how much of it was not us.
typedef struct bench_load {
    uint64_t ns;
    double busy, ours;  // seconds of CPU time
} bench_load;
bench_load bench_load_now(void);
// Share of all cores that others used since then, 0 to 1. Children count as ours once they have been waited for.
double bench_load_of_others(const bench_load *start);
// Says so when that was much.
void bench_warn_of_load(const bench_load *start);

#endif
