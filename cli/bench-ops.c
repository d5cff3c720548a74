// SPDX-License-Identifier: Apache-2.0
// ingot bench ops: tensor ops on every backend, beside OpenBLAS, STREAM, NumPy and PyTorch.
#include "bench-ops.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "output.h"

enum { MAX_RUNNERS = 12, MAX_SAMPLES = 64, MAX_CALLS = 20000 };
static const double turn_seconds = 0.02;   // of short calls, as many as fit
static const double long_seconds = 0.2;    // calls that need no warming up
static const double budget_seconds = 1.5;  // after which a slow one is not asked again
// Threads of OpenMP and OpenBLAS keep spinning for up to 30 ms after their work is done; those of PyTorch, longer.
static const long settle_ns = 2000000, settle_spinning_ns = 100000000;

typedef struct contest {
    ops_tensors tensors;
    ops_runner *runners[MAX_RUNNERS];  // the first is Ingot, which chooses its backend itself
    size_t runner_count;
    uint64_t repeats;
    double samples[MAX_RUNNERS][MAX_SAMPLES], spent[MAX_RUNNERS];
    size_t counts[MAX_RUNNERS];
    uint64_t calls[MAX_RUNNERS];  // per turn; 0: does not take part
} contest;

// ---- Who takes part ----

static void add_runner(contest *c, ops_runner *runner) {
    if (runner && c->runner_count < MAX_RUNNERS) c->runners[c->runner_count++] = runner;
}

static void open_runners(contest *c) {
    ig_device_properties device;
    ops_runner *python[2];
    ig_device_get_properties(c->tensors.device, &device);
    for (int b = IG_BACKEND_ANY; b < IG_BACKEND_COUNT; b++) add_runner(c, ops_open_backend(&c->tensors, (ig_backend)b));
    add_runner(c, ops_open_openblas(&c->tensors));
    add_runner(c, ops_open_stream());
    size_t count = ops_open_python(device.worker_count ? device.worker_count : 1, python);
    for (size_t i = 0; i < count; i++) add_runner(c, python[i]);
    cli_note("%s: %s, %s", device.name, device.target, device.features);
    char names[256] = "";
    for (size_t i = IG_BACKEND_COUNT, used = 0; i < c->runner_count && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, " %s", c->runners[i]->name);
    cli_note("peers:%s", names[0] ? names : " none");
}

// ---- Measuring ----

static void settle(const ops_runner *runner) {
    nanosleep(&(struct timespec){.tv_nsec = runner->spins ? settle_spinning_ns : settle_ns}, NULL);
}

// Everyone must have computed the same: sums of magnitudes tell a wrong case from rounding.
static bool agrees(double check, double expected) {
    if (isnan(check) || isnan(expected)) return true;
    return fabs(check - expected) <= 1e-3 * (fabs(expected) + 1);
}

static bool begin(contest *c, size_t which, const ops_case *test, double *expected) {
    ops_runner *runner = c->runners[which];
    double check = NAN;
    c->calls[which] = 0, c->counts[which] = 0, c->spent[which] = 0;
    if (!runner->begin(runner, test, &check)) return false;
    if (which == 0) *expected = check;
    if (!agrees(check, *expected)) {
        cli_note("%s: %s computes something else: %g, not %g", test->op, runner->name, check, *expected);
        return false;
    }
    double once = runner->run(runner, test, 1);
    if (once < 0) return false;
    double fit = turn_seconds / (once + 1e-9);
    c->calls[which] = fit < 1 ? 1 : fit > MAX_CALLS ? MAX_CALLS : (uint64_t)fit;
    return true;
}

static void take_turn(contest *c, size_t which, const ops_case *test) {
    ops_runner *runner = c->runners[which];
    bool room = c->counts[which] < MAX_SAMPLES && c->spent[which] < budget_seconds;
    if (c->calls[which] == 0 || !room) return;
    // Caches are full of what the others did, and threads asleep: one call to warm up.
    double warm = runner->run(runner, test, 1);
    double seconds = warm < 0 || warm >= long_seconds ? warm : runner->run(runner, test, c->calls[which]);
    if (seconds < 0) {
        c->calls[which] = 0;
        return;
    }
    c->samples[which][c->counts[which]++] = seconds;
    c->spent[which] += seconds * (double)c->calls[which];
    settle(runner);
}

