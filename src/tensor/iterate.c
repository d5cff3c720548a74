// SPDX-License-Identifier: Apache-2.0
// Walking strided views.
#include "tensor/iterate.h"

#include <assert.h>
#include <string.h>

// Whether the walk's last dimension and dimension `axis` of the views can be merged.
static bool continues(const igi_tensor_walk *walk, const igi_tensor_view *const *views, uint32_t axis) {
    for (uint32_t o = 0; o < walk->operands; o++) {
        int64_t inner = igi_tensor_view_stride_bytes(views[o], axis);
        if (walk->strides[o][walk->rank - 1] != inner * (int64_t)views[o]->shape[axis]) return false;
    }
    return true;
}

static void add_dimension(igi_tensor_walk *walk, const igi_tensor_view *const *views, uint32_t axis) {
    uint64_t length = views[0]->shape[axis];
    if (length == 1) return;
    if (walk->rank && continues(walk, views, axis))
        walk->shape[walk->rank - 1] *= length;
    else
        walk->shape[walk->rank++] = length;
    for (uint32_t o = 0; o < walk->operands; o++)
        walk->strides[o][walk->rank - 1] = igi_tensor_view_stride_bytes(views[o], axis);
}

#ifndef NDEBUG
static bool same_shapes(uint32_t operands, const igi_tensor_view *const *views) {
    for (uint32_t o = 1; o < operands; o++)
        if (!igi_tensor_same_shape(views[0], views[o])) return false;
    return true;
}
#endif

igi_tensor_walk igi_tensor_walk_of(uint32_t operands, const igi_tensor_view *const *views) {
    assert(operands >= 1 && operands <= IGI_MAX_OPERANDS && same_shapes(operands, views));
    igi_tensor_walk walk;
    walk.rank = 0;
    walk.operands = operands;
    walk.count = igi_tensor_view_count(views[0]);
    for (uint32_t o = 0; o < operands; o++) walk.data[o] = igi_tensor_view_data(views[o]);
    for (uint32_t i = 0; i < views[0]->rank && walk.count; i++) add_dimension(&walk, views, i);
    if (walk.rank == 0) {
        walk.rank = 1;
        walk.shape[0] = walk.count;
        for (uint32_t o = 0; o < operands; o++) walk.strides[o][0] = 0;
    }
    return walk;
}

typedef struct place {
    uint64_t at[IG_MAX_RANK];
    char *data[IGI_MAX_OPERANDS];
} place;

static void go_to(const igi_tensor_walk *walk, uint64_t element, place *p) {
    memcpy(p->data, walk->data, sizeof p->data);
    for (uint32_t i = walk->rank; i-- > 0;) {
        p->at[i] = element % walk->shape[i];
        element /= walk->shape[i];
        for (uint32_t o = 0; o < walk->operands; o++) p->data[o] += (int64_t)p->at[i] * walk->strides[o][i];
    }
}

static void step(const igi_tensor_walk *walk, place *p, uint32_t axis, int64_t steps) {
    for (uint32_t o = 0; o < walk->operands; o++) p->data[o] += steps * walk->strides[o][axis];
}

// Advances to the first element of the next row.
static void next_row(const igi_tensor_walk *walk, place *p) {
    uint32_t axis = walk->rank - 1;
    step(walk, p, axis, -(int64_t)p->at[axis]);
    p->at[axis] = 0;
    while (axis-- > 0) {
        if (++p->at[axis] < walk->shape[axis]) {
            step(walk, p, axis, 1);
            return;
        }
        step(walk, p, axis, 1 - (int64_t)walk->shape[axis]);
        p->at[axis] = 0;
    }
}

void igi_tensor_walk_range(const igi_tensor_walk *walk, uint64_t begin, uint64_t end, igi_tensor_walk_body body,
                           void *context) {
    uint32_t last = walk->rank - 1;
    int64_t strides[IGI_MAX_OPERANDS] = {0};
    for (uint32_t o = 0; o < walk->operands; o++) strides[o] = walk->strides[o][last];
    if (begin >= end) return;
    place p;
    go_to(walk, begin, &p);
    while (begin < end) {
        uint64_t count = walk->shape[last] - p.at[last];
        if (count > end - begin) count = end - begin;
        body(context, count, p.data, strides);
        begin += count;
        if (begin < end) next_row(walk, &p);
    }
}

void igi_tensor_walk_all(const igi_tensor_walk *walk, igi_tensor_walk_body body, void *context) {
    igi_tensor_walk_range(walk, 0, walk->count, body, context);
}

// ---- Copies ----

typedef struct copying {
    char *packed;
    uint64_t size;
} copying;

// Host memory may be unaligned.
#define COPY_ELEMENTS(bytes) \
    for (uint64_t i = 0; i < count; i++, from += from_stride, to += to_stride) memcpy(to, from, bytes)

void igi_tensor_copy_elements(uint64_t size, uint64_t count, const char *from, int64_t from_stride, char *to,
                              int64_t to_stride) {
    if (from_stride == (int64_t)size && to_stride == (int64_t)size) {
        memmove(to, from, count * size);
        return;
    }
    switch (size) {
        case 1: COPY_ELEMENTS(1); break;
        case 2: COPY_ELEMENTS(2); break;
        case 4: COPY_ELEMENTS(4); break;
        default: COPY_ELEMENTS(8); break;
    }
}

static void pack(void *context, uint64_t count, char *const *data, const int64_t *strides) {
    copying *c = context;
    igi_tensor_copy_elements(c->size, count, data[0], strides[0], c->packed, (int64_t)c->size);
    c->packed += count * c->size;
}

static void unpack(void *context, uint64_t count, char *const *data, const int64_t *strides) {
    copying *c = context;
    igi_tensor_copy_elements(c->size, count, c->packed, (int64_t)c->size, data[0], strides[0]);
    c->packed += count * c->size;
}

void igi_tensor_copy_to_memory(const igi_tensor_view *view, void *bytes) {
    copying c = {bytes, ig_type_size(view->type)};
    igi_tensor_walk walk = igi_tensor_walk_of(1, &view);
    igi_tensor_walk_all(&walk, pack, &c);
}

void igi_tensor_copy_from_memory(const igi_tensor_view *view, const void *bytes) {
    copying c = {(char *)bytes, ig_type_size(view->type)};
    igi_tensor_walk walk = igi_tensor_walk_of(1, &view);
    igi_tensor_walk_all(&walk, unpack, &c);
}

static void copy_row(void *context, uint64_t count, char *const *data, const int64_t *strides) {
    igi_tensor_copy_elements(*(const uint64_t *)context, count, data[1], strides[1], data[0], strides[0]);
}

void igi_tensor_copy_view(const igi_tensor_view *from, const igi_tensor_view *to) {
    assert(from->type == to->type && igi_tensor_same_shape(from, to));
    uint64_t size = ig_type_size(to->type);
    igi_tensor_walk walk = igi_tensor_walk_of(2, (const igi_tensor_view *[]){to, from});
    igi_tensor_walk_all(&walk, copy_row, &size);
}
