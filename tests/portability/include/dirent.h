// SPDX-License-Identifier: Apache-2.0
// Directories.
#ifndef STAND_IN_DIRENT_H
#define STAND_IN_DIRENT_H

#include <sys/types.h>

enum { DT_UNKNOWN = 0, DT_DIR = 4, DT_REG = 8, DT_LNK = 10 };
struct dirent {
    uint64_t d_ino, d_seekoff;
    uint16_t d_reclen, d_namlen;
    uint8_t d_type;
    char d_name[1024];
};
typedef struct stand_in_dir DIR;
DIR *opendir(const char *path);
DIR *fdopendir(int file);
struct dirent *readdir(DIR *directory);
int closedir(DIR *directory);
int dirfd(DIR *directory);
int scandir(const char *path, struct dirent ***names, int (*select)(const struct dirent *),
            int (*compare)(const struct dirent **, const struct dirent **));
int alphasort(const struct dirent **a, const struct dirent **b);

#endif
