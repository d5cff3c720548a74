// SPDX-License-Identifier: Apache-2.0
// Modules of AIR cut into small ones, each with a few calls: quick to translate, so that many can be tried.
#ifndef INGOT_TESTS_FUZZ_AIR_PARTS_H
#define INGOT_TESTS_FUZZ_AIR_PARTS_H

#include <llvm-c/Core.h>

enum { MOST_AIR_PARTS = 64 };

typedef struct air_parts {
    LLVMModuleRef modules[MOST_AIR_PARTS];  // as igi_air_parse leaves them; all but the first have a few calls each
    size_t count;                           // the first is the whole
} air_parts;

// pre: igi_air_parse accepts the bitcode. owns: free_air_parts frees the parts, before the context.
void cut_air(LLVMContextRef context, const char *bitcode, size_t length, air_parts *parts);
void free_air_parts(air_parts *parts);

#endif
