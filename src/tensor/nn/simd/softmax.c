// SPDX-License-Identifier: Apache-2.0
// Masked softmax: the visible part of each row is scaled and masked into a line of floats.
#include <math.h>
#include <string.h>

#include "tensor/nn/nn.h"
#include "tensor/nn/simd/kernels.h"

typedef struct job {
    const igi_tensor_call *call;
    const igi_simd_kernels *k;
    atomic_int status;
} job;

static void add_mask(const job *j, uint64_t row, igi_tensor_key_range seen, float *line, float *scratch) {
    const igi_tensor_view *mask = &j->call->in[1];
    int64_t step = igi_tensor_view_stride_bytes(mask, mask->rank - 1);
    const char *from = igi_tensor_view_data(mask) + igi_tensor_row_offset(mask, row) + (int64_t)seen.begin * step;
    uint64_t count = seen.end - seen.begin;
    if (mask->type == IG_TYPE_BOOL) {
        for (uint64_t i = 0; i < count; i++) line[i] = from[(int64_t)i * step] ? line[i] : -INFINITY;
        return;
    }
    igi_simd_load_all(j->k, mask->type, from, step, count, scratch);
    j->k->add_row(count, scratch, line);
}

static void do_row(const job *j, uint64_t row, float *line, float *scratch) {
    const igi_tensor_view *x = &j->call->in[0], *out = &j->call->out[0];
    uint32_t last = x->rank - 1;
    igi_tensor_key_range seen = igi_tensor_visible_keys(&j->call->p, row % x->shape[last - 1], x->shape[last]);
    uint64_t count = seen.end - seen.begin;
    int64_t step = igi_tensor_view_stride_bytes(x, last);
    memset(line, 0, x->shape[last] * sizeof *line);
    if (count) {
        float *part = line + seen.begin;
        igi_simd_load_all(j->k, x->type,
                          igi_tensor_view_data(x) + igi_tensor_row_offset(x, row) + (int64_t)seen.begin * step, step,
                          count, part);
        j->k->scale_row(count, part, 0, (float)j->call->p.attend.scale, 0, NULL, NULL, part);
        if (j->call->in[1].storage) add_mask(j, row, seen, part, scratch);
        j->k->softmax(count, part, part);
    }
    igi_simd_store_all(j->k, out->type, line, igi_tensor_view_data(out) + igi_tensor_row_offset(out, row),
                       igi_tensor_view_stride_bytes(out, last), x->shape[last]);
}

static void do_rows(void *user, uint64_t begin, uint64_t end) {
    job *j = user;
    uint64_t keys = j->call->in[0].shape[j->call->in[0].rank - 1];
    igi_tensor_storage *scratch = NULL;
    ig_status status = igi_tensor_storage_make(j->call->runtime->device, 2 * keys * sizeof(float), &scratch);
    if (status != IG_STATUS_OK) {
        atomic_store(&j->status, status);
        return;
    }
    float *line = (float *)scratch->memory;
    for (uint64_t row = begin; row < end; row++) do_row(j, row, line, line + keys);
    igi_tensor_storage_release(scratch);
}

ig_status igi_simd_masked_softmax(const igi_tensor_call *call) {
    job j = {.call = call, .k = igi_simd()};
    const igi_tensor_view *x = &call->in[0];
    if (igi_tensor_view_count(x) == 0) return IG_STATUS_OK;
    uint64_t keys = x->shape[x->rank - 1];
    igi_tensor_parallel(call->runtime, igi_tensor_row_count(x),
                        keys < IGI_SIMD_GRAIN / 4 ? IGI_SIMD_GRAIN / 4 / keys : 1, do_rows, &j);
    return (ig_status)atomic_load(&j.status);
}
