// SPDX-License-Identifier: Apache-2.0
// Owners and permissions of a directory and of those above it.
#include "core/trust.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/file.h"
#include "core/memory.h"

static char *complain(const char *path, const struct stat *info) {
    bool foreign = info->st_uid != geteuid() && info->st_uid != 0;
    if (foreign) return igi_format("%s belongs to another user (%u)", path, (unsigned)info->st_uid);
    return igi_format("%s may be written by other users (mode %03o)", path, (unsigned)info->st_mode & 0777);
}

// Many systems give each user a private group with the same number, which may write the user's files.
static bool is_private_group(const struct stat *info) {
    enum { FIRST_USER = 1000 };
    return info->st_uid == geteuid() && info->st_gid == geteuid() && info->st_gid >= FIRST_USER;
}

static bool is_ours(const struct stat *info, bool above) {
    mode_t others = is_private_group(info) ? S_IWOTH : S_IWGRP | S_IWOTH;
    bool owned = info->st_uid == geteuid() || info->st_uid == 0;
    return owned && (!(info->st_mode & others) || (above && (info->st_mode & S_ISVTX)));
}

// Removes the last component; false at the root.
static bool go_up(char *path) {
    char *slash = strrchr(path, '/');
    if (slash == path && path[1] == 0) return false;
    slash[slash == path] = 0;
    return true;
}

// Resolves symbolic links as far as the path exists; *rest is the part that does not exist yet.
static char *resolve(const char *path, char **rest) {
    char *name = igi_path_absolute(path), *full = igi_strdup(name), *real = NULL;
    while (name && full && !(real = realpath(name, NULL)) && go_up(name)) continue;
    *rest = real ? igi_strdup(full + strlen(name)) : NULL;
    free(name), free(full);
    return real;
}

// Consumes `at`.
static bool chain_is_ours(char *at, bool above, char **why) {
    for (;; above = true) {
        struct stat info;
        if (stat(at, &info) != 0) return false;
        if (!is_ours(&info, above)) {
            *why = complain(at, &info);
            return false;
        }
        if (!go_up(at)) return true;
    }
}

char *igi_trusted_directory(const char *path, char **why) {
    char *rest = NULL, *real = resolve(path, &rest), *at = igi_strdup(real), *found = NULL;
    *why = NULL;
    if (rest && at && chain_is_ours(at, *rest != 0, why)) found = igi_format("%s%s", real, rest);
    free(rest), free(real), free(at);
    return found;
}
