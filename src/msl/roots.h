// SPDX-License-Identifier: Apache-2.0
// Which files a source may include: those below its own directory and below the include directories.
#ifndef INGOT_MSL_ROOTS_H
#define INGOT_MSL_ROOTS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct igi_msl_roots {
    struct igi_msl_root *items;
    size_t count, capacity;
} igi_msl_roots;

// Allows files below the directory. Returns false when memory is short.
bool igi_msl_roots_add(igi_msl_roots *roots, const char *directory);
void igi_msl_roots_free(igi_msl_roots *roots);

// Whether the name is below a root. pre: `path` is absolute and without "." and "..".
bool igi_msl_roots_have_name(const igi_msl_roots *roots, const char *path);
// Whether the file that it leads to is below a root, with symbolic links resolved.
bool igi_msl_roots_have_file(const igi_msl_roots *roots, const char *path);

#endif
