// SPDX-License-Identifier: Apache-2.0
// Geometric means over the cases that each peer ran, and Ingot's worst case.
#ifndef INGOT_BENCH_COMMON_SUMMARY_H
#define INGOT_BENCH_COMMON_SUMMARY_H

#include "bench/common/row.h"

// Ratios to each peer, by groups of cases, for the means at the end.
enum { BENCH_MAX_MEANS = 48 };
typedef struct bench_mean {
    char peer[32];
    const char *group, *worst_case;
    double logarithms, worst;
    size_t count;
} bench_mean;
typedef struct bench_summary {
    const char *suite;
    bench_mean means[BENCH_MAX_MEANS];
    size_t count;
} bench_summary;
// `name` and `group` ("": one for all) are kept, not copied.
void bench_summary_add(bench_summary *summary, const bench_row *row, const char *name, const char *group);
void bench_summary_report(const bench_summary *summary);

#endif
