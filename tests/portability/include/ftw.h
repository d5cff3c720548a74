// SPDX-License-Identifier: Apache-2.0
// Walking through directories.
#ifndef STAND_IN_FTW_H
#define STAND_IN_FTW_H

#include <sys/stat.h>

enum { FTW_F, FTW_D, FTW_DNR, FTW_DP, FTW_NS, FTW_SL, FTW_SLN };
enum { FTW_PHYS = 1, FTW_MOUNT = 2, FTW_DEPTH = 4, FTW_CHDIR = 8 };
struct FTW {
    int base, level;
};
int nftw(const char *path, int (*visit)(const char *, const struct stat *, int, struct FTW *), int depth, int flags);

#endif
