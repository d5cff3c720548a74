// SPDX-License-Identifier: Apache-2.0
// ingot bench ops: Ingot's backends, and OpenBLAS called on the same tensors.
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/common/median.h"
#include "console/output.h"
#include "core/clock.h"
#include "core/library-name.h"
#include "ops.h"

// ---- Inputs ----

// Between -0.5 and 1.5, without a regular pattern; the script of the Python peers generates the same.
static float element(uint64_t index, int which) {
    uint64_t bits = (index * (which == 0 ? 40503u : 30011u) + (uint64_t)which * 12345u) & 0xffff;
    return (float)bits / 32768.0f - 0.5f;
}

static ig_status make_input(ops_tensors *tensors, ig_shape shape, int which, ig_tensor **tensor) {
    void *elements = NULL;
    ig_tensor_desc desc = {.type = IG_TYPE_F32, .rank = shape.rank, .uninitialized = true};
    memcpy(desc.shape, shape.lengths, sizeof desc.shape);
    ig_status status = ig_tensor_create(tensors->device, &desc, tensor);
    if (status == IG_STATUS_OK) status = ig_tensor_map_mutable(*tensor, &elements);
    uint64_t count = status == IG_STATUS_OK ? ig_tensor_count(*tensor) : 0;
    for (uint64_t i = 0; i < count; i++) ((float *)elements)[i] = element(i, which);
    return status;
}

ig_status ops_tensors_open(ops_tensors *tensors, ig_error *error) {
    ig_status status = ig_device_create(NULL, &tensors->device, error);
    return status == IG_STATUS_OK ? ig_stream_create(tensors->device, NULL, &tensors->stream, error) : status;
}

static ig_shape shape_of(const ops_case *test, int which) {
    bool heads = test->kind == OPS_ATTENTION, matrix = test->kind == OPS_MATVEC && which == 1;
    ig_shape shape = {.rank = 2, .lengths = {which == 1 && heads ? test->columns : test->rows, test->columns}};
    if (heads) shape.rank = 3, shape.lengths[1] = OPS_HEADS, shape.lengths[2] = OPS_HEAD_DIM;
    if (matrix) shape.lengths[0] = test->columns;
    return shape;
}

static ig_weight_type format_of(const ops_case *test) {
    for (int type = 0; type < IG_WEIGHT_TYPE_COUNT; type++)
        if (strcmp(ig_weight_type_name((ig_weight_type)type), test->op) == 0) return (ig_weight_type)type;
    return IG_WEIGHT_TYPE_COUNT;
}

ig_status ops_tensors_fill(ops_tensors *tensors, const ops_case *test) {
    ops_tensors_clear(tensors);
    ig_shape row = {.rank = 1, .lengths = {test->columns}};
    ig_status status = make_input(tensors, shape_of(test, 0), 0, &tensors->inputs[0]);
    if (status == IG_STATUS_OK) status = make_input(tensors, shape_of(test, 1), 1, &tensors->inputs[1]);
    if (status == IG_STATUS_OK)
        status = ig_tensor_fill(tensors->stream, IG_TYPE_F32, row, 0.75, NULL, &tensors->weight);
    if (status == IG_STATUS_OK) status = ig_tensor_create_scalar(tensors->device, IG_TYPE_F32, 0.75, &tensors->scalar);
    if (status == IG_STATUS_OK && test->kind == OPS_MATVEC)
        status = ig_weight_quantize(tensors->stream, tensors->inputs[1], format_of(test), NULL, &tensors->blocks);
    return status;
}

