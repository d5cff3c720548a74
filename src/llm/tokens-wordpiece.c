// SPDX-License-Identifier: Apache-2.0
// WordPiece, as BERT has it: text is normalised and split into words, at spaces and around punctuation. A word becomes
// the longest token that it begins with, then the longest that the rest begins with; if there is none, the whole word is
// unknown. Tokens that begin a word begin with a space.
#include "core/visible.h"
#include "llm/tokenizer.h"
#include "llm/unicode.h"

enum { LONGEST_WORD = 100 };  // characters; longer words are unknown

// ---- Words ----

typedef struct words {
    const ig_tokenizer *tokenizer;
    igi_text *text;  // of all words, with a space before each
    bool inside;     // the last word may go on
} words;

// As Google's and Hugging Face's BERT have it, with the gap from 2B820 on.
static bool is_ideograph(uint32_t code) {
    return (code >= 0x4E00 && code <= 0x9FFF) || (code >= 0x3400 && code <= 0x4DBF) ||
           (code >= 0x20000 && code <= 0x2A6DF) || (code >= 0x2A700 && code <= 0x2B81F) ||
           (code >= 0x2B920 && code <= 0x2CEAF) || (code >= 0xF900 && code <= 0xFAFF) ||
           (code >= 0x2F800 && code <= 0x2FA1F);
}

static bool is_punctuation(uint32_t code, uint8_t class) {
    return class & IGI_PUNCTUATION || (code < 0x80 && class & IGI_SYMBOL);
}

static void add_code(words *w, uint32_t code, bool alone) {
    uint8_t class = igi_llm_class_of(code);
    if (class & IGI_SPACE) {
        w->inside = false;
        return;
    }
    char bytes[4];
    alone = alone || is_punctuation(code, class);
    if (alone || !w->inside) igi_text_append(w->text, " ", 1);
    igi_text_append(w->text, bytes, igi_utf8_put(code, bytes));
    w->inside = !alone;
}

static bool is_dropped(uint32_t code) {
    bool kept = code == '\t' || code == '\n' || code == '\r';
    return !kept && (code == IGI_NO_CODE || code == 0xFFFD || igi_llm_is_control(code));
}

static void add_char(words *w, uint32_t code) {
    uint32_t parts[IGI_MAX_BASES] = {code}, count = 1;
    if (is_dropped(code)) return;
    if (w->tokenizer->strips_accents) count = igi_llm_without_accents(code, parts);
    for (uint32_t i = 0; i < count; i++)
        add_code(w, w->tokenizer->lowers ? igi_llm_lower_of(parts[i]) : parts[i], is_ideograph(code));
}

static bool write_words(igi_llm_encoder *encoder, const uint8_t *at, const uint8_t *end) {
    words w = {.tokenizer = encoder->tokenizer, .text = &encoder->scratch};
    encoder->scratch.length = 0;
    for (igi_llm_char c; at < end; at += c.length) add_char(&w, (c = igi_llm_char_at(at, end)).code);
    if (encoder->scratch.failed) encoder->status = IG_STATUS_OUT_OF_MEMORY;
    return !encoder->scratch.failed;
}

// ---- Tokens ----

static bool begins_char(char byte) {
    return ((uint8_t)byte & 0xC0) != 0x80;
}

static size_t count_chars(const char *text, size_t length) {
    size_t count = 0;
    for (size_t i = 0; i < length; i++) count += begins_char(text[i]);
    return count;
}

// The token for the most of the text, and its length. -1: none.
static int32_t longest_token(const ig_tokenizer *tokenizer, const char *text, size_t length, size_t *taken) {
    for (size_t size = length; size; size--) {
        if (size < length && !begins_char(text[size])) continue;
        int32_t token = igi_llm_text_index_find(&tokenizer->by_bytes, text, size);
        if (token < 0 || !igi_llm_token_is_text(&tokenizer->tokens[token])) continue;
        *taken = size;
        return token;
    }
    return -1;
}

static bool push_unknown(igi_llm_encoder *encoder, size_t begin) {
    encoder->count = begin;
    return encoder->tokenizer->unknown < 0 || igi_llm_encoder_push(encoder, encoder->tokenizer->unknown);
}

static bool encode_word(igi_llm_encoder *encoder, const char *word, size_t length) {
    size_t begin = encoder->count;
    if (count_chars(word, length) > LONGEST_WORD + 1) return push_unknown(encoder, begin);  // with its space
    for (size_t at = 0, taken = 0; at < length; at += taken) {
        int32_t token = longest_token(encoder->tokenizer, word + at, length - at, &taken);
        if (token < 0) return push_unknown(encoder, begin);
        if (!igi_llm_encoder_push(encoder, token)) return false;
    }
    return true;
}

bool igi_llm_encode_wordpiece(igi_llm_encoder *encoder, const char *text, size_t length) {
    const uint8_t *begin = (const uint8_t *)text;
    if (!write_words(encoder, begin, begin + length)) return false;
    const char *all = encoder->scratch.data;
    size_t end = encoder->scratch.length;
    if (!igi_llm_known_begin(encoder, end)) return false;
    for (size_t from = 0, to; from < end; from = to) {
        for (to = from + 1; to < end && all[to] != ' ';) to++;
        if (!igi_llm_encode_known(encoder, all + from, to - from, encode_word)) return false;
    }
    return true;
}
