// SPDX-License-Identifier: Apache-2.0
// Which clang compiles MSL.
#ifndef INGOT_MSL_CLANG_PATH_H
#define INGOT_MSL_CLANG_PATH_H

#include "core/hash.h"
#include "core/status-internal.h"

// The path of the clang that would be used; NULL if there is none. owns: the caller frees it.
char *igi_msl_find_clang(void);
// The same, and a hash that changes if another clang is at that path.
char *igi_msl_identify_clang(igi_hash *identity);
// COMPILER_MISSING, with advice.
ig_status igi_msl_missing_clang(ig_error *error);

#endif
