// SPDX-License-Identifier: Apache-2.0
// Whole files, directories and paths.
#include "core/file.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/memory.h"

static ig_status too_large(const char *path, uint64_t max_bytes, ig_error *error) {
    return igi_error_set(error, IG_STATUS_IO, "%s: larger than the limit of %llu bytes", path,
                         (unsigned long long)max_bytes);
}

// The size and kind of a file may change while it is read: the limit applies to what is actually read.
static ig_status read_all(int file, const char *path, uint64_t max_bytes, char **data, size_t *length,
                          ig_error *error) {
    char *bytes = NULL;
    size_t used = 0, capacity = 0;
    for (;;) {
        if (!igi_grow((void **)&bytes, &capacity, used + 65536 + 1, 1)) break;
        ssize_t got = read(file, bytes + used, capacity - used - 1);
        if (got == 0) {
            bytes[used] = 0;
            *data = bytes;
            *length = used;
            return IG_STATUS_OK;
        }
        if (got > 0) used += (size_t)got;
        if ((got < 0 && errno != EINTR) || used > max_bytes) {
            int code = errno;
            free(bytes);
            if (used > max_bytes) return too_large(path, max_bytes, error);
            return igi_error_set(error, IG_STATUS_IO, "%s: %s", path, strerror(code));
        }
    }
    free(bytes);
    return igi_error_no_memory(error);
}

static ig_status open_failed(const char *path, ig_error *error) {
    ig_status status = errno == ENOENT || errno == ENOTDIR ? IG_STATUS_NOT_FOUND : IG_STATUS_IO;
    return igi_error_set(error, status, "%s: %s", path, strerror(errno));
}

static ig_status read_opened(int file, const char *path, uint64_t max_bytes, bool regular, char **data, size_t *length,
                             ig_error *error) {
    struct stat info;
    if (fstat(file, &info) != 0) return igi_error_set(error, IG_STATUS_IO, "%s: %s", path, strerror(errno));
    if (regular && !S_ISREG(info.st_mode))
        return igi_error_set(error, IG_STATUS_IO, "%s: %s, not a regular file", path,
                             S_ISDIR(info.st_mode) ? "a directory" : "a device, pipe or socket");
    if (S_ISREG(info.st_mode) && (uint64_t)info.st_size > max_bytes) return too_large(path, max_bytes, error);
    return read_all(file, path, max_bytes, data, length, error);
}

ig_status igi_file_read_within(const char *path, uint64_t max_bytes, igi_file_links links, char **data, size_t *length,
                               ig_error *error) {
    int flags = links == IGI_FILE_NO_LINK ? O_NOFOLLOW : 0;
    // Without O_NONBLOCK, opening a pipe blocks until it has a writer.
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags);
    if (file < 0) return open_failed(path, error);
    ig_status status = read_opened(file, path, max_bytes, true, data, length, error);
    close(file);
    return status;
}

ig_status igi_file_read(const char *path, char **data, size_t *length, ig_error *error) {
    return igi_file_read_within(path, IGI_FILE_MAX_BYTES, IGI_FILE_FOLLOW_LINKS, data, length, error);
}

ig_status igi_file_read_stream(const char *path, char **data, size_t *length, ig_error *error) {
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (file < 0) return open_failed(path, error);
    ig_status status = read_opened(file, path, IGI_FILE_MAX_BYTES, false, data, length, error);
    close(file);
    return status;
}

static bool write_all(int file, const char *bytes, size_t length) {
    while (length) {
        ssize_t wrote = write(file, bytes, length);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote < 0) return false;
        bytes += wrote;
        length -= (size_t)wrote;
    }
    return true;
}

ig_status igi_file_write_atomic(const char *path, const void *data, size_t length) {
    char *temporary = igi_format("%s.XXXXXX", path);
    if (!temporary) return IG_STATUS_OUT_OF_MEMORY;
    int file = mkostemp(temporary, O_CLOEXEC);
    bool written = file >= 0 && write_all(file, data, length);
    if (file >= 0 && close(file) != 0) written = false;
    if (written && rename(temporary, path) != 0) written = false;
    if (!written && file >= 0) unlink(temporary);
    free(temporary);
    return written ? IG_STATUS_OK : IG_STATUS_IO;
}

bool igi_file_exists(const char *path) {
    return access(path, F_OK) == 0;
}

static bool is_directory(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

bool igi_make_dirs(const char *path) {
    char *copy = *path ? igi_strdup(path) : NULL;
    if (!copy) return false;
    for (char *slash = copy + 1; *slash; slash++) {
        if (*slash != '/') continue;
        *slash = 0;
        mkdir(copy, 0700);
        *slash = '/';
    }
    mkdir(copy, 0700);
    free(copy);
    return is_directory(path);
}

char *igi_make_temp_dir(void) {
    const char *base = getenv("TMPDIR");
    char *name = igi_format("%s/ingot-XXXXXX", base && *base ? base : "/tmp");
    if (name && mkdtemp(name)) return name;
    free(name);
    return NULL;
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *walk) {
    (void)info, (void)kind, (void)walk;
    remove(path);
    return 0;
}

void igi_remove_tree(const char *path) {
    nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

char *igi_path_join(const char *directory, const char *name) {
    if (name[0] == '/') return igi_strdup(name);
    size_t length = strlen(directory);
    const char *slash = length && directory[length - 1] == '/' ? "" : "/";
    return igi_format("%s%s%s", directory, slash, name);
}

char *igi_path_dirname(const char *path) {
    const char *slash = strrchr(path, '/');
    if (!slash) return igi_strdup(".");
    return slash == path ? igi_strdup("/") : igi_strndup(path, (size_t)(slash - path));
}

// Drops "." and resolves ".." in place; `path` is absolute.
static void normalise(char *path) {
    char *out = path;
    const char *in = path;
    while (*in) {
        while (*in == '/') in++;
        size_t length = strcspn(in, "/");
        if (length == 2 && in[0] == '.' && in[1] == '.') {
            while (out > path) {
                out--;
                if (*out == '/') break;
            }
        } else if (length && !(length == 1 && in[0] == '.')) {
            *out++ = '/';
            memmove(out, in, length);
            out += length;
        }
        in += length;
    }
    if (out == path) *out++ = '/';
    *out = 0;
}

char *igi_path_absolute(const char *path) {
    char *absolute = NULL;
    if (path[0] == '/') {
        absolute = igi_strdup(path);
    } else {
        char *here = getcwd(NULL, 0);  // NOLINT(clang-analyzer-unix.StdCLibraryFunctions): Linux and macOS allocate
        if (here) absolute = igi_path_join(here, path);
        free(here);
    }
    if (absolute) normalise(absolute);
    return absolute;
}
