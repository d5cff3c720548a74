// SPDX-License-Identifier: Apache-2.0
// Steps that decoders are made of. After the first failure in a pass they do nothing and return NULL.
#ifndef INGOT_LLM_DECODER_H
#define INGOT_LLM_DECODER_H

#include "llm/model.h"

// Tokens on their way through the layers.
typedef struct igi_llm_pass {
    const ig_model *model;
    ig_stream *stream;
    ig_kv_cache *cache;
    uint32_t layer;
    uint64_t position;  // of the first token
    ig_status status;   // of the first failure
} igi_llm_pass;

typedef ig_tensor *(*igi_llm_decoder_step)(igi_llm_pass *p, const igi_llm_layer *layer, const ig_tensor *x);

// x += step(norm(x))
void igi_llm_decoder_add(igi_llm_pass *p, igi_llm_part_name norm, igi_llm_decoder_step step, ig_tensor *x);
// Grouped-query attention over the cache, with rotary positions, and head norms if the layer has them.
ig_tensor *igi_llm_decoder_attend(igi_llm_pass *p, const igi_llm_layer *layer, const ig_tensor *x);
// down(silu(gate(x)) * up(x))
ig_tensor *igi_llm_decoder_feed_forward(igi_llm_pass *p, const igi_llm_layer *layer, const ig_tensor *x);

// Attention, then feed-forward: the layer of Llama and its derivatives.
void igi_llm_decoder_run_layer(igi_llm_pass *p, ig_tensor *x);

#endif
