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
} modes[] = {{"memory", IG_CHECK_MEMORY},
             {"races", IG_CHECK_RACES},
             {"init", IG_CHECK_INIT},
             {"sync", IG_CHECK_SYNC},
             {"all", IG_CHECK_ALL}};
enum { MODE_COUNT = sizeof modes / sizeof *modes, NORMAL_RUNS = 5 };
static const double long_seconds = 0.5;     // a run that is not repeated
static const double too_long_seconds = 30;  // includes compiling

typedef struct means {
    double logarithms[MODE_COUNT];
    size_t count[MODE_COUNT];
} means;

// The median of a few runs, or the only one if it takes long. The first, which compiles, is not counted. Negative:
// failed.
static double seconds_of(simt_runner *runner, const simt_case *test, void *const *inputs) {
    double samples[NORMAL_RUNS];
    size_t count = 0;
    runner->error[0] = 0;
    if (!runner->ops->prepare(runner, test, inputs)) return -1;
    double first = runner->ops->run(runner);
    while (first >= 0 && count < NORMAL_RUNS) {
        double seconds = first > too_long_seconds ? first : runner->ops->run(runner);
        if (seconds < 0) break;
        samples[count++] = seconds;
        if (seconds > long_seconds) break;
    }
    runner->ops->finish(runner);
    if (runner->error[0]) cli_note("%s: %s: %s", test->name, runner->name, runner->error);
    return count && !runner->error[0] ? bench_median_of(samples, count) : -1;
}

static void report(const char *test, const char *mode, double ratio) {
    char name[80];
    snprintf(name, sizeof name, "%s %s", test, mode);
    bench_row row = {.suite = "check", .name = name, .unit = "x", .value = ratio, .lower_is_better = true};
    bench_report(&row);
}

static void measure(const simt_case *test, simt_runner *normal, simt_runner **checked, void *const *inputs, means *m) {
    double base = seconds_of(normal, test, inputs);
    for (size_t i = 0; i < MODE_COUNT && base > 0; i++) {
        double seconds = seconds_of(checked[i], test, inputs);
        if (seconds <= 0) continue;
        report(test->name, modes[i].name, seconds / base);
        m->logarithms[i] += log(seconds / base);
        m->count[i]++;
    }
}

static void run_cases(const bench_context *context, simt_runner *normal, simt_runner **checked,
                      const simt_exchange *exchange) {
    means m = {0};
    void *inputs[SIMT_MAX_BUFFERS];
    for (size_t i = 0; i < simt_case_count; i++) {
        // Accesses to textures are not checked.
        if (!bench_chosen(context, simt_cases[i].name) || simt_cases[i].images[0].format) continue;
        simt_exchange_buffers(exchange, &simt_cases[i], inputs);
        simt_cases[i].fill(inputs);
        measure(&simt_cases[i], normal, checked, inputs, &m);
    }
    for (size_t i = 0; i < MODE_COUNT; i++)
        if (m.count[i]) report("geometric mean", modes[i].name, exp(m.logarithms[i] / (double)m.count[i]));
}

int bench_check(const bench_context *context) {
    simt_exchange exchange;
    simt_runner *checked[MODE_COUNT], *normal = simt_open_ingot("ingot");
    int result = normal->error[0] ? cli_error(CLI_FAILED, "%s", normal->error) : CLI_CONTINUE;
    bench_load start = bench_load_now();
    if (!simt_exchange_create(&exchange)) result = cli_error(CLI_FAILED, "cannot make shared memory");
    for (size_t i = 0; i < MODE_COUNT; i++) checked[i] = simt_open_checked(modes[i].name, modes[i].checks);
    if (result == CLI_CONTINUE) run_cases(context, normal, checked, &exchange);
    for (size_t i = 0; i < MODE_COUNT; i++) checked[i]->ops->close(checked[i]);
    normal->ops->close(normal);
    simt_exchange_free(&exchange);
    bench_warn_of_load(&start);
    return result;
}
