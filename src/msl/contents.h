// SPDX-License-Identifier: Apache-2.0
// What a library may contain: everything its kernels can reach must be computation on memory they are given, in code
// that they define or that msl/allowed.h lists. Assembly, foreign functions and variables, constructors, sections,
// aliases, recursion and variables that outlive a thread are refused here, before any of it becomes machine code.
#ifndef INGOT_MSL_CONTENTS_H
#define INGOT_MSL_CONTENTS_H

#include <llvm-c/Core.h>

#include "msl/diagnostics.h"

// Bytes of threadgroup memory of a device.
enum { IGI_THREADGROUP_MEMORY = 32768 };

// Adds an error for each violation, with its source location if the module has debug information (diagnostics->unplaced
// counts those without). Returns false when memory is short. Changes the module only if functions call themselves.
bool igi_msl_check_contents(LLVMModuleRef module, igi_msl_diagnostics *diagnostics);

#endif
