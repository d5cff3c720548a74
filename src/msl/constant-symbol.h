// SPDX-License-Identifier: Apache-2.0
// Function constants are represented by external symbols "ig.fc.NUMBER.TYPE.NAME"; NUMBER is an expression like 700 +
// 1.
#ifndef INGOT_MSL_CONSTANT_SYMBOL_H
#define INGOT_MSL_CONSTANT_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct igi_msl_constant_symbol {
    uint32_t id;
    const char *type;  // as spelled; not NUL-terminated
    size_t type_length;
    const char *name;
} igi_msl_constant_symbol;

// Returns false for any other symbol. The result points into `symbol`.
bool igi_msl_constant_symbol_read(const char *symbol, igi_msl_constant_symbol *constant);

#endif
