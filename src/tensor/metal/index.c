// SPDX-License-Identifier: Apache-2.0
// Gather and index select as kernels. A kernel cannot refuse an index, so the host looks at them first.
#include <string.h>

#include "core/status-internal.h"
#include "tensor/batch.h"
#include "tensor/iterate.h"
#include "tensor/metal/metal.h"

typedef struct igi_metal_axis {
    int32_t length, stride;
} igi_metal_axis;

// Indices that the device is still making cannot be looked at.
bool igi_metal_accepts_gather(const igi_call *call) {
    igi_storage *index = call->in[1].storage;
    if (!igi_metal_accepts_all(call)) return false;
    if (!atomic_load(&index->busy)) return true;
    pthread_mutex_lock(&index->lock);
    bool made = !index->writer || igi_batch_is_done(index->writer);
    pthread_mutex_unlock(&index->lock);
    return made;
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
        igi_load_integers(s->type, data[0] + (int64_t)i * strides[0], 0, 1, &index);
        if (index < -s->length || index >= s->length) s->failed = true, s->wrong = index;
    }
}

static ig_status check(const igi_call *call) {
    const igi_view *index = &call->in[1];
    search s = {.type = index->type, .length = (int64_t)call->in[0].shape[call->p.index.axis]};
    igi_walk walk = igi_walk_of(1, &index);
    igi_walk_all(&walk, look, &s);
    if (!s.failed) return IG_STATUS_OK;
    return igi_error_set(call->error, IG_STATUS_OUT_OF_RANGE, "%s: index %lld lies outside an axis of length %lld",
                         ig_op_name(call->op), (long long)s.wrong, (long long)s.length);
}

// The vector of positions, repeated to the shape of the result.
static igi_view spread(const igi_call *call) {
    igi_view index = call->out[0];
    index.storage = call->in[1].storage, index.offset = call->in[1].offset, index.type = call->in[1].type;
    memset(index.strides, 0, sizeof index.strides);
    index.strides[call->p.index.axis] = call->in[1].strides[0];
    return index;
}

ig_status igi_metal_gather(const igi_call *call) {
    uint64_t count = igi_view_count(&call->out[0]);
    ig_status status = check(call);
    if (status != IG_STATUS_OK || count == 0) return status;
    uint32_t along = call->p.index.axis;
    igi_view index = call->op == IG_OP_INDEX_SELECT ? spread(call) : call->in[1], x = call->in[0];
    igi_metal_axis axis = {(int32_t)x.shape[along], (int32_t)x.strides[along]};
    memcpy(x.shape, index.shape, sizeof x.shape);
    x.strides[along] = 0;
    igi_metal_layout layout;
    igi_metal_layout_of(3, (const igi_view *[]){&call->out[0], &index, &x}, &layout);
    igi_metal_encoder e = igi_metal_begin(call, "index", igi_metal_consecutive(&layout, 3), "gather_%u_%s",
                                          (unsigned)ig_type_size(x.type), ig_type_name(index.type));
    igi_metal_view(&e, &x, 0);
    igi_metal_view(&e, &index, 1);
    igi_metal_view(&e, &call->out[0], 2);
    igi_metal_bytes(&e, &axis, sizeof axis, 3);
    igi_metal_bytes(&e, &layout, sizeof layout, 4);
    uint64_t inner = layout.shape[layout.rank - 1];
    igi_metal_threads(&e, (ig_size){inner, count / inner, 1});
    return e.status;
}
