// SPDX-License-Identifier: Apache-2.0
// Declarations of function constants: constant bool flip [[function_constant(0)]];
#ifndef INGOT_MSL_FUNCTION_CONSTANT_H
#define INGOT_MSL_FUNCTION_CONSTANT_H

#include "msl/rewrite-passes.h"

typedef struct igi_msl_function_constants {
    size_t statement;       // 1 + first token of the last declaration seen
    size_t type, type_end;  // its type, which all its declarators share
} igi_msl_function_constants;

// Makes the declaration an external symbol that carries number, type and name: edits what precedes the name and appends
// what replaces the attribute, whose list opens at `open` and whose argument is given.
void igi_msl_declare_function_constant(igi_msl_rewriter *r, igi_msl_function_constants *seen, igi_text *text,
                                       size_t statement, size_t open, size_t argument, size_t argument_end);

#endif
