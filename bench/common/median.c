// SPDX-License-Identifier: Apache-2.0
#include "bench/common/median.h"

#include <stdbool.h>
#include <stdlib.h>

#include "console/output.h"

static int ascending(const void *a, const void *b) {
    double left = *(const double *)a, right = *(const double *)b;
    return left < right ? -1 : left > right;
}

void bench_sort(double *values, size_t count) {
    qsort(values, count, sizeof *values, ascending);
}

double bench_median_of(double *values, size_t count) {
    if (count == 0) return 0;
    bench_sort(values, count);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

double bench_median(uint64_t repeats, double (*measure)(void *context), void *context) {
    double *values = cli_alloc(repeats * sizeof *values);
    bool failed = false;
    for (uint64_t i = 0; i < repeats && !failed; i++) {
        values[i] = measure(context);
        failed = values[i] < 0;
    }
    double median = failed ? -1 : bench_median_of(values, repeats);
    free(values);
    return median;
}
