// SPDX-License-Identifier: Apache-2.0
// Parameter types of a kernel, spelled as in MSL, from its mangled symbol.
#ifndef INGOT_MSL_TYPE_NAMES_H
#define INGOT_MSL_TYPE_NAMES_H

#include <stddef.h>

typedef struct igi_msl_signature {
    char *name;           // "add", "ns::add<float>"
    char **types;         // one per parameter, without address spaces
    const char **spaces;  // of what each parameter points or refers to: "device", "constant", "threadgroup", ""
    size_t count;
} igi_msl_signature;

// If the symbol is not a mangled function, the name is the symbol itself, and there are no types.
// The name is NULL when memory is short.
void igi_msl_signature_read(const char *symbol, igi_msl_signature *signature);
void igi_msl_signature_free(igi_msl_signature *signature);

// The name of a variable in the source: "counter" of "_ZL7counter", "calls" of "_ZZ1kPiE5calls". NULL when memory is
// short.
char *igi_msl_variable_name(const char *symbol);

#endif
