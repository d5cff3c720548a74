// SPDX-License-Identifier: Apache-2.0
// Finding ingot-codegen: named by the user, beside the library or program that holds this code, or where it was
// installed.
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "codegen/codegen.h"
#include "core/file.h"
#include "core/memory.h"

static const char program[] = "ingot-codegen";

// Relative to the directory this code was loaded from: beside it, installed under the same prefix, or in a build tree.
static const char *const places[] = {".", "../libexec/ingot", "../../libexec/ingot", "../src", "../../src"};

// Nobody but root and this user can have put it there.
static bool is_ours(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && (info.st_uid == 0 || info.st_uid == geteuid()) && !(info.st_mode & S_IWOTH);
}

static bool is_program(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

// A program found through PATH is known to the loader by its bare name only.
static char *path_of_this_code(void) {
    Dl_info info;
    char path[PATH_MAX];
    if (!dladdr((const void *)(uintptr_t)igi_codegen_find, &info) || !info.dli_fname) return NULL;
#ifdef __linux__
    if (strcmp(info.dli_fname, program_invocation_name) == 0) return igi_strdup(realpath("/proc/self/exe", path));
#endif
    return strchr(info.dli_fname, '/') ? igi_strdup(realpath(info.dli_fname, path)) : NULL;
}

static char *find_near(const char *directory) {
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char *place = igi_format("%s/%s", directory, places[i]);
        char *path = place ? igi_path_join(place, program) : NULL;
        bool found = path && is_program(path) && is_ours(path) && is_ours(place);
        free(place);
        if (found) return path;
        free(path);
    }
    return NULL;
}

char *igi_codegen_find(void) {
    static const char installed[] = INGOT_LIBEXEC_DIR "/ingot-codegen";
    const char *named = getenv("INGOT_CODEGEN");
    if (named && *named) return is_program(named) ? igi_strdup(named) : NULL;
    char *self = path_of_this_code(), *directory = self ? igi_path_dirname(self) : NULL;
    char *found = directory ? find_near(directory) : NULL;
    free(self), free(directory);
    return !found && is_program(installed) ? igi_strdup(installed) : found;
}
