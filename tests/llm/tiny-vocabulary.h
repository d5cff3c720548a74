// SPDX-License-Identifier: Apache-2.0
// Small vocabularies, written to GGUF files for tests of tokens.
#ifndef INGOT_TESTS_TINY_VOCABULARY_H
#define INGOT_TESTS_TINY_VOCABULARY_H

#include "gguf-writer.h"

enum { TINY_TOKENS = 1024, TINY_TEXT = 1024, NORMAL = 1, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE };

// Starts zeroed.
typedef struct tiny_vocabulary {
    const char *tokens[TINY_TOKENS], *merges[TINY_TOKENS];
    int32_t types[TINY_TOKENS];
    float scores[TINY_TOKENS];
    size_t count, merge_count;
    char texts[TINY_TOKENS][TINY_TEXT];
} tiny_vocabulary;

int32_t tiny_add(tiny_vocabulary *vocabulary, const char *text, int32_t type, float score);
// GPT-2's 256 characters, in the order of the bytes.
void tiny_add_gpt2_bytes(tiny_vocabulary *vocabulary);
// "<0x00>" to "<0xFF>"
void tiny_add_spm_bytes(tiny_vocabulary *vocabulary);
// "left right"; adds the result unless it is there. The text is kept, not copied.
void tiny_merge(tiny_vocabulary *vocabulary, const char *merge);
// All arrays and the model; `pre` may be NULL.
gguf_writer tiny_writer(const tiny_vocabulary *vocabulary, const char *model, const char *pre);

#endif
