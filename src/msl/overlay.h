// SPDX-License-Identifier: Apache-2.0
// The file system that clang sees: the sources under the user's names, the standard headers, and nothing else.
#ifndef INGOT_MSL_OVERLAY_H
#define INGOT_MSL_OVERLAY_H

#include "msl/sources.h"

// Where clang finds the standard headers and their precompiled form, wherever they actually are.
extern const char igi_msl_stdlib[];
extern const char igi_msl_pch[];

typedef struct igi_msl_overlay {
    const igi_msl_sources *sources;  // or NULL
    const char *headers;             // directory of the standard headers
    const char *pch;                 // or NULL
    bool original;                   // sources as they are, not rewritten
} igi_msl_overlay;

// Writes the files into `directory`, and the overlay that maps them. owns: *path is the caller's.
// errors: IO, OUT_OF_MEMORY.
ig_status igi_msl_overlay_write(const igi_msl_overlay *overlay, const char *directory, char **path);

#endif
