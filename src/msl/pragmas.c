// SPDX-License-Identifier: Apache-2.0
// #pragma METAL fp: contract(off | on | fast) and math_mode(relaxed | fast | safe), at file scope or at the start of a
// block. Nothing is ever reordered here and NaN and infinities always count, so that of the math modes only their
// contraction is left: safe allows it within an expression, the others across expressions too.
//
// clang has a pragma for the arithmetic of scalars. That of vectors is in functions of our headers, which do not see it:
// a kernel in whose text products and sums are to be kept apart gets an annotation, for simt/contract.c.
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "msl/declarations.h"
#include "msl/rewrite-passes.h"

typedef struct pragma {
    size_t hash;  // token
    const char *contraction;
    bool math_mode;
} pragma;

// ---- Reading one ----

typedef struct choice {
    const char *option, *value, *contraction;
} choice;

static const choice choices[] = {
    {"contract", "off", "off"},       {"contract", "on", "on"},      {"contract", "fast", "fast"},
    {"math_mode", "relaxed", "fast"}, {"math_mode", "fast", "fast"}, {"math_mode", "safe", "on"},
};
enum { CHOICE_COUNT = sizeof choices / sizeof *choices };

static bool is_ours(const igi_msl_rewriter *r, size_t hash) {
    return igi_msl_at(r, hash)->kind == IGI_TOKEN_DIRECTIVE && igi_msl_is(r, hash + 1, "pragma") &&
           igi_msl_is(r, hash + 2, "METAL") && igi_msl_is(r, hash + 3, "fp");
}

static const choice *choice_at(const igi_msl_rewriter *r, size_t option) {
    if (!igi_msl_is(r, option + 1, "(") || !igi_msl_is(r, option + 3, ")")) return NULL;
    for (size_t i = 0; i < CHOICE_COUNT; i++)
        if (igi_msl_is(r, option, choices[i].option) && igi_msl_is(r, option + 2, choices[i].value)) return &choices[i];
    return NULL;
}

// Several options may stand in one pragma; the last that says something about contraction counts. Returns false if one is
// unknown.
static bool read_pragma(const igi_msl_rewriter *r, size_t hash, pragma *found) {
    *found = (pragma){.hash = hash};
    for (size_t i = hash + 4; igi_msl_token_is_word(&r->tokens, i); i += 4) {
        const choice *chosen = choice_at(r, i);
        if (!chosen) return false;
        bool mode = strcmp(chosen->option, "math_mode") == 0;
        if (found->contraction && mode && !found->math_mode) continue;
        found->contraction = chosen->contraction, found->math_mode = mode;
    }
    return found->contraction != NULL;
}

static size_t directive_end(const igi_msl_rewriter *r, size_t hash) {
    size_t i = hash + 1;
    while (i < r->tokens.count && igi_msl_at(r, i)->kind != IGI_TOKEN_BOUNDARY) i++;
    return i;
}

// An error of the preprocessor, which counts only where no #if leaves it out.
static void refuse_pragma(igi_msl_rewriter *r, size_t hash) {
    igi_msl_rewriter_replace(r, hash + 1, directive_end(r, hash),
                             "error \"'#pragma METAL fp' takes contract(off), contract(on), contract(fast), "
                             "math_mode(safe), math_mode(relaxed) or math_mode(fast)\"");
}

static void write_pragma(igi_msl_rewriter *r, const pragma *p, bool keeps_contraction) {
    char text[40] = "";
    int length = keeps_contraction ? 0 : snprintf(text, sizeof text, "clang fp contract(%s)", p->contraction);
    assert(length >= 0 && (size_t)length < sizeof text);
    (void)length;
    igi_msl_rewriter_replace(r, p->hash + 2, directive_end(r, p->hash), text);
}

// ---- Kernels ----

// After the word `kernel`, or the list of attributes that contains it.
static size_t place_in_head(const igi_msl_rewriter *r, const igi_msl_declaration *d) {
    for (size_t i = d->first; i < d->head_end; i++) {
        if (!igi_msl_is(r, i, "kernel")) continue;
        size_t in_list = i;
        while (in_list < d->head_end && !igi_msl_is(r, in_list, "]") && !igi_msl_is(r, in_list, "(")) in_list++;
        bool listed = igi_msl_is(r, in_list, "]") && igi_msl_is(r, in_list + 1, "]");
        return igi_msl_end_of(r, listed ? in_list + 1 : i);
    }
    return 0;
}

static void keep_apart(igi_msl_rewriter *r, const igi_msl_declaration *d) {
    size_t place = place_in_head(r, d);
    if (place) igi_msl_rewriter_edit(r, place, 0, igi_strdup(" __attribute__((annotate(\"ig.apart\")))"));
}

// ---- Both ----

typedef struct scope {  // what holds at file scope so far
    bool apart;
    bool contract;  // said by contract(), which a later math_mode() does not change
} scope;

typedef struct walker {
    igi_msl_rewriter *r;
    igi_msl_declarations declarations;
    size_t next;  // the first declaration that has not begun
    scope file, body;
    const igi_msl_declaration *in;  // the function whose body this is
    bool apart;                     // somewhere in it
} walker;

static void finish_body(walker *w) {
    if (w->in && (w->apart || w->file.apart)) keep_apart(w->r, w->in);
    w->in = NULL;
}

static void follow_declarations(walker *w, size_t index) {
    if (w->in && index >= w->in->end) finish_body(w);
    while (w->next < w->declarations.count && w->declarations.items[w->next].first <= index) {
        const igi_msl_declaration *d = &w->declarations.items[w->next++];
        if (!d->has_body || w->in) continue;
        w->in = d;
        w->body = w->file;
        w->apart = false;
    }
}

static void visit_pragma(walker *w, size_t hash) {
    pragma found;
    if (!read_pragma(w->r, hash, &found)) {
        refuse_pragma(w->r, hash);
        return;
    }
    scope *here = w->in ? &w->body : &w->file;
    bool keeps = found.math_mode && here->contract;
    write_pragma(w->r, &found, keeps);
    if (keeps) return;
    here->apart = strcmp(found.contraction, "fast") != 0;
    here->contract = !found.math_mode;
    w->apart |= w->in && here->apart;
}

static bool has_pragma(const igi_msl_rewriter *r) {
    for (size_t i = 0; i < r->tokens.count; i++)
        if (is_ours(r, i)) return true;
    return false;
}

void igi_msl_rewrite_pragmas(igi_msl_rewriter *r) {
    if (!has_pragma(r)) return;
    walker w = {.r = r};
    if (!igi_msl_declarations_find(&r->tokens, &w.declarations)) r->failed = true;
    for (size_t i = 0; i < r->tokens.count && !r->failed; i++) {
        follow_declarations(&w, i);
        if (is_ours(r, i)) visit_pragma(&w, i);
    }
    finish_body(&w);
    igi_msl_declarations_free(&w.declarations);
}
