// SPDX-License-Identifier: Apache-2.0
// Gather, scatter and index select of the reference.
#include <string.h>

#include "core/status-internal.h"
#include "tensor/iterate.h"
#include "tensor/scalar/scalar.h"

typedef struct context {
    const igi_tensor_call *call;
    uint64_t length;  // of the indexed axis
    int64_t stride;   // along it, in bytes
    size_t size;
    bool failed;
    int64_t wrong;  // the first index out of range
} context;

// Where the index points, in bytes from the start of the axis. Returns false if it is out of range.
static bool find(context *c, const char *at, int64_t *offset) {
    int64_t index, length = (int64_t)c->length;
    igi_tensor_load_integers(c->call->in[1].type, at, 0, 1, &index);
    bool inside = index >= -length && index < length;
    if (!inside && !c->failed) c->failed = true, c->wrong = index;
    *offset = (index < 0 ? index + length : index) * c->stride;
    return inside;
}

static void gather_row(void *user, uint64_t count, char *const *data, const int64_t *strides) {
    context *c = user;
    for (uint64_t i = 0; i < count; i++) {
        int64_t at = (int64_t)i, offset;
        if (!find(c, data[1] + at * strides[1], &offset)) return;
        memcpy(data[0] + at * strides[0], data[2] + at * strides[2] + offset, c->size);
    }
}

static void add_to(ig_type type, char *target, const char *source) {
    double a, b;
    int64_t m, n;
    if (igi_tensor_is_float(type)) {
        igi_tensor_load_doubles(type, target, 0, 1, &a);
        igi_tensor_load_doubles(type, source, 0, 1, &b);
        a += b;
        igi_tensor_store_doubles(type, target, 0, 1, &a);
    } else {
        igi_tensor_load_integers(type, target, 0, 1, &m);
        igi_tensor_load_integers(type, source, 0, 1, &n);
        m = (int64_t)((uint64_t)m + (uint64_t)n);
        igi_tensor_store_integers(type, target, 0, 1, &m);
    }
}

static void scatter_row(void *user, uint64_t count, char *const *data, const int64_t *strides) {
    context *c = user;
    for (uint64_t i = 0; i < count; i++) {
        int64_t at = (int64_t)i, offset;
        if (!find(c, data[1] + at * strides[1], &offset)) return;
        char *target = data[2] + at * strides[2] + offset;
        const char *source = data[0] + at * strides[0];
        if (c->call->p.index.add)
            add_to(c->call->out[0].type, target, source);
        else
            memcpy(target, source, c->size);
    }
}

static ig_status check_found(const context *c) {
    if (!c->failed) return IG_STATUS_OK;
    return igi_error_set(c->call->error, IG_STATUS_OUT_OF_RANGE, "%s: index %lld is outside an axis of length %llu",
                         igi_tensor_call_name(c->call), (long long)c->wrong, (unsigned long long)c->length);
}

// Every element of `indexed` along the axis is reached from its first; the other dimensions are those of `index`.
static igi_tensor_view firsts(const igi_tensor_view *indexed, const igi_tensor_view *index, uint32_t axis) {
    igi_tensor_view view = *indexed;
    memcpy(view.shape, index->shape, sizeof view.shape);
    view.strides[axis] = 0;
    return view;
}

static context begin(const igi_tensor_call *call, const igi_tensor_view *indexed) {
    uint32_t axis = call->p.index.axis;
    return (context){.call = call,
                     .length = indexed->shape[axis],
                     .stride = igi_tensor_view_stride_bytes(indexed, axis),
                     .size = ig_type_size(indexed->type)};
}

// The vector of positions, repeated to the shape of the result.
static igi_tensor_view spread(const igi_tensor_call *call) {
    igi_tensor_view index = call->out[0];
    index.storage = call->in[1].storage, index.offset = call->in[1].offset, index.type = call->in[1].type;
    for (uint32_t i = 0; i < index.rank; i++) index.strides[i] = 0;
    index.strides[call->p.index.axis] = call->in[1].strides[0];
    return index;
}

ig_status igi_scalar_gather(const igi_tensor_call *call) {
    igi_tensor_view index = call->op == IG_OP_INDEX_SELECT ? spread(call) : call->in[1];
    igi_tensor_view x = firsts(&call->in[0], &index, call->p.index.axis);
    context c = begin(call, &call->in[0]);
    igi_tensor_walk walk = igi_tensor_walk_of(3, (const igi_tensor_view *[]){&call->out[0], &index, &x});
    igi_tensor_walk_all(&walk, gather_row, &c);
    return check_found(&c);
}

ig_status igi_scalar_scatter(const igi_tensor_call *call) {
    igi_tensor_view target = firsts(&call->out[0], &call->in[1], call->p.index.axis);
    context c = begin(call, &call->out[0]);
    igi_tensor_walk walk = igi_tensor_walk_of(3, (const igi_tensor_view *[]){&call->in[2], &call->in[1], &target});
    igi_tensor_walk_all(&walk, scatter_row, &c);
    return check_found(&c);
}
