// SPDX-License-Identifier: Apache-2.0
// ingot bench ring: the cost of messages to and between ring kernels.
#include "ring.h"

#include <stddef.h>
#include <stdio.h>

#include "bench/common/load.h"
#include "bench/common/row.h"
#include "bench/suites.h"
#include "console/output.h"

// ---- Rows ----

static void report(const char *name, double value, const char *unit, bool lower_is_better) {
    bench_report(
        &(bench_row){.suite = "ring", .name = name, .value = value, .unit = unit, .lower_is_better = lower_is_better});
}

// Twice: compared with peers that send the bare payload, and with peers that add a header, checksum and clock like
// ours.
static void report_rate(const char *name, double rate, const ring_bench *bench) {
    bench_row row = {.suite = "ring", .name = name, .value = rate * 1e-6, .unit = "M/s"};
    for (size_t i = 0; i < bench->peer_count; i++)
        bench_add_peer(&row, bench->peers[i].name, bench->peers[i].rate * 1e-6);
    bench_report(&row);
    if (!bench->peer_count) return;
    row = (bench_row){.suite = "ring", .name = "  peers with header, CRC, clock", .value = rate * 1e-6, .unit = "M/s"};
    for (size_t i = 0; i < bench->peer_count; i++)
        bench_add_peer(&row, bench->peers[i].name, bench->peers[i].sealed_rate * 1e-6);
    bench_report(&row);
}

static const struct {
    const char *name;
    size_t offset;
} quantiles[] = {{"p50", offsetof(ring_latency, p50)},
                 {"p99", offsetof(ring_latency, p99)},
                 {"p99.9", offsetof(ring_latency, p999)}};

static double quantile(const ring_latency *latency, size_t which) {
    return *(const double *)((const char *)latency + quantiles[which].offset);
}

// `bench` if its peers were measured too, else NULL.
static void report_latency(const char *what, ring_latency latency, const char *unit, double unit_ns,
                           const ring_bench *bench) {
    for (size_t q = 0; q < sizeof quantiles / sizeof *quantiles; q++) {
        char name[64];
        snprintf(name, sizeof name, "%s, %s", what, quantiles[q].name);
        bench_row row = {.suite = "ring",
                         .name = name,
                         .value = quantile(&latency, q) / unit_ns,
                         .unit = unit,
                         .lower_is_better = true};
        for (size_t i = 0; bench && i < bench->peer_count; i++)
            bench_add_peer(&row, bench->peers[i].name, quantile(&bench->peers[i].round_trip, q) / unit_ns);
        bench_report(&row);
    }
}

// ---- Cases ----

// A virtual machine may be moved between cores that are near each other or far apart: the figures below depend on it.
static ig_status run_distance(ring_bench *bench) {
    double ns = ring_core_distance_ns(&bench->cores);
    if (ns > 0) report("a word to the other core and back", ns, "ns", true);
    double lines = ring_core_lines(&bench->cores);
    if (lines > 0) report("cache lines to the other core", lines * 1e-6, "M/s", false);
    return IG_STATUS_OK;
}

static ig_status run_send(ring_bench *bench) {
    ring_latency latency;
    ig_status status = ring_measure_send(bench, &latency);
    if (status == IG_STATUS_OK) report_latency("send to kernel", latency, "ns", 1, NULL);
    return status;
}

static ig_status run_persistent(ring_bench *bench) {
    ring_latency latency;
    ig_status status = ring_measure_round_trip(bench, IG_RING_PERSISTENT, &latency);
    if (status == IG_STATUS_OK) report_latency("round trip", latency, "us", 1e3, bench);
    return status;
}

static ig_status run_event_driven(ring_bench *bench) {
    ring_latency latency;
    ig_status status = ring_measure_round_trip(bench, IG_RING_EVENT_DRIVEN, &latency);
    if (status == IG_STATUS_OK) report_latency("round trip, event-driven", latency, "us", 1e3, NULL);
    return status;
}