static int ascending(const void *a, const void *b) {
    double left = *(const double *)a, right = *(const double *)b;
    return left < right ? -1 : left > right;
}

// 0 for who does not take part.
static double median(contest *c, size_t which) {
    if (c->calls[which] == 0 || c->counts[which] == 0) return 0;
    qsort(c->samples[which], c->counts[which], sizeof(double), ascending);
    return c->samples[which][c->counts[which] / 2];
}

static bool measure(contest *c, const ops_case *test) {
    double expected = NAN;
    if (ops_tensors_fill(&c->tensors, test) != IG_STATUS_OK) return false;
    if (!begin(c, 0, test, &expected)) return false;
    for (size_t i = 1; i < c->runner_count; i++) begin(c, i, test, &expected);
    for (uint64_t turn = 0; turn < c->repeats; turn++)
        for (size_t i = 0; i < c->runner_count; i++) take_turn(c, i, test);
    for (size_t i = 0; i < c->runner_count; i++)
        if (c->calls[i]) c->runners[i]->finish(c->runners[i]);
    return true;
}

// ---- Rows ----

static void report(contest *c, const ops_case *test, bench_summary *summary) {
    char name[64];
    ops_case_name(test, name);
    bench_row row = {.suite = "ops", .name = name, .unit = ops_case_unit(test)};
    row.lower_is_better = ops_case_lower_is_better(test);
    row.value = ops_case_figure(test, median(c, 0));
    bench_row means = row;
    for (size_t i = 1; i < c->runner_count; i++) {
        double value = ops_case_figure(test, median(c, i));
        bench_add_peer(&row, c->runners[i]->name, value);
        // Backends of the host are there to be chosen from: only that of the kernels is worth a mean.
        if (i >= IG_BACKEND_METAL) bench_add_peer(&means, c->runners[i]->name, value);
    }
    bench_report(&row);
    bench_summary_add(summary, &means, test->op, ops_group_name(test->group));
}

bool ops_wanted(const bench_context *context, const ops_case *test) {
    return bench_chosen(context, test->op);
}

static int run_cases(contest *c, const bench_context *context) {
    bench_summary summary = {.suite = "ops"};
    int result = CLI_CONTINUE;
    for (size_t i = 0; i < ops_case_count; i++) {
        const ops_case *test = &ops_cases[i];
        if (!ops_wanted(context, test)) continue;
        if (measure(c, test))
            report(c, test, &summary);
        else
            result = cli_error(CLI_FAILED, "the case '%s' failed", test->op);
    }
    bench_summary_report(&summary);
    return result;
}

static int check_names(const bench_context *context) {
    const char *names[64];
    for (size_t i = 0; i < ops_case_count; i++) names[i] = ops_cases[i].op;
    return bench_check_chosen(context, "op", names, ops_case_count);
}

int bench_ops(const bench_context *context) {
    int result = check_names(context);
    if (result != CLI_CONTINUE) return result;
    if (context->tune && (result = ops_tune(context)) != CLI_CONTINUE) return result;
    contest *c = cli_alloc(sizeof *c);
    *c = (contest){.repeats = context->repeats};
    bench_load start = bench_load_now();
    ig_error error = {0};
    ig_status status = ops_tensors_open(&c->tensors, &error);
    if (status == IG_STATUS_OK) {
        open_runners(c);
        result = run_cases(c, context);
    } else {
        result = cli_report(status, &error);
    }
    for (size_t i = 0; i < c->runner_count; i++) c->runners[i]->close(c->runners[i]);
    ops_tensors_close(&c->tensors);
    ig_error_clear(&error);
    free(c);
    bench_warn_of_load(&start);
    return result;
}
