// SPDX-License-Identifier: Apache-2.0
// Order statistics of repeated measurements.
#include "timing.h"

#include <assert.h>
#include <stdlib.h>

static int compare(const void *a, const void *b) {
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

// Linear between neighbours, as NumPy's default.
static double quantile(const uint64_t *sorted, size_t count, double q) {
    double place = q * (double)(count - 1);
    size_t below = (size_t)place;
    if (below + 1 >= count) return (double)sorted[count - 1];
    double part = place - (double)below;
    return (double)sorted[below] * (1 - part) + (double)sorted[below + 1] * part;
}

cli_timing cli_timing_of(uint64_t *nanoseconds, size_t runs) {
    assert(runs > 0);
    qsort(nanoseconds, runs, sizeof *nanoseconds, compare);
    cli_timing timing = {
        .runs = runs, .best_ns = (double)nanoseconds[0], .median_ns = quantile(nanoseconds, runs, 0.5)};
    double width = quantile(nanoseconds, runs, 0.9) - quantile(nanoseconds, runs, 0.1);
    timing.spread = timing.median_ns > 0 ? width / timing.median_ns : 0;
    return timing;
}
