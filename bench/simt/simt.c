// SPDX-License-Identifier: Apache-2.0
// ingot bench simt: kernels as a GPU programmer would write them, compared with everything else that can run them on
// this CPU.
#include "simt.h"

#include <stdlib.h>
#include <string.h>

#include "bench/common/load.h"
#include "bench/common/row.h"
#include "bench/common/summary.h"
#include "bench/suites.h"
#include "console/output.h"
#include "core/memory.h"

// ---- Which cases ----

int simt_check_kernels(const bench_context *context) {
    const char *names[64];
    for (size_t i = 0; i < simt_case_count; i++) names[i] = simt_cases[i].name;
    return bench_check_chosen(context, "kernel", names, simt_case_count);
}

// ---- Who takes part ----

static void add_runner(simt_contest *contest, simt_runner *runner) {
    if (!runner) return;
    if (contest->runner_count < SIMT_MAX_RUNNERS)
        contest->runners[contest->runner_count++] = runner;
    else
        runner->ops->close(runner);
}

static void open_opencl(const char *vendor, void *user) {
    simt_contest *contest = user;
    char *peer = igi_format("opencl:%s", vendor);
    if (peer) add_runner(contest, simt_open_remote(peer, &contest->exchange));
    free(peer);
}

static void open_peers(simt_contest *contest) {
    static const char *const peers[] = {"w1", "openmp", "stream", "openblas"};
    for (size_t i = 0; i < sizeof peers / sizeof *peers; i++)
        add_runner(contest, simt_open_remote(peers[i], &contest->exchange));
    add_runner(contest, simt_open_opencv());
    simt_each_opencl(open_opencl, contest);
}

static void describe_machine(const simt_contest *contest) {
    ig_device_properties device;
    size_t count;
    if (ig_device_enumerate(&device, 1, &count) == IG_STATUS_OK && count > 0)
        cli_note("%s: %s, %s", device.name, device.target, device.features);
    char names[512] = "";
    size_t used = 0;
    for (size_t i = 1; i < contest->runner_count && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, " %s", contest->runners[i]->name);
    cli_note("peers:%s", contest->runner_count > 1 ? names : " none");
}

// ---- Rows ----

static bool is_newer_opencl(const char *peer) {
    return strncmp(peer, "pocl-", 5) == 0 || strcmp(peer, "intel-opencl") == 0;
}

// STREAM uses its own arrays: three doubles per element.
static double figure(const simt_contest *contest, size_t which) {
    bool triad = strcmp(contest->runners[which]->name, "stream") == 0;
    double work = triad ? 3e-9 * sizeof(double) * SIMT_STREAM : contest->test->work;
    return contest->seconds[which] > 0 ? work / contest->seconds[which] : 0;
}

// Peers of the summary only: the best of the newer OpenCL platforms, and plain C where gcc vectorises it.
static void summarise(const simt_contest *contest, bench_row *row, bench_summary *summary) {
    double best = 0, vectorised = 0;
    for (size_t i = 1; i < contest->runner_count; i++) {
        const char *peer = contest->runners[i]->name;
        double value = figure(contest, i);
        if (is_newer_opencl(peer) && value > best) best = value;
        if (strcmp(peer, "openmp") == 0 && !contest->test->scalar_in_c) vectorised = value;
    }
    bench_add_peer(row, "best-opencl", best);
    bench_add_peer(row, "openmp-simd", vectorised);
    bench_summary_add(summary, row, contest->test->name, "");
}

static void report(const simt_contest *contest, bench_summary *summary) {
    char name[64];
    snprintf(name, sizeof name, "%s %s", contest->test->name, contest->test->size);
    bench_row row = {.suite = "simt", .name = name, .unit = contest->test->unit, .value = figure(contest, 0)};
    for (size_t i = 1; i < contest->runner_count; i++)
        bench_add_peer(&row, contest->runners[i]->name, figure(contest, i));
    bench_report(&row);
    summarise(contest, &row, summary);
}

// A wrong result of Ingot makes the run fail, but only after the other cases.
static int run_cases(simt_contest *contest, const bench_context *context) {
    bench_summary summary = {.suite = "simt"};
    int result = CLI_CONTINUE;
    for (size_t i = 0; i < simt_case_count; i++) {
        if (!bench_chosen(context, simt_cases[i].name)) continue;
        contest->test = &simt_cases[i];
        if (simt_measure(contest))
            report(contest, &summary);
        else
            result = cli_error(CLI_FAILED, "the case '%s' failed", simt_cases[i].name);
    }
    bench_summary_report(&summary);
    return result;
}

int bench_simt(const bench_context *context) {
    simt_contest contest = {.repeats = context->repeats};
    bench_load start = bench_load_now();
    int result = simt_check_kernels(context);
    if (result != CLI_CONTINUE) return result;
    if (!simt_exchange_create(&contest.exchange)) return cli_error(CLI_FAILED, "cannot make shared memory");
    simt_runner *own = simt_open_ingot("ingot");
    add_runner(&contest, own);
    if (own->error[0]) {
        result = cli_error(CLI_FAILED, "%s", own->error);
    } else {
        open_peers(&contest);
        describe_machine(&contest);
        result = run_cases(&contest, context);
    }
    for (size_t i = 0; i < contest.runner_count; i++) contest.runners[i]->ops->close(contest.runners[i]);
    simt_exchange_free(&contest.exchange);
    bench_warn_of_load(&start);
    return result;
}