void ops_tensors_clear(ops_tensors *tensors) {
    ig_tensor **all[] = {&tensors->inputs[0], &tensors->inputs[1], &tensors->weight, &tensors->scalar};
    for (int i = 0; i < 4; i++) {
        ig_tensor_release(*all[i]);
        *all[i] = NULL;
    }
    ig_weight_release(tensors->blocks);
    tensors->blocks = NULL;
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

// Keys serve as values too.
static ig_status attend(ops_tensors *tensors, const ops_case *test, const ig_op_options *options, ig_tensor **out) {
    const ig_attention_desc desc = {.causal = true, .query_position = test->columns - test->rows};
    ig_tensor *keys = tensors->inputs[1];
    return ig_tensor_attention(tensors->stream, tensors->inputs[0], keys, keys, &desc, options, out);
}

typedef ig_status (*binary_op)(ig_stream *, const ig_tensor *, const ig_tensor *, const ig_op_options *, ig_tensor **);

// One step of a chain: the result replaces its first operand. Does nothing after a failure.
static void step(ig_status *status, ig_stream *stream, binary_op op, ig_tensor **x, const ig_tensor *other,
                 const ig_op_options *options) {
    ig_tensor *next = NULL;
    if (*status != IG_STATUS_OK) return;
    *status = other ? op(stream, *x, other, options, &next) : ig_tensor_relu(stream, *x, options, &next);
    ig_tensor_release(*x);
    *x = next;
}

// relu(a b + a) * 0.75 - b
ig_status ops_run_mixed(ig_stream *stream, const ig_tensor *const *in, const ig_op_options *options, ig_tensor **out) {
    ig_tensor *x = NULL;
    ig_status status = ig_tensor_mul(stream, in[0], in[1], options, &x);
    step(&status, stream, ig_tensor_add, &x, in[0], options);
    step(&status, stream, NULL, &x, NULL, options);
    step(&status, stream, ig_tensor_mul, &x, in[2], options);
    step(&status, stream, ig_tensor_sub, &x, in[1], options);
    *out = x;
    return status;
}

// sigmoid(0.75 a + b) (0.75 a + b) a
ig_status ops_run_swish(ig_stream *stream, const ig_tensor *const *in, const ig_op_options *options, ig_tensor **out) {
    ig_tensor *x = NULL, *gate = NULL;
    ig_status status = ig_tensor_mul(stream, in[0], in[2], options, &x);
    step(&status, stream, ig_tensor_add, &x, in[1], options);
    if (status == IG_STATUS_OK) status = ig_tensor_sigmoid(stream, x, options, &gate);
    step(&status, stream, ig_tensor_mul, &x, gate, options);
    step(&status, stream, ig_tensor_mul, &x, in[0], options);
    ig_tensor_release(gate);
    *out = x;
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
        case OPS_ATTENTION: return attend(tensors, test, &options, out);
        case OPS_CHAIN: return test->run.chain(stream, (const ig_tensor *[]){a, b, tensors->scalar}, &options, out);
        case OPS_MATVEC: return ig_weight_matmul(stream, tensors->blocks, a, &options, out);
    }
    return IG_STATUS_UNSUPPORTED;
}

