// SPDX-License-Identifier: Apache-2.0
#include "msl/threadgroup-variable.h"

#include <string.h>

#include "msl/lexer.h"

static size_t offset_of(const igi_msl_source *source, uint32_t line, uint32_t column) {
    size_t at = 0;
    for (; line > 1 && at < source->length; at++) line -= source->text[at] == '\n';
    return at + column - 1;
}

// `macro` is the name after #define; the body follows its first boundary.
static bool expands_to_threadgroup(const igi_msl_tokens *tokens, size_t macro) {
    for (size_t i = macro + 1; i < tokens->count && tokens->items[i].region != IGI_REGION_CODE; i++) {
        if (tokens->items[i].kind == IGI_TOKEN_DIRECTIVE) return false;
        if (tokens->items[i].region == IGI_REGION_MACRO && igi_msl_token_is(tokens, i, "threadgroup")) return true;
    }
    return false;
}

static bool says_threadgroup(const igi_msl_tokens *tokens, size_t word) {
    if (igi_msl_token_is(tokens, word, "threadgroup")) return true;
    for (size_t i = 0; i + 1 < word; i++)
        if (tokens->items[i].region == IGI_REGION_DIRECTIVE && igi_msl_token_is(tokens, i, "define") &&
            igi_msl_token_same(tokens, i + 1, word) && expands_to_threadgroup(tokens, i + 1))
            return true;
    return false;
}

bool igi_msl_declares_threadgroup(const igi_msl_source *source, uint32_t line, uint32_t column) {
    static const char *const ends[] = {";", "{", "}", NULL};
    igi_msl_tokens tokens;
    size_t end = offset_of(source, line, column), i = 0;
    bool found = false;
    if (source->length > UINT32_MAX || !igi_msl_lex(source->text, source->length, &tokens)) return false;
    while (i < tokens.count && tokens.items[i].offset < end) i++;
    while (i > 0 && !found && tokens.items[i - 1].region == IGI_REGION_CODE &&
           !igi_msl_token_in(&tokens, i - 1, ends)) {
        i--;
        found = igi_msl_token_is_word(&tokens, i) && says_threadgroup(&tokens, i);
    }
    igi_msl_tokens_free(&tokens);
    return found;
}
