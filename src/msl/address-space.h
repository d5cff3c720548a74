// SPDX-License-Identifier: Apache-2.0
// Address spaces in MSL source.
#ifndef INGOT_MSL_ADDRESS_SPACE_H
#define INGOT_MSL_ADDRESS_SPACE_H

#include "msl/lexer.h"

// The address space that the token names, as a static string; NULL if it names none.
const char *igi_msl_address_space(const igi_msl_tokens *tokens, size_t index);

// Macros that stand for an address space, `#define GLOBAL device const`. More of them than real code has are not seen.
enum { IGI_SPACE_MACROS = 16 };
typedef struct igi_msl_space_macros {
    size_t names[IGI_SPACE_MACROS];  // tokens after #define
    const char *spaces[IGI_SPACE_MACROS];
    size_t count;
} igi_msl_space_macros;
void igi_msl_space_macros_find(const igi_msl_tokens *tokens, igi_msl_space_macros *found);
// The address space that the token or the macro of that name stands for; NULL for others.
const char *igi_msl_space_or_macro(const igi_msl_tokens *tokens, const igi_msl_space_macros *macros, size_t index);

typedef enum igi_msl_space_role {
    IGI_SPACE_OF_TYPE,         // device float *p
    IGI_SPACE_OF_OBJECT,       // T f() const device: has no meaning once all memory is one space
    IGI_SPACE_CONSTANT_OBJECT  // T f() constant: means that *this is const
} igi_msl_space_role;

// pre: the token is an address space.
igi_msl_space_role igi_msl_address_space_role(const igi_msl_tokens *tokens, size_t index);

#endif
