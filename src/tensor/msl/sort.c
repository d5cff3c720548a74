// SPDX-License-Identifier: Apache-2.0
// Sorting as kernels: blocks in threadgroup memory, then passes that merge them.
#include "tensor/msl/msl.h"

enum { MAX_BLOCK = 1024, CHUNK = 16 };  // as in sort.metal

typedef struct igi_tensor_msl_sorting {
    uint64_t flip;
    uint32_t length, block, padded;
    int32_t in_stride, value_stride, index_stride;
} igi_tensor_msl_sorting;

typedef struct plan {
    const igi_tensor_call *call;
    igi_tensor_msl_sorting sorting;
    igi_tensor_msl_layout starts;  // of the lines of values, x and indices
    uint64_t lines;
    igi_tensor_storage *items[2];  // the second only if there are blocks to merge
} plan;

static uint64_t item_size(ig_type type) {
    return type == IG_TYPE_I64 ? 16 : 8;
}

static plan plan_of(const igi_tensor_call *call) {
    const igi_tensor_view *x = &call->in[0], *values = &call->out[0], *indices = &call->out[1];
    uint32_t axis = call->p.sort.axis, length = (uint32_t)x->shape[axis], block = 2;
    while (block < length && block < MAX_BLOCK) block *= 2;
    uint64_t key = ig_type_size(x->type) == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * ig_type_size(x->type)) - 1;
    plan p = {.call = call, .lines = igi_tensor_view_count(values) / values->shape[axis]};
    p.sorting = (igi_tensor_msl_sorting){.flip = call->p.sort.descending ? key : 0,
                                         .length = length,
                                         .block = block,
                                         .padded = (length + block - 1) / block * block,
                                         .in_stride = (int32_t)x->strides[axis],
                                         .value_stride = (int32_t)values->strides[axis],
                                         .index_stride = (int32_t)indices->strides[axis]};
    igi_tensor_view starts[3] = {igi_tensor_view_starts(values, axis), igi_tensor_view_starts(x, axis),
                                 igi_tensor_view_starts(indices, axis)};
    igi_tensor_msl_layout_of(3, (const igi_tensor_view *[]){&starts[0], &starts[1], &starts[2]}, &p.starts);
    return p;
}

static ig_status make_items(plan *p) {
    uint64_t bytes = p->lines * p->sorting.padded * item_size(p->call->in[0].type);
    ig_device *device = p->call->runtime->device;
    ig_status status = igi_tensor_storage_make(device, bytes, &p->items[0]);
    bool merges = p->sorting.padded > p->sorting.block;
    return status == IG_STATUS_OK && merges ? igi_tensor_storage_make(device, bytes, &p->items[1]) : status;
}

static ig_status encode_blocks(const plan *p) {
    igi_tensor_msl_encoder e =
        igi_tensor_msl_begin(p->call, "sort", 0, "blocks_%s", igi_tensor_msl_bits_name(p->call->in[0].type));
    uint32_t half = p->sorting.block / 2, threads = half < 32 ? 32 : half > 256 ? 256 : half;
    igi_tensor_msl_view(&e, &p->call->in[0], 0);
    igi_tensor_msl_storage(&e, p->items[0], 0, 1);
    igi_tensor_msl_bytes(&e, &p->sorting, sizeof p->sorting, 2);
    igi_tensor_msl_bytes(&e, &p->starts, sizeof p->starts, 3);
    igi_tensor_msl_groups(&e, (ig_size){p->sorting.padded / p->sorting.block, p->lines, 1}, (ig_size){threads, 1, 1});
    return e.status;
}

static ig_status encode_merge(const plan *p, int from, uint32_t run) {
    igi_tensor_msl_encoder e =
        igi_tensor_msl_begin(p->call, "sort", 0, "merge_%s", p->call->in[0].type == IG_TYPE_I64 ? "wide" : "narrow");
    igi_tensor_msl_storage(&e, p->items[from], 0, 0);
    igi_tensor_msl_storage(&e, p->items[!from], 0, 1);
    igi_tensor_msl_bytes(&e, &p->sorting, sizeof p->sorting, 2);
    igi_tensor_msl_bytes(&e, &run, sizeof run, 3);
    igi_tensor_msl_threads(&e, (ig_size){p->sorting.padded / CHUNK, p->lines, 1});
    return e.status;
}

static ig_status encode_write(const plan *p, int from) {
    const igi_tensor_call *call = p->call;
    igi_tensor_msl_encoder e =
        igi_tensor_msl_begin(call, "sort", 0, "write_%s", igi_tensor_msl_bits_name(call->in[0].type));
    igi_tensor_msl_view(&e, &call->in[0], 0);
    igi_tensor_msl_storage(&e, p->items[from], 0, 1);
    igi_tensor_msl_bytes(&e, &p->sorting, sizeof p->sorting, 2);
    igi_tensor_msl_bytes(&e, &p->starts, sizeof p->starts, 3);
    igi_tensor_msl_view(&e, &call->out[0], 4);
    igi_tensor_msl_view(&e, &call->out[1], 5);
    igi_tensor_msl_threads(&e, (ig_size){call->out[0].shape[call->p.sort.axis], p->lines, 1});
    return e.status;
}

ig_status igi_tensor_msl_sort(const igi_tensor_call *call) {
    if (igi_tensor_view_count(&call->out[0]) == 0) return IG_STATUS_OK;
    plan p = plan_of(call);
    int from = 0;
    ig_status status = make_items(&p);
    if (status == IG_STATUS_OK) status = encode_blocks(&p);
    for (uint64_t run = p.sorting.block; run < p.sorting.padded && status == IG_STATUS_OK; run *= 2) {
        status = encode_merge(&p, from, (uint32_t)run);
        from = !from;
    }
    if (status == IG_STATUS_OK) status = encode_write(&p, from);
    igi_tensor_storage_release(p.items[0]), igi_tensor_storage_release(p.items[1]);
    return status;
}
