// SPDX-License-Identifier: Apache-2.0
// Attention over keys that may be in a ring.
#ifndef INGOT_NN_ATTENTION_H
#define INGOT_NN_ATTENTION_H

#include "tensor/nn/nn.h"

// Where the keys are: `keys` of them from slot `start` on, wrapping around at the end.
typedef struct igi_tensor_key_ring {
    uint64_t keys, start;
} igi_tensor_key_ring;

// ring NULL: all slots, in order.
ig_status igi_tensor_attention(ig_stream *stream, const ig_tensor *q, const ig_tensor *k, const ig_tensor *v,
                               const ig_attention_desc *desc, const igi_tensor_key_ring *ring,
                               const ig_op_options *options, ig_tensor **out);

#endif