static ig_status run_rates(ring_bench *bench, const char *what,
                           ig_status (*measure)(ring_bench *bench, ring_grouping grouping, double *rate)) {
    static const char *const groupings[] = {"", ", sent in batches", ", in batches"};
    ig_status status = IG_STATUS_OK;
    for (int i = 0; i < RING_GROUPINGS && status == IG_STATUS_OK; i++) {
        char name[64];
        double rate;
        snprintf(name, sizeof name, "%s%s", what, groupings[i]);
        status = measure(bench, (ring_grouping)i, &rate);
        if (status == IG_STATUS_OK) report_rate(name, rate, bench);
    }
    return status;
}

static ig_status run_one_way(ring_bench *bench) {
    return run_rates(bench, "host to kernel", ring_measure_one_way);
}

static ig_status run_between_kernels(ring_bench *bench) {
    return run_rates(bench, "kernel to kernel", ring_measure_between_kernels);
}

static ig_status run_sustained(ring_bench *bench) {
    ring_sustained result;
    ig_status status = ring_measure_sustained(bench, &result);
    if (status != IG_STATUS_OK) return status;
    char name[64];
    snprintf(name, sizeof name, "kernel to kernel for %.3g s", (double)bench->sustained_ns * 1e-9);
    report(name, result.rate * 1e-6, "M/s", false);
    report("  drift of the median window", result.drift * 100, "%", true);
    report("  drift of the fastest tenth", result.clear_drift * 100, "%", true);
    report("  lost", (double)result.lost, "", true);
    return result.lost ? IG_STATUS_INTERNAL : IG_STATUS_OK;
}

static const struct {
    const char *name;
    ig_status (*run)(ring_bench *bench);
    bool has_peers;
} cases[] = {
    {"distance", run_distance, false},         {"send", run_send, false},      {"round-trip", run_persistent, true},
    {"event-driven", run_event_driven, false}, {"one-way", run_one_way, true}, {"k2k", run_between_kernels, true},
    {"sustained", run_sustained, false},
};
enum { CASE_COUNT = sizeof cases / sizeof *cases };

static int check_cases(const bench_context *context) {
    const char *names[CASE_COUNT];
    for (size_t i = 0; i < CASE_COUNT; i++) names[i] = cases[i].name;
    return bench_check_chosen(context, "case", names, CASE_COUNT);
}

// Before the threads of this process are pinned, which children would inherit.
static void run_peers(ring_bench *bench, const bench_context *context) {
    bool needed = false;
    for (size_t i = 0; i < CASE_COUNT; i++) needed |= cases[i].has_peers && bench_chosen(context, cases[i].name);
    if (!needed) return;
    bench->peer_count = ring_measure_peers(&bench->cores, bench->peers);
    char names[256] = "";
    for (size_t i = 0, used = 0; i < bench->peer_count && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, " %s", bench->peers[i].name);
    cli_note("peers:%s", names[0] ? names : " none");
}

static int run_cases(ring_bench *bench, const bench_context *context) {
    for (size_t i = 0; i < CASE_COUNT; i++) {
        ig_status status = bench_chosen(context, cases[i].name) ? cases[i].run(bench) : IG_STATUS_OK;
        if (status == IG_STATUS_OK) continue;
        cli_report(status, &bench->error);
        return cli_error(CLI_FAILED, "the case '%s' failed", cases[i].name);
    }
    return CLI_CONTINUE;
}

static void describe(const ring_bench *bench) {
    if (ring_cores_differ(&bench->cores))
        cli_note("host thread pinned to CPU %d, kernel threads to CPU %d, two cores; of two kernels, one on each",
                 bench->cores.host, bench->cores.kernel);
    else
        cli_note("threads are not pinned: there are no two cores to choose from");
    cli_note("messages of %zu bytes, checksummed and clocked; handlers in MSL, block 1", sizeof(ring_note));
}

int bench_ring(const bench_context *context) {
    ring_bench bench = {.repeats = context->repeats, .sustained_ns = context->sustained_ns};
    bench_load start = bench_load_now();
    int result = check_cases(context);
    if (result != CLI_CONTINUE) return result;
    ig_status status = ring_bench_open(&bench);
    if (status == IG_STATUS_OK) {
        describe(&bench);
        run_peers(&bench, context);
        result = run_cases(&bench, context);
    } else {
        result = cli_report(status, &bench.error);
    }
    ring_bench_close(&bench);
    bench_warn_of_load(&start);
    return result;
}
