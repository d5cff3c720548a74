// SPDX-License-Identifier: Apache-2.0
// Rotary positions as a kernel.
#include "tensor/msl/msl.h"
#include "tensor/nn/nn.h"

typedef struct igi_tensor_msl_rope_layout {
    uint32_t sequence, dims, dim;
    int32_t x_strides[4], out_strides[4], position_strides[2];
    uint32_t has_positions, interleaved;
    uint64_t position;
} igi_tensor_msl_rope_layout;

ig_status igi_tensor_msl_rope(const igi_tensor_call *call) {
    const igi_tensor_view *x = &call->in[0], *positions = &call->in[1], *out = &call->out[0];
    if (igi_tensor_view_count(x) == 0) return IG_STATUS_OK;
    uint64_t turns[IGI_ROPE_MAX_DIMS / 2] = {0};
    uint32_t pairs = call->p.rope.dims / 2;
    igi_tensor_msl_rope_layout r = {.sequence = (uint32_t)x->shape[1],
                                    .dims = call->p.rope.dims,
                                    .dim = (uint32_t)x->shape[3],
                                    .has_positions = positions->storage != NULL,
                                    .interleaved = call->p.rope.interleaved,
                                    .position = call->p.rope.position};
    for (int i = 0; i < 4; i++) r.x_strides[i] = (int32_t)x->strides[i], r.out_strides[i] = (int32_t)out->strides[i];
    for (int i = 0; i < 2 && r.has_positions; i++) r.position_strides[i] = (int32_t)positions->strides[i];
    for (uint32_t i = 0; i < pairs; i++) turns[i] = igi_tensor_rope_turns(&call->p, i);
    igi_tensor_msl_encoder e = igi_tensor_msl_begin(call, "rope", 0, "rope_%s", ig_type_name(x->type));
    igi_tensor_msl_view(&e, x, 0);
    if (r.has_positions)
        igi_tensor_msl_view(&e, positions, 1);
    else
        igi_tensor_msl_bytes(&e, &(int64_t){0}, sizeof(int64_t), 1);
    igi_tensor_msl_view(&e, out, 2);
    igi_tensor_msl_bytes(&e, &r, sizeof r, 3);
    igi_tensor_msl_bytes(&e, turns, (pairs ? pairs : 1) * sizeof *turns, 4);
    igi_tensor_msl_threads(&e, (ig_size){(x->shape[3] + 1) / 2, x->shape[2], x->shape[0] * x->shape[1]});
    return e.status;
}
