// SPDX-License-Identifier: Apache-2.0
// Subscript operators for objects in several address spaces, as shader compilers write them for arrays:
//     device T &operator[](size_t i) device { return elements[i]; }
// and the same for other spaces. The first becomes a template over the object, which C++23 has, so that what it returns is
// in the space of the object and its address is a pointer into that space; the others go.
#include <stdlib.h>

#include "msl/declarations.h"
#include "msl/rewrite-passes.h"

typedef struct subscript {
    const igi_msl_declaration *declaration;
    size_t open, close;  // the parentheses of its parameter
    size_t member;
} subscript;

static size_t find(const igi_msl_rewriter *r, size_t from, size_t end, const char *word) {
    while (from < end && !igi_msl_is(r, from, word)) from++;
    return from;
}

// TYPE & operator [ ] ( ... NAME ) ... { return MEMBER [ NAME ] ; }
static bool read_subscript(const igi_msl_rewriter *r, const igi_msl_declaration *d, subscript *found) {
    static const char *const body[] = {"{", "return", NULL, "[", NULL, "]", ";", "}"};
    enum { BODY = sizeof body / sizeof *body, MEMBER = 2, INDEX = 4 };
    size_t name = find(r, d->first, d->head_end, "operator");
    if (!d->has_body || name + 3 >= d->head_end || d->end != d->head_end + BODY) return false;
    if (!igi_msl_is(r, name + 1, "[") || !igi_msl_is(r, name + 2, "]") || !igi_msl_is(r, name + 3, "(")) return false;
    if (find(r, d->first, name, "&") == name || find(r, d->first, name, "template") != name) return false;
    *found = (subscript){d, name + 3, find(r, name, d->head_end, ")"), d->head_end + MEMBER};
    for (size_t i = 0; i < BODY; i++)
        if (body[i] && !igi_msl_is(r, d->head_end + i, body[i])) return false;
    return found->close < d->head_end && igi_msl_token_same(&r->tokens, found->close - 1, d->head_end + INDEX);
}

static bool is_like(const igi_msl_rewriter *r, const subscript *a, const subscript *b) {
    if (a->declaration->scope != b->declaration->scope || a->close - a->open != b->close - b->open) return false;
    if (a->declaration->visible_until != b->declaration->visible_until) return false;
    for (size_t i = 0; i < a->close - a->open; i++)
        if (!igi_msl_token_same(&r->tokens, a->open + i, b->open + i)) return false;
    return igi_msl_token_same(&r->tokens, a->member, b->member);
}

static void generalise(igi_msl_rewriter *r, const subscript *s) {
    igi_text text = {0};
    igi_text_add(&text, "template <class __ig_object> constexpr auto &operator[](this __ig_object &&__ig_self, ");
    igi_msl_rewriter_append(r, &text, s->open + 1, s->close);
    igi_text_add(&text, ") { return __ig_self.");
    igi_msl_rewriter_append(r, &text, s->member, s->declaration->end);
    char *whole = igi_text_take(&text);
    if (whole)
        igi_msl_rewriter_replace(r, s->declaration->first, s->declaration->end, whole);
    else
        r->failed = true;
    free(whole);
    r->out->has_objects = true;
}

// Whether another one for objects in another space follows.
static bool has_twin(const igi_msl_rewriter *r, const igi_msl_declarations *all, size_t index, const subscript *s) {
    subscript next;
    return index + 1 < all->count && s->declaration->has_space && all->items[index + 1].has_space &&
           read_subscript(r, &all->items[index + 1], &next) && is_like(r, s, &next);
}

void igi_msl_rewrite_subscripts(igi_msl_rewriter *r) {
    igi_msl_declarations all;
    if (!igi_msl_declarations_find(&r->tokens, &all)) {
        r->failed = true;
        return;
    }
    subscript kept = {0}, s;
    for (size_t i = 0; i < all.count && !r->failed; i++) {
        if (igi_msl_at(r, all.items[i].first)->done || !read_subscript(r, &all.items[i], &s)) continue;
        if (kept.declaration && is_like(r, &kept, &s)) {
            igi_msl_rewriter_replace(r, s.declaration->first, s.declaration->end, "");
        } else if (has_twin(r, &all, i, &s)) {
            kept = s;
            generalise(r, &s);
        }
    }
    igi_msl_declarations_free(&all);
}
