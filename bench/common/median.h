// SPDX-License-Identifier: Apache-2.0
// Medians of measurements.
#ifndef INGOT_BENCH_COMMON_MEDIAN_H
#define INGOT_BENCH_COMMON_MEDIAN_H

#include <stddef.h>
#include <stdint.h>

// Ascending.
void bench_sort(double *values, size_t count);
// Sorts them; returns 0 if there are none.
double bench_median_of(double *values, size_t count);
// The median of `repeats` calls of measure, which returns one figure, or a negative one if it failed.
double bench_median(uint64_t repeats, double (*measure)(void *context), void *context);

#endif
