// SPDX-License-Identifier: Apache-2.0
// Which clang compiles MSL.
#ifndef INGOT_MSL_CLANG_PATH_H
#define INGOT_MSL_CLANG_PATH_H

#include "core/hash.h"
#include "core/status-internal.h"

// Path of the clang that would be used; NULL when there is none. owns: the caller frees it.
char *igi_msl_find_clang(void);
// The same, and a hash that another clang at that path would change.
char *igi_msl_identify_clang(igi_hash *identity);
// COMPILER_MISSING, with what to do about it.
ig_status igi_msl_missing_clang(ig_error *error);

#endif
