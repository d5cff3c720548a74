// SPDX-License-Identifier: Apache-2.0
// The precompiled standard headers, which save most of the time of a compilation.
#ifndef INGOT_MSL_PRECOMPILED_H
#define INGOT_MSL_PRECOMPILED_H

#include "msl/clang-run.h"

// The path of the precompiled header for this request, created if missing; NULL if that is impossible. owns: the caller
// frees it.
char *igi_msl_find_pch(const igi_msl_toolchain *tools, const igi_msl_request *request);
// Whether clang complained about the precompiled header rather than about the source.
bool igi_msl_blames_pch(const igi_process *process);

#endif
