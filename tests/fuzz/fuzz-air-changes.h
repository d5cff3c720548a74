// SPDX-License-Identifier: Apache-2.0
// Changes to a module of AIR after which LLVM most often still accepts it.
#ifndef INGOT_TESTS_FUZZ_AIR_CHANGES_H
#define INGOT_TESTS_FUZZ_AIR_CHANGES_H

#include <llvm-c/Core.h>
#include <stdint.h>

typedef struct air_change {
    uint32_t kind, at, with;  // any numbers
    const char *word;         // of the text of a module
    size_t word_length;
} air_change;

void change_air(LLVMModuleRef module, const air_change *change);

#endif
