// SPDX-License-Identifier: Apache-2.0
// Declarations of the copies that a simdgroup makes together, which programs bind to symbols of Apple's compiler:
//   event *copy(...) __asm("air.simdgroup_async_copy_1d.p3i8.p1i8");
// Each is followed by a definition of the symbol (stdlib/__ingot_async_copy).
#include <string.h>

#include "msl/rewrite-passes.h"

static const struct {
    const char *symbol, *macro;
} definitions[] = {
    {"\"air.simdgroup_async_copy_1d.", "__IG_ASYNC_COPY_1D"},
    {"\"air.simdgroup_async_copy_2d.", "__IG_ASYNC_COPY_2D"},
    {"\"air.wait_simdgroup_events\"", "__IG_ASYNC_COPY_WAIT"},
};

static const char *macro_for(const igi_msl_rewriter *r, size_t index) {
    const igi_msl_token *token = igi_msl_at(r, index);
    for (size_t i = 0; i < sizeof definitions / sizeof *definitions; i++) {
        size_t length = strlen(definitions[i].symbol);
        if (token->length >= length && memcmp(r->tokens.text + token->offset, definitions[i].symbol, length) == 0)
            return definitions[i].macro;
    }
    return NULL;
}

void igi_msl_define_async_copies(igi_msl_rewriter *r) {
    static const char *const labels[] = {"__asm", "__asm__", "asm", NULL};
    for (size_t i = 2; i + 2 < r->tokens.count && !r->failed; i++) {
        const igi_msl_token *token = igi_msl_at(r, i);
        if (token->kind != IGI_TOKEN_STRING || token->region != IGI_REGION_CODE) continue;
        bool label = igi_msl_is(r, i - 1, "(") && igi_msl_token_in(&r->tokens, i - 2, labels) &&
                     igi_msl_is(r, i + 1, ")") && igi_msl_is(r, i + 2, ";");
        const char *macro = label ? macro_for(r, i) : NULL;
        if (!macro) continue;
        igi_msl_rewriter_edit(r, igi_msl_end_of(r, i + 2), 0,
                              igi_format(" %s(%.*s)", macro, (int)token->length, r->tokens.text + token->offset));
    }
}
