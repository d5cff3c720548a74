// SPDX-License-Identifier: Apache-2.0
// threadgroup variables become references. clang gives no local variable an address space of its own, but a reference may
// refer to any: `threadgroup float s[4];` becomes an array in no space, which src/simt places in the threadgroup's memory
// by its mark, and `s`, which refers to it.
#include <string.h>

#include "msl/address-space.h"
#include "msl/rewrite-passes.h"

// Longer declarations than any code has are left alone, so that the pass stays linear.
enum { MAX_TOKENS = 256, MAX_NAMES = 16, MAX_ARGUMENTS = 64 };

typedef struct name {
    size_t first, end;  // tokens; several where a macro pastes them together
} name;

typedef struct declaration {
    size_t space;  // the token that says threadgroup; 0: none
    size_t end;    // the semicolon, or where a macro's body ends
    size_t words;  // of the type and the first name
    name names[MAX_NAMES];
    size_t ends[MAX_NAMES];  // token after each declarator
    size_t count;
    bool is_initialised;
    bool is_filled;  // with zeros
} declaration;

static bool says_threadgroup(const igi_msl_rewriter *r, const igi_msl_space_macros *macros, size_t index) {
    const char *space = igi_msl_space_or_macro(&r->tokens, macros, index);
    return space && strcmp(space, "threadgroup") == 0;
}

// ---- Declarations ----

static bool is_boundary(const igi_msl_rewriter *r, size_t index) {
    return index >= r->tokens.count || igi_msl_at(r, index)->kind == IGI_TOKEN_BOUNDARY;
}

// The token after the template arguments that open at `open`; `open` itself when they do not end.
static size_t after_arguments(const igi_msl_rewriter *r, size_t open) {
    int depth = 0;
    for (size_t i = open; i < open + MAX_ARGUMENTS && !is_boundary(r, i); i++) {
        if (igi_msl_is(r, i, "<")) depth++;
        if (igi_msl_is(r, i, ">") && --depth == 0) return i + 1;
        if (igi_msl_at(r, i)->partner > i) i = igi_msl_at(r, i)->partner;
    }
    return open;
}

// The name that ends before `end`.
static name name_before(const igi_msl_rewriter *r, size_t start, size_t end) {
    size_t first = end - 1;
    while (first >= start + 4 && igi_msl_is(r, first - 1, "#") && igi_msl_is(r, first - 2, "#")) first -= 3;
    return (name){first, end};
}

static bool end_declarator(const igi_msl_rewriter *r, declaration *d, size_t start, size_t index, size_t name_end) {
    size_t end = name_end ? name_end : index;
    if (d->count == MAX_NAMES || end <= start + 1 || !igi_msl_token_is_word(&r->tokens, end - 1)) return false;
    d->names[d->count] = name_before(r, start, end);
    d->ends[d->count++] = index;
    return true;
}

// The token after `= {0}`, `= 0` or `{}` at `index`, which real code writes though other threads write too; 0 for any other
// initialiser.
static size_t after_zeros(const igi_msl_rewriter *r, size_t index) {
    size_t open = index + igi_msl_is(r, index, "="), zero = open + 1;
    bool alone = open > index && igi_msl_is(r, open, "0");
    if (alone && (igi_msl_is(r, zero, ";") || igi_msl_is(r, zero, ","))) return zero;
    if (!igi_msl_is(r, open, "{")) return 0;
    if (igi_msl_is(r, zero, "0")) zero++;
    return igi_msl_is(r, zero, "}") ? zero + 1 : 0;
}

// Reads the declaration that begins at `start`. False when it declares no variables, or pointers and references.
static bool read_declaration(const igi_msl_rewriter *r, const igi_msl_space_macros *macros, size_t start,
                             declaration *d) {
    static const char *const others[] = {"typedef", "using", "return", "template", "friend", "enum", "operator", NULL};
    static const char *const groups[] = {"alignas", "__attribute__", "decltype", NULL};
    static const char *const strangers[] = {"*", "&", "(", ")", "}", "]", NULL};
    size_t name_end = 0;
    *d = (declaration){0};
    for (size_t i = start; i < start + MAX_TOKENS && i <= r->tokens.count; i++) {
        bool initialiser = igi_msl_is(r, i, "=") || igi_msl_is(r, i, "{");
        if (initialiser || igi_msl_is(r, i, ",") || igi_msl_is(r, i, ";") || is_boundary(r, i)) {
            if (!d->space || d->words < 2 || !end_declarator(r, d, start, i, name_end)) return false;
            size_t zeros = initialiser ? after_zeros(r, i) : i;
            d->is_initialised = zeros == 0;
            d->is_filled |= initialiser;
            if (zeros) i = zeros;
            d->end = i;
            if (d->is_initialised || is_boundary(r, i) || igi_msl_is(r, i, ";")) return true;
            if (!igi_msl_is(r, i, ",")) return false;
            name_end = 0;
        } else if (igi_msl_token_in(&r->tokens, i, others) || igi_msl_token_in(&r->tokens, i, strangers) ||
                   igi_msl_at(r, i)->region == IGI_REGION_DIRECTIVE) {
            return false;
        } else if (igi_msl_token_in(&r->tokens, i, groups) && igi_msl_is(r, i + 1, "(")) {
            i = igi_msl_at(r, i + 1)->partner;
            d->words += igi_msl_is(r, i, ")");
        } else if (igi_msl_is(r, i, "<")) {
            size_t after = after_arguments(r, i);
            if (after == i) return false;
            i = after - 1;
        } else if (igi_msl_is(r, i, "[")) {
            if (!name_end && !igi_msl_is(r, i + 1, "[")) name_end = i;
            if (igi_msl_at(r, i)->partner == i) return false;
            i = igi_msl_at(r, i)->partner;
        } else if (!d->space && says_threadgroup(r, macros, i)) {
            d->space = i + 1;
        } else {
            d->words += igi_msl_at(r, i)->kind == IGI_TOKEN_WORD;
        }
    }
    return false;
}

