// SPDX-License-Identifier: Apache-2.0
// Finding ingot-codegen: named by the user, beside the library or program that holds this code, or where it was
// installed.
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "codegen/codegen.h"
#include "core/settings.h"

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
static bool path_of_this_code(char path[PATH_MAX]) {
    Dl_info info;
    if (!dladdr((const void *)(uintptr_t)igi_codegen_find, &info) || !info.dli_fname) return false;
#ifdef __linux__
    if (strcmp(info.dli_fname, program_invocation_name) == 0) return realpath("/proc/self/exe", path) != NULL;
#endif
    return strchr(info.dli_fname, '/') && realpath(info.dli_fname, path);
}

static bool find_near(const char *directory, char path[PATH_MAX]) {
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char place[PATH_MAX];
        bool fits = snprintf(place, sizeof place, "%s/%s", directory, places[i]) < PATH_MAX &&
                    snprintf(path, PATH_MAX, "%s/%s", place, program) < PATH_MAX;
        if (fits && is_program(path) && is_ours(path) && is_ours(place)) return true;
    }
    return false;
}

static bool use(const char *candidate, char path[PATH_MAX]) {
    return is_program(candidate) && snprintf(path, PATH_MAX, "%s", candidate) < PATH_MAX;
}

bool igi_codegen_find(char path[PATH_MAX]) {
    const char *named = igi_setting_named(IGI_SETTING_CODEGEN);
    if (named) return use(named, path);
    char self[PATH_MAX];
    bool known = path_of_this_code(self);
    char *end = known ? strrchr(self, '/') : NULL;
    if (end) *end = 0;
    return (end && find_near(self, path)) || use(INGOT_LIBEXEC_DIR "/ingot-codegen", path);
}
