// SPDX-License-Identifier: Apache-2.0
// SentencePiece: the characters of a text are symbols, and neighbours merge if together they are a token, the one with
// the best score first. Characters without a token become bytes.
#include <string.h>

#include "llm/tokenizer.h"
#include "llm/unicode.h"

// Higher scores first.
static uint32_t order_of(float score) {
    uint32_t bits;
    score += 0.0f;  // turns -0 into +0
    memcpy(&bits, &score, sizeof bits);
    return bits >> 31 ? bits : ~(bits | 0x80000000u);
}

static int32_t text_token(const ig_tokenizer *tokenizer, const char *text, size_t length) {
    int32_t token = igi_llm_text_index_find(&tokenizer->by_bytes, text, length);
    return token >= 0 && igi_llm_token_is_text(&tokenizer->tokens[token]) ? token : -1;
}

static bool join_by_score(const igi_llm_encoder *encoder, const igi_llm_symbol *left, const igi_llm_symbol *right,
                          int32_t *token, uint32_t *order) {
    *token = text_token(encoder->tokenizer, encoder->text + left->begin, (size_t)left->length + right->length);
    if (*token < 0) return false;
    *order = order_of(encoder->tokenizer->tokens[*token].score);
    return true;
}

static bool push_bytes(igi_llm_encoder *encoder, const char *bytes, size_t length) {
    for (size_t i = 0; i < length; i++) {
        int32_t token = encoder->tokenizer->byte_tokens[(uint8_t)bytes[i]];
        if (token < 0) token = encoder->tokenizer->unknown;
        if (token >= 0 && !igi_llm_encoder_push(encoder, token)) return false;
    }
    return true;
}

static bool push_symbols(igi_llm_encoder *encoder) {
    for (uint32_t at = encoder->symbol_count ? 0 : IGI_NO_SYMBOL; at != IGI_NO_SYMBOL;) {
        const igi_llm_symbol *symbol = &encoder->symbols[at];
        bool pushed = symbol->token >= 0 ? igi_llm_encoder_push(encoder, symbol->token)
                                         : push_bytes(encoder, encoder->text + symbol->begin, symbol->length);
        if (!pushed) return false;
        at = symbol->next;
    }
    return true;
}

static bool add_symbols(igi_llm_encoder *encoder, size_t length) {
    const uint8_t *begin = (const uint8_t *)encoder->text, *end = begin + length;
    encoder->symbol_count = 0;
    for (const uint8_t *at = begin; at < end;) {
        uint32_t size = igi_llm_char_at(at, end).length;
        int32_t token = text_token(encoder->tokenizer, (const char *)at, size);
        if (!igi_llm_encoder_add_symbol(encoder, (uint32_t)(at - begin), size, token)) return false;
        at += size;
    }
    return true;
}

// Tokens are stored with spaces where the file has U+2581, so the text is converted to the same form.
static bool copy_with_spaces(igi_llm_encoder *encoder, const char *text, size_t length) {
    igi_text *copy = &encoder->scratch;
    copy->length = 0;
    if (encoder->tokenizer->adds_space && encoder->after_special) igi_text_append(copy, " ", 1);
    for (const char *end = text + length; text < end;) {
        const char *mark = memmem(text, (size_t)(end - text), "\xE2\x96\x81", 3);
        igi_text_append(copy, text, (size_t)((mark ? mark : end) - text));
        if (!mark) break;
        igi_text_append(copy, " ", 1);
        text = mark + 3;
    }
    if (copy->failed) encoder->status = IG_STATUS_OUT_OF_MEMORY;
    return !copy->failed;
}

static bool encode_piece(igi_llm_encoder *encoder, const char *piece, size_t length) {
    encoder->text = piece;
    return add_symbols(encoder, length) && igi_llm_encoder_merge(encoder, join_by_score) && push_symbols(encoder);
}

// No token extends across the boundary of two pieces, so each can be merged separately: the heap need not hold a whole
// text.
static bool encode_pieces(igi_llm_encoder *encoder, const char *text, size_t length) {
    const bool *before_space = encoder->tokenizer->before_space;
    size_t begin = 0;
    for (size_t at = 1; at <= length; at++) {
        if (at < length && (text[at] != ' ' || before_space[(uint8_t)text[at - 1]])) continue;
        if (!igi_llm_encode_known(encoder, text + begin, at - begin, encode_piece)) return false;
        begin = at;
    }
    return true;
}

bool igi_llm_encode_spm(igi_llm_encoder *encoder, const char *text, size_t length) {
    if (length >= UINT32_MAX - 1) return encoder->status = IG_STATUS_OVERFLOW, false;
    return copy_with_spaces(encoder, text, length) && igi_llm_known_begin(encoder, length) &&
           encode_pieces(encoder, encoder->scratch.data, encoder->scratch.length);
}