// ---- Rewriting ----

static void append_name(const igi_msl_rewriter *r, igi_text *text, const name *n) {
    igi_msl_rewriter_append(r, text, n->first, n->end);
}

// In a macro's body the name may be one of its parameters.
static const char *prefix_of(const igi_msl_rewriter *r, size_t token) {
    return igi_msl_at(r, token)->region == IGI_REGION_MACRO ? "__ig_shared_##" : "__ig_shared_";
}

static void rename_storage(igi_msl_rewriter *r, const declaration *d, size_t i) {
    igi_msl_rewriter_edit(r, igi_msl_at(r, d->names[i].first)->offset, 0, igi_strdup(prefix_of(r, d->names[i].first)));
    igi_msl_rewriter_edit(r, igi_msl_end_of(r, d->ends[i] - 1), 0, igi_strdup(" __IG_SHARED"));
}

static void refer_to_storage(igi_msl_rewriter *r, const declaration *d) {
    igi_text text = {0};
    bool has_semicolon = igi_msl_is(r, d->end, ";");
    for (size_t i = 0; i < d->count; i++) {
        igi_text_addf(&text, "%sauto &", has_semicolon ? " " : "; ");
        append_name(r, &text, &d->names[i]);
        igi_text_addf(&text, " = %s(%s", d->is_filled ? "__IG_FILLED_IN_THREADGROUP" : "__IG_IN_THREADGROUP",
                      prefix_of(r, d->names[i].first));
        append_name(r, &text, &d->names[i]);
        igi_text_add(&text, has_semicolon ? ");" : ")");
    }
    igi_msl_rewriter_edit(r, igi_msl_end_of(r, has_semicolon ? d->end : d->end - 1), 0, igi_text_take(&text));
}

static void refuse_initialiser(igi_msl_rewriter *r, const declaration *d) {
    igi_msl_rewriter_edit(
        r, igi_msl_at(r, d->names[0].first)->offset, 0,
        igi_strdup(
            "_Pragma(\"GCC error \\\"a variable in the threadgroup address space cannot have an initializer\\\"\") "));
}

static void rewrite_declaration(igi_msl_rewriter *r, const declaration *d) {
    igi_msl_rewriter_replace(r, d->space - 1, d->space, "");
    if (d->is_initialised) {
        refuse_initialiser(r, d);
        return;
    }
    for (size_t i = 0; i < d->count; i++) rename_storage(r, d, i);
    refer_to_storage(r, d);
}

static bool begins_statement(const igi_msl_rewriter *r, size_t index) {
    static const char *const before[] = {";", "{", "}", NULL};
    return index == 0 || is_boundary(r, index - 1) || igi_msl_token_in(&r->tokens, index - 1, before) ||
           igi_msl_token_is_colon(&r->tokens, index - 1);
}

void igi_msl_rewrite_threadgroup_variables(igi_msl_rewriter *r) {
    igi_msl_space_macros macros;
    igi_msl_space_macros_find(&r->tokens, &macros);
    for (size_t i = 0; i < r->tokens.count && !r->failed; i++) {
        const igi_msl_token *token = igi_msl_at(r, i);
        // Parameters are no variables of a threadgroup.
        if (igi_msl_is(r, i, "(") && token->partner > i) i = token->partner;
        if (token->kind != IGI_TOKEN_WORD || token->done || token->region == IGI_REGION_DIRECTIVE) continue;
        declaration d;
        if (!begins_statement(r, i) || !read_declaration(r, &macros, i, &d)) continue;
        rewrite_declaration(r, &d);
        i = d.end;
    }
}
