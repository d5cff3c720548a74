// SPDX-License-Identifier: Apache-2.0
// Looking for clang: INGOT_CLANG, then PATH, then where the LLVM is that Ingot was built with. Meson says which that is.
#include "msl/clang-path.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/memory.h"
#include "core/settings.h"

static bool is_executable(const char *path, struct stat *info) {
    return access(path, X_OK) == 0 && stat(path, info) == 0 && S_ISREG(info->st_mode);
}

static char *search_path(const char *name, struct stat *info) {
    if (strchr(name, '/')) return is_executable(name, info) ? igi_strdup(name) : NULL;
    const char *path = getenv("PATH");
    while (path && *path) {
        size_t length = strcspn(path, ":");
        char *candidate = length ? igi_format("%.*s/%s", (int)length, path, name) : NULL;
        if (candidate && is_executable(candidate, info)) return candidate;
        free(candidate);
        path += length + (path[length] == ':');
    }
    return NULL;
}

static char *locate_clang(struct stat *info) {
    static const char *const names[] = {INGOT_CLANG, INGOT_LLVM_BINDIR "/clang"};
    const char *chosen = igi_setting_named(IGI_SETTING_CLANG);
    if (chosen) return search_path(chosen, info);
    char *found = NULL;
    for (size_t i = 0; !found && i < sizeof names / sizeof *names; i++) found = search_path(names[i], info);
    return found;
}

char *igi_msl_find_clang(void) {
    struct stat info;
    return locate_clang(&info);
}

char *igi_msl_identify_clang(igi_hash *identity) {
    struct stat info;
    char *found = locate_clang(&info);
    *identity = (igi_hash){0};
    if (!found) return NULL;
    igi_hasher *hasher = igi_hasher_create();
    igi_hasher_add_string(hasher, found);
    igi_hasher_add_u64(hasher, (uint64_t)info.st_size);
    igi_hasher_add_u64(hasher, (uint64_t)info.st_mtime);
    *identity = igi_hasher_finish(hasher);
    return found;
}

ig_status igi_msl_missing_clang(ig_error *error) {
    const char *chosen = igi_setting_named(IGI_SETTING_CLANG);
    if (chosen)
        return igi_error_set(error, IG_STATUS_COMPILER_MISSING, "INGOT_CLANG names '%s', which cannot be executed",
                             chosen);
    return igi_error_set(error, IG_STATUS_COMPILER_MISSING,
                         INGOT_CLANG " was not found; install it (Debian: apt-get install " INGOT_CLANG
                                     ") or set INGOT_CLANG to its path");
}
