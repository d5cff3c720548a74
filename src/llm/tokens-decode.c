// SPDX-License-Identifier: Apache-2.0
#include "llm/tokens-decode.h"

#include <stdio.h>
#include <string.h>

#include "llm/unicode.h"

// ---- GPT-2: every byte is a printable character ----

enum { BYTE_CODES = 256 + 68 };  // printable bytes stand for themselves, the 68 others are numbered from 256

static bool prints(uint32_t byte) {
    return (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte != 0xAD);
}

static void map_codes(int16_t bytes[BYTE_CODES]) {
    uint32_t next = 256;
    for (uint32_t i = 0; i < BYTE_CODES; i++) bytes[i] = -1;
    for (uint32_t byte = 0; byte < 256; byte++) bytes[prints(byte) ? byte : next++] = (int16_t)byte;
}

// Returns false if a character stands for no byte: then the text is taken literally.
static bool decode_codes(const int16_t bytes[BYTE_CODES], ig_text text, char *out, size_t *length) {
    const uint8_t *at = (const uint8_t *)text.data, *end = at + text.length;
    for (*length = 0; at < end;) {
        igi_llm_char c = igi_llm_char_at(at, end);
        if (c.code >= BYTE_CODES || bytes[c.code] < 0) return false;
        out[(*length)++] = (char)bytes[c.code];
        at += c.length;
    }
    return true;
}

// ---- SentencePiece, WordPiece: U+2581 for spaces, <0xXX> for bytes ----

static size_t decode_spaces(ig_text text, char *out) {
    size_t length = 0;
    for (uint64_t i = 0; i < text.length;) {
        bool space = text.length - i >= 3 && !memcmp(text.data + i, "\xE2\x96\x81", 3);
        out[length++] = space ? ' ' : text.data[i];
        i += space ? 3 : 1;
    }
    return length;
}

static int hex_digit(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
}

static bool decode_byte(ig_text text, char *out) {
    if (text.length != 6 || memcmp(text.data, "<0x", 3) != 0 || text.data[5] != '>') return false;
    int high = hex_digit(text.data[3]), low = hex_digit(text.data[4]);
    if (high < 0 || low < 0) return false;
    *out = (char)(high << 4 | low);
    return true;
}

// ---- All tokens ----

// Control and user-defined tokens are taken literally. The result is never longer than the file's text.
static size_t decode(const igi_llm_token *token, const int16_t *codes, ig_text text, char *out) {
    size_t length = 0;
    if (token->type == IGI_TOKEN_BYTE && decode_byte(text, out)) return 1;
    if (token->type == IGI_TOKEN_NORMAL || token->type == IGI_TOKEN_UNUSED) {
        if (!codes) return decode_spaces(text, out);
        if (decode_codes(codes, text, out, &length)) return length;
    }
    if (text.length) memcpy(out, text.data, text.length);
    return text.length;
}

static bool all_lengths(const ig_text *texts, uint32_t count, uint64_t *total) {
    *total = 0;
    for (uint32_t i = 0; i < count; i++)
        if (!igi_add(*total, texts[i].length, total)) return false;
    return true;
}

bool igi_llm_tokens_decode(ig_tokenizer *tokenizer, const ig_text *texts) {
    int16_t codes[BYTE_CODES];
    uint64_t total;
    map_codes(codes);
    if (!all_lengths(texts, tokenizer->count, &total) || !(tokenizer->decoded = igi_alloc(total))) return false;
    char *out = tokenizer->decoded;
    for (uint32_t i = 0; i < tokenizer->count; i++) {
        igi_llm_token *token = &tokenizer->tokens[i];
        token->bytes.data = out;
        token->bytes.length = decode(token, tokenizer->kind == IGI_TOKENS_BPE ? codes : NULL, texts[i], out);
        out += token->bytes.length;
    }
    return true;
}

// ---- Back ----

// Decides which token is found if several stand for the same bytes.
static int precedence(const igi_llm_token *token) {
    static const int of_types[] = {[IGI_TOKEN_NORMAL] = 0,  [IGI_TOKEN_UNUSED] = 1,  [IGI_TOKEN_USER_DEFINED] = 1,
                                   [IGI_TOKEN_CONTROL] = 2, [IGI_TOKEN_UNKNOWN] = 2, [IGI_TOKEN_BYTE] = 3};
    return of_types[token->type];
}

bool igi_llm_tokens_index(ig_tokenizer *tokenizer) {
    if (!igi_llm_text_index_make(&tokenizer->by_bytes, tokenizer->count, &tokenizer->tokens->bytes,
                                 sizeof *tokenizer->tokens))
        return false;
    for (int round = 0; round <= 3; round++)
        for (uint32_t i = 0; i < tokenizer->count; i++)
            if (precedence(&tokenizer->tokens[i]) == round) igi_llm_text_index_add(&tokenizer->by_bytes, (int32_t)i);
    return true;
}

void igi_llm_tokens_find_bytes(ig_tokenizer *tokenizer, const igi_llm_text_index *by_text) {
    for (uint32_t byte = 0; byte < 256; byte++) {
        char name[8], text = (char)byte;
        int length = snprintf(name, sizeof name, "<0x%02X>", byte);
        int32_t token = tokenizer->kind == IGI_TOKENS_BPE ? -1 : igi_llm_text_index_find(by_text, name, (size_t)length);
        if (token < 0) token = igi_llm_text_index_find(&tokenizer->by_bytes, &text, 1);
        tokenizer->byte_tokens[byte] = token;
    }
}

static void note_spaces(ig_text bytes, bool before_space[256]) {
    for (uint64_t i = 1; i < bytes.length; i++)
        if (bytes.data[i] == ' ') before_space[(uint8_t)bytes.data[i - 1]] = true;
}

void igi_llm_tokens_find_spaces(ig_tokenizer *tokenizer) {
    for (uint32_t i = 0; i < tokenizer->count; i++)
        if (igi_llm_token_is_text(&tokenizer->tokens[i]))
            note_spaces(tokenizer->tokens[i].bytes, tokenizer->before_space);
}
