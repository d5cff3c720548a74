// SPDX-License-Identifier: Apache-2.0
// Attention as kernels.
#include "tensor/msl/msl.h"
#include "tensor/nn/nn.h"

// The least number of queries for which a thread for each pays off, and the elements for which narrow and wide kernels
// have room.
enum { MANY = 16, NARROW_DIM = 128, MAX_DIM = 256 };

typedef struct igi_tensor_msl_attend {
    uint32_t queries, heads, key_heads, dim, value_dim;
    uint32_t keys, slots, start;
    int32_t q[4], k[4], v[4], out[4];
    float scale;
    uint32_t query_position, window, causal;
} igi_tensor_msl_attend;

bool igi_tensor_msl_accepts_attention(const igi_tensor_call *call) {
    const igi_tensor_view *q = &call->in[0], *k = &call->in[1], *v = &call->in[2];
    bool types = q->type == k->type || q->type == IG_TYPE_F32;
    return types && q->shape[3] <= MAX_DIM && v->shape[3] <= MAX_DIM && igi_tensor_msl_accepts_all(call);
}

// If there are no keys, nothing is read, and results are zero.
static ig_status fill_with_zeros(const igi_tensor_call *call) {
    igi_tensor_call fill = *call;
    fill.op = IG_OP_FILL;
    fill.input_count = 0;
    fill.p.range.start = fill.p.range.step = 0;
    return igi_tensor_msl_fill(&fill);
}

ig_status igi_tensor_msl_attention(const igi_tensor_call *call) {
    const igi_tensor_view *q = &call->in[0], *k = &call->in[1], *v = &call->in[2], *out = &call->out[0];
    if (igi_tensor_view_count(out) == 0) return IG_STATUS_OK;
    if (call->p.attend.keys == 0) return fill_with_zeros(call);
    igi_tensor_msl_attend a = {.queries = (uint32_t)q->shape[1],
                               .heads = (uint32_t)q->shape[2],
                               .key_heads = (uint32_t)k->shape[2],
                               .dim = (uint32_t)q->shape[3],
                               .value_dim = (uint32_t)v->shape[3],
                               .keys = (uint32_t)call->p.attend.keys,
                               .slots = (uint32_t)k->shape[1],
                               .start = (uint32_t)call->p.attend.start,
                               .scale = (float)call->p.attend.scale,
                               .query_position = igi_tensor_msl_limited(call->p.attend.query_position),
                               .window = igi_tensor_msl_limited(call->p.attend.window),
                               .causal = call->p.attend.causal};
    igi_tensor_msl_strides(a.q, q), igi_tensor_msl_strides(a.k, k), igi_tensor_msl_strides(a.v, v),
        igi_tensor_msl_strides(a.out, out);
    bool packed = q->strides[3] == 1 && k->strides[3] == 1 && v->strides[3] == 1 && out->strides[3] == 1;
    bool many = a.queries >= MANY, wide = a.dim > NARROW_DIM || a.value_dim > NARROW_DIM;
    igi_tensor_msl_encoder e = igi_tensor_msl_begin(call, "attention", packed, "%s%s_%s_%s", many ? "many" : "few",
                                                    wide ? "_wide" : "", ig_type_name(q->type), ig_type_name(k->type));
    igi_tensor_msl_view(&e, a.dim ? q : out, 0);
    igi_tensor_msl_view(&e, a.dim ? k : v, 1);
    igi_tensor_msl_view(&e, v, 2);
    igi_tensor_msl_view(&e, out, 3);
    igi_tensor_msl_bytes(&e, &a, sizeof a, 4);
    uint32_t threads = many && wide ? 16 : 32, queries = many ? threads : 1;
    uint64_t blocks = (q->shape[1] + queries - 1) / queries;
    igi_tensor_msl_groups(&e, (ig_size){blocks, q->shape[2], q->shape[0]}, (ig_size){threads, 1, 1});
    return e.status;
}
