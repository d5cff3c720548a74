// SPDX-License-Identifier: Apache-2.0
// ingot bench ops: Ingot's backends, and OpenBLAS called on the same tensors.
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench-ops.h"
#include "core/clock.h"
#include "output.h"

// ---- Inputs ----

// Between -0.5 and 1.5, without a pattern a vector could notice; the script of the Python peers makes the same.
static float element(uint64_t index, int which) {
    uint64_t bits = (index * (which == 0 ? 40503u : 30011u) + (uint64_t)which * 12345u) & 0xffff;
    return (float)bits / 32768.0f - 0.5f;
}

static ig_status make_input(ops_tensors *tensors, uint64_t rows, uint64_t columns, int which, ig_tensor **tensor) {
    void *elements = NULL;
    ig_tensor_desc desc = {.type = IG_TYPE_F32, .rank = 2, .shape = {rows, columns}, .uninitialized = true};
    ig_status status = ig_tensor_create(tensors->device, &desc, tensor);
    if (status == IG_STATUS_OK) status = ig_tensor_map_mutable(*tensor, &elements);
    for (uint64_t i = 0; status == IG_STATUS_OK && i < rows * columns; i++) ((float *)elements)[i] = element(i, which);
    return status;
}

ig_status ops_tensors_open(ops_tensors *tensors, ig_error *error) {
    ig_status status = ig_device_create(NULL, &tensors->device, error);
    return status == IG_STATUS_OK ? ig_stream_create(tensors->device, NULL, &tensors->stream, error) : status;
}

ig_status ops_tensors_fill(ops_tensors *tensors, uint64_t rows, uint64_t columns) {
    ops_tensors_clear(tensors);
    ig_status status = make_input(tensors, rows, columns, 0, &tensors->inputs[0]);
    if (status == IG_STATUS_OK) status = make_input(tensors, rows, columns, 1, &tensors->inputs[1]);
    ig_shape row = {.rank = 1, .lengths = {columns}};
    if (status == IG_STATUS_OK)
        status = ig_tensor_fill(tensors->stream, IG_TYPE_F32, row, 0.75, NULL, &tensors->weight);
    return status;
}

void ops_tensors_clear(ops_tensors *tensors) {
    ig_tensor **all[] = {&tensors->inputs[0], &tensors->inputs[1], &tensors->weight};
    for (int i = 0; i < 3; i++) {
        ig_tensor_release(*all[i]);
        *all[i] = NULL;
    }
}

void ops_tensors_close(ops_tensors *tensors) {
    ops_tensors_clear(tensors);
    ig_stream_release(tensors->stream);
    ig_device_release(tensors->device);
}

// ---- Calls ----

static ig_status copy_transposed(ops_tensors *tensors, const ig_op_options *options, ig_tensor **out) {
    ig_tensor *view = NULL;
    ig_status status = ig_tensor_transpose(tensors->inputs[0], 0, 1, &view);
    if (status == IG_STATUS_OK) status = ig_tensor_copy(tensors->stream, view, options, out);
    ig_tensor_release(view);
    return status;
}

ig_status ops_call(ops_tensors *tensors, const ops_case *test, ig_backend backend, ig_tensor **out) {
    const ig_op_options options = {.backend = backend};
    ig_tensor *a = tensors->inputs[0], *b = tensors->inputs[1];
    ig_stream *stream = tensors->stream;
    switch (test->kind) {
        case OPS_UNARY: return test->run.unary(stream, a, &options, out);
        case OPS_BINARY: return test->run.binary(stream, a, b, &options, out);
        case OPS_REDUCE: return test->run.reduce(stream, a, NULL, &options, out);
        case OPS_MATMUL: return ig_tensor_matmul(stream, a, b, NULL, &options, out);
        case OPS_SOFTMAX: return ig_tensor_softmax(stream, a, -1, &options, out);
        case OPS_RMS_NORM: return ig_tensor_rms_norm(stream, a, tensors->weight, 1e-5, &options, out);
        case OPS_TRANSPOSE: return copy_transposed(tensors, &options, out);
    }
    return IG_STATUS_UNSUPPORTED;
}

double ops_time_calls(ops_tensors *tensors, const ops_case *test, ig_backend backend, uint64_t calls) {
    ig_status status = IG_STATUS_OK;
    uint64_t start = igi_now_ns();
    for (uint64_t i = 0; i < calls && status == IG_STATUS_OK; i++) {
        ig_tensor *out = NULL;
        status = ops_call(tensors, test, backend, &out);
        ig_tensor_release(out);
    }
    if (status == IG_STATUS_OK) status = ig_stream_sync(tensors->stream, NULL);
    return status == IG_STATUS_OK ? (double)(igi_now_ns() - start) * 1e-9 / (double)calls : -1;
}

