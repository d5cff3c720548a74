// SPDX-License-Identifier: Apache-2.0
// What the files that check a library's contents share.
#ifndef INGOT_MSL_CONTENTS_INTERNAL_H
#define INGOT_MSL_CONTENTS_INTERNAL_H

#include "core/pointer-map.h"
#include "msl/contents.h"

// A function with a body that kernels or initialisers reach.
typedef struct contents_function {
    LLVMValueRef function;
    LLVMValueRef *calls;  // of functions with a body
    size_t call_count, call_capacity;
    uint64_t instructions;
    bool kernel;
} contents_function;

typedef struct contents {
    LLVMModuleRef module;
    igi_msl_diagnostics *diagnostics;  // NULL: not reported
    contents_function *functions;
    size_t function_count, function_capacity;
    LLVMValueRef *constants;  // still to be looked at
    size_t constant_count, constant_capacity;
    // Functions map to their number; what else has been looked at maps to 0.
    igi_pointer_map seen;
    LLVMValueRef at;  // instruction, function or variable that is being looked at
    bool failed;      // memory
} contents;

// Adds an error at a value of the module; `name` is what to point at in its line, NULL when that is not known.
__attribute__((format(printf, 4, 5))) void contents_refuse(contents *c, LLVMValueRef at, const char *name,
                                                           const char *format, ...);
// The function as its author calls it. owns: the caller frees it. NULL when memory is short.
char *contents_name(LLVMValueRef function);
// True the first time.
bool contents_is_new(contents *c, const void *key);
// Everything reachable from the kernels, checked unless c->diagnostics is NULL. pre: module and diagnostics are set.
void contents_walk(contents *c);
void contents_free(contents *c);

// One instruction of a function: what it is and what it works on. contents-code.c
void contents_check_instruction(contents *c, LLVMValueRef instruction);
// A type that no kernel may use: what it is called; NULL for the others.
const char *contents_refused_type(contents *c, LLVMTypeRef type);

// Recursion, and threadgroup memory of whole kernels. contents-calls.c
void contents_check_calls(contents *c);

// Addresses that go from one address space into another. contents-spaces.c
void contents_check_spaces(contents *c);

#endif
