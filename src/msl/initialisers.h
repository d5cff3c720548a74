// SPDX-License-Identifier: Apache-2.0
// Program-scope variables whose values depend on function constants: clang initialises them in generated functions,
// which kernels run before anything else (simt/constants.c).
#ifndef INGOT_MSL_INITIALISERS_H
#define INGOT_MSL_INITIALISERS_H

#include <llvm-c/Core.h>
#include <stdbool.h>

// Whether clang generated the function to initialise one variable, or to call the functions that do.
bool igi_msl_is_initialiser(LLVMValueRef function);
// Whether a function that initialises variables refers to the global, directly or through a constant expression.
bool igi_msl_is_derived(LLVMValueRef global);

#endif
