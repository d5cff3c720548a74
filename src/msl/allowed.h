// SPDX-License-Identifier: Apache-2.0
// The functions that a kernel may call without defining them: those of msl/hooks.h and the LLVM intrinsics that become
// machine code without library calls on every machine. There is one list, for libraries (contents.c) and for kernels
// after inlining (simt/check.c).
#ifndef INGOT_MSL_ALLOWED_H
#define INGOT_MSL_ALLOWED_H

#include <llvm-c/Core.h>
#include <stdbool.h>

// Whether a function that is only declared is on the list, with the same type.
bool igi_msl_allows(LLVMValueRef function);
// Whether a call of such a function passes literals where they are required.
bool igi_msl_allows_operands(LLVMValueRef call);

// Whether the name is reserved for the compiler: no program may define it.
bool igi_msl_is_reserved(const char *symbol);
// Whether the symbol is in namespace metal: what the headers only declare is for functions that do not run.
bool igi_msl_is_of_headers(const char *symbol);

#endif
