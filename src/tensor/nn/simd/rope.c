// SPDX-License-Identifier: Apache-2.0
// Rotary positions: sines and cosines once for all heads of a token.
#include <math.h>

#include "tensor/iterate.h"
#include "tensor/nn/nn.h"
#include "tensor/nn/simd/kernels.h"

enum { MAX_PAIRS = IGI_ROPE_MAX_DIMS / 2 };

typedef struct job {
    const igi_tensor_call *call;
    const igi_simd_kernels *k;
    uint64_t turns[MAX_PAIRS];
} job;

static uint64_t position_of(const igi_tensor_call *call, uint64_t token) {
    const igi_tensor_view *positions = &call->in[1];
    uint64_t length = call->in[0].shape[1], batch = token / length, at = token % length;
    int64_t position = (int64_t)at;
    if (positions->storage)
        position = ((const int64_t *)igi_tensor_view_data(
            positions))[(int64_t)batch * positions->strides[0] + (int64_t)at * positions->strides[1]];
    return (uint64_t)position + call->p.rope.position;
}

// The product wraps around as angles do; the rest is within half a turn.
static void fill_angles(const job *j, uint64_t position, float *cosines, float *sines) {
    uint32_t pairs = j->call->p.rope.dims / 2;
    float angles[MAX_PAIRS];
    for (uint32_t i = 0; i < pairs; i++)
        angles[i] = (float)(int32_t)((j->turns[i] * position) >> 32) * (float)(2 * M_PI * 0x1p-32);
    if (!pairs) return;
    j->k->unary[IG_OP_COS](pairs, angles, cosines, &j->call->p, false);
    j->k->unary[IG_OP_SIN](pairs, angles, sines, &j->call->p, false);
}

static void turn_head(const job *j, uint64_t row, const float *cosines, const float *sines) {
    const igi_tensor_view *x = &j->call->in[0], *out = &j->call->out[0];
    float values[IGI_ROPE_MAX_DIMS];
    uint32_t dims = j->call->p.rope.dims;
    int64_t step = igi_tensor_view_stride_bytes(x, 3), out_step = igi_tensor_view_stride_bytes(out, 3);
    const char *from = igi_tensor_view_data(x) + igi_tensor_row_offset(x, row);
    char *to = igi_tensor_view_data(out) + igi_tensor_row_offset(out, row);
    igi_simd_load_all(j->k, x->type, from, step, dims, values);
    if (j->call->p.rope.interleaved)
        igi_nn_simd()->rotate_interleaved(dims / 2, cosines, sines, values);
    else
        igi_nn_simd()->rotate(dims / 2, cosines, sines, values, values + dims / 2);
    igi_simd_store_all(j->k, x->type, values, to, out_step, dims);
    if (x->shape[3] > dims)
        igi_tensor_copy_elements(ig_type_size(x->type), x->shape[3] - dims, from + dims * step, step,
                                 to + dims * out_step, out_step);
}

static void turn_tokens(void *user, uint64_t begin, uint64_t end) {
    const job *j = user;
    uint64_t heads = j->call->in[0].shape[2];
    float cosines[MAX_PAIRS], sines[MAX_PAIRS];
    for (uint64_t token = begin; token < end; token++) {
        fill_angles(j, position_of(j->call, token), cosines, sines);
        for (uint64_t h = 0; h < heads; h++) turn_head(j, token * heads + h, cosines, sines);
    }
}

ig_status igi_simd_rope(const igi_tensor_call *call) {
    const igi_tensor_view *x = &call->in[0];
    job j = {.call = call, .k = igi_simd()};
    if (igi_tensor_view_count(x) == 0) return IG_STATUS_OK;
    for (uint32_t i = 0; i < call->p.rope.dims / 2; i++) j.turns[i] = igi_tensor_rope_turns(&call->p, i);
    uint64_t each = x->shape[2] * x->shape[3];
    igi_tensor_parallel(call->runtime, x->shape[0] * x->shape[1], each < IGI_SIMD_GRAIN ? IGI_SIMD_GRAIN / each : 1,
                        turn_tokens, &j);
    return IG_STATUS_OK;
}
