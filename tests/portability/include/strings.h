// SPDX-License-Identifier: Apache-2.0
// Strings, without regard to case.
#ifndef STAND_IN_STRINGS_H
#define STAND_IN_STRINGS_H

#include <stddef.h>

int strcasecmp(const char *a, const char *b), strncasecmp(const char *a, const char *b, size_t count), ffs(int bits);

#endif