static double sum_of_magnitudes(const float *values, uint64_t count) {
    double sum = 0;
    for (uint64_t i = 0; i < count; i++) sum += fabs((double)values[i]);
    return sum;
}

static double check_of(const ops_case *test, const ig_tensor *out) {
    const void *values = NULL;
    // Which of several largest elements is meant differs between libraries.
    if (strcmp(test->op, "argmax") == 0 || ig_tensor_map(out, &values) != IG_STATUS_OK) return NAN;
    return sum_of_magnitudes(values, ig_tensor_count(out));
}

// ---- Backends ----

typedef struct own_runner {
    ops_runner base;
    ops_tensors *tensors;
    ig_backend backend;
    void (*sgemm)(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *, int);
} own_runner;

// The reference would take minutes.
static bool too_much(const own_runner *runner, const ops_case *test) {
    return runner->backend == IG_BACKEND_SCALAR && test->kind == OPS_MATMUL && test->columns > 256;
}

static bool begin_backend(ops_runner *base, const ops_case *test, double *check) {
    own_runner *runner = (own_runner *)base;
    ig_tensor *out = NULL;
    bool has_it = !too_much(runner, test) && ops_call(runner->tensors, test, runner->backend, &out) == IG_STATUS_OK;
    if (has_it) *check = check_of(test, out);
    ig_tensor_release(out);
    return has_it;
}

static double run_backend(ops_runner *base, const ops_case *test, uint64_t calls) {
    own_runner *runner = (own_runner *)base;
    return ops_time_calls(runner->tensors, test, runner->backend, calls);
}

static void nothing(ops_runner *base) {}

static void close_own(ops_runner *base) {
    free(base);
}

ops_runner *ops_open_backend(ops_tensors *tensors, ig_backend backend) {
    own_runner *runner = cli_alloc(sizeof *runner);
    *runner = (own_runner){.base = {.begin = begin_backend, .run = run_backend, .finish = nothing, .close = close_own},
                           .tensors = tensors,
                           .backend = backend};
    runner->base.spins = backend == IG_BACKEND_ANY || backend == IG_BACKEND_BLAS;
    snprintf(runner->base.name, sizeof runner->base.name, "%s", ig_backend_name(backend));
    return &runner->base;
}

// ---- OpenBLAS ----

static void multiply(own_runner *runner, const ops_case *test, const void *a, const void *b, void *c) {
    enum { ROW_MAJOR = 101, NO_TRANSPOSE = 111 };  // of CBLAS
    int n = (int)test->columns;
    runner->sgemm(ROW_MAJOR, NO_TRANSPOSE, NO_TRANSPOSE, n, n, n, 1, a, n, b, n, 0, c, n);
}

static double run_openblas(ops_runner *base, const ops_case *test, uint64_t calls) {
    own_runner *runner = (own_runner *)base;
    const void *a, *b;
    float *c = cli_alloc(test->rows * test->columns * sizeof *c);
    if (ig_tensor_map(runner->tensors->inputs[0], &a) != IG_STATUS_OK) return -1;
    if (ig_tensor_map(runner->tensors->inputs[1], &b) != IG_STATUS_OK) return -1;
    multiply(runner, test, a, b, c);  // the first one also gets the memory
    uint64_t start = igi_now_ns();
    for (uint64_t i = 0; i < calls; i++) multiply(runner, test, a, b, c);
    double seconds = (double)(igi_now_ns() - start) * 1e-9 / (double)calls;
    free(c);
    return seconds;
}

static bool begin_openblas(ops_runner *base, const ops_case *test, double *check) {
    *check = NAN;
    return test->kind == OPS_MATMUL && run_openblas(base, test, 1) >= 0;
}

// The same library in the same process as the backend blas: its threads are few enough already.
ops_runner *ops_open_openblas(ops_tensors *tensors) {
    void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    own_runner runner = {.base = {.name = "openblas",
                                  .spins = true,
                                  .begin = begin_openblas,
                                  .run = run_openblas,
                                  .finish = nothing,
                                  .close = close_own},
                         .tensors = tensors};
    if (library) *(void **)&runner.sgemm = dlsym(library, "cblas_sgemm");
    if (!runner.sgemm) return NULL;
    own_runner *made = cli_alloc(sizeof *made);
    *made = runner;
    return &made->base;
}
