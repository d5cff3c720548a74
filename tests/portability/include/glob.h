// SPDX-License-Identifier: Apache-2.0
// Names that match a pattern.
#ifndef STAND_IN_GLOB_H
#define STAND_IN_GLOB_H

#include <sys/types.h>

enum { GLOB_MARK = 8, GLOB_NOCHECK = 16, GLOB_NOSORT = 32, GLOB_NOMATCH = -3 };
typedef struct {
    size_t gl_pathc;
    int gl_matchc;
    size_t gl_offs;
    int gl_flags;
    char **gl_pathv;
} glob_t;
int glob(const char *pattern, int flags, int (*failed)(const char *, int), glob_t *found);
void globfree(glob_t *found);

#endif
