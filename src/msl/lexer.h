// SPDX-License-Identifier: Apache-2.0
// MSL text as tokens: just enough lexing to find attributes, declarations and directives. Never fails on any input.
#ifndef INGOT_MSL_LEXER_H
#define INGOT_MSL_LEXER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum igi_msl_token_kind {
    IGI_TOKEN_WORD,  // identifier or keyword
    IGI_TOKEN_NUMBER,
    IGI_TOKEN_STRING,     // string or character literal, raw strings too
    IGI_TOKEN_PUNCT,      // one character
    IGI_TOKEN_DIRECTIVE,  // the # (or %:) that opens a preprocessor line
    IGI_TOKEN_BOUNDARY,   // empty: the end of a preprocessor line, or the beginning of a macro's body
} igi_msl_token_kind;

typedef enum igi_msl_token_region {
    IGI_REGION_CODE,
    IGI_REGION_DIRECTIVE,  // a preprocessor line, its # and end included
    IGI_REGION_MACRO,      // the body of a #define
} igi_msl_token_region;

typedef struct igi_msl_token {
    uint32_t offset, length;
    uint32_t partner;  // index of the matching bracket; its own index if there is none
    uint8_t kind, region;
    bool done;     // a pass has rewritten this token; later ones leave it alone
    bool spliced;  // a word with line continuations in it
} igi_msl_token;

typedef struct igi_msl_tokens {
    const char *text;
    igi_msl_token *items;
    size_t count, capacity;
} igi_msl_tokens;

// pre: length < 4 GiB. Returns false when memory is short. The text is borrowed.
bool igi_msl_lex(const char *text, size_t length, igi_msl_tokens *tokens);
void igi_msl_tokens_free(igi_msl_tokens *tokens);

bool igi_msl_token_is(const igi_msl_tokens *tokens, size_t index, const char *word);  // false past the end
bool igi_msl_token_is_word(const igi_msl_tokens *tokens, size_t index);               // likewise
// Whether the token is one of a NULL-terminated list.
bool igi_msl_token_in(const igi_msl_tokens *tokens, size_t index, const char *const *words);
// Whether both tokens have the same text.
bool igi_msl_token_same(const igi_msl_tokens *tokens, size_t a, size_t b);
// Whether this is a single colon, not half of a ::.
bool igi_msl_token_is_colon(const igi_msl_tokens *tokens, size_t index);

#endif
