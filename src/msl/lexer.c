// SPDX-License-Identifier: Apache-2.0
// MSL text as tokens, with brackets paired. Comments are dropped; line continuations are white space.
#include "msl/lexer.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "core/memory.h"

typedef struct lexer {
    const char *text;
    size_t at, length;
    igi_msl_tokens *tokens;
    igi_msl_token_region region;
    bool line_start, failed;
} lexer;

static char peek(const lexer *lex, size_t ahead) {
    return lex->at + ahead < lex->length ? lex->text[lex->at + ahead] : 0;
}

static void push(lexer *lex, size_t start, igi_msl_token_kind kind) {
    igi_msl_tokens *tokens = lex->tokens;
    if (!igi_grow((void **)&tokens->items, &tokens->capacity, tokens->count + 1, sizeof *tokens->items)) {
        lex->failed = true;
        return;
    }
    uint32_t index = (uint32_t)tokens->count++;
    tokens->items[index] = (igi_msl_token){.offset = (uint32_t)start,
                                           .length = (uint32_t)(lex->at - start),
                                           .partner = index,
                                           .kind = kind,
                                           .region = lex->region};
}

// The length of a line continuation `ahead` of here, 0 if there is none. As in clang, blanks before the end of the line
// are allowed.
static size_t continuation_at(const lexer *lex, size_t ahead) {
    size_t end = ahead + 1;
    if (peek(lex, ahead) != '\\') return 0;
    while (peek(lex, end) == ' ' || peek(lex, end) == '\t') end++;
    if (peek(lex, end) == '\r' && peek(lex, end + 1) == '\n') end++;
    return peek(lex, end) == '\n' || peek(lex, end) == '\r' ? end + 1 - ahead : 0;
}

static size_t continuation(const lexer *lex) {
    return continuation_at(lex, 0);
}

static bool skip_comment(lexer *lex) {
    if (peek(lex, 0) != '/') return false;
    if (peek(lex, 1) == '/') {
        while (lex->at < lex->length && lex->text[lex->at] != '\n' && lex->text[lex->at] != '\r') {
            size_t joined = continuation(lex);
            lex->at += joined ? joined : 1;
        }
        return true;
    }
    if (peek(lex, 1) != '*') return false;
    const char *end = memmem(lex->text + lex->at + 2, lex->length - lex->at - 2, "*/", 2);
    lex->at = end ? (size_t)(end - lex->text) + 2 : lex->length;
    return true;
}

static void quoted(lexer *lex, char quote) {
    size_t start = lex->at++;
    while (lex->at < lex->length && lex->text[lex->at] != quote && lex->text[lex->at] != '\n') {
        lex->at += lex->text[lex->at] == '\\' && lex->at + 1 < lex->length ? 2 : 1;
    }
    if (peek(lex, 0) == quote) lex->at++;
    push(lex, start, IGI_TOKEN_STRING);
}

// R"delimiter( ... )delimiter", the R already consumed at `start`.
static void raw_string(lexer *lex, size_t start) {
    size_t left = lex->length - lex->at;
    const char *open = memchr(lex->text + lex->at, '(', left < 18 ? left : 18);
    size_t delimiter = open ? (size_t)(open - (lex->text + lex->at + 1)) : 0;
    if (!open) {
        quoted(lex, '"');
        return;
    }
    char end[19] = ")";
    memcpy(end + 1, lex->text + lex->at + 1, delimiter);
    end[1 + delimiter] = '"';
    const char *close = memmem(open, lex->length - (size_t)(open - lex->text), end, delimiter + 2);
    lex->at = close ? (size_t)(close - lex->text) + delimiter + 2 : lex->length;
    push(lex, start, IGI_TOKEN_STRING);
}

