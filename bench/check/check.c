// SPDX-License-Identifier: Apache-2.0
// ingot bench check: the cost of checking, on the cases of the suite simt, as a multiple of the normal run time.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/common/load.h"
#include "bench/common/median.h"
#include "bench/common/row.h"
#include "bench/simt/simt.h"
#include "bench/suites.h"
#include "console/output.h"

static const struct {
    const char *name;
    uint32_t checks;
    const char *oclgrind;  // its checks that find the same; NULL: not measured
} modes[] = {{"memory", IG_CHECK_MEMORY, "oclgrind:"},
             {"races", IG_CHECK_RACES, "oclgrind:races"},
             {"init", IG_CHECK_INIT, NULL},
             {"sync", IG_CHECK_SYNC, NULL},
             {"all", IG_CHECK_ALL, "oclgrind:races,init"}};
enum { MODE_COUNT = sizeof modes / sizeof *modes, MOST_RUNS = 32 };
static const double enough_seconds = 4;  // after which a case is not run again

typedef struct mean {
    double logarithms;
    size_t count;
} mean;

typedef struct contest {
    const bench_context *context;
    simt_exchange exchange;
    simt_runner *normal, *checked[MODE_COUNT];
    simt_runner *oclgrind[MODE_COUNT];  // NULL if it is not there
    mean own[MODE_COUNT], peer[MODE_COUNT], against_peer[MODE_COUNT];
} contest;

static void add_to(mean *m, double ratio) {
    m->logarithms += log(ratio);
    m->count++;
}

static double mean_of(const mean *m) {
    return m->count ? exp(m->logarithms / (double)m->count) : 0;
}

// ---- Measuring ----

static bool begin(simt_runner *runner, const simt_case *test, void *const *inputs) {
    runner->error[0] = 0;
    bool ready = runner->ops->prepare(runner, test, inputs);
    if (runner->error[0]) cli_note("%s: %s: %s", test->name, runner->name, runner->error);
    return ready;
}

static void end(simt_runner *runner, const simt_case *test) {
    if (runner->error[0]) cli_note("%s: %s: %s", test->name, runner->name, runner->error);
    runner->ops->finish(runner);
}

// Normal and checked runs take turns, so that other load on the machine affects both. The first run compiles and is not
// counted. Negative: failed.
static double measure_checked(contest *c, simt_runner *runner, const simt_case *test, void *const *inputs) {
    simt_runner *normal = c->normal;
    double normals[MOST_RUNS], samples[MOST_RUNS], spent = 0;
    size_t count = 0;
    if (!begin(runner, test, inputs)) return -1;
    bool ok = runner->ops->run(runner) >= 0;
    while (ok && count < MOST_RUNS && count < c->context->repeats && spent < enough_seconds) {
        normals[count] = normal->ops->run(normal);
        samples[count] = runner->ops->run(runner);
        ok = normals[count] > 0 && samples[count] > 0;
        spent += samples[count++];
    }
    end(runner, test);
    return ok ? bench_median_of(samples, count) / bench_median_of(normals, count) : -1;
}

// It crashes on some kernels, and is started again.
static double measure_oclgrind(contest *c, size_t mode, const simt_case *test, void *const *inputs) {
    simt_runner *runner = c->oclgrind[mode];
    if (!runner || !begin(runner, test, inputs)) return -1;
    double seconds = runner->ops->run(runner), base = c->normal->ops->run(c->normal);
    end(runner, test);
    if (seconds > 0 && base > 0) return seconds / base;
    runner->ops->close(runner);
    c->oclgrind[mode] = simt_open_remote(modes[mode].oclgrind, &c->exchange);
    return -1;
}

// ---- Rows ----

static void report(const char *test, const char *mode, double ratio, double oclgrind, double against) {
    char name[80];
    snprintf(name, sizeof name, "%s %s", test, mode);
    bench_row row = {.suite = "check", .name = name, .unit = "x", .value = ratio, .lower_is_better = true};
    bench_add_compared_peer(&row, (bench_peer){.name = "oclgrind", .value = oclgrind, .ratio = against});
    bench_report(&row);
}

static void measure(contest *c, const simt_case *test, void *const *inputs) {
    if (!begin(c->normal, test, inputs)) return;
    c->normal->ops->run(c->normal);
    for (size_t i = 0; i < MODE_COUNT; i++) {
        double ratio = measure_checked(c, c->checked[i], test, inputs);
        if (ratio <= 0) continue;
        double oclgrind = measure_oclgrind(c, i, test, inputs);
        report(test->name, modes[i].name, ratio, oclgrind, 0);
        add_to(&c->own[i], ratio);
        if (oclgrind <= 0) continue;
        add_to(&c->peer[i], oclgrind);
        add_to(&c->against_peer[i], oclgrind / ratio);
    }
    end(c->normal, test);
}

static void run_cases(contest *c) {
    void *inputs[SIMT_MAX_BUFFERS];
    for (size_t i = 0; i < simt_case_count; i++) {
        // Accesses to textures are not checked.
        if (!bench_chosen(c->context, simt_cases[i].name) || simt_cases[i].images[0].format) continue;
        simt_exchange_buffers(&c->exchange, &simt_cases[i], inputs);
        simt_cases[i].fill(inputs);
        measure(c, &simt_cases[i], inputs);
    }
    for (size_t i = 0; i < MODE_COUNT; i++)
        if (c->own[i].count)
            report("geometric mean", modes[i].name, mean_of(&c->own[i]), mean_of(&c->peer[i]),
                   mean_of(&c->against_peer[i]));
}

// ---- Who takes part ----

static void open_oclgrind(contest *c) {
    bool there = simt_has_oclgrind();
    cli_note("oclgrind: %s", there ? "runs parts of the grids, from which its time is estimated" : "not installed");
    for (size_t i = 0; i < MODE_COUNT && there; i++)
        if (modes[i].oclgrind) c->oclgrind[i] = simt_open_remote(modes[i].oclgrind, &c->exchange);
}

static void close_all(contest *c) {
    for (size_t i = 0; i < MODE_COUNT; i++) {
        c->checked[i]->ops->close(c->checked[i]);
        if (c->oclgrind[i]) c->oclgrind[i]->ops->close(c->oclgrind[i]);
    }
    c->normal->ops->close(c->normal);
    simt_exchange_free(&c->exchange);
}

int bench_check(const bench_context *context) {
    int result = simt_check_kernels(context);
    if (result != CLI_CONTINUE) return result;
    contest c = {.context = context, .normal = simt_open_ingot("ingot")};
    if (c.normal->error[0]) result = cli_error(CLI_FAILED, "%s", c.normal->error);
    bench_load start = bench_load_now();
    if (!simt_exchange_create(&c.exchange)) result = cli_error(CLI_FAILED, "cannot make shared memory");
    for (size_t i = 0; i < MODE_COUNT; i++) c.checked[i] = simt_open_checked(modes[i].name, modes[i].checks);
    if (result == CLI_CONTINUE) {
        open_oclgrind(&c);
        run_cases(&c);
    }
    close_all(&c);
    bench_warn_of_load(&start);
    return result;
}