double ops_time_calls(ops_tensors *tensors, const ops_case *test, ig_backend backend, uint64_t calls) {
    ig_status status = IG_STATUS_OK;
    uint64_t start = igi_now_ns();
    for (uint64_t i = 0; i < calls && status == IG_STATUS_OK; i++) {
        ig_tensor *out = NULL;
        status = ops_call(tensors, test, backend, &out);
        // Results that nobody can see any more would not be computed at all.
        if (backend == IG_BACKEND_ANY) ig_stream_flush(tensors->stream);
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
    // Libraries differ in which of several largest elements they return; and other peers do not have 4-bit weights.
    bool differs = strcmp(test->op, "argmax") == 0 || test->kind == OPS_MATVEC;
    if (differs || ig_tensor_map(out, &values) != IG_STATUS_OK) return NAN;
    return sum_of_magnitudes(values, ig_tensor_count(out));
}

// ---- Backends ----

typedef struct own_runner {
    ops_runner base;
    ops_tensors *tensors;
    ig_backend backend;
    ig_tensor *product;  // of OpenBLAS
    void (*sgemm)(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *, int);
} own_runner;

// The reference would take minutes.
static bool too_much(const own_runner *runner, const ops_case *test) {
    bool much = (test->kind == OPS_MATMUL && test->columns > 256) || (test->kind == OPS_ATTENTION && test->rows > 1);
    return runner->backend == IG_BACKEND_SCALAR && much;
}

enum { WARM_NS = 1000000000 };

static bool begin_backend(ops_runner *base, const ops_case *test, double *check) {
    own_runner *runner = (own_runner *)base;
    ig_tensor *out = NULL;
    bool has_it = !too_much(runner, test) && ops_call(runner->tensors, test, runner->backend, &out) == IG_STATUS_OK;
    if (has_it) *check = check_of(test, out);
    ig_tensor_release(out);
    // A chain that recurs is soon compiled; the steady state is measured.
    uint64_t start = igi_now_ns();
    while (has_it && test->kind == OPS_CHAIN && runner->backend == IG_BACKEND_ANY && igi_now_ns() - start < WARM_NS)
        ops_time_calls(runner->tensors, test, runner->backend, 1);
    return has_it;
}

static double run_backend(ops_runner *base, const ops_case *test, uint64_t calls, uint64_t batches) {
    own_runner *runner = (own_runner *)base;
    double seconds[OPS_MAX_BATCHES];
    if (batches > OPS_MAX_BATCHES) batches = OPS_MAX_BATCHES;
    for (uint64_t i = 0; i < batches; i++) {
        seconds[i] = ops_time_calls(runner->tensors, test, runner->backend, calls);
        if (seconds[i] < 0) return -1;
    }
    return bench_median_of(seconds, batches);
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
    runner->base.calls_blas = backend == IG_BACKEND_ANY || backend == IG_BACKEND_BLAS;
    snprintf(runner->base.name, sizeof runner->base.name, "%s", ig_backend_name(backend));
    return &runner->base;
}

// ---- OpenBLAS ----

static void multiply(own_runner *runner, const ops_case *test, const void *a, const void *b, void *c) {
    enum { ROW_MAJOR = 101, NO_TRANSPOSE = 111 };  // of CBLAS
    int n = (int)test->columns;
    runner->sgemm(ROW_MAJOR, NO_TRANSPOSE, NO_TRANSPOSE, n, n, n, 1, a, n, b, n, 0, c, n);
}

static double run_openblas(ops_runner *base, const ops_case *test, uint64_t calls, uint64_t batches) {
    own_runner *runner = (own_runner *)base;
    double seconds[OPS_MAX_BATCHES];
    const void *a, *b;
    void *c;
    if (ig_tensor_map(runner->tensors->inputs[0], &a) != IG_STATUS_OK) return -1;
    if (ig_tensor_map(runner->tensors->inputs[1], &b) != IG_STATUS_OK) return -1;
    if (ig_tensor_map_mutable(runner->product, &c) != IG_STATUS_OK) return -1;
    if (batches > OPS_MAX_BATCHES) batches = OPS_MAX_BATCHES;
    for (uint64_t batch = 0; batch < batches; batch++) {
        uint64_t start = igi_now_ns();
        for (uint64_t i = 0; i < calls; i++) multiply(runner, test, a, b, c);
        seconds[batch] = (double)(igi_now_ns() - start) * 1e-9 / (double)calls;
    }
    return bench_median_of(seconds, batches);
}

// The result is in the same kind of memory as everyone else's.
static bool begin_openblas(ops_runner *base, const ops_case *test, double *check) {
    own_runner *runner = (own_runner *)base;
    const ig_tensor_desc desc = {.type = IG_TYPE_F32, .rank = 2, .shape = {test->rows, test->columns}};
    *check = NAN;
    return test->kind == OPS_MATMUL &&
           ig_tensor_create(runner->tensors->device, &desc, &runner->product) == IG_STATUS_OK;
}

static void finish_openblas(ops_runner *base) {
    own_runner *runner = (own_runner *)base;
    ig_tensor_release(runner->product);
    runner->product = NULL;
}

// The same library in the same process as the backend blas, which has already limited its threads.
ops_runner *ops_open_openblas(ops_tensors *tensors) {
    void *library = dlopen(IGI_LIBRARY_NAME("openblas", "0"), RTLD_NOW | RTLD_LOCAL);
    own_runner runner = {.base = {.name = "openblas",
                                  .calls_blas = true,
                                  .begin = begin_openblas,
                                  .run = run_openblas,
                                  .finish = finish_openblas,
                                  .close = close_own},
                         .tensors = tensors};
    if (library) *(void **)&runner.sgemm = dlsym(library, "cblas_sgemm");
    if (!runner.sgemm) return NULL;
    own_runner *made = cli_alloc(sizeof *made);
    *made = runner;
    return &made->base;
}
