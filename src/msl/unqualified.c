// SPDX-License-Identifier: Apache-2.0
// Pointers and references that name no address space, which MSL refuses and C++ does not. Found only where a declaration
// begins with a type of the language's own or a class of the same file: any other name may stand for a type that has one.
#include <string.h>

#include "core/memory.h"
#include "msl/address-space.h"
#include "msl/rewrite-passes.h"

enum { MAX_CLASSES = 256 };

typedef struct classes {
    size_t names[MAX_CLASSES];  // tokens
    size_t count;
} classes;

// ---- Types ----

// float, uint, half4, packed_float3, float4x4, void
static bool is_own_type(const igi_msl_rewriter *r, size_t index) {
    static const char *const scalars[] = {"bool",     "char",    "uchar",    "short",   "ushort",   "int",
                                          "uint",     "long",    "ulong",    "half",    "bfloat",   "float",
                                          "size_t",   "int8_t",  "uint8_t",  "int16_t", "uint16_t", "int32_t",
                                          "uint32_t", "int64_t", "uint64_t", "void",    "unsigned"};
    if (!igi_msl_token_is_word(&r->tokens, index)) return false;
    const char *text = r->tokens.text + igi_msl_at(r, index)->offset;
    size_t length = igi_msl_at(r, index)->length;
    if (length > 7 && memcmp(text, "packed_", 7) == 0) text += 7, length -= 7;
    if (length > 3 && text[length - 2] == 'x' && strchr("234", text[length - 3])) length -= 2;
    if (length > 1 && strchr("234", text[length - 1]) && strchr("rtgfdl", text[length - 2])) length--;
    for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++)
        if (strlen(scalars[i]) == length && memcmp(scalars[i], text, length) == 0) return true;
    return false;
}

static bool is_class(const igi_msl_rewriter *r, const classes *known, size_t index) {
    for (size_t i = 0; i < known->count && igi_msl_token_is_word(&r->tokens, index); i++)
        if (igi_msl_token_same(&r->tokens, known->names[i], index)) return true;
    return false;
}

// Classes that are defined here and are no templates.
static void find_classes(const igi_msl_rewriter *r, classes *known) {
    static const char *const keys[] = {"struct", "class", NULL}, *const follow[] = {"{", ":", NULL};
    static const char *const before[] = {";", "}", "{", "typedef", NULL};
    known->count = 0;
    for (size_t i = 0; i + 2 < r->tokens.count && known->count < MAX_CLASSES; i++) {
        bool defined = igi_msl_token_in(&r->tokens, i, keys) && igi_msl_token_is_word(&r->tokens, i + 1) &&
                       igi_msl_token_in(&r->tokens, i + 2, follow);
        bool first =
            i == 0 || igi_msl_token_in(&r->tokens, i - 1, before) || igi_msl_at(r, i - 1)->kind == IGI_TOKEN_BOUNDARY;
        if (defined && first && igi_msl_at(r, i)->region == IGI_REGION_CODE) known->names[known->count++] = i + 1;
    }
}

// ---- Declarations ----

static bool begins_declaration(const igi_msl_rewriter *r, size_t index) {
    static const char *const before[] = {";", "{", "}", "(", ",", NULL};
    return index == 0 || igi_msl_token_in(&r->tokens, index - 1, before) ||
           igi_msl_at(r, index - 1)->kind == IGI_TOKEN_BOUNDARY;
}

static size_t after_specifiers(const igi_msl_rewriter *r, size_t index) {
    static const char *const specifiers[] = {"const",  "volatile",   "static",    "inline",
                                             "extern", "METAL_FUNC", "constexpr", NULL};
    while (igi_msl_token_in(&r->tokens, index, specifiers)) index++;
    return index;
}

// The * or & of the declaration that begins here, if what it points or refers to is in no space; else 0.
static size_t unqualified(const igi_msl_rewriter *r, const classes *known, size_t index) {
    index = after_specifiers(r, index);
    if (is_class(r, known, index))
        index++;
    else if (is_own_type(r, index))
        while (is_own_type(r, index)) index++;
    else
        return 0;
    index = after_specifiers(r, index);
    bool marked = igi_msl_is(r, index, "*") || (igi_msl_is(r, index, "&") && !igi_msl_is(r, index + 1, "&"));
    bool named = igi_msl_token_is_word(&r->tokens, index + 1) &&
                 igi_msl_at(r, index + 1)->region == igi_msl_at(r, index)->region;
    return marked && named ? index : 0;
}

// clang reports it, unless the text is skipped: headers shared with a host have pointers in parts of their own.
static void refuse(igi_msl_rewriter *r, size_t mark) {
    igi_msl_rewriter_edit(
        r, igi_msl_at(r, mark)->offset, 0,
        igi_format(" _Pragma(\"GCC error \\\"%s type must have explicit address space qualifier: device, "
                   "constant, threadgroup or thread\\\"\") ",
                   igi_msl_is(r, mark, "*") ? "pointer" : "reference"));
}

void igi_msl_refuse_unqualified(igi_msl_rewriter *r) {
    classes known;
    find_classes(r, &known);
    for (size_t i = 0; i < r->tokens.count && !r->failed; i++) {
        const igi_msl_token *token = igi_msl_at(r, i);
        if (token->kind != IGI_TOKEN_WORD || token->done || token->region != IGI_REGION_CODE) continue;
        size_t mark = begins_declaration(r, i) ? unqualified(r, &known, i) : 0;
        if (mark) refuse(r, mark);
    }
}
