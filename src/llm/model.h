// SPDX-License-Identifier: Apache-2.0
// Decoders of the Llama kind: what a file says of them, and their weights.
#ifndef INGOT_LLM_MODEL_H
#define INGOT_LLM_MODEL_H

#include <ingot/llm.h>

#include "core/memory.h"
#include "core/status-internal.h"

typedef struct igi_model_config {
    ig_model_shape shape;
    uint64_t head_dim, context;
    double norm_epsilon;
    ig_rope_desc rope;  // without positions
} igi_model_config;

// y = weight x + bias
typedef struct igi_projection {
    ig_weight *weight;
    ig_tensor *bias;  // NULL: none
} igi_projection;

typedef struct igi_layer {
    ig_tensor *attention_norm, *feed_norm;
    ig_tensor *query_norm, *key_norm;  // of each head; NULL: none
    igi_projection query, key, value, output;
    igi_projection gate, up, down;
} igi_layer;

struct ig_model {
    igi_refcount references;
    ig_device *device;
    ig_gguf *file;  // whose memory the weights are in
    igi_model_config config;
    ig_weight *embedding;
    ig_tensor *last_norm;
    igi_projection words;  // the embedding again where the file has no other
    igi_layer *layers;
};

// errors: BAD_FORMAT, UNSUPPORTED.
ig_status igi_model_configure(const ig_gguf *file, igi_model_config *config, ig_error *error);

// Takes tokens through the layers, behind what is in the cache. `words` NULL: what comes next is not wanted; else the
// logits of the last token, [1, vocabulary].
ig_status igi_model_forward(const ig_model *model, ig_stream *stream, ig_kv_cache *cache, const int32_t *tokens,
                            uint64_t count, ig_tensor **words);

#endif
