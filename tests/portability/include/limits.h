// SPDX-License-Identifier: Apache-2.0
// Limits, also those of files.
#ifndef STAND_IN_LIMITS_H
#define STAND_IN_LIMITS_H

#include_next <limits.h>

#define PATH_MAX 1024
#define NAME_MAX 255
#define IOV_MAX 1024
#define SSIZE_MAX LONG_MAX

#endif
