// SPDX-License-Identifier: Apache-2.0
// Patterns of names.
#ifndef STAND_IN_FNMATCH_H
#define STAND_IN_FNMATCH_H

enum { FNM_NOMATCH = 1, FNM_NOESCAPE = 1, FNM_PATHNAME = 2, FNM_PERIOD = 4 };
int fnmatch(const char *pattern, const char *text, int flags);

#endif
