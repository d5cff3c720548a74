// SPDX-License-Identifier: Apache-2.0
// Gather, scatter and index select as kernels. A kernel cannot report a wrong index, so the host checks them first.
#include <string.h>

#include "core/status-internal.h"
#include "tensor/batch.h"
#include "tensor/iterate.h"
#include "tensor/msl/msl.h"

typedef struct igi_tensor_msl_axis {
    int32_t length, stride;
} igi_tensor_msl_axis;

typedef struct igi_tensor_msl_picked {
    uint32_t count;
    int32_t index_stride, source_stride;
} igi_tensor_msl_picked;

// Indices that the device is still computing cannot be checked.
bool igi_tensor_msl_accepts_gather(const igi_tensor_call *call) {
    igi_tensor_storage *index = call->in[1].storage;
    if (!igi_tensor_msl_accepts_all(call)) return false;
    if (!atomic_load(&index->busy)) return true;
    pthread_mutex_lock(&index->lock);
    bool made = !index->writer || igi_tensor_batch_is_done(index->writer);
    pthread_mutex_unlock(&index->lock);
    return made;
}

// One thread processes each line: a few long ones are better done on the host.
bool igi_tensor_msl_accepts_scatter(const igi_tensor_call *call) {
    const igi_tensor_view *index = &call->in[1];
    uint64_t count = igi_tensor_view_count(index), picked = index->shape[call->p.index.axis];
    bool sums_bools = call->p.index.add && call->out[0].type == IG_TYPE_BOOL;
    return !sums_bools && (picked <= 4096 || count / picked >= 64) && igi_tensor_msl_accepts_gather(call);
}

typedef struct search {
    ig_type type;
    int64_t length, wrong;
    bool failed;
} search;

static void look(void *user, uint64_t count, char *const *data, const int64_t *strides) {
    search *s = user;
    for (uint64_t i = 0; i < count && !s->failed; i++) {
        int64_t index;
        igi_tensor_load_integers(s->type, data[0] + (int64_t)i * strides[0], 0, 1, &index);
        if (index < -s->length || index >= s->length) s->failed = true, s->wrong = index;
    }
}

static ig_status check(const igi_tensor_call *call) {
    const igi_tensor_view *index = &call->in[1];
    search s = {.type = index->type, .length = (int64_t)call->in[0].shape[call->p.index.axis]};
    igi_tensor_walk walk = igi_tensor_walk_of(1, &index);
    igi_tensor_walk_all(&walk, look, &s);
    if (!s.failed) return IG_STATUS_OK;
    return igi_error_set(call->error, IG_STATUS_OUT_OF_RANGE, "%s: index %lld is outside an axis of length %lld",
                         igi_tensor_call_name(call), (long long)s.wrong, (long long)s.length);
}

// The vector of positions, repeated to the shape of the result.
static igi_tensor_view spread(const igi_tensor_call *call) {
    igi_tensor_view index = call->out[0];
    index.storage = call->in[1].storage, index.offset = call->in[1].offset, index.type = call->in[1].type;
    memset(index.strides, 0, sizeof index.strides);
    index.strides[call->p.index.axis] = call->in[1].strides[0];
    return index;
}

ig_status igi_tensor_msl_gather(const igi_tensor_call *call) {
    uint64_t count = igi_tensor_view_count(&call->out[0]);
    ig_status status = check(call);
    if (status != IG_STATUS_OK || count == 0) return status;
    uint32_t along = call->p.index.axis;
    igi_tensor_view index = call->op == IG_OP_INDEX_SELECT ? spread(call) : call->in[1], x = call->in[0];
    igi_tensor_msl_axis axis = {(int32_t)x.shape[along], (int32_t)x.strides[along]};
    memcpy(x.shape, index.shape, sizeof x.shape);
    x.strides[along] = 0;
    igi_tensor_msl_layout layout;
    igi_tensor_msl_layout_of(3, (const igi_tensor_view *[]){&call->out[0], &index, &x}, &layout);
    igi_tensor_msl_encoder e =
        igi_tensor_msl_begin(call, "index", igi_tensor_msl_consecutive(&layout, 3), "gather_%u_%s",
                             (unsigned)ig_type_size(x.type), ig_type_name(index.type));
    igi_tensor_msl_view(&e, &x, 0);
    igi_tensor_msl_view(&e, &index, 1);
    igi_tensor_msl_view(&e, &call->out[0], 2);
    igi_tensor_msl_bytes(&e, &axis, sizeof axis, 3);
    igi_tensor_msl_bytes(&e, &layout, sizeof layout, 4);
    uint64_t inner = layout.shape[layout.rank - 1];
    igi_tensor_msl_threads(&e, (ig_size){inner, count / inner, 1});
    return e.status;
}

// ---- Scatter ----

// The first element of each line, for as many lines as the indices have.
static igi_tensor_view lines_of(const igi_tensor_view *view, const igi_tensor_view *index, uint32_t axis) {
    igi_tensor_view lines = *view;
    memcpy(lines.shape, index->shape, sizeof lines.shape);
    lines.shape[axis] = 1;
    return lines;
}

ig_status igi_tensor_msl_scatter(const igi_tensor_call *call) {
    const igi_tensor_view *index = &call->in[1], *source = &call->in[2], *out = &call->out[0];
    ig_status status = check(call);
    if (status != IG_STATUS_OK || igi_tensor_view_count(index) == 0) return status;
    uint32_t along = call->p.index.axis;
    igi_tensor_msl_axis axis = {(int32_t)out->shape[along], (int32_t)out->strides[along]};
    igi_tensor_msl_picked picked = {(uint32_t)index->shape[along], (int32_t)index->strides[along],
                                    (int32_t)source->strides[along]};
    igi_tensor_view starts[3] = {lines_of(out, index, along), lines_of(index, index, along),
                                 lines_of(source, index, along)};
    igi_tensor_msl_layout layout;
    igi_tensor_msl_layout_of(3, (const igi_tensor_view *[]){&starts[0], &starts[1], &starts[2]}, &layout);
    uint32_t consecutive = igi_tensor_msl_consecutive(&layout, 3);
    igi_tensor_msl_encoder e = call->p.index.add
                                   ? igi_tensor_msl_begin(call, "index", consecutive, "scatter_add_%s_%s",
                                                          ig_type_name(out->type), ig_type_name(index->type))
                                   : igi_tensor_msl_begin(call, "index", consecutive, "scatter_%u_%s",
                                                          (unsigned)ig_type_size(out->type), ig_type_name(index->type));
    igi_tensor_msl_view(&e, source, 0);
    igi_tensor_msl_view(&e, index, 1);
    igi_tensor_msl_view(&e, out, 2);
    igi_tensor_msl_bytes(&e, &axis, sizeof axis, 3);
    igi_tensor_msl_bytes(&e, &layout, sizeof layout, 4);
    igi_tensor_msl_bytes(&e, &picked, sizeof picked, 5);
    uint64_t inner = layout.shape[layout.rank - 1], lines = igi_tensor_view_count(index) / picked.count;
    igi_tensor_msl_threads(&e, (ig_size){inner, lines / inner, 1});
    return e.status;
}
