// SPDX-License-Identifier: Apache-2.0
// Directories by name, and with symbolic links resolved.
#include "msl/roots.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "core/memory.h"

struct igi_msl_root {
    char *name;  // absolute
    char *real;  // with symbolic links resolved; NULL if there is no such directory
};

bool igi_msl_roots_add(igi_msl_roots *roots, const char *directory) {
    char *name = igi_path_absolute(directory);
    if (!name || !igi_grow((void **)&roots->items, &roots->capacity, roots->count + 1, sizeof *roots->items)) {
        free(name);
        return false;
    }
    roots->items[roots->count++] = (struct igi_msl_root){name, realpath(name, NULL)};
    return true;
}

void igi_msl_roots_free(igi_msl_roots *roots) {
    for (size_t i = 0; i < roots->count; i++) free(roots->items[i].name), free(roots->items[i].real);
    free(roots->items);
    *roots = (igi_msl_roots){0};
}

static bool is_below(const char *path, const char *root) {
    size_t length = strlen(root);
    if (length == 1) return true;  // the root of the file system
    return strncmp(path, root, length) == 0 && path[length] == '/';
}

bool igi_msl_roots_have_name(const igi_msl_roots *roots, const char *path) {
    assert(*path == '/' && !strstr(path, "/../") && !strstr(path, "/./"));
    for (size_t i = 0; i < roots->count; i++)
        if (is_below(path, roots->items[i].name)) return true;
    return false;
}

bool igi_msl_roots_have_file(const igi_msl_roots *roots, const char *path) {
    char *real = realpath(path, NULL);
    bool found = false;
    for (size_t i = 0; real && !found && i < roots->count; i++)
        found = roots->items[i].real && is_below(real, roots->items[i].real);
    free(real);
    return found;
}
