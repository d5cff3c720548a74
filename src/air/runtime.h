// SPDX-License-Identifier: Apache-2.0
// runtime.metal as bitcode; written by compile-runtime.c.
#ifndef INGOT_AIR_RUNTIME_H
#define INGOT_AIR_RUNTIME_H

#include <stddef.h>

extern const char igi_air_runtime[];
extern const size_t igi_air_runtime_length;  // 0: there was no clang to compile it

#endif
