// SPDX-License-Identifier: Apache-2.0
// Matrix products by the machine's BLAS: OpenBLAS, loaded if it is installed; Accelerate on macOS.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/library-name.h"
#include "core/settings.h"
#include "tensor/iterate.h"
#include "tensor/simd/simd.h"

// ---- The library ----

// The necessary part of cblas.h: row-major, 32-bit sizes.
enum { ROW_MAJOR = 101, NO_TRANSPOSE = 111, TRANSPOSE = 112 };

typedef struct blas_library {
    void *handle;
    void (*sgemm)(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha, const float *a,
                  int lda, const float *b, int ldb, float beta, float *c, int ldc);
    void (*sgemv)(int order, int transpose, int m, int n, float alpha, const float *a, int lda, const float *x,
                  int incx, float beta, float *y, int incy);
    float (*sdot)(int n, const float *x, int incx, const float *y, int incy);
} blas_library;

static void *open_library(void) {
    static const char *const names[] = {
#if defined(__APPLE__)
        "/System/Library/Frameworks/Accelerate.framework/Accelerate",
#else
        IGI_LIBRARY_NAME("openblas", "0"),
        "libopenblas.so",
#endif
    };
    const char *named = igi_setting_named(IGI_SETTING_BLAS);
    if (named) return dlopen(named, RTLD_NOW | RTLD_LOCAL);
    void *handle = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !handle; i++)
        handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return handle;
}

// It gets as many threads as the device has workers: both never work at the same time for long.
static void set_threads(void *handle, uint32_t count) {
    void (*set)(int) = (void (*)(int))dlsym(handle, "openblas_set_num_threads");
    if (set && count) set((int)count);
}

static void describe(void *handle, char *text, size_t capacity) {
    char *(*configuration)(void) = (char *(*)(void))dlsym(handle, "openblas_get_config");
    snprintf(text, capacity, "%s", configuration ? configuration() : "BLAS");
}

static bool open_blas(igi_tensor_runtime *runtime, void **state, char *reason) {
    blas_library *blas = igi_calloc(1, sizeof *blas);
    if (blas) blas->handle = open_library();
    if (blas && blas->handle) {
        *(void **)&blas->sgemm = dlsym(blas->handle, "cblas_sgemm");
        *(void **)&blas->sgemv = dlsym(blas->handle, "cblas_sgemv");
        *(void **)&blas->sdot = dlsym(blas->handle, "cblas_sdot");
    }
    if (!blas || !blas->handle || !blas->sgemm || !blas->sgemv || !blas->sdot) {
        const char *why = blas ? dlerror() : "not enough memory";
        snprintf(reason, 120, "%s", why ? why : "it lacks the functions of cblas.h");
        if (blas && blas->handle) dlclose(blas->handle);
        free(blas);
        return false;
    }
    ig_device_properties device;
    ig_device_get_properties(runtime->device, &device);
    set_threads(blas->handle, device.worker_count);
    describe(blas->handle, runtime->identities[IG_BACKEND_BLAS], sizeof runtime->identities[0]);
    *state = blas;
    return true;
}

// The library stays loaded: its threads outlive its handle.
static void close_blas(void *state) {
    free(state);
}

// ---- Operands ----

// A matrix as BLAS sees it: contiguous rows, or contiguous columns.
typedef struct matrix {
    const float *data;
    int transpose, leading;
} matrix;

static bool fits(int64_t value) {
    return value >= 0 && value <= INT32_MAX;
}

// Whether the last two dimensions can be passed as they are. With a single row or column, its stride does not matter.
static bool as_it_lies(const igi_tensor_view *v, bool may_transpose) {
    uint32_t last = v->rank - 1;
    int64_t rows = (int64_t)v->shape[last - 1], columns = (int64_t)v->shape[last];
    int64_t row = rows == 1 ? columns : v->strides[last - 1], column = columns == 1 ? 1 : v->strides[last];
    if (v->type != IG_TYPE_F32) return false;
    if (column == 1 && row >= columns && fits(row)) return true;
    int64_t down = columns == 1 ? rows : v->strides[last];
    return may_transpose && v->strides[last - 1] == 1 && down >= rows && fits(down);
}

static matrix matrix_of(const igi_tensor_view *v, const char *data) {
    uint32_t last = v->rank - 1;
    int64_t rows = (int64_t)v->shape[last - 1], columns = (int64_t)v->shape[last];
    int64_t row = rows == 1 ? columns : v->strides[last - 1], column = columns == 1 ? 1 : v->strides[last];
    if (column == 1 && row >= columns) return (matrix){(const float *)data, NO_TRANSPOSE, (int)row};
    return (matrix){(const float *)data, TRANSPOSE, (int)(columns == 1 ? rows : v->strides[last])};
}

