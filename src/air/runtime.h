// SPDX-License-Identifier: Apache-2.0
// runtime.metal as bitcode; written by compile-runtime.c. It is cut into small modules, because reading even the lists of
// the whole takes longer than translating a kernel, which calls a few of its functions.
#ifndef INGOT_AIR_RUNTIME_H
#define INGOT_AIR_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

typedef struct igi_air_runtime_module {
    uint32_t offset, length;  // in igi_air_runtime
} igi_air_runtime_module;

typedef struct igi_air_runtime_function {
    const char *name;
    uint32_t module;
} igi_air_runtime_function;

extern const char igi_air_runtime[];
extern const size_t igi_air_runtime_length;                            // 0: there was no clang to compile it
extern const char igi_air_runtime_target[], igi_air_runtime_layout[];  // of LLVM's modules
extern const igi_air_runtime_module igi_air_runtime_modules[];
extern const size_t igi_air_runtime_module_count;
extern const igi_air_runtime_function igi_air_runtime_functions[];  // in the order of their names
extern const size_t igi_air_runtime_function_count;

#endif
