// SPDX-License-Identifier: Apache-2.0
// A small random model for tests: written as a GGUF file, and computed here in doubles, independently of the library.
#ifndef INGOT_TESTS_TINY_MODEL_H
#define INGOT_TESTS_TINY_MODEL_H

#include "gguf-writer.h"

enum { TINY_MOST_LAYERS = 3 };

typedef struct tiny_layer {
    float *attention_norm, *feed_norm, *query_norm, *key_norm;  // head norms: NULL without
    float *query, *key, *value, *output, *gate, *up, *down;
    float *query_bias, *key_bias, *value_bias;  // NULL without
} tiny_layer;

typedef struct tiny_model {
    const char *architecture;
    bool biases;            // of queries, keys and values
    bool head_norms;        // of queries and keys
    bool interleaved_rope;  // adjacent pairs, instead of half a head apart
    uint32_t layers, hidden, heads, key_heads, dim, inner, words, context;
    float rope_base, epsilon;
    const float *rope_factors;  // of dim / 2 pairs; NULL: none
    bool own_output;            // otherwise the embedding is used
    float *embedding, *last_norm, *last;
    tiny_layer layer[TINY_MOST_LAYERS];
} tiny_model;

// One or more for each architecture, without weights.
enum { TINY_KINDS = 4 };
extern const tiny_model tiny_kinds[TINY_KINDS];
// One of them with weights and a vocabulary of `words`. Free it with tiny_free.
tiny_model tiny_make_kind(int kind, uint32_t words, uint32_t seed);
// Fills in the weights, replacing earlier ones.
void tiny_make(tiny_model *model, uint32_t seed);
void tiny_free(tiny_model *model);
// Keys and tensors of the model. `skip`: all except this key or tensor.
void tiny_write(const tiny_model *model, gguf_writer *writer, const char *skip);
// Logits after the last token, `words` of them.
void tiny_logits(const tiny_model *model, const int32_t *tokens, uint32_t count, double *logits);

#endif
