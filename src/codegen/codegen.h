// SPDX-License-Identifier: Apache-2.0
// src/simt in a separate process: LLVM may crash on a kernel, never end or use all memory, and none of that may affect
// the program.
//
// The process, ingot-codegen, is started when first needed and lives as long as the igi_codegen does. It forks workers,
// which inherit LLVM ready to work, have limits, and end when one of them is reached.
#ifndef INGOT_CODEGEN_CODEGEN_H
#define INGOT_CODEGEN_CODEGEN_H

#include <limits.h>

#include "simt/compile.h"

typedef struct igi_codegen igi_codegen;

ig_status igi_codegen_create(igi_codegen **codegen);
void igi_codegen_destroy(igi_codegen *codegen);  // after all its compilations
// Compilations of other threads fail soon, and so do new ones. Those inside this process come to their end.
void igi_codegen_cancel(igi_codegen *codegen);

// Starts the process if it does not run, so that it is ready for the first request, which reports failures.
void igi_codegen_start(igi_codegen *codegen);

// igi_simt_compile with limits. `timeout_ns`: of processor time; 0: 60 s. threads: any number at once.
// errors: those of igi_simt_compile; COMPILER_MISSING, COMPILER_CRASHED, COMPILER_TIMEOUT, OUT_OF_MEMORY, SYSTEM.
ig_status igi_codegen_compile(igi_codegen *codegen, const igi_simt_request *request, igi_simt_stage stage,
                              uint64_t timeout_ns, char **output, size_t *length, ig_error *error);

// Finds ingot-codegen: INGOT_CODEGEN, else next to the library or where it was installed. Returns false if there is
// none.
bool igi_codegen_find(char path[PATH_MAX]);

#endif
