// SPDX-License-Identifier: Apache-2.0
// The shapes with which attention, its softmax and rotary positions are tested.
#ifndef INGOT_NN_ATTENTION_SAMPLES_H
#define INGOT_NN_ATTENTION_SAMPLES_H

#include "tensor/sample-maker.h"

enum { IGI_ATTENTION_SHAPES = 15 };
extern const struct igi_tensor_attention_shape {
    uint64_t batch, queries, keys, heads, key_heads, dim;
    uint64_t query_position, window, start;  // start: slot of the first key in its ring; 0: there is no ring
    bool causal;
} igi_tensor_attention_shapes[IGI_ATTENTION_SHAPES];

// Sets which keys a query sees. pre: the parameters are `attend`.
static inline void igi_tensor_attention_sample_mask(igi_tensor_sample_maker *m) {
    const struct igi_tensor_attention_shape *s = &igi_tensor_attention_shapes[m->spec->shape];
    igi_tensor_parameters *p = &m->sample->call.p;
    p->attend.query_position = s->query_position;
    p->attend.window = s->window;
    p->attend.causal = s->causal;
}

#endif
