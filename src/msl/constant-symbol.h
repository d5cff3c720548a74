// SPDX-License-Identifier: Apache-2.0
// The symbol of a function constant: ig.fc.ID.TYPE.NAME, where ID is what the source said once macros were expanded
// (often a sum: 1200 + 1).
#ifndef INGOT_MSL_CONSTANT_SYMBOL_H
#define INGOT_MSL_CONSTANT_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct igi_constant_symbol {
    uint32_t id;
    const char *type;  // as the source spells it; points into the symbol
    size_t type_length;
    const char *name;  // likewise, to the end of the symbol
} igi_constant_symbol;

// Whether the symbol is a function constant's at all.
bool igi_is_constant_symbol(const char *symbol);
// False also when ID is no expression of integers (operators + - * / % << >> & ^ |, parentheses) from 0 to 65535, which
// is what Metal allows.
bool igi_constant_symbol_read(const char *symbol, igi_constant_symbol *read);

#endif
