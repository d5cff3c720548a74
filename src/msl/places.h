// SPDX-License-Identifier: Apache-2.0
// Source locations of values of the IR, from their debug information.
#ifndef INGOT_MSL_PLACES_H
#define INGOT_MSL_PLACES_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct igi_msl_place {
    char *file;             // absolute path; owned
    uint32_t line, column;  // of the rewritten text; column 0: not known
} igi_msl_place;

// Of an instruction, a function or a global variable. Returns false if there is none, or memory is short.
bool igi_msl_place_of(LLVMValueRef value, igi_msl_place *place);

#endif
