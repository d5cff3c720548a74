// SPDX-License-Identifier: Apache-2.0
// Opening a .metallib: a file is mapped, so that opening one of hundreds of megabytes reads only its lists.
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "air/container.h"
#include "core/memory.h"

static ig_status map(int file, const char *path, char **bytes, size_t *length, ig_error *error) {
    struct stat info;
    if (fstat(file, &info) != 0) return igi_error_set(error, IG_STATUS_IO, "cannot read %s: %s", path, strerror(errno));
    if (!S_ISREG(info.st_mode)) return igi_error_set(error, IG_STATUS_IO, "%s is not a regular file", path);
    if (!info.st_size) return igi_error_set(error, IG_STATUS_BAD_FORMAT, "%s is empty", path);
    void *mapped = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (mapped == MAP_FAILED) return igi_error_set(error, IG_STATUS_IO, "cannot map %s: %s", path, strerror(errno));
    *bytes = mapped;
    *length = (size_t)info.st_size;
    return IG_STATUS_OK;
}

// Without waiting: the name may be that of a pipe.
static int open_for_reading(const char *path) {
    return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

bool igi_air_is_container_file(const char *path) {
    char start[4];
    struct stat info;
    int file = open_for_reading(path);
    bool is = file >= 0 && fstat(file, &info) == 0 && S_ISREG(info.st_mode) &&
              read(file, start, sizeof start) == (ssize_t)sizeof start && igi_air_is_container(start, sizeof start);
    if (file >= 0) close(file);
    return is;
}

ig_status igi_air_open_file(const char *path, igi_air_container *container, ig_error *error) {
    int file = open_for_reading(path);
    if (file < 0)
        return igi_error_set(error, errno == ENOENT ? IG_STATUS_NOT_FOUND : IG_STATUS_IO, "cannot read %s: %s", path,
                             strerror(errno));
    char *bytes = NULL;
    size_t length = 0;
    ig_status status = map(file, path, &bytes, &length, error);
    close(file);
    if (status != IG_STATUS_OK) return status;
    status = igi_air_read(bytes, length, path, container, error);
    if (status != IG_STATUS_OK)
        munmap(bytes, length);
    else
        container->mapped = true;
    return status;
}

ig_status igi_air_open_copy(const char *bytes, size_t length, const char *name, igi_air_container *container,
                            ig_error *error) {
    char *copy = igi_strndup(bytes, length);
    if (!copy) return igi_error_no_memory(error);
    ig_status status = igi_air_read(copy, length, name, container, error);
    if (status != IG_STATUS_OK)
        free(copy);
    else
        container->copied = true;
    return status;
}

void igi_air_close(igi_air_container *container) {
    free(container->functions);
    if (container->mapped) munmap((char *)container->file, container->file_length);
    if (container->copied) free((char *)container->file);
    *container = (igi_air_container){0};
}
