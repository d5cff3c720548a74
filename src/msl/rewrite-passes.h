// SPDX-License-Identifier: Apache-2.0
// What the passes of the rewriter share. Each looks at tokens that are not done and adds edits; none depends on the
// edits of another, and all take time linear in the length of the text, whatever it contains.
#ifndef INGOT_MSL_REWRITE_PASSES_H
#define INGOT_MSL_REWRITE_PASSES_H

#include "msl/lexer.h"
#include "msl/rewrite.h"

enum { IGI_MSL_SHORT_FLOATS = 8 };

typedef struct igi_msl_rewriter {
    igi_msl_tokens tokens;
    igi_msl_rewrite *out;
    bool failed;                                // memory
    size_t short_floats[IGI_MSL_SHORT_FLOATS];  // tokens: names that the file gives half and bfloat
    size_t short_float_count;
} igi_msl_rewriter;

// In the order they run.
void igi_msl_note_includes(igi_msl_rewriter *r,
                           size_t length);             // fills includes; questions with computed names are refused
void igi_msl_rewrite_subscripts(igi_msl_rewriter *r);  // operators for objects in several spaces, to templates
void igi_msl_drop_address_space_overloads(
    igi_msl_rewriter *r);  // what differs from an earlier declaration in that only
void igi_msl_rewrite_threadgroup_variables(igi_msl_rewriter *r);  // to references
void igi_msl_rewrite_deduced_sizes(igi_msl_rewriter *r);          // of vectors, to int
void igi_msl_rewrite_array_parameters(igi_msl_rewriter *r);       // to pointers
void igi_msl_rewrite_pragmas(igi_msl_rewriter *r);                // #pragma METAL fp
void igi_msl_leave_out_kernels(igi_msl_rewriter *r);              // that need what is not implemented
void igi_msl_rewrite_stage_inputs(igi_msl_rewriter *r);           // of kernels, to variables
void igi_msl_define_async_copies(igi_msl_rewriter *r);            // that the source declares
void igi_msl_rewrite_attributes(igi_msl_rewriter *r);             // [[attributes]] to annotations
void igi_msl_rewrite_spellings(igi_msl_rewriter *r);              // literals, trailing address spaces, double, casts
void igi_msl_rewrite_swizzle_assignments(igi_msl_rewriter *r);    // v.xy += w

void igi_msl_rewrite_conditionals(igi_msl_rewriter *r);  // objects on both sides of a colon
void igi_msl_refuse_unqualified(igi_msl_rewriter *r);    // pointers without an address space

// owns: text and message are taken; NULL means that memory was short.
void igi_msl_rewriter_edit(igi_msl_rewriter *r, size_t offset, size_t length, char *text);
void igi_msl_rewriter_complain(igi_msl_rewriter *r, size_t token, char *message);
// Records that the token names a function constant.
void igi_msl_rewriter_mark_constant(igi_msl_rewriter *r, size_t token);
// Replaces the tokens from `first` up to `end` by the text and by the line breaks they contained, and marks them as
// done.
void igi_msl_rewriter_replace(igi_msl_rewriter *r, size_t first, size_t end, const char *text);
// Appends the tokens, separated by a space wherever there was white space.
void igi_msl_rewriter_append(const igi_msl_rewriter *r, igi_text *text, size_t first, size_t end);

static inline bool igi_msl_is(const igi_msl_rewriter *r, size_t index, const char *word) {
    return igi_msl_token_is(&r->tokens, index, word);
}
static inline igi_msl_token *igi_msl_at(const igi_msl_rewriter *r, size_t index) {
    return &r->tokens.items[index];
}
static inline size_t igi_msl_end_of(const igi_msl_rewriter *r, size_t index) {
    return (size_t)igi_msl_at(r, index)->offset + igi_msl_at(r, index)->length;
}

#endif
