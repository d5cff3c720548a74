// SPDX-License-Identifier: Apache-2.0
// What the implementations of transformer ops share.
#ifndef INGOT_NN_INTERNAL_H
#define INGOT_NN_INTERNAL_H

#include <ingot/nn.h>

#include "tensor/runtime.h"

// ---- What a query sees ----

typedef struct igi_tensor_key_range {
    uint64_t begin, end;
} igi_tensor_key_range;

static inline igi_tensor_key_range igi_tensor_visible_keys(const igi_tensor_parameters *p, uint64_t query,
                                                           uint64_t keys) {
    uint64_t position = p->attend.query_position + query, window = p->attend.window;
    igi_tensor_key_range range = {0, keys};
    if (p->attend.causal && position < keys) range.end = position + 1;
    if (window && position >= window) range.begin = position + 1 - window;
    if (range.begin > range.end) range.begin = range.end;
    return range;
}

// The keys of attention, in the order of their positions, wrap around at the end of their memory.
static inline uint64_t igi_tensor_key_slot(const igi_tensor_call *call, uint64_t key) {
    uint64_t slot = call->p.attend.start + key, slots = call->in[1].shape[1];
    return slot < slots ? slot : slot - slots;
}

// ---- Rows: the last dimension, for every position of the others ----

static inline uint64_t igi_tensor_row_count(const igi_tensor_view *view) {
    uint64_t count = 1;
    for (uint32_t i = 0; i + 1 < view->rank; i++) count *= view->shape[i];
    return count;
}

// The offset of a row from the first element, in bytes.
static inline int64_t igi_tensor_row_offset(const igi_tensor_view *view, uint64_t row) {
    int64_t offset = 0;
    for (uint32_t i = view->rank - 1; i-- > 0; row /= view->shape[i])
        offset += (int64_t)(row % view->shape[i]) * igi_tensor_view_stride_bytes(view, i);
    return offset;
}

// ---- Rotary positions ----

// Radians by which pair i is rotated from one position to the next.
double igi_tensor_rope_frequency(const igi_tensor_parameters *p, uint32_t pair);
// The same as a fraction of a full turn, times 2^64. Multiplied by a position, it wraps around as angles do, so that no
// position is too large.
uint64_t igi_tensor_rope_turns(const igi_tensor_parameters *p, uint32_t pair);
enum { IGI_ROPE_MAX_DIMS = 1024 };

#endif
