// SPDX-License-Identifier: Apache-2.0
// ingot bench simt: all take turns, so that other load on the machine affects all alike.
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/common/median.h"
#include "console/output.h"
#include "simt.h"

enum { MAX_SAMPLES = 512, RUNS_PER_TURN = 8 };
static const double turn_seconds = 0.02;   // of short runs, as many as fit
static const double long_seconds = 0.2;    // runs that need no warm-up
static const double budget_seconds = 1.5;  // after which a slow peer gets no more turns
// Threads of OpenMP and OpenBLAS keep spinning for up to 30 ms after their work is done.
static const long settle_ns = 10000000, settle_blas_ns = 40000000;

typedef struct sample_list {
    double values[MAX_SAMPLES];
    size_t count;
    double spent;
} sample_list;

static void drop(simt_contest *contest, size_t which, const char *why) {
    simt_runner *runner = contest->runners[which];
    contest->seconds[which] = -1;
    cli_note("%s: %s: %s", contest->test->name, runner->name, why);
    runner->ops->finish(runner);
}

static void wait_for_quiet(const simt_runner *runner) {
    bool blas = strcmp(runner->name, "openblas") == 0;
    nanosleep(&(struct timespec){.tv_nsec = blas ? settle_blas_ns : settle_ns}, NULL);
}

// ---- Checking ----

// The triad computes nothing of the case, and OpenCV has its own pictures.
static bool has_result(const simt_runner *runner) {
    return strcmp(runner->name, "stream") != 0 && strcmp(runner->name, "opencv") != 0;
}

static bool check(simt_contest *contest, size_t which, const void *expected) {
    simt_runner *runner = contest->runners[which];
    void *result = simt_exchange_result(&contest->exchange, contest->test);
    char text[128];
    size_t first = 0;
    if (runner->ops->run(runner) < 0 || (has_result(runner) && !runner->ops->read(runner, result))) {
        drop(contest, which, runner->error[0] ? runner->error : "failed");
        return false;
    }
    size_t wrong = has_result(runner) ? simt_count_wrong(contest->test, result, expected, &first) : 0;
    if (wrong == 0) return true;
    snprintf(text, sizeof text, "%zu of its results are wrong, the first at %zu", wrong, first);
    drop(contest, which, text);
    return false;
}

static bool begin(simt_contest *contest, size_t which, void *const *inputs, const void *expected) {
    simt_runner *runner = contest->runners[which];
    contest->seconds[which] = -1;
    runner->error[0] = 0;
    if (runner->ops->prepare(runner, contest->test, inputs)) {
        contest->seconds[which] = 0;
        return check(contest, which, expected);
    }
    if (runner->error[0]) drop(contest, which, runner->error);
    return false;
}

// ---- Turns ----

static bool take_turn(simt_contest *contest, size_t which, sample_list *samples) {
    simt_runner *runner = contest->runners[which];
    double warm = runner->ops->run(runner), spent = 0;
    if (warm >= long_seconds) samples->values[samples->count++] = spent = warm;
    for (int i = 0; i < RUNS_PER_TURN && warm >= 0 && spent < turn_seconds && samples->count < MAX_SAMPLES; i++) {
        double seconds = runner->ops->run(runner);
        if (seconds < 0) warm = -1;
        samples->values[samples->count++] = seconds;
        spent += seconds;
    }
    samples->spent += spent;
    wait_for_quiet(runner);
    return warm >= 0;
}

static double median(sample_list *samples) {
    return bench_median_of(samples->values, samples->count);
}

static void take_turns(simt_contest *contest, sample_list *all) {
    for (uint64_t turn = 0; turn < contest->repeats; turn++)
        for (size_t i = 0; i < contest->runner_count; i++) {
            bool room = all[i].count < MAX_SAMPLES && (all[i].spent < budget_seconds);
            if (contest->seconds[i] < 0 || !room) continue;
            if (!take_turn(contest, i, &all[i])) drop(contest, i, contest->runners[i]->error);
        }
}

bool simt_measure(simt_contest *contest) {
    void *inputs[SIMT_MAX_BUFFERS];
    const simt_case *test = contest->test;
    sample_list *all = cli_alloc(contest->runner_count * sizeof *all);
    void *expected = cli_alloc(test->result_bytes);
    memset(all, 0, contest->runner_count * sizeof *all);
    simt_exchange_buffers(&contest->exchange, test, inputs);
    test->fill(inputs);
    test->reference(inputs, expected);
    for (size_t i = 0; i < contest->runner_count; i++) begin(contest, i, inputs, expected);
    if (contest->seconds[0] >= 0) take_turns(contest, all);
    for (size_t i = 0; i < contest->runner_count; i++) {
        if (contest->seconds[i] < 0) continue;
        contest->seconds[i] = median(&all[i]);
        contest->runners[i]->ops->finish(contest->runners[i]);
    }
    free(expected);
    free(all);
    return contest->seconds[0] >= 0;
}
