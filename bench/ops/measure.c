// SPDX-License-Identifier: Apache-2.0
// ingot bench ops: all take turns, close to each other in time, so that ratios compare runs made side by side.
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "bench/common/median.h"
#include "console/output.h"
#include "ops.h"

enum { MAX_CALLS = 20000, MAX_BATCHES = 20, SLOW = 30 };
static const double batch_seconds = 0.001;  // of short calls, as many as fit
static const double turn_seconds = 0.02;    // batches, as many as fit
static const double long_seconds = 0.2;     // calls that need no warm-up
static const double budget_seconds = 3;     // after which a slow peer gets no more turns
// Threads of OpenBLAS keep spinning for up to 30 ms after their work is done, those of OpenMP a few; peers in Python
// are stopped meanwhile.
static const long settle_ns = 2000000, settle_spinning_ns = 40000000;

static bool uses_blas(const ops_runner *runner, const ops_case *test) {
    return runner->calls_blas && test->kind == OPS_MATMUL;
}

// Peers that share the spinning threads are not disturbed by them.
static void wait_for_quiet(const ops_runner *last, const ops_runner *next, const ops_case *test) {
    bool spins = last->spins || (uses_blas(last, test) && !uses_blas(next, test));
    nanosleep(&(struct timespec){.tv_nsec = spins ? settle_spinning_ns : settle_ns}, NULL);
}

// All must have computed the same: sums of magnitudes distinguish a wrong case from rounding.
static bool agrees(double check, double expected) {
    if (isnan(check) || isnan(expected)) return true;
    return fabs(check - expected) <= 1e-3 * (fabs(expected) + 1);
}

static uint64_t as_many_as_fit(double seconds, double once, uint64_t most) {
    double fit = seconds / (once + 1e-9);
    return fit<1 ? 1 : fit>(double) most ? most : (uint64_t)fit;
}

static bool begin(ops_contest *c, size_t which, const ops_case *test, double *expected) {
    ops_runner *runner = c->runners[which];
    ops_samples *samples = &c->samples[which];
    double check = NAN;
    *samples = (ops_samples){0};
    if (!runner->begin(runner, test, &check)) return false;
    if (which == 0) *expected = check;
    if (!agrees(check, *expected)) {
        cli_note("%s: %s has a different result: %g, not %g", test->op, runner->name, check, *expected);
        return false;
    }
    double once = runner->run(runner, test, 1, 1), again = once < long_seconds ? runner->run(runner, test, 1, 1) : once;
    if (once < 0 || again < 0) return false;
    if (again < once) once = again;
    samples->calls = as_many_as_fit(batch_seconds, once, MAX_CALLS);
    samples->batches = as_many_as_fit(turn_seconds, once * (double)samples->calls, MAX_BATCHES);
    samples->once = once;
    return true;
}

// One number for each turn; 0: did not take part.
static void take_turn(ops_contest *c, size_t place, const ops_case *test, uint64_t turn) {
    size_t which = c->order[place], next = c->order[(place + 1) % c->runner_count];
    ops_runner *runner = c->runners[which];
    ops_samples *samples = &c->samples[which];
    // The reference is only for orientation.
    bool slow = turn > 0 && samples->once > SLOW * c->samples[0].once;
    if (samples->calls == 0 || slow || samples->spent >= budget_seconds) return;
    // The caches hold the others' data, and threads are asleep: one warm-up call.
    double warm = runner->run(runner, test, 1, 1);
    bool enough = warm < 0 || warm >= long_seconds;
    double seconds = enough ? warm : runner->run(runner, test, samples->calls, samples->batches);
    if (seconds < 0) {
        samples->calls = 0;
        return;
    }
    samples->seconds[turn] = seconds;
    samples->spent += seconds * (double)(samples->calls * samples->batches);
    wait_for_quiet(runner, c->runners[next], test);
}

// Peers that call the same library are adjacent.
static void line_up(ops_contest *c) {
    size_t count = 0;
    for (int calls_blas = 1; calls_blas >= 0; calls_blas--)
        for (size_t i = 0; i < c->runner_count; i++)
            if (c->runners[i]->calls_blas == calls_blas) c->order[count++] = i;
}

bool ops_measure(ops_contest *c, const ops_case *test) {
    double expected = NAN;
    line_up(c);
    if (ops_tensors_fill(&c->tensors, test) != IG_STATUS_OK) return false;
    if (!begin(c, 0, test, &expected)) return false;
    for (size_t i = 1; i < c->runner_count; i++) begin(c, i, test, &expected);
    for (uint64_t turn = 0; turn < c->repeats; turn++)
        for (size_t i = 0; i < c->runner_count; i++) take_turn(c, (turn + i) % c->runner_count, test, turn);
    for (size_t i = 0; i < c->runner_count; i++)
        if (c->samples[i].calls) c->runners[i]->finish(c->runners[i]);
    return true;
}

// ---- Figures ----

double ops_seconds(const ops_contest *c, size_t which) {
    double values[OPS_MAX_TURNS];
    size_t count = 0;
    for (uint64_t turn = 0; turn < c->repeats && c->samples[which].calls; turn++)
        if (c->samples[which].seconds[turn] > 0) values[count++] = c->samples[which].seconds[turn];
    return bench_median_of(values, count);
}

double ops_times_slower(const ops_contest *c, size_t which) {
    double values[OPS_MAX_TURNS];
    size_t count = 0;
    for (uint64_t turn = 0; turn < c->repeats && c->samples[which].calls; turn++) {
        double own = c->samples[0].seconds[turn], other = c->samples[which].seconds[turn];
        if (own > 0 && other > 0) values[count++] = other / own;
    }
    return bench_median_of(values, count);
}
