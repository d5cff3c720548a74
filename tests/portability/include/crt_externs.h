// SPDX-License-Identifier: Apache-2.0
// The environment of a process: `environ` is for programs only, not for libraries.
#ifndef STAND_IN_CRT_EXTERNS_H
#define STAND_IN_CRT_EXTERNS_H

char ***_NSGetEnviron(void);

#endif
