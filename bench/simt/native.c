// SPDX-License-Identifier: Apache-2.0
// ingot bench simt: the cases in plain C with OpenMP, and matrix products by OpenBLAS. Both are loaded if present.
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "bench/common/module.h"
#include "console/output.h"
#include "core/clock.h"
#include "core/library-name.h"
#include "core/memory.h"
#include "simt.h"

typedef struct native_runner {
    simt_runner base;
    const simt_openmp_kernel *kernels;
    void (*sgemm)(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *, int);
    void (*run)(struct native_runner *runner);
    void (*chosen)(void *const *buffers);
    const simt_case *test;
    void *const *inputs;
    void *buffers[SIMT_MAX_BUFFERS];
} native_runner;

static void run_openmp(native_runner *runner) {
    runner->chosen(runner->buffers);
}

static void run_sgemm(native_runner *runner) {
    enum { ROW_MAJOR = 101, NO_TRANSPOSE = 111, N = SIMT_MATMUL };  // of CBLAS
    runner->sgemm(ROW_MAJOR, NO_TRANSPOSE, NO_TRANSPOSE, N, N, N, 1, runner->buffers[0], N, runner->buffers[1], N, 0,
                  runner->buffers[2], N);
}

static double run(simt_runner *base) {
    native_runner *runner = (native_runner *)base;
    size_t result = runner->test->result;
    if (runner->test->restore) memcpy(runner->buffers[result], runner->inputs[result], runner->test->bytes[result]);
    uint64_t start = igi_now_ns();
    runner->run(runner);
    return (double)(igi_now_ns() - start) * 1e-9;
}

// The triad is a separate case that accompanies others.
static bool choose(native_runner *runner, const simt_case *test) {
    if (runner->sgemm) return test->multiplies;
    bool triad = strcmp(runner->base.name, "stream") == 0;
    const char *name = triad ? "stream" : test->name;
    runner->chosen = NULL;
    for (const simt_openmp_kernel *kernel = runner->kernels; kernel->name; kernel++)
        if (strcmp(kernel->name, name) == 0) runner->chosen = kernel->run;
    return runner->chosen && (test->streams || !triad);
}

static bool prepare(simt_runner *base, const simt_case *test, void *const *inputs) {
    native_runner *runner = (native_runner *)base;
    if (!choose(runner, test)) return false;
    runner->test = test;
    runner->inputs = inputs;
    for (size_t i = 0; i < test->buffer_count; i++) {
        runner->buffers[i] = igi_aligned_alloc(64, test->bytes[i]);
        if (!runner->buffers[i]) return simt_fail(base, "not enough memory");
        memcpy(runner->buffers[i], inputs[i], test->bytes[i]);
    }
    return true;
}

static bool read_result(simt_runner *base, void *result) {
    native_runner *runner = (native_runner *)base;
    memcpy(result, runner->buffers[runner->test->result], runner->test->result_bytes);
    return true;
}

static void finish(simt_runner *base) {
    native_runner *runner = (native_runner *)base;
    for (size_t i = 0; i < SIMT_MAX_BUFFERS; i++) free(runner->buffers[i]);
    memset(runner->buffers, 0, sizeof runner->buffers);
}

static void close_runner(simt_runner *base) {
    free(base);
}

static const simt_runner_ops native_ops = {prepare, run, read_result, finish, close_runner};

// ---- Opening ----

static simt_runner *make(const char *name, native_runner made) {
    native_runner *runner = cli_alloc(sizeof *runner);
    *runner = made;
    runner->base.ops = &native_ops;
    snprintf(runner->base.name, sizeof runner->base.name, "%s", name);
    return &runner->base;
}

simt_runner *simt_open_openmp(const char *name) {
    void *module = bench_load_module("ingot-bench-openmp");
    const simt_openmp_kernel *kernels = module ? dlsym(module, "simt_openmp_kernels") : NULL;
    return kernels ? make(name, (native_runner){.kernels = kernels, .run = run_openmp}) : NULL;
}

simt_runner *simt_open_openblas(void) {
    void *library = dlopen(IGI_LIBRARY_NAME("openblas", "0"), RTLD_NOW | RTLD_LOCAL);
    native_runner runner = {.run = run_sgemm};
    if (library) *(void **)&runner.sgemm = dlsym(library, "cblas_sgemm");
    return runner.sgemm ? make("openblas", runner) : NULL;
}