// Operands that cannot be passed as they are, are first packed as floats, without batches that only repeat.
static ig_status pack(const igi_tensor_call *call, const igi_tensor_view *view, igi_tensor_view *packed) {
    igi_tensor_view source = *view;
    for (uint32_t i = 0; i + 2 < source.rank; i++)
        if (source.strides[i] == 0) source.shape[i] = 1;
    *packed = igi_tensor_view_contiguous(IG_TYPE_F32, source.rank, source.shape);
    ig_status status = igi_tensor_storage_make(call->runtime->device, igi_tensor_view_count(&source) * sizeof(float),
                                               &packed->storage);
    if (status != IG_STATUS_OK) return status;
    igi_tensor_call cast = {.op = IG_OP_CAST, .input_count = 1, .output_count = 1, .runtime = call->runtime};
    cast.in[0] = source, cast.out[0] = *packed;
    status = igi_simd_cast(&cast);
    if (status != IG_STATUS_OK) igi_tensor_storage_release(packed->storage);
    for (uint32_t i = 0; i + 2 < view->rank; i++) {
        packed->shape[i] = view->shape[i];
        if (view->strides[i] == 0) packed->strides[i] = 0;
    }
    return status;
}

// ---- Products ----

typedef struct job {
    const blas_library *blas;
    const igi_tensor_view *a, *b, *out;  // with all their batches
    int m, n, k;
    float alpha, beta;
} job;

static void multiply_vectors(const job *j, matrix a, matrix b, float *out) {
    if (j->m == 1 && j->n == 1) {
        int a_step = a.transpose == NO_TRANSPOSE ? 1 : a.leading, b_step = b.transpose == NO_TRANSPOSE ? b.leading : 1;
        float sum = j->alpha * j->blas->sdot(j->k, a.data, a_step, b.data, b_step);
        *out = j->beta == 0 ? sum : sum + j->beta * *out;
    } else if (j->n == 1) {
        int step = b.transpose == NO_TRANSPOSE ? b.leading : 1, rows = a.transpose == NO_TRANSPOSE ? j->m : j->k;
        int out_step = (int)j->out->strides[j->out->rank - 2];
        j->blas->sgemv(ROW_MAJOR, a.transpose, rows, rows == j->m ? j->k : j->m, j->alpha, a.data, a.leading, b.data,
                       step, j->beta, out, out_step);
    } else {
        int step = a.transpose == NO_TRANSPOSE ? 1 : a.leading;
        bool plain = b.transpose == NO_TRANSPOSE;
        j->blas->sgemv(ROW_MAJOR, plain ? TRANSPOSE : NO_TRANSPOSE, plain ? j->k : j->n, plain ? j->n : j->k, j->alpha,
                       b.data, b.leading, a.data, step, j->beta, out, 1);
    }
}

static void multiply_row(void *user, uint64_t count, char *const *data, const int64_t *strides) {
    const job *j = user;
    uint32_t last = j->out->rank - 1;
    int leading = (int)(j->m == 1 ? j->n : j->out->strides[last - 1]);
    for (uint64_t i = 0; i < count; i++) {
        int64_t at = (int64_t)i;
        matrix a = matrix_of(j->a, data[1] + at * strides[1]), b = matrix_of(j->b, data[2] + at * strides[2]);
        float *out = (float *)(data[0] + at * strides[0]);
        if (j->m == 1 || j->n == 1)
            multiply_vectors(j, a, b, out);
        else
            j->blas->sgemm(ROW_MAJOR, a.transpose, b.transpose, j->m, j->n, j->k, j->alpha, a.data, a.leading, b.data,
                           b.leading, j->beta, out, leading);
    }
}

static void multiply(const igi_tensor_call *call, const igi_tensor_view *a, const igi_tensor_view *b,
                     const igi_tensor_view *out, bool adds) {
    uint32_t last = out->rank - 1;
    job j = {.blas = call->runtime->states[IG_BACKEND_BLAS],
             .a = a,
             .b = b,
             .out = out,
             .m = (int)out->shape[last - 1],
             .n = (int)out->shape[last],
             .k = (int)a->shape[last],
             .alpha = (float)call->p.matmul.alpha,
             .beta = adds ? (float)call->p.matmul.beta : 0};
    if (out->rank == 2) {  // one product: it may be so small that iterating over batches would be noticeable
        char *const data[] = {igi_tensor_view_data(out), igi_tensor_view_data(a), igi_tensor_view_data(b)};
        multiply_row(&j, 1, data, (const int64_t[3]){0});
        return;
    }
    igi_tensor_view starts[3] = {igi_tensor_view_first_of_each(out), igi_tensor_view_first_of_each(a),
                                 igi_tensor_view_first_of_each(b)};
    igi_tensor_walk walk = igi_tensor_walk_of(3, (const igi_tensor_view *[]){&starts[0], &starts[1], &starts[2]});
    igi_tensor_walk_all(&walk, multiply_row, &j);
}

