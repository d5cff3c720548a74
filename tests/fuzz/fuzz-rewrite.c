// SPDX-License-Identifier: Apache-2.0
// Lexer and rewriter accept any text: lines stay lines, and locations map back into them.
#include <stdbool.h>
#include <string.h>

#include "fuzz.h"
#include "msl/lexer.h"
#include "msl/rewrite.h"

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    return 0;
}

static size_t count_lines(const char *text, size_t length) {
    size_t lines = 0;
    for (size_t i = 0; i < length; i++) lines += text[i] == '\n';
    return lines;
}

static size_t line_length(const char *text, uint32_t line) {
    while (--line) {
        const char *end = strchr(text, '\n');
        if (!end) return 0;
        text = end + 1;
    }
    return strcspn(text, "\n");
}

static void check_tokens(const char *text, size_t length) {
    igi_msl_tokens tokens = {0};
    MUST(igi_msl_lex(text, length, &tokens));
    size_t at = 0;
    for (size_t i = 0; i < tokens.count; i++) {
        const igi_msl_token *token = &tokens.items[i];
        MUST(token->offset >= at && token->offset + (size_t)token->length <= length);
        MUST(token->partner < tokens.count && tokens.items[token->partner].partner == i);
        at = token->offset + (size_t)token->length;
    }
    igi_msl_tokens_free(&tokens);
}

static void check_places(const igi_msl_rewrite *rewrite, const char *source) {
    uint32_t lines = (uint32_t)count_lines(source, strlen(source)) + 1;
    for (uint32_t line = 1; line <= lines && line <= 50; line++) {
        size_t length = line_length(rewrite->text, line), original = line_length(source, line);
        for (uint32_t column = 1; column <= length + 1; column += 1 + (uint32_t)length / 20) {
            uint32_t found = igi_msl_rewrite_locate(rewrite, source, line, column);
            MUST(found >= 1 && found <= original + 1);
        }
    }
    MUST(igi_msl_rewrite_locate(rewrite, source, 0, 0) == 0);
    igi_msl_rewrite_locate(rewrite, source, lines + 10, 1);
    igi_msl_rewrite_locate(rewrite, source, 1, 1000000);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *source = malloc(size + 1);
    memcpy(source, data, size);
    source[size] = 0;
    check_tokens(source, size);
    igi_msl_rewrite rewrite;
    MUST(igi_msl_rewrite_source(source, size, &rewrite));
    MUST(count_lines(rewrite.text, rewrite.length) == count_lines(source, size));
    MUST(rewrite.text[rewrite.length] == 0);
    for (size_t i = 0; i < rewrite.error_count; i++) MUST(rewrite.errors[i].offset <= size);
    // Locations are for people: a text with zero bytes has none after the first.
    if (strlen(source) == size && strlen(rewrite.text) == rewrite.length) check_places(&rewrite, source);
    igi_msl_rewrite_free(&rewrite);
    free(source);
    return 0;
}
