// SPDX-License-Identifier: Apache-2.0
// Files embedded in the library; scripts/embed.py writes the tables.
#ifndef INGOT_CORE_EMBEDDED_H
#define INGOT_CORE_EMBEDDED_H

#include <stddef.h>

typedef struct igi_embedded {
    const char *name;
    size_t length;
    const char *data;
} igi_embedded;

extern const igi_embedded igi_stdlib_files[];
extern const size_t igi_stdlib_files_count;
// Files that MSL includes as <ingot/NAME>.
extern const igi_embedded igi_include_files[];
extern const size_t igi_include_files_count;
// src/kernels
extern const igi_embedded igi_kernel_files[];
extern const size_t igi_kernel_files_count;
// The same, compiled (msl/packed.h), named by igi_msl_content_key; written by src/kernels/compile-kernels.c.
extern const igi_embedded igi_builtin_libraries[];
extern const size_t igi_builtin_libraries_count;

#endif
