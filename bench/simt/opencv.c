// SPDX-License-Identifier: Apache-2.0
// ingot bench simt: the cases with textures by OpenCV, if Python has it. It fills its own pictures, and its results are
// not compared: it rounds bytes in its own way.
#include <stdio.h>
#include <stdlib.h>

#include "bench/common/python.h"
#include "console/output.h"
#include "core/host.h"
#include "simt.h"

typedef struct opencv_runner {
    simt_runner base;
    bench_python *python;
    const simt_case *test;
} opencv_runner;

static bool prepare(simt_runner *base, const simt_case *test, void *const *inputs) {
    (void)inputs;
    ((opencv_runner *)base)->test = test;
    return test->images[0].format;
}

static double run(simt_runner *base) {
    opencv_runner *runner = (opencv_runner *)base;
    char line[64];
    snprintf(line, sizeof line, "%s\n", runner->test->name);
    return bench_python_ask(runner->python, line);
}

static bool read_nothing(simt_runner *base, void *result) {
    (void)base, (void)result;
    return true;
}

static void finish(simt_runner *base) {
    (void)base;
}

static void close_runner(simt_runner *base) {
    bench_python_end(((opencv_runner *)base)->python);
    free(base);
}

simt_runner *simt_open_opencv(void) {
    static const simt_runner_ops ops = {prepare, run, read_nothing, finish, close_runner};
    char threads[16];
    snprintf(threads, sizeof threads, "%u", igi_host_cores());
    bench_python *python = bench_python_start("opencv.py", (const char *const[]){threads, NULL});
    if (!python) return NULL;
    opencv_runner *runner = cli_alloc(sizeof *runner);
    *runner = (opencv_runner){.base = {.ops = &ops, .name = "opencv"}, .python = python};
    return &runner->base;
}
