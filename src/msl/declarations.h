// SPDX-License-Identifier: Apache-2.0
// Functions and classes at namespace and class scope, as far as tokens reveal them.
#ifndef INGOT_MSL_DECLARATIONS_H
#define INGOT_MSL_DECLARATIONS_H

#include "msl/lexer.h"

typedef struct igi_msl_declaration {
    uint32_t first, head_end;  // tokens of the head: up to the body, the bases or the member initialisers
    uint32_t end;              // after the body, or the semicolon
    uint32_t scope;            // equal numbers: the same namespace, class or macro body
    uint32_t visible_until;    // token where its branch of an #if ends
    bool has_body;
    bool has_space;  // the head names an address space
    bool redundant;  // for the caller's use
} igi_msl_declaration;

typedef struct igi_msl_declarations {
    igi_msl_declaration *items;  // by their first token
    size_t count, capacity;
} igi_msl_declarations;

// Returns false when memory is short. Ignores declarations that an #if cuts in two.
bool igi_msl_declarations_find(const igi_msl_tokens *tokens, igi_msl_declarations *found);
void igi_msl_declarations_free(igi_msl_declarations *declarations);

#endif
