// SPDX-License-Identifier: Apache-2.0
// Variables of program scope whose values depend on function constants: clang sets them in functions of its own, which
// kernels run before anything else (simt/constants.c).
#ifndef INGOT_MSL_INITIALISERS_H
#define INGOT_MSL_INITIALISERS_H

#include <llvm-c/Core.h>
#include <stdbool.h>

// Whether clang made the function to set one variable, or to call those that do.
bool igi_msl_is_initialiser(LLVMValueRef function);
// Whether a function that sets variables touches the global, directly or through a constant expression.
bool igi_msl_is_derived(LLVMValueRef global);

#endif
