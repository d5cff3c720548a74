// SPDX-License-Identifier: Apache-2.0
// The file of a program.
#ifndef STAND_IN_MACH_O_DYLD_H
#define STAND_IN_MACH_O_DYLD_H

#include <stdint.h>

int _NSGetExecutablePath(char *path, uint32_t *size);

#endif
