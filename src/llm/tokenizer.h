// SPDX-License-Identifier: Apache-2.0
// A tokenizer in memory, and the parts that encoding is made of.
#ifndef INGOT_LLM_TOKENIZER_H
#define INGOT_LLM_TOKENIZER_H

#include <ingot/llm.h>

#include "core/memory.h"
#include "core/status-internal.h"
#include "llm/pretokenize.h"

// With the numbers of tokenizer.ggml.token_type.
enum {
    IGI_TOKEN_NORMAL = 1,
    IGI_TOKEN_UNKNOWN,
    IGI_TOKEN_CONTROL,
    IGI_TOKEN_USER_DEFINED,
    IGI_TOKEN_UNUSED,
    IGI_TOKEN_BYTE,
};

typedef struct igi_llm_token {
    ig_text bytes;  // that it stands for, or the name of a control token
    float score;
    uint8_t type;
    bool is_last;
} igi_llm_token;

// Whether ordinary text may become this token. Others come from names of tokens or from bytes without a token.
static inline bool igi_llm_token_is_text(const igi_llm_token *token) {
    return token->type == IGI_TOKEN_NORMAL || token->type == IGI_TOKEN_USER_DEFINED || token->type == IGI_TOKEN_UNUSED;
}

// ---- From texts to tokens: tokens-index.c ----

typedef struct igi_llm_text_slot {
    uint32_t hash;
    int32_t token;  // -1: free
} igi_llm_text_slot;

typedef struct igi_llm_text_index {
    igi_llm_text_slot *slots;
    uint64_t mask;
    const char *texts;  // the first ig_text; they are `stride` bytes apart
    size_t stride;
} igi_llm_text_index;

bool igi_llm_text_index_make(igi_llm_text_index *index, uint32_t count, const ig_text *texts, size_t stride);
void igi_llm_text_index_free(igi_llm_text_index *index);
int32_t igi_llm_text_index_find(const igi_llm_text_index *index, const char *text, size_t length);  // -1: none
// The token that already has this text; -1 when it was added.
int32_t igi_llm_text_index_add(igi_llm_text_index *index, int32_t token);

// ---- Names of tokens in texts: tokens-special.c ----

#define IGI_MAX_SPECIAL_BYTES 512  // limit for a name, so that the search for names takes time proportional to the text

typedef struct igi_llm_special {
    ig_text name;
    int32_t token;
    bool always;  // also if control tokens are not looked for
} igi_llm_special;

typedef struct igi_llm_specials {
    igi_llm_special *items;  // by name
    uint32_t count;
    uint32_t first[257];  // item by first byte
} igi_llm_specials;

bool igi_llm_specials_make(igi_llm_specials *specials, const igi_llm_token *tokens, uint32_t count);
// The first name in the text, or the longest if several begin there; NULL if there is none.
const igi_llm_special *igi_llm_special_find(const igi_llm_specials *specials, const char *text, size_t length, bool all,
                                            size_t *offset);

// ---- Pairs of tokens that merge: tokens-bpe.c ----

typedef struct igi_llm_merge {
    uint64_t pair;  // left << 32 | right
    uint32_t rank;
    int32_t token;  // -1: free
} igi_llm_merge;

typedef struct igi_llm_merges {
    igi_llm_merge *slots;
    uint64_t mask;
} igi_llm_merges;

bool igi_llm_merges_make(igi_llm_merges *merges, uint64_t count);
// Of equal pairs, the first one is kept.
void igi_llm_merges_add(igi_llm_merges *merges, int32_t left, int32_t right, uint32_t rank, int32_t token);

// ---- The tokenizer ----

typedef enum igi_llm_kind { IGI_TOKENS_BPE, IGI_TOKENS_SENTENCEPIECE, IGI_TOKENS_WORDPIECE } igi_llm_kind;

struct ig_tokenizer {
    igi_refcount references;
    ig_gguf *file;
    igi_llm_kind kind;
    const igi_llm_splitter *splitter;  // of byte pairs
    igi_llm_token *tokens;
    uint32_t count;
    char *decoded;                // bytes of tokens that differ from the file's text
    igi_llm_text_index by_bytes;  // of tokens with the same bytes: an ordinary one, else one with a name, else a byte
    igi_llm_merges merges;
    igi_llm_specials specials;
    int32_t byte_tokens[256];  // -1: none
    bool before_space[256];    // whether a text token contains this byte before a space
    int32_t first, last, unknown;
    bool adds_first, adds_last, adds_space;
    bool lowers, strips_accents;  // WordPiece
};

// Fills a zeroed tokenizer. After an error it is partly filled.
ig_status igi_llm_tokenizer_load(ig_tokenizer *tokenizer, const ig_gguf *file, ig_error *error);

// ---- Merging: tokens-merge.c ----

#define IGI_NO_SYMBOL UINT32_MAX

typedef struct igi_llm_symbol {
    uint32_t begin, length;  // in the text; length 0: merged into another
    uint32_t previous, next;
    int32_t token;  // -1: none
} igi_llm_symbol;

typedef struct igi_llm_pair {
    uint64_t order;   // the lowest merges first; the lower half is the left symbol
    uint32_t length;  // of both symbols; if their length has changed, the pair is stale
    int32_t token;
} igi_llm_pair;

struct igi_llm_encoder;
// Whether two symbols merge, into which token, and in which order (the lowest first).
typedef bool igi_llm_join(const struct igi_llm_encoder *encoder, const igi_llm_symbol *left,
                          const igi_llm_symbol *right, int32_t *token, uint32_t *order);

// ---- Encoding ----

typedef struct igi_llm_known_piece {
    const char *piece;
    size_t begin;  // of its tokens, in the output
    uint32_t length, count;
} igi_llm_known_piece;

typedef struct igi_llm_encoder {
    const ig_tokenizer *tokenizer;
    ig_status status;
    int32_t *tokens;
    size_t count, capacity;
    const char *text;  // that symbols point into
    igi_llm_symbol *symbols;
    size_t symbol_count, symbol_capacity;
    igi_llm_pair *pairs;  // a heap
    size_t pair_count, pair_capacity;
    igi_text scratch;
    igi_llm_known_piece *known;
    bool uses_known, after_special;
} igi_llm_encoder;

// All return false after a failure, which is recorded in the encoder's status.
bool igi_llm_encoder_push(igi_llm_encoder *encoder, int32_t token);
bool igi_llm_encoder_add_symbol(igi_llm_encoder *encoder, uint32_t begin, uint32_t length, int32_t token);
bool igi_llm_encoder_merge(igi_llm_encoder *encoder, igi_llm_join *join);
typedef bool igi_llm_encode_piece(igi_llm_encoder *encoder, const char *piece, size_t length);
// Forgets all pieces. They are not remembered for a short text, where that would not pay.
bool igi_llm_known_begin(igi_llm_encoder *encoder, size_t length);
// Calls `encode`, or copies the tokens that the piece had before. pre: the piece stays in memory until the next
// igi_llm_known_begin.
bool igi_llm_encode_known(igi_llm_encoder *encoder, const char *piece, size_t length, igi_llm_encode_piece *encode);
bool igi_llm_encode_bpe(igi_llm_encoder *encoder, const char *text, size_t length);
bool igi_llm_encode_spm(igi_llm_encoder *encoder, const char *text, size_t length);
bool igi_llm_encode_wordpiece(igi_llm_encoder *encoder, const char *text, size_t length);

#endif
