// SPDX-License-Identifier: Apache-2.0
// LLVM contexts that report to our log: by default LLVM prints errors and ends the process.
#ifndef INGOT_MSL_LLVM_CONTEXT_H
#define INGOT_MSL_LLVM_CONTEXT_H

#include <llvm-c/Core.h>

LLVMContextRef igi_msl_llvm_context_create(void);

#endif
