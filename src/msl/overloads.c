// SPDX-License-Identifier: Apache-2.0
// Member functions for objects in several address spaces. C++ has no overloads by the space of the object; `this` may be
// in any. So the first stays and the others go, if they have the same body; if not, they are refused.
#include <string.h>

#include "msl/address-space.h"
#include "msl/declarations.h"
#include "msl/rewrite-passes.h"

typedef struct candidate {
    igi_msl_declaration *declaration;
    uint64_t key;  // hash of scope and head, without address spaces
} candidate;

static igi_msl_space_role role_of(const igi_msl_tokens *tokens, size_t index) {
    return igi_msl_address_space(tokens, index) ? igi_msl_address_space_role(tokens, index) : IGI_SPACE_OF_TYPE;
}

// What the token means once the spaces of objects are gone: itself, nothing (NULL), or const. A member function for
// objects in a space returns references into that space, `device T &operator[](int) device`: they say no more than the
// object does.
static const char *meaning(const igi_msl_tokens *tokens, size_t index, bool in_result, size_t *length) {
    const igi_msl_token *token = &tokens->items[index];
    const char *text = tokens->text + token->offset, *constant = NULL, *space = igi_msl_address_space(tokens, index);
    *length = token->length;
    igi_msl_space_role role = role_of(tokens, index);
    if (space && in_result) role = strcmp(space, "constant") == 0 ? IGI_SPACE_CONSTANT_OBJECT : IGI_SPACE_OF_OBJECT;
    if (role != IGI_SPACE_OF_TYPE) {
        if (role == IGI_SPACE_CONSTANT_OBJECT) constant = "const";
        *length = constant ? strlen(constant) : 0;
        text = constant;
    }
    return token->region == IGI_REGION_DIRECTIVE ? NULL : text;
}

// Steps to the next token that has a meaning; `const` twice counts once. Returns false at the end.
typedef struct reader {
    const igi_msl_tokens *tokens;
    size_t index, end;
    size_t result_end;  // the result's type, where spaces are the object's
    const char *text;
    size_t length;
} reader;

static bool is_const(const reader *at) {
    return at->text && at->length == 5 && memcmp(at->text, "const", 5) == 0;
}

static bool next(reader *at) {
    bool after_const = is_const(at);
    for (; at->index < at->end; at->index++) {
        at->text = meaning(at->tokens, at->index, at->index < at->result_end, &at->length);
        if (!at->text || (after_const && is_const(at))) continue;
        at->index++;
        return true;
    }
    return false;
}

static size_t result_end(const igi_msl_tokens *tokens, const igi_msl_declaration *declaration) {
    size_t open = declaration->first, end = declaration->head_end;
    while (open < end && !igi_msl_token_is(tokens, open, "(")) open++;
    for (size_t i = open; i < end; i++)
        if (role_of(tokens, i) != IGI_SPACE_OF_TYPE) return open;
    return 0;
}

static reader read_head(const igi_msl_tokens *tokens, const igi_msl_declaration *declaration) {
    return (reader){.tokens = tokens,
                    .index = declaration->first,
                    .end = declaration->head_end,
                    .result_end = result_end(tokens, declaration)};
}

static uint64_t add_to_hash(uint64_t hash, const void *bytes, size_t length) {
    const unsigned char *byte = bytes;
    for (size_t i = 0; i < length; i++) hash = (hash ^ byte[i]) * 0x100000001b3u;  // FNV-1a
    return hash;
}

static uint64_t key_of(const igi_msl_tokens *tokens, const igi_msl_declaration *declaration) {
    uint64_t hash = add_to_hash(0xcbf29ce484222325u, &declaration->scope, sizeof declaration->scope);
    hash = add_to_hash(hash, &declaration->has_body, sizeof declaration->has_body);
    for (reader at = read_head(tokens, declaration); next(&at);) {
        hash = add_to_hash(hash, at.text, at.length);
        hash = add_to_hash(hash, "", 1);
    }
    return hash;
}

static bool same_meaning(const igi_msl_tokens *tokens, const igi_msl_declaration *a, const igi_msl_declaration *b) {
    if (a->scope != b->scope || a->has_body != b->has_body) return false;
    reader left = read_head(tokens, a), right = read_head(tokens, b);
    for (;;) {
        bool more_left = next(&left), more_right = next(&right);
        if (!more_left || !more_right) return more_left == more_right;
        if (left.length != right.length || memcmp(left.text, right.text, left.length) != 0) return false;
    }
}

