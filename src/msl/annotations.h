// SPDX-License-Identifier: Apache-2.0
// What the rewritten attributes became in the IR: which functions are kernels, and what each parameter is.
// The reflection and the binder of src/simt both read it from here.
#ifndef INGOT_MSL_ANNOTATIONS_H
#define INGOT_MSL_ANNOTATIONS_H

#include <ingot/device.h>
#include <llvm-c/Core.h>

#include "msl/attributes.h"

typedef struct igi_msl_annotation {
    const char *text;  // "ig.kernel"; not NUL-bounded by text_length alone
    size_t text_length;
    const char *file;
    uint32_t line;
    bool has_argument;
    int64_t argument;
} igi_msl_annotation;

// Reads operands (text, file, line, arguments) of an annotation.
igi_msl_annotation igi_msl_annotation_read(LLVMValueRef text, LLVMValueRef file, LLVMValueRef line,
                                           LLVMValueRef arguments);
// The rest of the text if it begins with `prefix`, else NULL.
const char *igi_msl_annotation_after(const igi_msl_annotation *annotation, const char *prefix);

typedef struct igi_msl_parameter {
    LLVMValueRef storage;   // alloca that holds the parameter; of large arrays of textures the argument, an address
    LLVMValueRef argument;  // the LLVM argument when it is a pointer; NULL otherwise
    LLVMValueRef anchor;    // after this instruction the parameter may be overwritten
    ig_argument_kind kind;
    igi_msl_builtin builtin;  // if kind is BUILTIN
    bool has_index;
    int64_t index;
    bool threadgroup;   // points or refers to the threadgroup address space
    bool has_type;      // the symbol says which space it is
    char space[16];     // "device", "constant", "threadgroup", ""
    char *condition;    // function constant that switches it on; NULL if none
    char *unsupported;  // attribute that is not supported; NULL if none. `index` may be its number
    bool annotated;
    const char *file;
    uint32_t line;
} igi_msl_parameter;

typedef struct igi_msl_parameters {
    igi_msl_parameter *items;
    size_t count, capacity;
} igi_msl_parameters;

// The parameters of a kernel that are pointers or annotated, in order. Returns false when memory is short.
bool igi_msl_parameters_read(LLVMValueRef function, igi_msl_parameters *parameters);
// Elements of an array<T, N> by the name of the type; 1 for all others.
uint32_t igi_msl_array_length(const char *type);
// Arguments without an explicit index get the lowest free slot, in order.
void igi_msl_number_open_slots(igi_msl_parameters *parameters);
void igi_msl_parameters_free(igi_msl_parameters *parameters);

// Whether the annotation is exactly this.
bool igi_msl_annotation_is(const igi_msl_annotation *annotation, const char *text);
// Whether a function, defined or not, is [[visible]]. Annotations of declarations do not reach the IR; `hot`, which means
// nothing else here, does.
bool igi_msl_is_visible(LLVMValueRef function);

// Calls visit for each annotated function of the module.
typedef void (*igi_msl_annotated_visit)(LLVMValueRef function, const igi_msl_annotation *annotation, void *user);
void igi_msl_annotated_functions(LLVMModuleRef module, igi_msl_annotated_visit visit, void *user);

// Whether the alloca is storage in threadgroup memory: declared threadgroup and not a pointer to it.
bool igi_msl_is_threadgroup_storage(LLVMValueRef alloca, const igi_msl_annotation *annotation);
// What the user calls the variable of that storage.
const char *igi_msl_storage_name(const char *name);
// Whether the instruction is a variable annotation of ours; fills *annotation and *variable.
bool igi_msl_variable_annotation(LLVMValueRef instruction, igi_msl_annotation *annotation, LLVMValueRef *variable);

#endif
