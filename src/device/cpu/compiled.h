// SPDX-License-Identifier: Apache-2.0
// Libraries of the software device that were compiled elsewhere: a .metallib. Each kernel is translated when it is first
// asked for.
#ifndef INGOT_DEVICE_CPU_COMPILED_H
#define INGOT_DEVICE_CPU_COMPILED_H

#include "device/cpu/cpu.h"

// Whether the descriptor names a .metallib.
bool igi_cpu_is_compiled(const ig_library_desc *desc);
// Names and function constants are known at once.
ig_status igi_cpu_compiled_open(ig_library *library, const ig_library_desc *desc, ig_error *error);
void igi_cpu_compiled_free(cpu_device *cpu, struct cpu_compiled *compiled);

// Translates the kernel if that has not been done, and fills its arguments. errors: those of igi_codegen_compile.
ig_status igi_cpu_kernel_prepare(ig_library *library, igi_msl_kernel *kernel, ig_error *error);
// The same for the functions that are linked to the pipeline.
ig_status igi_cpu_functions_prepare(const ig_pipeline *pipeline, ig_error *error);
// The module of a visible function that has been prepared, by its number in the library.
cpu_module *igi_cpu_compiled_function(const struct cpu_compiled *compiled, size_t index);
// The kernel's AIR as text. owns: it is the caller's. errors: UNSUPPORTED if it is not of a .metallib.
ig_status igi_cpu_compiled_print(ig_library *library, const char *kernel, char **text);
// The same, for backend.h: a kernel that cannot be translated has no arguments.
void igi_cpu_kernel_reflect(ig_library *library, igi_msl_kernel *kernel);
// The module of a kernel that has been prepared.
cpu_module *igi_cpu_module_of(const ig_library *library, const igi_msl_kernel *kernel);

#endif
