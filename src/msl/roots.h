// SPDX-License-Identifier: Apache-2.0
// Which files a source may bring in: those below its own directory and below the include directories.
#ifndef INGOT_MSL_ROOTS_H
#define INGOT_MSL_ROOTS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct igi_roots {
    struct igi_root *items;
    size_t count, capacity;
} igi_roots;

// Allows what is below the directory. False when memory is short.
bool igi_roots_add(igi_roots *roots, const char *directory);
void igi_roots_free(igi_roots *roots);

// Whether the name lies below a root. pre: `path` is absolute and without "." and "..".
bool igi_roots_have_name(const igi_roots *roots, const char *path);
// Whether the file it leads to does, symbolic links followed.
bool igi_roots_have_file(const igi_roots *roots, const char *path);

#endif
