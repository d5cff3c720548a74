// SPDX-License-Identifier: Apache-2.0
// Geometric means over the cases that each peer ran, and Ingot's worst case.
#include "bench/common/summary.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "console/output.h"

static bench_mean *find(bench_summary *summary, const char *peer, const char *group) {
    for (size_t i = 0; i < summary->count; i++) {
        bench_mean *mean = &summary->means[i];
        if (strcmp(mean->peer, peer) == 0 && strcmp(mean->group, group) == 0) return mean;
    }
    if (summary->count == BENCH_MAX_MEANS) return NULL;
    bench_mean *made = &summary->means[summary->count++];
    *made = (bench_mean){.worst = INFINITY, .group = group};
    snprintf(made->peer, sizeof made->peer, "%s", peer);
    return made;
}

void bench_summary_add(bench_summary *summary, const bench_row *row, const char *name, const char *group) {
    for (size_t i = 0; i < row->peer_count; i++) {
        bench_mean *mean = find(summary, row->peers[i].name, group);
        if (!mean) continue;
        double ratio = bench_ratio(row, &row->peers[i]);
        mean->logarithms += log(ratio);
        mean->count++;
        if (ratio >= mean->worst) continue;
        mean->worst = ratio;
        mean->worst_case = name;
    }
}

// A bench row with the worst case in addition.
static void report_json(const char *suite, const char *name, const bench_mean *mean, double ratio) {
    igi_json *json = cli_begin_row();
    igi_json_put_string(json, "suite", suite);
    igi_json_put_string(json, "case", name);
    igi_json_put_double(json, "value", ratio);
    igi_json_put_string(json, "unit", "x");
    igi_json_put_string(json, "better", "higher");
    igi_json_put_u64(json, "cases", mean->count);
    igi_json_put_double(json, "worst", mean->worst);
    igi_json_put_string(json, "worst_case", mean->worst_case);
    cli_end_row();
}

static void report(const char *suite, const bench_mean *mean) {
    double ratio = exp(mean->logarithms / (double)mean->count);
    char name[96];
    snprintf(name, sizeof name, "mean against %.31s%s%s", mean->peer, mean->group[0] ? ", " : "", mean->group);
    if (cli_json)
        report_json(suite, name, mean, ratio);
    else
        printf("%-8s %-36s %7.2fx over %2zu cases, worst %.2fx (%s)\n", suite, name, ratio, mean->count, mean->worst,
               mean->worst_case);
}

void bench_summary_report(const bench_summary *summary) {
    for (size_t i = 0; i < summary->count; i++) report(summary->suite, &summary->means[i]);
    fflush(stdout);
}