static bool is_word(char c) {
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

// A preprocessing number: 1.5e-3f, .5, 0x1p+4, 1'000.
static void number(lexer *lex) {
    size_t start = lex->at++;
    for (;;) {
        char c = peek(lex, 0), last = lex->text[lex->at - 1];
        bool exponent = (c == '+' || c == '-') && (last == 'e' || last == 'E' || last == 'p' || last == 'P');
        bool hex_e = (last == 'e' || last == 'E') && lex->at > start + 2 && (lex->text[start + 1] | 32) == 'x';
        bool quote = c == '\'' && is_word(peek(lex, 1));
        if (!is_word(c) && c != '.' && !(exponent && !hex_e) && !quote) break;
        lex->at++;
    }
    push(lex, start, IGI_TOKEN_NUMBER);
}

static size_t splices_at(const lexer *lex, size_t ahead) {
    size_t end = ahead, joined;
    while ((joined = continuation_at(lex, end))) end += joined;
    return end - ahead;
}

static void word(lexer *lex) {
    size_t start = lex->at, joined = 0;
    bool spliced = false;
    while (is_word(peek(lex, joined = splices_at(lex, 0)))) {
        lex->at += joined + 1;
        spliced = spliced || joined;
    }
    if (peek(lex, 0) == '"' && lex->text[lex->at - 1] == 'R' && lex->at - start <= 3) {
        raw_string(lex, start);
        return;
    }
    push(lex, start, IGI_TOKEN_WORD);
    if (!lex->failed) lex->tokens->items[lex->tokens->count - 1].spliced = spliced;
}

static void boundary(lexer *lex, igi_msl_token_region next) {
    lex->region = IGI_REGION_DIRECTIVE;
    push(lex, lex->at, IGI_TOKEN_BOUNDARY);
    lex->region = next;
}

static bool skip_blank(lexer *lex) {
    char c = peek(lex, 0);
    size_t joined = continuation(lex);
    if (joined) {
        lex->at += joined;
        return true;
    }
    if (c == '\n' || c == '\r') {
        if (lex->region != IGI_REGION_CODE) boundary(lex, IGI_REGION_CODE);
        lex->line_start = true;
    } else if (!isspace((unsigned char)c)) {
        return skip_comment(lex);
    }
    lex->at++;
    return true;
}

// After "#define NAME" and, directly after it, an optional parameter list: the body begins here.
static void macro_head(lexer *lex) {
    while (peek(lex, 0) == ' ' || peek(lex, 0) == '\t') lex->at++;
    if (is_word(peek(lex, 0))) word(lex);
    if (peek(lex, 0) == '(') {
        while (lex->at < lex->length && peek(lex, 0) != ')' && peek(lex, 0) != '\n') {
            size_t joined = continuation(lex);
            lex->at += joined ? joined : 1;
        }
        if (peek(lex, 0) == ')') lex->at++;
    }
    boundary(lex, IGI_REGION_MACRO);
}

// The length of the # or %: at this position; 0 if there is none.
static size_t directive_mark(const lexer *lex) {
    if (peek(lex, 0) == '#') return 1;
    if (peek(lex, 0) != '%') return 0;
    size_t joined = splices_at(lex, 1);
    return peek(lex, 1 + joined) == ':' ? 2 + joined : 0;
}

static void token(lexer *lex) {
    char c = peek(lex, 0);
    size_t mark = lex->line_start ? directive_mark(lex) : 0;
    lex->line_start = false;
    if (mark) {
        lex->region = IGI_REGION_DIRECTIVE;
        lex->at += mark;
        push(lex, lex->at - mark, IGI_TOKEN_DIRECTIVE);
    } else if (isdigit((unsigned char)c) || (c == '.' && isdigit((unsigned char)peek(lex, 1)))) {
        number(lex);
    } else if (is_word(c)) {
        word(lex);
        size_t last = lex->tokens->count - 1;
        if (!lex->failed && igi_msl_token_is(lex->tokens, last, "define") && last > 0 &&
            lex->tokens->items[last - 1].kind == IGI_TOKEN_DIRECTIVE)
            macro_head(lex);
    } else if (c == '"' || c == '\'') {
        quoted(lex, c);
    } else {
        lex->at++;
        push(lex, lex->at - 1, IGI_TOKEN_PUNCT);
    }
}

// ---- Brackets ----

typedef struct bracket_stack {
    uint32_t *items;
    size_t count, capacity;
    size_t base;  // below are the brackets around the preprocessor line
} bracket_stack;

static char bracket(const igi_msl_tokens *tokens, size_t index) {
    const igi_msl_token *token = &tokens->items[index];
    return token->kind == IGI_TOKEN_PUNCT ? tokens->text[token->offset] : 0;
}

// Badly nested brackets stay unpaired. A closing brace also closes what was left open inside it.
static void close_bracket(igi_msl_tokens *tokens, bracket_stack *stack, size_t index) {
    char wanted = bracket(tokens, index) == ')' ? '(' : bracket(tokens, index) == ']' ? '[' : '{';
    while (stack->count > stack->base) {
        uint32_t open = stack->items[stack->count - 1];
        char found = bracket(tokens, open);
        if (found == '{' && wanted != '{') return;
        stack->count--;
        if (found != wanted) continue;
        tokens->items[open].partner = (uint32_t)index;
        tokens->items[index].partner = open;
        return;
    }
}

static bool pair_brackets(igi_msl_tokens *tokens) {
    bracket_stack stack = {0};
    bool paired = true;
    for (size_t i = 0; i < tokens->count && paired; i++) {
        igi_msl_token_kind kind = tokens->items[i].kind;
        if (kind == IGI_TOKEN_DIRECTIVE) stack.base = stack.count;
        if (kind == IGI_TOKEN_BOUNDARY) {
            stack.count = stack.base;
            if (i + 1 == tokens->count || tokens->items[i + 1].region == IGI_REGION_CODE) stack.base = 0;
        }
        char c = bracket(tokens, i);
        if (c == ')' || c == ']' || c == '}') close_bracket(tokens, &stack, i);
        if (c != '(' && c != '[' && c != '{') continue;
        paired = igi_grow((void **)&stack.items, &stack.capacity, stack.count + 1, sizeof *stack.items);
        if (paired) stack.items[stack.count++] = (uint32_t)i;
    }
    free(stack.items);
    return paired;
}

bool igi_msl_lex(const char *text, size_t length, igi_msl_tokens *tokens) {
    assert(length <= UINT32_MAX);
    *tokens = (igi_msl_tokens){.text = text};
    lexer lex = {.text = text, .length = length, .tokens = tokens, .line_start = true};
    while (lex.at < lex.length && !lex.failed) {
        if (!skip_blank(&lex)) token(&lex);
    }
    if (lex.region != IGI_REGION_CODE && !lex.failed) boundary(&lex, IGI_REGION_CODE);
    if (!lex.failed && !pair_brackets(tokens)) lex.failed = true;
    if (lex.failed) igi_msl_tokens_free(tokens);
    return !lex.failed;
}

void igi_msl_tokens_free(igi_msl_tokens *tokens) {
    free(tokens->items);
    *tokens = (igi_msl_tokens){0};
}

// ---- Questions about tokens ----

static bool spliced_word_is(const char *text, size_t length, const char *word) {
    for (size_t i = 0; i < length; i++) {
        if (is_word(text[i]) && text[i] != *word++) return false;
    }
    return *word == 0;
}

bool igi_msl_token_is(const igi_msl_tokens *tokens, size_t index, const char *word) {
    if (index >= tokens->count) return false;
    const igi_msl_token *token = &tokens->items[index];
    if (token->spliced) return spliced_word_is(tokens->text + token->offset, token->length, word);
    const char *text = tokens->text + token->offset;
    // Nearly all comparisons end at the first character.
    for (size_t i = 0; i < token->length; i++)
        if (!word[i] || word[i] != text[i]) return false;
    return !word[token->length];
}

bool igi_msl_token_is_word(const igi_msl_tokens *tokens, size_t index) {
    return index < tokens->count && tokens->items[index].kind == IGI_TOKEN_WORD;
}

bool igi_msl_token_in(const igi_msl_tokens *tokens, size_t index, const char *const *words) {
    while (*words && !igi_msl_token_is(tokens, index, *words)) words++;
    return *words != NULL;
}

bool igi_msl_token_same(const igi_msl_tokens *tokens, size_t a, size_t b) {
    const igi_msl_token *left = &tokens->items[a], *right = &tokens->items[b];
    return left->length == right->length &&
           memcmp(tokens->text + left->offset, tokens->text + right->offset, left->length) == 0;
}

bool igi_msl_token_is_colon(const igi_msl_tokens *tokens, size_t index) {
    return igi_msl_token_is(tokens, index, ":") && !igi_msl_token_is(tokens, index + 1, ":") &&
           !(index > 0 && igi_msl_token_is(tokens, index - 1, ":"));
}
