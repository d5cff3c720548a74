// SPDX-License-Identifier: Apache-2.0
// Shared by the files that check a library's contents.
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
    LLVMValueRef *constants;  // still to be visited
    size_t constant_count, constant_capacity;
    // Functions map to their number; other visited values map to 0.
    igi_pointer_map seen;
    LLVMValueRef at;  // instruction, function or variable that is being checked
    bool failed;      // memory
} contents;

// Adds an error at a value of the module; `name` is the word to point at in its line, NULL if that is not known.
__attribute__((format(printf, 4, 5))) void contents_refuse(contents *c, LLVMValueRef at, const char *name,
                                                           const char *format, ...);
// The function's name in the source. owns: the caller frees it. NULL when memory is short.
char *contents_name(LLVMValueRef function);
// Returns true the first time.
bool contents_is_new(contents *c, const void *key);
// Visits everything reachable from the kernels of c->module, and checks it unless c->diagnostics is NULL.
void contents_walk(contents *c);
// Called before contents_walk: it also follows what this function, which need not be a kernel, reaches.
void contents_add_root(contents *c, LLVMValueRef function);
void contents_free(contents *c);

// Checks one instruction of a function and its operands. contents-code.c
void contents_check_instruction(contents *c, LLVMValueRef instruction);
// The name of a type that kernels may not use; NULL for the others.
const char *contents_refused_type(contents *c, LLVMTypeRef type);

// Recursion, and threadgroup memory of whole kernels. contents-calls.c
void contents_check_calls(contents *c);

// Addresses that go from one address space into another. contents-spaces.c
void contents_check_spaces(contents *c);

#endif
