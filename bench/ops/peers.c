// SPDX-License-Identifier: Apache-2.0
// ingot bench ops: peers in child processes: STREAM, as in the suite simt; NumPy and PyTorch, each in a separate
// python3.
#include <math.h>
#include <stdlib.h>

#include "bench/common/median.h"
#include "bench/common/python.h"
#include "bench/simt/simt.h"
#include "console/output.h"
#include "ops.h"

// ---- STREAM ----

typedef struct stream_runner {
    ops_runner base;
    simt_exchange exchange;
    simt_runner *triad;
} stream_runner;

static const simt_case *a_streaming_case(void) {
    for (size_t i = 0; i < simt_case_count; i++)
        if (simt_cases[i].streams) return &simt_cases[i];
    return NULL;
}

static bool begin_stream(ops_runner *base, const ops_case *test, double *check) {
    stream_runner *runner = (stream_runner *)base;
    *check = NAN;
    if (test->group != OPS_LARGE && test->group != OPS_ROWS) return false;
    return runner->triad->ops->prepare(runner->triad, a_streaming_case(), NULL);
}

// The time of a case that moves as many bytes as the triad, so that figures compare.
static double run_stream(ops_runner *base, const ops_case *test, uint64_t calls, uint64_t batches) {
    stream_runner *runner = (stream_runner *)base;
    double seconds[OPS_MAX_BATCHES], moved = 3e-9 * sizeof(double) * SIMT_STREAM;
    uint64_t runs = calls * batches < OPS_MAX_BATCHES ? calls * batches : OPS_MAX_BATCHES;
    for (uint64_t i = 0; i < runs; i++) {
        seconds[i] = runner->triad->ops->run(runner->triad);
        if (seconds[i] < 0) return -1;
    }
    return ops_case_figure(test, 1) / (moved / bench_median_of(seconds, runs));
}

static void finish_stream(ops_runner *base) {
    stream_runner *runner = (stream_runner *)base;
    runner->triad->ops->finish(runner->triad);
}

static void close_stream(ops_runner *base) {
    stream_runner *runner = (stream_runner *)base;
    runner->triad->ops->close(runner->triad);
    simt_exchange_free(&runner->exchange);
    free(runner);
}

ops_runner *ops_open_stream(void) {
    stream_runner *runner = cli_alloc(sizeof *runner);
    *runner = (stream_runner){.base = {.name = "stream",
                                       .spins = true,
                                       .begin = begin_stream,
                                       .run = run_stream,
                                       .finish = finish_stream,
                                       .close = close_stream}};
    bool ready = a_streaming_case() && simt_exchange_create(&runner->exchange);
    if (ready) runner->triad = simt_open_remote("stream", &runner->exchange);
    if (runner->triad) return &runner->base;
    if (ready) simt_exchange_free(&runner->exchange);
    free(runner);
    return NULL;
}

// ---- Python ----

typedef struct python_runner {
    ops_runner base;
    bench_python *python;
} python_runner;

static double ask(ops_runner *base, const char *what, const ops_case *test, uint64_t calls, uint64_t batches) {
    char line[160];
    snprintf(line, sizeof line, "%s %s %llu %llu %llu %llu\n", what, test->op, (unsigned long long)test->rows,
             (unsigned long long)test->columns, (unsigned long long)calls, (unsigned long long)batches);
    return bench_python_ask(((python_runner *)base)->python, line);
}

static bool begin_python(ops_runner *base, const ops_case *test, double *check) {
    *check = ask(base, "check", test, 1, 1);
    return isnan(*check) || *check >= 0;
}

static double run_python(ops_runner *base, const ops_case *test, uint64_t calls, uint64_t batches) {
    return ask(base, "time", test, calls, batches);
}

static void finish_python(ops_runner *base) {}

static void close_python(ops_runner *base) {
    bench_python_end(((python_runner *)base)->python);
    free(base);
}

ops_runner *ops_open_python(uint32_t threads, const char *library) {
    char count[16];
    snprintf(count, sizeof count, "%u", threads);
    bench_python *python = bench_python_start("numpy-torch.py", (const char *[]){count, library, NULL});
    if (!python) return NULL;
    python_runner *runner = cli_alloc(sizeof *runner);
    *runner = (python_runner){
        .base = {.begin = begin_python, .run = run_python, .finish = finish_python, .close = close_python},
        .python = python};
    snprintf(runner->base.name, sizeof runner->base.name, "%s", library);
    return &runner->base;
}
