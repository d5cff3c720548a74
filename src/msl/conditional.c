// SPDX-License-Identifier: Apache-2.0
// `c ? a[i] : b` with a vector or structure on each side. C++ finds no common type for two classes in different address
// spaces when one is const, as `device const float4` and `float4`. So operands that may name such an object are put
// into __IG_OPERAND, which copies it and leaves everything else as it is.
#include <string.h>

#include "core/memory.h"
#include "msl/rewrite-passes.h"

// Longer operands are left alone, so that the pass stays linear.
enum { MAX_TOKENS = 64, MAX_STARS = 4 };

// ---- Operands that name an object ----

static bool is_arrow(const igi_msl_rewriter *r, size_t index) {
    return igi_msl_is(r, index, "-") && igi_msl_is(r, index + 1, ">");
}

// Constants that macros stand for; 0 among them must stay a null pointer.
static bool is_upper_case(const igi_msl_rewriter *r, size_t index) {
    const char *text = r->tokens.text + igi_msl_at(r, index)->offset;
    for (size_t i = 0; i < igi_msl_at(r, index)->length; i++)
        if (text[i] >= 'a' && text[i] <= 'z') return false;
    return true;
}

static size_t after_path(const igi_msl_rewriter *r, size_t index);

// The token after the first name of a path; 0 when it is none.
static size_t after_root(const igi_msl_rewriter *r, size_t index) {
    static const char *const others[] = {"true", "false", "nullptr", "new", "throw", "sizeof", "operator", NULL};
    if (igi_msl_is(r, index, "(")) {
        size_t close = igi_msl_at(r, index)->partner;
        return close > index && close - index < MAX_TOKENS && after_path(r, index + 1) == close ? close + 1 : 0;
    }
    if (!igi_msl_token_is_word(&r->tokens, index) || igi_msl_token_in(&r->tokens, index, others)) return 0;
    return index + 1;
}

// The token after *a->b[i].c; 0 when something else begins here.
static size_t after_path(const igi_msl_rewriter *r, size_t index) {
    size_t start = index;
    while (index < start + MAX_STARS && igi_msl_is(r, index, "*")) index++;
    size_t root = index;
    index = after_root(r, index);
    bool bare = index == start + 1 && !igi_msl_is(r, root, "(");
    while (index && index < start + MAX_TOKENS) {
        size_t partner = index < r->tokens.count ? igi_msl_at(r, index)->partner : index;
        size_t name = index + (igi_msl_is(r, index, ".") ? 1 : 2);
        if (igi_msl_is(r, index, "[") && partner > index)
            index = partner + 1;
        else if ((igi_msl_is(r, index, ".") || is_arrow(r, index)) && igi_msl_token_is_word(&r->tokens, name))
            index = name + 1;
        else
            break;
        bare = false;
    }
    return bare && (is_upper_case(r, root) || igi_msl_is(r, root, "this")) ? 0 : index;
}

static bool ends_operand(const igi_msl_rewriter *r, size_t index) {
    static const char *const ends[] = {";", ",", ")", "]", "}", NULL};
    return index >= r->tokens.count || igi_msl_at(r, index)->kind == IGI_TOKEN_BOUNDARY ||
           igi_msl_token_in(&r->tokens, index, ends) || igi_msl_token_is_colon(&r->tokens, index);
}

// A macro's parameter, perhaps in parentheses. It may stand for anything, and the operand is written twice: nested macros
// would grow without bounds.
static bool may_be_parameter(const igi_msl_rewriter *r, size_t first, size_t end) {
    for (; igi_msl_is(r, first, "("); first++) end--;
    return igi_msl_at(r, first)->region == IGI_REGION_MACRO && end == first + 1;
}

static void wrap_operand(igi_msl_rewriter *r, size_t first) {
    size_t end = after_path(r, first);
    if (!end || !ends_operand(r, end) || may_be_parameter(r, first, end)) return;
    for (size_t i = first; i < end; i++)
        if (igi_msl_at(r, i)->region != igi_msl_at(r, first)->region) return;
    igi_msl_rewriter_edit(r, igi_msl_at(r, first)->offset, 0, igi_strdup("__IG_OPERAND("));
    igi_msl_rewriter_edit(r, igi_msl_end_of(r, end - 1), 0, igi_strdup(")"));
}

// ---- Which colon belongs to which question mark ----

typedef struct marks {
    bool *questions;  // what is open: a question, or a bracket
    size_t count, capacity;
} marks;

static void open_mark(igi_msl_rewriter *r, marks *open, bool question) {
    if (igi_grow((void **)&open->questions, &open->capacity, open->count + 1, sizeof *open->questions))
        open->questions[open->count++] = question;
    else
        r->failed = true;
}

static void close_questions(marks *open) {
    while (open->count && open->questions[open->count - 1]) open->count--;
}

static void follow(igi_msl_rewriter *r, marks *open, size_t index) {
    static const char *const opening[] = {"(", "[", "{", NULL}, *const closing[] = {")", "]", "}", NULL};
    if (igi_msl_token_in(&r->tokens, index, opening)) {
        open_mark(r, open, false);
    } else if (igi_msl_token_in(&r->tokens, index, closing)) {
        close_questions(open);
        if (open->count) open->count--;
    } else if (igi_msl_is(r, index, ";")) {
        close_questions(open);
    } else if (igi_msl_is(r, index, "?")) {
        open_mark(r, open, true);
        wrap_operand(r, index + 1);
    } else if (igi_msl_token_is_colon(&r->tokens, index) && open->count && open->questions[open->count - 1]) {
        open->count--;
        wrap_operand(r, index + 1);
    }
}

void igi_msl_rewrite_conditionals(igi_msl_rewriter *r) {
    marks code = {0}, macro = {0};
    for (size_t i = 0; i < r->tokens.count && !r->failed; i++) {
        igi_msl_token_region region = igi_msl_at(r, i)->region;
        if (igi_msl_at(r, i)->kind == IGI_TOKEN_BOUNDARY) macro.count = 0;
        if (igi_msl_at(r, i)->done || region == IGI_REGION_DIRECTIVE) continue;
        if (igi_msl_at(r, i)->kind == IGI_TOKEN_PUNCT) follow(r, region == IGI_REGION_MACRO ? &macro : &code, i);
    }
    free(code.questions), free(macro.questions);
}