// ---- The op ----

static bool out_as_it_lies(const igi_tensor_view *out) {
    uint32_t last = out->rank - 1;
    bool vector = out->shape[last] == 1 && out->strides[last - 1] > 0 && fits(out->strides[last - 1]);
    return out->type == IG_TYPE_F32 && (vector || as_it_lies(out, false));
}

static bool accepts_matmul(const igi_tensor_call *call) {
    uint32_t last = call->out[0].rank - 1;
    uint64_t m = call->out[0].shape[last - 1], n = call->out[0].shape[last], k = call->in[0].shape[last];
#if !defined(__APPLE__)
    // Products with vectors are bound by memory; OpenBLAS' dot uses one thread, and its gemv is no faster than ours.
    if (m == 1 || n == 1) return false;
#endif
    return m && n && k && m <= INT32_MAX && n <= INT32_MAX && k <= INT32_MAX && call->p.matmul.alpha != 0;
}

typedef struct operands {
    igi_tensor_view a, b, out;
    igi_tensor_storage *temporary[3];
} operands;

static ig_status prepare(const igi_tensor_call *call, operands *o) {
    o->a = call->in[0], o->b = call->in[1], o->out = call->out[0];
    ig_status status = IG_STATUS_OK;
    if (!as_it_lies(&o->a, true)) {
        status = pack(call, &call->in[0], &o->a);
        if (status == IG_STATUS_OK) o->temporary[0] = o->a.storage;
    }
    if (status == IG_STATUS_OK && !as_it_lies(&o->b, true)) {
        status = pack(call, &call->in[1], &o->b);
        if (status == IG_STATUS_OK) o->temporary[1] = o->b.storage;
    }
    if (status == IG_STATUS_OK && !out_as_it_lies(&o->out)) {
        o->out = igi_tensor_view_contiguous(IG_TYPE_F32, o->out.rank, call->out[0].shape);
        uint64_t bytes = igi_tensor_view_count(&o->out) * sizeof(float);
        status = igi_tensor_storage_make(call->runtime->device, bytes, &o->out.storage);
        if (status == IG_STATUS_OK) o->temporary[2] = o->out.storage;
    }
    return status;
}

static ig_status convert(const igi_tensor_call *call, const igi_tensor_view *from, const igi_tensor_view *to) {
    if (from->storage == to->storage && igi_tensor_view_same_layout(from, to)) return IG_STATUS_OK;
    igi_tensor_call cast = {.op = IG_OP_CAST, .input_count = 1, .output_count = 1, .runtime = call->runtime};
    cast.in[0] = *from, cast.out[0] = *to;
    return igi_simd_cast(&cast);
}

static ig_status run_prepared(const igi_tensor_call *call, bool adds) {
    operands o = {0};
    ig_status status = prepare(call, &o);
    if (status == IG_STATUS_OK && adds) status = convert(call, &call->in[2], &o.out);
    if (status == IG_STATUS_OK) multiply(call, &o.a, &o.b, &o.out, adds);
    if (status == IG_STATUS_OK && o.temporary[2]) status = convert(call, &o.out, &call->out[0]);
    for (int i = 0; i < 3; i++) igi_tensor_storage_release(o.temporary[i]);
    return status;
}

static ig_status run_matmul(const igi_tensor_call *call) {
    const igi_tensor_view *a = &call->in[0], *b = &call->in[1], *out = &call->out[0];
    bool adds = call->in[2].storage != NULL;
    if (adds || !as_it_lies(a, true) || !as_it_lies(b, true) || !out_as_it_lies(out)) return run_prepared(call, adds);
    multiply(call, a, b, out, false);
    return IG_STATUS_OK;
}

// Measured against OpenBLAS 0.3.21 with kernels for the same vectors: with AVX-512, our own products are as fast or
// faster at every size, with AVX2 up to 512 x 512.
static uint64_t worth_asking(void) {
#if defined(__APPLE__)
    return 1 << 15;
#else
    uint32_t lanes = igi_simd()->lanes;
    return lanes >= 16 ? UINT64_MAX : lanes >= 8 ? 1 << 27 : 1 << 15;
#endif
}

static const igi_tensor_implementation rows[] = {{.op = IG_OP_MATMUL,
                                                  .types = IGI_FLOATS,
                                                  .threshold_here = worth_asking,
                                                  .accepts = accepts_matmul,
                                                  .run = run_matmul}};

const igi_op_backend igi_ops_blas = {
    .id = IG_BACKEND_BLAS, .rows = rows, .row_count = 1, .open = open_blas, .close = close_blas};
