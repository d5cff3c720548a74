// SPDX-License-Identifier: Apache-2.0
// Function constants become external symbols. What precedes the type may be a macro (MLX: STEEL_CONST), so the type is
// found from its end.
#include "msl/function-constant.h"

// Longer than any type a function constant may have (MSL specification, 5.8.1: scalars and vectors).
enum { MAX_TYPE_TOKENS = 64 };

static bool is_specifier(const igi_msl_rewriter *r, size_t index) {
    static const char *const specifiers[] = {"static", "constant", "const",    "constexpr",
                                             "inline", "extern",   "volatile", NULL};
    return igi_msl_token_in(&r->tokens, index, specifiers);
}

// The first token of a name that ends before `end`; macros may paste it together.
static size_t name_start(const igi_msl_rewriter *r, size_t statement, size_t end) {
    size_t name = end - 1;
    while (name >= statement + 3 && igi_msl_is(r, name - 1, "#") && igi_msl_is(r, name - 2, "#")) name -= 3;
    return name;
}

static size_t template_start(const igi_msl_rewriter *r, size_t statement, size_t close) {
    int depth = 0;
    for (size_t i = close, n = 0; i > statement && n < MAX_TYPE_TOKENS; i--, n++) {
        if (igi_msl_is(r, i, ">")) depth++;
        if (igi_msl_is(r, i, "<") && --depth == 0) return i;
    }
    return close;
}

// The first token of a type that ends before `end`; `end` itself if there is none.
static size_t type_start(const igi_msl_rewriter *r, size_t statement, size_t end) {
    static const char *const parts[] = {"unsigned", "signed", "char", "short", "int", "long", NULL};
    size_t first = end;
    if (first > statement && igi_msl_is(r, first - 1, ">")) first = template_start(r, statement, first - 1);
    if (first <= statement || !igi_msl_token_is_word(&r->tokens, first - 1) || is_specifier(r, first - 1)) return end;
    first--;
    while (first > statement && end - first < MAX_TYPE_TOKENS && igi_msl_token_in(&r->tokens, first, parts) &&
           igi_msl_token_in(&r->tokens, first - 1, parts))
        first--;
    while (first >= statement + 2 && end - first < MAX_TYPE_TOKENS && igi_msl_is(r, first - 1, ":") &&
           igi_msl_is(r, first - 2, ":"))
        first -= first >= statement + 3 && igi_msl_token_is_word(&r->tokens, first - 3) ? 3 : 2;
    return first;
}

// Specifiers before the type. If `constant` is not among them, the preceding word must be a macro that supplies it.
static size_t specifiers_start(const igi_msl_rewriter *r, size_t statement, size_t type) {
    size_t first = type;
    bool constant = false;
    while (first > statement && igi_msl_token_is_word(&r->tokens, first - 1)) {
        if (!is_specifier(r, first - 1)) {
            if (constant) break;
            constant = true;
        }
        constant |= igi_msl_is(r, first - 1, "constant");
        first--;
    }
    return first;
}

// Finds the type and rewrites what is around it.
static bool open_declaration(igi_msl_rewriter *r, igi_msl_function_constants *seen, size_t statement, size_t name) {
    size_t type_end = name;
    while (type_end > statement && is_specifier(r, type_end - 1)) type_end--;
    size_t type = type_start(r, statement, type_end);
    if (type == type_end) return false;
    size_t first = specifiers_start(r, statement, type);
    if (first < type)
        igi_msl_rewriter_replace(r, first, type, "extern const");
    else
        igi_msl_rewriter_edit(r, igi_msl_at(r, type)->offset, 0, igi_strdup("extern const "));
    if (type_end < name) igi_msl_rewriter_replace(r, type_end, name, "");
    *seen = (igi_msl_function_constants){statement + 1, type, type_end};
    return true;
}

void igi_msl_declare_function_constant(igi_msl_rewriter *r, igi_msl_function_constants *seen, igi_text *text,
                                       size_t statement, size_t open, size_t argument, size_t argument_end) {
    if (open <= statement || !igi_msl_token_is_word(&r->tokens, open - 1)) return;
    size_t name = name_start(r, statement, open);
    if (seen->statement != statement + 1 && !open_declaration(r, seen, statement, name)) return;
    igi_msl_rewriter_mark_constant(r, open - 1);
    igi_text_add(text, "__asm__(\"ig.fc.\" __IG_STRING(");
    igi_msl_rewriter_append(r, text, argument, argument_end);
    igi_text_add(text, ") \".\" __IG_STRING(");
    igi_msl_rewriter_append(r, text, seen->type, seen->type_end);
    igi_text_add(text, ") \".\" __IG_STRING(");
    igi_msl_rewriter_append(r, text, name, open);
    igi_text_add(text, "))");
}
