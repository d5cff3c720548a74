// SPDX-License-Identifier: Apache-2.0
// One run of clang as a child, within limits.
#ifndef INGOT_MSL_CLANG_RUN_H
#define INGOT_MSL_CLANG_RUN_H

#include "core/process.h"
#include "msl/clang-flags.h"

// What a run needs besides its arguments.
typedef struct igi_msl_toolchain {
    char *clang;  // absolute path; NULL until found
    igi_hash clang_identity, headers_identity;
    char *directory;  // holds the headers; NULL until first needed
    const char *pch;  // the precompiled header of the next run, or NULL
} igi_msl_toolchain;

// Runs arguments[0]; `directory` is all it may write. The caller frees the process' output and errors.
void igi_msl_run_clang(const igi_msl_toolchain *tools, const igi_msl_arguments *arguments, const char *directory,
                       const igi_msl_request *request, igi_process *process);
// Whether it crashed rather than accepting or rejecting the source.
bool igi_msl_clang_crashed(const igi_process *process);
// The status of a run, its messages in `diagnostics`. errors: COMPILE_FAILED (then see diagnostics), COMPILER_MISSING,
// _CRASHED, _TIMEOUT, SYSTEM, OUT_OF_MEMORY.
ig_status igi_msl_judge_clang(const igi_process *process, igi_msl_diagnostics *diagnostics, ig_error *error);

#endif
