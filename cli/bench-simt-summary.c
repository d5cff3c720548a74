// SPDX-License-Identifier: Apache-2.0
// ingot bench simt: geometric means over the cases each peer ran, and where Ingot does worst.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench-simt.h"
#include "output.h"

typedef struct peer_mean {
    char peer[32];
    double logarithms, worst;
    size_t count;
    const char *worst_case;
} peer_mean;

static peer_mean means[SIMT_MAX_RUNNERS + 2];
static size_t mean_count;

static peer_mean *find(const char *peer) {
    for (size_t i = 0; i < mean_count; i++)
        if (strcmp(means[i].peer, peer) == 0) return &means[i];
    if (mean_count == sizeof means / sizeof *means) return NULL;
    peer_mean *made = &means[mean_count++];
    *made = (peer_mean){.worst = INFINITY};
    snprintf(made->peer, sizeof made->peer, "%s", peer);
    return made;
}

void simt_summary_add(const bench_row *row, const char *name) {
    for (size_t i = 0; i < row->peer_count; i++) {
        peer_mean *mean = find(row->peers[i].name);
        if (!mean) continue;
        double ratio = row->value / row->peers[i].value;
        mean->logarithms += log(ratio);
        mean->count++;
        if (ratio >= mean->worst) continue;
        mean->worst = ratio;
        mean->worst_case = name;
    }
}

// A bench row with the worst case in addition.
static void report_json(const peer_mean *mean, double ratio) {
    char name[80];
    snprintf(name, sizeof name, "mean against %.31s", mean->peer);
    igi_json *json = cli_begin_row();
    igi_json_put_string(json, "suite", "simt");
    igi_json_put_string(json, "case", name);
    igi_json_put_double(json, "value", ratio);
    igi_json_put_string(json, "unit", "x");
    igi_json_put_string(json, "better", "higher");
    igi_json_put_u64(json, "cases", mean->count);
    igi_json_put_double(json, "worst", mean->worst);
    igi_json_put_string(json, "worst_case", mean->worst_case);
    cli_end_row();
}

static void report(const peer_mean *mean) {
    double ratio = exp(mean->logarithms / (double)mean->count);
    if (cli_json)
        report_json(mean, ratio);
    else
        printf("%-8s mean against %-16s %7.2fx over %2zu cases, worst %.2fx (%s)\n", "simt", mean->peer, ratio,
               mean->count, mean->worst, mean->worst_case);
}

void simt_summary_report(void) {
    for (size_t i = 0; i < mean_count; i++) report(&means[i]);
    fflush(stdout);
}
