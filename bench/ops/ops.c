// SPDX-License-Identifier: Apache-2.0
// ingot bench ops: tensor ops on every backend, compared with OpenBLAS, STREAM, NumPy and PyTorch.
#include "ops.h"

#include <stdlib.h>
#include <string.h>

#include "bench/common/load.h"
#include "bench/common/row.h"
#include "bench/common/summary.h"
#include "bench/suites.h"
#include "console/output.h"

// ---- Who takes part ----

static void add_runner(ops_contest *c, ops_runner *runner) {
    if (runner && c->runner_count < OPS_MAX_RUNNERS) c->runners[c->runner_count++] = runner;
}

static void open_runners(ops_contest *c) {
    ig_device_properties device;
    ig_device_get_properties(c->tensors.device, &device);
    for (int b = IG_BACKEND_ANY; b < IG_BACKEND_COUNT; b++) add_runner(c, ops_open_backend(&c->tensors, (ig_backend)b));
    add_runner(c, ops_open_openblas(&c->tensors));
    add_runner(c, ops_open_stream());
    uint32_t threads = device.worker_count ? device.worker_count : 1;
    add_runner(c, ops_open_python(threads, "numpy"));
    add_runner(c, ops_open_python(threads, "torch"));
    cli_note("%s: %s, %s", device.name, device.target, device.features);
    char names[256] = "";
    for (size_t i = IG_BACKEND_COUNT, used = 0; i < c->runner_count && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, " %s", c->runners[i]->name);
    cli_note("peers:%s", names[0] ? names : " none");
}

// ---- Rows ----

static void report(ops_contest *c, const ops_case *test, bench_summary *summary) {
    char name[64];
    ops_case_name(test, name);
    bench_row row = {.suite = "ops", .name = name, .unit = ops_case_unit(test)};
    row.lower_is_better = ops_case_lower_is_better(test);
    row.value = ops_case_figure(test, ops_seconds(c, 0));
    bench_row means = row;
    for (size_t i = 1; i < c->runner_count; i++) {
        double value = ops_case_figure(test, ops_seconds(c, i)), ratio = ops_times_slower(c, i);
        bench_add_compared_peer(&row, (bench_peer){c->runners[i]->name, value, ratio});
        // Host backends are alternatives to choose from: a mean is only of interest for that of the kernels.
        if (i >= IG_BACKEND_MSL) bench_add_compared_peer(&means, (bench_peer){c->runners[i]->name, value, ratio});
    }
    bench_report(&row);
    bench_summary_add(summary, &means, test->op, ops_group_name(test->group));
}

bool ops_wanted(const bench_context *context, const ops_case *test) {
    return bench_chosen(context, test->op);
}

static int run_cases(ops_contest *c, const bench_context *context) {
    bench_summary summary = {.suite = "ops"};
    int result = CLI_CONTINUE;
    for (size_t i = 0; i < ops_case_count; i++) {
        const ops_case *test = &ops_cases[i];
        if (!ops_wanted(context, test)) continue;
        if (ops_measure(c, test))
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
    ops_contest *c = cli_alloc(sizeof *c);
    *c = (ops_contest){.repeats = context->repeats < OPS_MAX_TURNS ? context->repeats : OPS_MAX_TURNS};
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
