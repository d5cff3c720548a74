// SPDX-License-Identifier: Apache-2.0
// Models: what a file says about them, and their weights.
#ifndef INGOT_LLM_MODEL_H
#define INGOT_LLM_MODEL_H

#include <ingot/llm.h>

#include "core/memory.h"
#include "core/status-internal.h"
#include "llm/architecture.h"

typedef struct igi_llm_model_config {
    const igi_llm_architecture *architecture;
    ig_model_shape shape;
    uint64_t head_dim, context;
    double norm_epsilon;
    ig_rope_desc rope;  // without positions
} igi_llm_model_config;

// A matrix with an optional bias, or a vector alone; empty if the file has no such part.
typedef struct igi_llm_part {
    ig_weight *weight;
    ig_tensor *vector;
} igi_llm_part;

typedef struct igi_llm_layer {
    igi_llm_part parts[IGI_PART_COUNT];
} igi_llm_layer;

struct ig_model {
    igi_refcount references;
    ig_device *device;
    ig_gguf *file;  // whose memory the weights are in
    igi_llm_model_config config;
    ig_weight *embedding;
    ig_tensor *last_norm;
    igi_llm_part words;  // the output matrix; the embedding if the file has no other
    igi_llm_layer *layers;
};

// errors: BAD_FORMAT, UNSUPPORTED.
ig_status igi_llm_model_configure(const ig_gguf *file, igi_llm_model_config *config, ig_error *error);

// Takes tokens through the layers, after those in the cache. Returns the logits of the last token, [1, vocabulary],
// unless `words` is NULL.
ig_status igi_llm_model_forward(const ig_model *model, ig_stream *stream, ig_kv_cache *cache, const int32_t *tokens,
                                uint64_t count, ig_tensor **words);

#endif
