// SPDX-License-Identifier: Apache-2.0
// `template <typename T, uint N> T f(vec<T, N> v)`: the sizes of vectors are int here, and C++ deduces no parameter of
// another type from them. So such a parameter becomes an int.
#include "msl/rewrite-passes.h"

// A longer head is left alone, so that the pass stays linear.
enum { MAX_TOKENS = 256, MAX_PARAMETERS = 8 };

// Whether the head after the parameters, up to its body, has vec<..., name>.
static bool sizes_vector(const igi_msl_rewriter *r, size_t from, size_t name) {
    static const char *const ends[] = {"{", ";", NULL};
    for (size_t i = from; i < from + MAX_TOKENS && i + 3 < r->tokens.count && !igi_msl_token_in(&r->tokens, i, ends);
         i++)
        if (igi_msl_is(r, i, ",") && igi_msl_token_same(&r->tokens, i + 1, name) && igi_msl_is(r, i + 2, ">"))
            return true;
    return false;
}

static void rewrite_parameters(igi_msl_rewriter *r, size_t open) {
    static const char *const types[] = {"uint", "ushort", "short", "size_t", "unsigned", "uint32_t", NULL};
    size_t found[MAX_PARAMETERS], count = 0, i = open + 1;
    for (int depth = 1; depth > 0 && i < open + MAX_TOKENS && i < r->tokens.count; i++) {
        depth += igi_msl_is(r, i, "<") - igi_msl_is(r, i, ">");
        bool named = igi_msl_token_in(&r->tokens, i, types) && igi_msl_token_is_word(&r->tokens, i + 1) &&
                     (igi_msl_is(r, i - 1, "<") || igi_msl_is(r, i - 1, ",")) && !igi_msl_at(r, i)->done;
        if (named && count < MAX_PARAMETERS) found[count++] = i;
    }
    for (size_t k = 0; k < count; k++)
        if (sizes_vector(r, i, found[k] + 1)) igi_msl_rewriter_replace(r, found[k], found[k] + 1, "int");
}

void igi_msl_rewrite_deduced_sizes(igi_msl_rewriter *r) {
    for (size_t i = 0; i + 1 < r->tokens.count && !r->failed; i++)
        if (igi_msl_is(r, i, "template") && igi_msl_is(r, i + 1, "<")) rewrite_parameters(r, i + 1);
}
