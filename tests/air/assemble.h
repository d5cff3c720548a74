// SPDX-License-Identifier: Apache-2.0
// AIR as text to a .metallib.
#ifndef INGOT_TESTS_AIR_ASSEMBLE_H
#define INGOT_TESTS_AIR_ASSEMBLE_H

#include "core/memory.h"

// DIRECTORY/NAME.ll as bitcode. Returns false after having said what is wrong.
bool assemble_bitcode(const char *directory, const char *name, igi_text *bitcode);

// DIRECTORY/NAME.ll for each name. Returns false after having said what is wrong.
bool assemble_metallib(const char *directory, const char *const *names, size_t count, igi_text *file);

#endif
