// SPDX-License-Identifier: Apache-2.0
// Finding a program: named by the user, next to the library or program that contains some code, or where it was
// installed.
#include "core/program.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#if __has_include(<mach-o/dyld.h>)
#include <mach-o/dyld.h>
#endif

// Only root and this user can have put it there.
static bool is_ours(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && (info.st_uid == 0 || info.st_uid == geteuid()) && !(info.st_mode & S_IWOTH);
}

const char *const igi_program_libexec[] = {".", "../libexec/ingot", "../../libexec/ingot", "../src", "../../src", NULL};

static bool is_usable(const igi_program *program, const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, program->is_data ? R_OK : X_OK) == 0;
}

bool igi_program_self(char path[PATH_MAX]) {
#if __has_include(<mach-o/dyld.h>)
    char named[PATH_MAX];
    uint32_t size = sizeof named;
    return _NSGetExecutablePath(named, &size) == 0 && realpath(named, path);
#else
    return realpath("/proc/self/exe", path) != NULL;
#endif
}

// If a program was found through PATH, the loader knows only its bare name.
static bool file_of_code(const void *code, char path[PATH_MAX]) {
    Dl_info info;
    if (!dladdr(code, &info) || !info.dli_fname) return false;
#ifdef IGI_HAS_PROGRAM_INVOCATION_NAME
    if (strcmp(info.dli_fname, program_invocation_name) == 0) return igi_program_self(path);
#endif
    return strchr(info.dli_fname, '/') && realpath(info.dli_fname, path);
}

static bool find_near(const igi_program *program, const char *directory, char path[PATH_MAX]) {
    for (const char *const *place = program->places; *place; place++) {
        char near[PATH_MAX];
        bool fits = snprintf(near, sizeof near, "%s/%s", directory, *place) < PATH_MAX &&
                    snprintf(path, PATH_MAX, "%s/%s", near, program->name) < PATH_MAX;
        if (fits && is_usable(program, path) && is_ours(path) && is_ours(near)) return true;
    }
    return false;
}

bool igi_program_find(const igi_program *program, char path[PATH_MAX]) {
    const char *named = program->named;
    if (named) return is_usable(program, named) && snprintf(path, PATH_MAX, "%s", named) < PATH_MAX;
    char file[PATH_MAX];
    bool known = file_of_code(program->code, file);
    char *end = known ? strrchr(file, '/') : NULL;
    if (end) *end = 0;
    if (end && find_near(program, file, path)) return true;
    return snprintf(path, PATH_MAX, "%s/%s", program->installed, program->name) < PATH_MAX && is_usable(program, path);
}
