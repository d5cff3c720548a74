// SPDX-License-Identifier: Apache-2.0
// The precompiled standard headers, which save most of the time of a compilation.
#ifndef INGOT_MSL_PRECOMPILED_H
#define INGOT_MSL_PRECOMPILED_H

#include "msl/clang-run.h"

// The path of the precompiled header for this request, created if missing; NULL if that is impossible. owns: the caller
// frees it.
char *igi_msl_find_pch(const igi_msl_toolchain *tools, const igi_msl_request *request);
// Removes one that clang did not accept, so that it is made again; one that was installed stays.
void igi_msl_drop_pch(const igi_msl_toolchain *tools, const char *path);
// Part of the build: writes a precompiled header for the request to `path`, to be installed. Returns false if it cannot be
// made.
bool igi_msl_make_pch(const igi_msl_toolchain *tools, const igi_msl_request *request, const char *path);
// Whether clang complained about the precompiled header rather than about the source.
bool igi_msl_blames_pch(const igi_process *process);

#endif
