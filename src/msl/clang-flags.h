// SPDX-License-Identifier: Apache-2.0
// Command lines for clang.
#ifndef INGOT_MSL_CLANG_FLAGS_H
#define INGOT_MSL_CLANG_FLAGS_H

#include "core/hash.h"
#include "msl/compiler.h"

typedef struct igi_msl_arguments {
    char **items;  // owned, NULL-terminated
    size_t count, capacity;
    bool failed;  // memory
} igi_msl_arguments;

void igi_msl_add_argument(igi_msl_arguments *list, const char *argument);
// owns: takes the argument; NULL means that memory was short.
void igi_msl_add_owned_argument(igi_msl_arguments *list, char *argument);
void igi_msl_free_arguments(igi_msl_arguments *list);

// Whether the sources are read as C++23 rather than C++17.
bool igi_msl_needs_new_language(const igi_msl_request *request);
// Arguments that make clang read MSL in the file system of `overlay` (overlay.h).
void igi_msl_add_language(igi_msl_arguments *list, const char *overlay, const igi_msl_request *request);
// The standard headers: precompiled, if the overlay has them in that form, or as text.
void igi_msl_add_prelude(igi_msl_arguments *list, bool precompiled);
// The sources and options of one compilation, and where the result is written.
void igi_msl_add_inputs(igi_msl_arguments *list, const igi_msl_request *request);
// The flags that are the same for every request.
void igi_msl_hash_flags(igi_hasher *hasher);

#endif
