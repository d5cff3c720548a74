// SPDX-License-Identifier: Apache-2.0
// As on macOS, where <signal.h> has what handlers need.
#ifndef STAND_IN_UCONTEXT_H
#define STAND_IN_UCONTEXT_H

#error The deprecated ucontext routines require _XOPEN_SOURCE to be defined

#endif
