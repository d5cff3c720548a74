// SPDX-License-Identifier: Apache-2.0
// <metal_stdlib> and its parts, on disk for clang.
#ifndef INGOT_MSL_HEADERS_H
#define INGOT_MSL_HEADERS_H

#include <stdbool.h>

#include "core/hash.h"

// The file that includes all of them.
extern const char igi_msl_prelude[];

// A hash of every header and of the flags that they are compiled with.
igi_hash igi_msl_headers_identity(void);
// The directory of the headers in the cache, created if missing; NULL if that is impossible. owns: the caller frees it.
char *igi_msl_cached_headers(const char *cache_dir, igi_hash identity);
// Rewrites missing or damaged files in a directory of headers. Returns false if that is impossible.
bool igi_msl_repair_headers(const char *directory);
// A new directory of headers below TMPDIR. owns: the caller frees the name and removes the directory.
char *igi_msl_temporary_headers(void);

#endif