// A true redefinition is left for clang to report.
static bool same_words(const igi_msl_tokens *tokens, const igi_msl_declaration *a, const igi_msl_declaration *b) {
    if (a->head_end - a->first != b->head_end - b->first) return false;
    for (uint32_t i = 0; i < a->head_end - a->first; i++)
        if (!igi_msl_token_same(tokens, a->first + i, b->first + i)) return false;
    return true;
}

// The same but for the names of address spaces.
static bool same_body(const igi_msl_tokens *tokens, const igi_msl_declaration *a, const igi_msl_declaration *b) {
    uint32_t left = a->head_end, right = b->head_end;
    for (;; left++, right++) {
        while (left < a->end && igi_msl_address_space(tokens, left)) left++;
        while (right < b->end && igi_msl_address_space(tokens, right)) right++;
        if (left >= a->end || right >= b->end) return left >= a->end && right >= b->end;
        if (!igi_msl_token_same(tokens, left, right)) return false;
    }
}

static int by_key(const void *a, const void *b) {
    const candidate *left = a, *right = b;
    if (left->key != right->key) return left->key < right->key ? -1 : 1;
    return left->declaration->first < right->declaration->first ? -1 : 1;
}

// Preprocessor lines inside a removed declaration are kept: they may define what others use.
static bool is_kept(const igi_msl_rewriter *r, const igi_msl_declaration *declaration, size_t index) {
    return igi_msl_at(r, index)->done || igi_msl_at(r, index)->region != igi_msl_at(r, declaration->first)->region;
}

// clang reports it, unless the text is skipped.
static void refuse(igi_msl_rewriter *r, const igi_msl_declaration *declaration) {
    static const char message[] =
        "_Pragma(\"GCC error \\\"member functions that differ only in the address space of the object must have the "
        "same "
        "body: Ingot cannot choose between them\\\"\") ";
    igi_msl_rewriter_edit(r, igi_msl_at(r, declaration->first)->offset, 0, igi_strdup(message));
}

static void drop(igi_msl_rewriter *r, const igi_msl_declaration *declaration) {
    size_t i = declaration->first;
    while (i < declaration->end) {
        size_t end = i;
        while (end < declaration->end && !is_kept(r, declaration, end)) end++;
        if (end > i) igi_msl_rewriter_replace(r, i, end, "");
        while (end < declaration->end && is_kept(r, declaration, end)) end++;
        i = end;
    }
}

// A reference into the object: `this` may be in any space, and so may what it refers to.
static void generalise_result(igi_msl_rewriter *r, const igi_msl_declaration *declaration) {
    size_t end = result_end(&r->tokens, declaration);
    bool reference = false;
    for (size_t i = declaration->first; i < end; i++) reference |= igi_msl_is(r, i, "&");
    for (size_t i = declaration->first; i < end && reference; i++) {
        const char *space = igi_msl_address_space(&r->tokens, i);
        if (space && !igi_msl_at(r, i)->done)
            igi_msl_rewriter_replace(r, i, i + 1, strcmp(space, "constant") == 0 ? "const" : "");
    }
}

static candidate *list_candidates(igi_msl_rewriter *r, const igi_msl_declarations *all) {
    candidate *list = igi_calloc(all->count, sizeof *list);
    for (size_t i = 0; list && i < all->count; i++)
        list[i] = (candidate){&all->items[i], key_of(&r->tokens, &all->items[i])};
    if (!list) r->failed = true;
    return list;
}

static void mark_redundant(igi_msl_rewriter *r, const igi_msl_declarations *all) {
    candidate *list = list_candidates(r, all);
    if (!list) return;
    qsort(list, all->count, sizeof *list, by_key);
    const igi_msl_declaration *kept = NULL;
    for (size_t i = 0; i < all->count; i++) {
        igi_msl_declaration *other = list[i].declaration;
        bool seen = kept && other->first < kept->visible_until && same_meaning(&r->tokens, kept, other);
        if (!seen)
            kept = other;
        else
            other->redundant = (kept->has_space || other->has_space) && !same_words(&r->tokens, kept, other);
        if (other->redundant && !same_body(&r->tokens, kept, other)) refuse(r, other);
    }
    free(list);
}

void igi_msl_drop_address_space_overloads(igi_msl_rewriter *r) {
    igi_msl_declarations all;
    if (!igi_msl_declarations_find(&r->tokens, &all)) {
        r->failed = true;
        return;
    }
    mark_redundant(r, &all);
    for (size_t i = 0; i < all.count && !r->failed; i++) {
        bool gone = igi_msl_at(r, all.items[i].first)->done;  // together with the enclosing class
        if (all.items[i].redundant && !gone)
            drop(r, &all.items[i]);
        else if (!gone)
            generalise_result(r, &all.items[i]);
    }
    igi_msl_declarations_free(&all);
}
