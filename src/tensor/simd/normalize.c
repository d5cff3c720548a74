// SPDX-License-Identifier: Apache-2.0
// Softmax, norms and cumulative sums: line by line, packed ones in place, others through a line of floats.
#include <math.h>

#include "tensor/lines.h"
#include "tensor/simd/simd.h"

// Lines too short for stores past the caches to pay, and lines too long for the second-level cache, in floats.
enum { SHORT_LINE = 256, LONG_LINE = 1 << 16 };

typedef struct job {
    const igi_tensor_call *call;
    const igi_simd_kernels *k;
    igi_tensor_lines lines;
    bool stream;                 // packed lines are computed in the cache and written past it
    const float *weight, *bias;  // packed, or NULL
    // `aside` is memory in the cache if the line is to be written past it, else out.
    void (*line)(const struct job *j, uint64_t count, const float *in, float *aside, float *out);
    atomic_int status;
} job;

typedef struct worker {
    job *j;
    float *buffer;  // two lines; NULL if everything is packed and stays in the caches
} worker;

static bool all_packed(const job *j) {
    return igi_simd_is_packed(j->call->in[0].type, j->lines.strides[1]) &&
           igi_simd_is_packed(j->call->out[0].type, j->lines.strides[0]);
}

static void do_line(void *user, const igi_tensor_lines *lines, char *const *starts) {
    const worker *w = user;
    const job *j = w->j;
    uint64_t length = lines->length;
    if (!w->buffer || j->stream) {
        float *out = (float *)starts[0];
        j->line(j, length, (const float *)starts[1], j->stream ? w->buffer : out, out);
        return;
    }
    igi_simd_load_all(j->k, j->call->in[0].type, starts[1], lines->strides[1], length, w->buffer);
    j->line(j, length, w->buffer, w->buffer + length, w->buffer + length);
    igi_simd_store_all(j->k, j->call->out[0].type, w->buffer + length, starts[0], lines->strides[0], length);
}

// Lines at regular distances.
static void soften_rows(void *user, uint64_t count, char *const *data, const int64_t *strides) {
    const worker *w = user;
    int64_t size = sizeof(float);
    w->j->k->softmax_rows(count, w->j->lines.length, (const float *)data[1], strides[1] / size, w->buffer,
                          (float *)data[0], strides[0] / size);
}

static void do_lines(void *user, uint64_t begin, uint64_t end) {
    worker w = {.j = user};
    igi_tensor_storage *scratch = NULL;
    if (w.j->stream || !all_packed(w.j)) {
        uint64_t floats = 2 * (w.j->lines.length + IGI_SIMD_LINE_GAP);
        ig_status status = igi_tensor_storage_make(w.j->call->runtime->device, floats * sizeof(float), &scratch);
        if (status != IG_STATUS_OK) {
            atomic_store(&w.j->status, status);
            return;
        }
        w.buffer = (float *)scratch->memory;
    }
    if (w.j->stream && w.j->call->op == IG_OP_SOFTMAX)
        igi_tensor_walk_range(&w.j->lines.starts, begin, end, soften_rows, &w);
    else
        igi_tensor_lines_visit(&w.j->lines, begin, end, do_line, &w);
    igi_tensor_storage_release(scratch);
}

static ig_status run(job *j, uint32_t axis) {
    const igi_tensor_call *call = j->call;
    j->lines = igi_tensor_lines_of(2, (const igi_tensor_view *[]){&call->out[0], &call->in[0]}, axis);
    uint64_t length = j->lines.length;
    if (!length) return IG_STATUS_OK;
    bool large = j->lines.count >= IGI_SIMD_STREAM_BYTES / sizeof(float) / length;
    j->stream = large && length >= SHORT_LINE && length <= LONG_LINE && all_packed(j);
    igi_tensor_parallel(call->runtime, j->lines.count, length < IGI_SIMD_GRAIN / 4 ? IGI_SIMD_GRAIN / 4 / length : 1,
                        do_lines, j);
    return (ig_status)atomic_load(&j->status);
}

// ---- Softmax ----

static void softmax_line(const job *j, uint64_t count, const float *in, float *aside, float *out) {
    if (j->call->op == IG_OP_SOFTMAX)
        j->k->softmax(count, in, aside);
    else
        j->k->log_softmax(count, in, out, j->stream);
}

ig_status igi_simd_softmax(const igi_tensor_call *call) {
    job j = {.call = call, .k = igi_simd(), .line = softmax_line};
    return run(&j, call->p.along.axis);
}

// ---- Norms ----

// Mean and mean square around it, accurately: if all elements are nearly equal, or too large for float squares.
static void precise_moments(uint64_t count, const float *in, bool centred, double *centre, double *square) {
    *centre = *square = 0;
    for (uint64_t i = 0; i < count && centred; i++) *centre += (double)in[i];
    *centre /= (double)count;
    for (uint64_t i = 0; i < count; i++) *square += ((double)in[i] - *centre) * ((double)in[i] - *centre);
    *square /= (double)count;
}

static void norm_line(const job *j, uint64_t count, const float *in, float *aside, float *out) {
    bool centred = j->call->op == IG_OP_LAYER_NORM;
    double centre = centred ? j->k->sum(count, in) / (double)count : 0;
    double square = j->k->sum_of_squares(count, in, (float)centre) / (double)count;
    double off = centre - (double)(float)centre;
    square -= off * off;
    if (!(square > 1e-3 * centre * centre && square < 1e30)) precise_moments(count, in, centred, &centre, &square);
    double scale = 1 / sqrt(square + j->call->p.norm.epsilon), rounding = (double)(float)centre - centre;
    j->k->scale_row(count, in, (float)centre, (float)scale, (float)(rounding * scale), j->weight, j->bias, aside);
    if (j->stream) j->k->copy(count, aside, out, true);
}

// A vector as packed floats: in place, or a copy in the scratch.
static const float *pack(const job *j, const igi_tensor_view *vector, float *scratch) {
    if (!vector->storage) return NULL;
    int64_t stride = igi_tensor_view_stride_bytes(vector, 0);
    if (igi_simd_is_packed(vector->type, stride)) return (const float *)igi_tensor_view_data(vector);
    igi_simd_load_all(j->k, vector->type, igi_tensor_view_data(vector), stride, vector->shape[0], scratch);
    return scratch;
}

ig_status igi_simd_norm(const igi_tensor_call *call) {
    static const igi_tensor_view none;
    job j = {.call = call, .k = igi_simd(), .line = norm_line};
    uint64_t length = call->in[0].shape[call->in[0].rank - 1];
    igi_tensor_storage *scratch = NULL;
    ig_status status = igi_tensor_storage_make(call->runtime->device, 2 * length * sizeof(float), &scratch);
    if (status != IG_STATUS_OK) return status;
    float *vectors = (float *)scratch->memory;
    j.weight = pack(&j, &call->in[1], vectors);
    j.bias = pack(&j, call->input_count > 2 ? &call->in[2] : &none, vectors + length);
    status = run(&j, call->in[0].rank - 1);
    igi_tensor_storage_release(scratch);
    return status;
}

// ---- Cumulative sums ----

static void sum_line(const job *j, uint64_t count, const float *in, float *aside, float *out) {
    double sum = 0;
    for (uint64_t i = 0; i < count; i++) aside[i] = (float)(sum += (double)in[i]);
    if (j->stream) j->k->copy(count, aside, out, true);
}

ig_status igi_simd_cumsum(const igi_tensor_call *call) {
    job j = {.call = call, .k = igi_simd(), .line = sum_line};
    return run(&j, call->p.along.axis);
}
