// SPDX-License-Identifier: Apache-2.0
// The standard headers precompiled, which takes most of the time out of a compilation.
#ifndef INGOT_MSL_PRECOMPILED_H
#define INGOT_MSL_PRECOMPILED_H

#include "msl/clang-run.h"

// Path of the precompiled header for this request, made if missing; NULL when it cannot be had. owns: the caller frees
// it.
char *igi_msl_find_pch(const igi_msl_toolchain *tools, const igi_msl_request *request);
// Whether clang complained about the precompiled header rather than about the source.
bool igi_msl_blames_pch(const igi_process *process);

#endif
