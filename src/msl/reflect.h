// SPDX-License-Identifier: Apache-2.0
// Kernels, arguments and function constants of a compiled module; MSL's rules about them.
#ifndef INGOT_MSL_REFLECT_H
#define INGOT_MSL_REFLECT_H

#include <ingot/device.h>

#include "msl/diagnostics.h"

typedef struct igi_msl_kernel {
    ig_kernel_info info;
    char *symbol;  // mangled name in the module
} igi_msl_kernel;

// A [[visible]] function.
typedef struct igi_msl_function {
    char *name, *symbol;
} igi_msl_function;

typedef struct igi_msl_reflection {
    igi_msl_kernel *kernels;
    size_t kernel_count, kernel_capacity;
    igi_msl_kernel *others;  // functions that draw or trace rays
    size_t other_count, other_capacity;
    igi_msl_function *functions;
    size_t function_count, function_capacity;
    ig_function_constant_info *constants;
    size_t constant_count, constant_capacity;
} igi_msl_reflection;

// Violations of MSL's rules (a slot used twice, a parameter without attribute...) go to diagnostics: COMPILE_FAILED.
// errors: BAD_FORMAT if it is not bitcode of this LLVM.
ig_status igi_msl_reflect(const char *bitcode, size_t length, igi_msl_reflection *reflection,
                          igi_msl_diagnostics *diagnostics, ig_error *error);
// The same for new bitcode; what msl/contents.h refuses is COMPILE_FAILED too.
ig_status igi_msl_examine(const char *bitcode, size_t length, igi_msl_reflection *reflection,
                          igi_msl_diagnostics *diagnostics, ig_error *error);
void igi_msl_reflection_free(igi_msl_reflection *reflection);
const igi_msl_kernel *igi_msl_reflection_find(const igi_msl_reflection *reflection, const char *name);
const igi_msl_kernel *igi_msl_reflection_find_other(const igi_msl_reflection *reflection, const char *name);
const igi_msl_function *igi_msl_reflection_find_function(const igi_msl_reflection *reflection, const char *name);
// Whether there is a constant of the same number, name and type.
bool igi_msl_reflection_has_constant(const igi_msl_reflection *reflection, const ig_function_constant_info *constant);

#endif
