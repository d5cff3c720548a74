// SPDX-License-Identifier: Apache-2.0
// `constant int strides[2]` as a parameter is a pointer, in C++ too; but clang refuses the array in an address space
// before it takes it for one.
#include "msl/address-space.h"
#include "msl/rewrite-passes.h"

// Longer parameters are left alone, so that the pass stays linear.
enum { MAX_TOKENS = 64 };

// The name of an array in the parameter that begins at `first`, if it is one in an address space; else 0.
static size_t array_name(const igi_msl_rewriter *r, const igi_msl_space_macros *macros, size_t first) {
    static const char *const strangers[] = {"(", ")", "*", "&", ",", "=", ";", "{", "}", NULL};
    bool has_space = false;
    for (size_t i = first; i < first + MAX_TOKENS && i + 1 < r->tokens.count; i++) {
        if (igi_msl_token_in(&r->tokens, i, strangers) || igi_msl_at(r, i)->kind == IGI_TOKEN_BOUNDARY) return 0;
        has_space |= igi_msl_space_or_macro(&r->tokens, macros, i) != NULL;
        bool array = igi_msl_is(r, i, "[") && !igi_msl_is(r, i + 1, "[") && igi_msl_at(r, i)->partner > i;
        if (array) return has_space && i > first + 1 && igi_msl_token_is_word(&r->tokens, i - 1) ? i - 1 : 0;
    }
    return 0;
}

static void make_pointer(igi_msl_rewriter *r, size_t name) {
    size_t close = igi_msl_at(r, name + 1)->partner;
    bool rows = igi_msl_is(r, close + 1, "[") && !igi_msl_is(r, close + 2, "[");
    igi_msl_rewriter_edit(r, igi_msl_at(r, name)->offset, 0, igi_strdup(rows ? "(*" : "*"));
    igi_msl_rewriter_replace(r, name + 1, close + 1, rows ? ")" : "");
}

void igi_msl_rewrite_array_parameters(igi_msl_rewriter *r) {
    igi_msl_space_macros macros;
    igi_msl_space_macros_find(&r->tokens, &macros);
    for (size_t i = 1; i < r->tokens.count && !r->failed; i++) {
        const igi_msl_token *token = igi_msl_at(r, i);
        bool begins = igi_msl_is(r, i - 1, "(") || igi_msl_is(r, i - 1, ",");
        if (!begins || token->kind != IGI_TOKEN_WORD || token->done || token->region == IGI_REGION_DIRECTIVE) continue;
        size_t name = array_name(r, &macros, i);
        if (name) make_pointer(r, name);
    }
}
