// SPDX-License-Identifier: Apache-2.0
// Values of the system.
#ifndef STAND_IN_SYS_SYSCTL_H
#define STAND_IN_SYS_SYSCTL_H

#include <sys/types.h>

int sysctlbyname(const char *name, void *value, size_t *size, void *set, size_t set_size);

#endif
