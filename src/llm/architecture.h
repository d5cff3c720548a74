// SPDX-License-Identifier: Apache-2.0
// Architectures: what distinguishes one kind of model from the others. Each is a file in architectures/ and a row here.
#ifndef INGOT_LLM_ARCHITECTURE_H
#define INGOT_LLM_ARCHITECTURE_H

#include <ingot/llm.h>

// The parts that layers may have.
typedef enum igi_llm_part_name {
    IGI_PART_ATTENTION_NORM,
    IGI_PART_QUERY,
    IGI_PART_KEY,
    IGI_PART_VALUE,
    IGI_PART_QUERY_NORM,  // of each head
    IGI_PART_KEY_NORM,    // of each head
    IGI_PART_OUTPUT,
    IGI_PART_FEED_NORM,
    IGI_PART_GATE,
    IGI_PART_UP,
    IGI_PART_DOWN,
    IGI_PART_COUNT
} igi_llm_part_name;

// Lengths that make up the shapes of tensors.
typedef enum igi_llm_length {
    IGI_LENGTH_ONE,     // as a number of rows: the tensor is a vector
    IGI_LENGTH_HIDDEN,  // of the activations
    IGI_LENGTH_INNER,   // of the feed-forward network
    IGI_LENGTH_HEAD,
    IGI_LENGTH_QUERIES,  // all heads of queries
    IGI_LENGTH_KEYS,     // all heads of keys, or of values
    IGI_LENGTH_COUNT
} igi_llm_length;

typedef enum igi_llm_presence { IGI_REQUIRED, IGI_OPTIONAL, IGI_UNUSED } igi_llm_presence;

// A part as named in the file: "blk.N.NAME.weight", and for matrices "blk.N.NAME.bias".
typedef struct igi_llm_part_desc {
    igi_llm_part_name part;
    const char *name;
    igi_llm_length rows, columns;
    igi_llm_presence presence;  // of the weight
    igi_llm_presence bias;      // UNUSED for vectors
} igi_llm_part_desc;

struct igi_llm_pass;

typedef struct igi_llm_architecture {
    const char *name;       // general.architecture in the file, and the prefix of its keys
    bool interleaved_rope;  // rotated pairs are adjacent elements, instead of half a head apart
    const igi_llm_part_desc *parts;
    size_t part_count;
    // Takes activations [tokens, hidden] through the pass's layer, in place (decoder.h has the steps).
    void (*run_layer)(struct igi_llm_pass *pass, ig_tensor *x);
} igi_llm_architecture;

#define IGI_ARCHITECTURE_LIST(X) X(llama) X(qwen2) X(qwen3)

#define IGI_DECLARE_ARCHITECTURE(name) extern const igi_llm_architecture igi_llm_architecture_##name;
IGI_ARCHITECTURE_LIST(IGI_DECLARE_ARCHITECTURE)
#undef IGI_DECLARE_ARCHITECTURE

#endif
