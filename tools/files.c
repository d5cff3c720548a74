// SPDX-License-Identifier: Apache-2.0
// Reading and writing whole files.
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/file.h"
#include "tools.h"

static bool is_standard(const char *path) {
    return strcmp(path, "-") == 0;
}

bool tool_read(const char *path, char **bytes, size_t *length) {
    ig_error error = {0};
    ig_status status = igi_file_read_stream(is_standard(path) ? "/dev/stdin" : path, bytes, length, &error);
    if (status != IG_STATUS_OK) tool_report(status, &error);
    return status == IG_STATUS_OK;
}

static bool write_to(FILE *file, const char *bytes, size_t length) {
    return fwrite(bytes, 1, length, file) == length && fflush(file) == 0;
}

bool tool_is_special(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && !S_ISREG(info.st_mode);
}

static bool write_file(const char *path, const char *bytes, size_t length) {
    FILE *file = fopen(path, "wb");
    bool written = file && write_to(file, bytes, length);
    return file && fclose(file) == 0 && written;
}

// A build that is interrupted leaves no half of a file with the name that it looks for.
static bool replace_file(const char *path, const char *bytes, size_t length) {
    char *temporary = igi_format("%s.%ld.tmp", path, (long)getpid());
    bool written = temporary && write_file(temporary, bytes, length) && rename(temporary, path) == 0;
    int why = errno;
    if (!written && temporary) unlink(temporary);
    free(temporary);
    errno = why;
    return written;
}

bool tool_write(const char *path, const char *bytes, size_t length) {
    bool written = is_standard(path)       ? write_to(stdout, bytes, length)
                   : tool_is_special(path) ? write_file(path, bytes, length)
                                           : replace_file(path, bytes, length);
    if (!written) tool_error("unable to write '%s': %s", is_standard(path) ? "standard output" : path, strerror(errno));
    return written;
}
