// SPDX-License-Identifier: Apache-2.0
// Rows, for people and as JSON.
#include "bench/common/row.h"

#include <stdio.h>

#include "console/output.h"

void bench_add_compared_peer(bench_row *row, bench_peer peer) {
    if (peer.value > 0 && row->peer_count < BENCH_MAX_PEERS) row->peers[row->peer_count++] = peer;
}

void bench_add_peer(bench_row *row, const char *name, double value) {
    bench_add_compared_peer(row, (bench_peer){.name = name, .value = value});
}

double bench_ratio(const bench_row *row, const bench_peer *peer) {
    if (peer->ratio > 0) return peer->ratio;
    return row->lower_is_better ? peer->value / row->value : row->value / peer->value;
}

static void report_json(const bench_row *row) {
    igi_json *json = cli_begin_row();
    igi_json_put_string(json, "suite", row->suite);
    igi_json_put_string(json, "case", row->name);
    igi_json_put_double(json, "value", row->value);
    igi_json_put_string(json, "unit", row->unit);
    igi_json_put_string(json, "better", row->lower_is_better ? "lower" : "higher");
    igi_json_key(json, "peers");
    igi_json_begin_object(json);
    for (size_t i = 0; i < row->peer_count; i++) igi_json_put_double(json, row->peers[i].name, row->peers[i].value);
    igi_json_end_object(json);
    igi_json_key(json, "ratio");
    igi_json_begin_object(json);
    for (size_t i = 0; i < row->peer_count; i++)
        igi_json_put_double(json, row->peers[i].name, bench_ratio(row, &row->peers[i]));
    igi_json_end_object(json);
    cli_end_row();
}

void bench_report(const bench_row *row) {
    if (cli_json) {
        report_json(row);
        return;
    }
    printf("%-8s %-34s %10.4g %-6s", row->suite, row->name, row->value, row->unit);
    for (size_t i = 0; i < row->peer_count; i++)
        printf("  %s %.4g (%.2fx)", row->peers[i].name, row->peers[i].value, bench_ratio(row, &row->peers[i]));
    printf("\n");
    fflush(stdout);
}
