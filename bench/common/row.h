// SPDX-License-Identifier: Apache-2.0
// One measured case with its peers, and how it is reported.
#ifndef INGOT_BENCH_COMMON_ROW_H
#define INGOT_BENCH_COMMON_ROW_H

#include <stdbool.h>
#include <stddef.h>

enum { BENCH_MAX_PEERS = 16 };

typedef struct bench_peer {
    const char *name;
    double value;
    double ratio;  // measured directly, above 1 where Ingot is better; 0: that of the values
} bench_peer;

// One measured case, and the same work done by others in the same run.
typedef struct bench_row {
    const char *suite, *name;
    double value;
    const char *unit;
    bool lower_is_better;
    bench_peer peers[BENCH_MAX_PEERS];
    size_t peer_count;
} bench_row;

// Adds nothing if the value is not positive.
void bench_add_peer(bench_row *row, const char *name, double value);
void bench_add_compared_peer(bench_row *row, bench_peer peer);
// Above 1: Ingot is better.
double bench_ratio(const bench_row *row, const bench_peer *peer);
void bench_report(const bench_row *row);

#endif
