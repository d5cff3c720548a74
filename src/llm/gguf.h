// SPDX-License-Identifier: Apache-2.0
// A GGUF file in memory: the mapping, and tables that point into it.
#ifndef INGOT_LLM_GGUF_H
#define INGOT_LLM_GGUF_H

#include <ingot/llm.h>

#include "core/memory.h"
#include "core/status-internal.h"

// Both structs begin with the name, which is what igi_llm_gguf_names points at.
typedef struct igi_llm_gguf_pair {
    ig_text key;
    ig_gguf_value value;
} igi_llm_gguf_pair;

typedef struct igi_llm_gguf_entry {
    ig_gguf_tensor tensor;
    uint64_t place;   // of the description in the file
    uint64_t offset;  // of the data, from the beginning of all data
} igi_llm_gguf_entry;

typedef struct igi_llm_gguf_names {
    const ig_text **sorted;
    uint64_t count;
} igi_llm_gguf_names;

struct ig_gguf {
    igi_refcount references;
    char *path;
    const char *bytes;
    uint64_t size;
    igi_llm_gguf_pair *pairs;
    igi_llm_gguf_entry *entries;
    uint64_t pair_count, entry_count;
    igi_llm_gguf_names keys, tensors;
};

// ---- Reading ----

// Fills the tables of a file whose bytes are mapped. After an error they are partly filled.
ig_status igi_llm_gguf_read(ig_gguf *file, ig_error *error);
// A number or bool at `bytes`, which may be unaligned. pre: kind is neither STRING nor ARRAY.
ig_gguf_value igi_llm_gguf_scalar(ig_gguf_kind kind, const void *bytes);
uint32_t igi_llm_gguf_kind_bytes(ig_gguf_kind kind);

// ---- Names ----

// Sorts `count` names that are `stride` bytes apart. Returns false when memory is short.
bool igi_llm_gguf_names_make(igi_llm_gguf_names *names, const void *first, size_t stride, uint64_t count);
// A name that occurs twice; NULL if there is none.
const ig_text *igi_llm_gguf_names_twice(const igi_llm_gguf_names *names);
const ig_text *igi_llm_gguf_names_find(const igi_llm_gguf_names *names, const char *name);

// ---- Types of tensors ----

typedef struct igi_llm_gguf_type {
    const char *name;
    uint32_t weights, bytes;  // of a block
    int weight_type;          // ig_weight_type; -1: none
} igi_llm_gguf_type;
// NULL for an unknown number.
const igi_llm_gguf_type *igi_llm_gguf_type_of(uint32_t type);

#endif
