// SPDX-License-Identifier: Apache-2.0
// v.xy += w as v.xy = v.xy + (w). Swizzles are properties, and in a template clang 19 refuses a compound assignment to
// a property once any namespace has an operator for it. Single components are swizzles too.
#include <string.h>

#include "msl/rewrite-passes.h"

static bool is_swizzle(const igi_msl_rewriter *r, size_t index) {
    if (!igi_msl_token_is_word(&r->tokens, index)) return false;
    const char *text = r->tokens.text + igi_msl_at(r, index)->offset;
    size_t length = igi_msl_at(r, index)->length, positions = 0, colours = 0;
    if (length > 4) return false;
    for (size_t i = 0; i < length; i++) {
        positions += memchr("xyzw", text[i], 4) != NULL;
        colours += memchr("rgba", text[i], 4) != NULL;
    }
    return positions == length || colours == length;
}

// The number of tokens of the compound assignment operator that begins here; 0 if there is none.
static size_t assignment_operator(const igi_msl_rewriter *r, size_t index) {
    static const char *const single[] = {"+", "-", "*", "/", "%", "&", "|", "^", NULL};
    if (igi_msl_token_in(&r->tokens, index, single)) return igi_msl_is(r, index + 1, "=") ? 2 : 0;
    bool shift = (igi_msl_is(r, index, "<") && igi_msl_is(r, index + 1, "<")) ||
                 (igi_msl_is(r, index, ">") && igi_msl_is(r, index + 1, ">"));
    return shift && igi_msl_is(r, index + 2, "=") ? 3 : 0;
}

// Whether a token may be in an index: nothing that calls or assigns, because it will be evaluated twice.
static bool plain_in_index(const igi_msl_rewriter *r, size_t index) {
    static const char *const harmless[] = {"+", "-", "*", "/", "%", "[", ".", ":", "<", ">", "&", NULL};
    bool twice = igi_msl_is(r, index, "+") || igi_msl_is(r, index, "-");
    if (twice && index > 0 && igi_msl_token_same(&r->tokens, index, index - 1)) return false;
    igi_msl_token_kind kind = igi_msl_at(r, index)->kind;
    return kind == IGI_TOKEN_WORD || kind == IGI_TOKEN_NUMBER || igi_msl_token_in(&r->tokens, index, harmless);
}

// The [ that belongs to the ] at `close`, if everything in between is plain; otherwise `close` itself.
static size_t index_start(const igi_msl_rewriter *r, size_t close) {
    size_t open = igi_msl_at(r, close)->partner;
    for (size_t i = close; open < close && i > open; i--) {
        bool bracket = igi_msl_is(r, i, "]") || igi_msl_is(r, i, "(") || igi_msl_is(r, i, ")");
        bool call = igi_msl_is(r, i, "(") && (igi_msl_token_is_word(&r->tokens, i - 1) || igi_msl_is(r, i - 1, ">") ||
                                              igi_msl_is(r, i - 1, "]") || igi_msl_is(r, i - 1, ")"));
        if (call || (!bracket && !plain_in_index(r, i))) return close;
    }
    return open;
}

// The first token of a path a->b[i].c that ends before `end`; `end` itself if there is none.
static size_t path_start(const igi_msl_rewriter *r, size_t end) {
    size_t first = end;
    for (;;) {
        while (first > 0 && igi_msl_is(r, first - 1, "]")) {
            size_t open = index_start(r, first - 1);
            if (open == first - 1) return end;
            first = open;
        }
        if (first == 0 || !igi_msl_token_is_word(&r->tokens, first - 1)) return end;
        first--;
        if (first > 1 && igi_msl_is(r, first - 1, "."))
            first--;
        else if (first > 2 && igi_msl_is(r, first - 1, ">") && igi_msl_is(r, first - 2, "-"))
            first -= 2;
        else
            return first;
    }
}

static bool begins_statement(const igi_msl_rewriter *r, size_t index) {
    static const char *const before[] = {";", "{", "}", "else", "do", NULL};
    static const char *const heads[] = {"if", "for", "while", "constexpr", NULL};
    if (index == 0) return false;
    if (igi_msl_token_in(&r->tokens, index - 1, before)) return true;
    size_t open = igi_msl_at(r, index - 1)->partner;
    return igi_msl_is(r, index - 1, ")") && open > 0 && open < index - 1 &&
           igi_msl_token_in(&r->tokens, open - 1, heads);
}

// The semicolon that ends the expression from `index` on; 0 if something else comes first. A comma must be between
// template arguments: as an operator it would end the assignment.
static size_t expression_end(const igi_msl_rewriter *r, size_t index) {
    static const char *const strangers[] = {"(",   "[",     "{",    "}",  ")",      "]", "if",
                                            "for", "while", "else", "do", "return", NULL};
    int angles = 0;
    if (igi_msl_is(r, index, ";") || igi_msl_is(r, index, "{")) return 0;
    for (size_t i = index; i < r->tokens.count && igi_msl_at(r, i)->region == IGI_REGION_CODE; i++) {
        if (igi_msl_is(r, i, ";")) return i;
        if (igi_msl_at(r, i)->partner > i) {
            i = igi_msl_at(r, i)->partner;
            continue;
        }
        if (igi_msl_is(r, i, "<")) angles++;
        if (igi_msl_is(r, i, ">") && angles > 0) angles--;
        if (igi_msl_token_in(&r->tokens, i, strangers) || (igi_msl_is(r, i, ",") && angles == 0)) return 0;
    }
    return 0;
}

static void rewrite_assignment(igi_msl_rewriter *r, size_t first, size_t op, size_t op_length, size_t end) {
    igi_text text = {0};
    igi_text_add(&text, "= ");
    igi_msl_rewriter_append(r, &text, first, op);
    igi_text_add(&text, " ");
    for (size_t i = op; i + 1 < op + op_length; i++)
        igi_text_append(&text, r->tokens.text + igi_msl_at(r, i)->offset, 1);
    igi_text_add(&text, " (");
    char *replacement = igi_text_take(&text);
    if (replacement) {
        igi_msl_rewriter_replace(r, op, op + op_length, replacement);
        igi_msl_rewriter_edit(r, igi_msl_at(r, end)->offset, 0, igi_strdup(")"));
    } else {
        r->failed = true;
    }
    free(replacement);
}

// Macro bodies are left unchanged: a path that begins with a macro's parameter may hide anything.
void igi_msl_rewrite_swizzle_assignments(igi_msl_rewriter *r) {
    for (size_t i = 2; i < r->tokens.count && !r->failed; i++) {
        size_t op_length = igi_msl_at(r, i)->kind == IGI_TOKEN_PUNCT ? assignment_operator(r, i) : 0;
        if (!op_length || igi_msl_at(r, i)->done || igi_msl_at(r, i)->region != IGI_REGION_CODE) continue;
        bool member = igi_msl_is(r, i - 2, ".") || igi_msl_is(r, i - 2, ">");
        if (!member || !is_swizzle(r, i - 1)) continue;
        size_t first = path_start(r, i);
        if (first == i || first + 1 == i || !begins_statement(r, first)) continue;
        size_t end = expression_end(r, i + op_length);
        if (end) rewrite_assignment(r, first, i, op_length, end);
    }
}
