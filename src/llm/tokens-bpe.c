// SPDX-License-Identifier: Apache-2.0
// Byte pairs: the bytes of a piece are tokens, and neighbours merge by the ranks of the file's list.
#include <string.h>

#include "llm/tokenizer.h"

// ---- The pairs ----

bool igi_llm_merges_make(igi_llm_merges *merges, uint64_t count) {
    uint64_t size = 16;
    while (size < count * 2) size *= 2;
    merges->mask = size - 1;
    merges->slots = igi_alloc(size * sizeof *merges->slots);
    if (!merges->slots) return false;
    for (uint64_t i = 0; i < size; i++) merges->slots[i].token = -1;
    return true;
}

static igi_llm_merge *slot_of(const igi_llm_merges *merges, int32_t left, int32_t right) {
    uint64_t pair = (uint64_t)(uint32_t)left << 32 | (uint32_t)right;
    uint64_t at = (pair * 0x9E3779B97F4A7C15u) >> 32;
    for (;; at++) {
        igi_llm_merge *slot = &merges->slots[at & merges->mask];
        if (slot->token < 0 || slot->pair == pair) return slot;
    }
}

void igi_llm_merges_add(igi_llm_merges *merges, int32_t left, int32_t right, uint32_t rank, int32_t token) {
    igi_llm_merge *slot = slot_of(merges, left, right);
    if (slot->token < 0) *slot = (igi_llm_merge){(uint64_t)(uint32_t)left << 32 | (uint32_t)right, rank, token};
}

// ---- Short pieces: all pairs are looked at again after each merge ----

enum { SHORT_PIECE = 32 };

typedef struct short_piece {
    uint32_t count;
    int32_t tokens[SHORT_PIECE];
    int32_t merged[SHORT_PIECE];  // what a token and its successor merge into
    uint32_t ranks[SHORT_PIECE];
} short_piece;

static void rank_pair(const igi_llm_merges *merges, short_piece *piece, uint32_t at) {
    const igi_llm_merge *merge = slot_of(merges, piece->tokens[at], piece->tokens[at + 1]);
    piece->merged[at] = merge->token;
    piece->ranks[at] = merge->token < 0 ? UINT32_MAX : merge->rank;
}

static uint32_t best_pair(const short_piece *piece) {
    uint32_t best = 0;
    for (uint32_t i = 1; i + 1 < piece->count; i++)
        if (piece->ranks[i] < piece->ranks[best]) best = i;
    return best;
}

static void remove_at(short_piece *piece, uint32_t at) {
    uint32_t following = --piece->count - at;
    memmove(&piece->tokens[at], &piece->tokens[at + 1], following * sizeof *piece->tokens);
    memmove(&piece->merged[at], &piece->merged[at + 1], following * sizeof *piece->merged);
    memmove(&piece->ranks[at], &piece->ranks[at + 1], following * sizeof *piece->ranks);
}

static void merge_short(const igi_llm_merges *merges, short_piece *piece) {
    for (uint32_t i = 0; i + 1 < piece->count; i++) rank_pair(merges, piece, i);
    while (piece->count > 1) {
        uint32_t at = best_pair(piece);
        if (piece->ranks[at] == UINT32_MAX) return;
        piece->tokens[at] = piece->merged[at];
        remove_at(piece, at + 1);
        if (at) rank_pair(merges, piece, at - 1);
        if (at + 1 < piece->count) rank_pair(merges, piece, at);
    }
}

static bool encode_short(igi_llm_encoder *encoder, const char *text, size_t length) {
    const ig_tokenizer *tokenizer = encoder->tokenizer;
    short_piece piece = {0};
    for (size_t i = 0; i < length; i++) {
        int32_t token = tokenizer->byte_tokens[(uint8_t)text[i]];
        if (token >= 0) piece.tokens[piece.count++] = token;
    }
    merge_short(&tokenizer->merges, &piece);
    for (uint32_t i = 0; i < piece.count; i++)
        if (!igi_llm_encoder_push(encoder, piece.tokens[i])) return false;
    return true;
}

// ---- Long pieces ----

static bool join_by_rank(const igi_llm_encoder *encoder, const igi_llm_symbol *left, const igi_llm_symbol *right,
                         int32_t *token, uint32_t *order) {
    const igi_llm_merge *merge = slot_of(&encoder->tokenizer->merges, left->token, right->token);
    *token = merge->token;
    *order = merge->rank;
    return merge->token >= 0;
}

static bool encode_long(igi_llm_encoder *encoder, const char *text, size_t length) {
    encoder->symbol_count = 0;
    for (size_t i = 0; i < length; i++) {
        int32_t token = encoder->tokenizer->byte_tokens[(uint8_t)text[i]];
        if (token >= 0 && !igi_llm_encoder_add_symbol(encoder, (uint32_t)i, 1, token)) return false;
    }
    if (!encoder->symbol_count) return true;
    if (!igi_llm_encoder_merge(encoder, join_by_rank)) return false;
    for (uint32_t at = 0; at != IGI_NO_SYMBOL; at = encoder->symbols[at].next)
        if (!igi_llm_encoder_push(encoder, encoder->symbols[at].token)) return false;
    return true;
}

// ---- Pieces ----

static bool encode_piece(igi_llm_encoder *encoder, const char *piece, size_t length) {
    const ig_tokenizer *tokenizer = encoder->tokenizer;
    if (tokenizer->splitter->whole_pieces) {
        int32_t token = igi_llm_text_index_find(&tokenizer->by_bytes, piece, length);
        if (token >= 0 && igi_llm_token_is_text(&tokenizer->tokens[token])) return igi_llm_encoder_push(encoder, token);
    }
    if (length <= SHORT_PIECE) return encode_short(encoder, piece, length);
    if (length < UINT32_MAX) return encode_long(encoder, piece, length);
    encoder->status = IG_STATUS_OVERFLOW;
    return false;
}

static bool take_piece(void *encoder, const char *piece, size_t length) {
    return igi_llm_encode_known(encoder, piece, length, encode_piece);
}

bool igi_llm_encode_bpe(igi_llm_encoder *encoder, const char *text, size_t length) {
    return igi_llm_known_begin(encoder, length) &&
           igi_llm_split(encoder->tokenizer->splitter, text, length, take_piece, encoder);
}
