// SPDX-License-Identifier: Apache-2.0
// Helpers that every pass needs and the LLVM-C API lacks.
#ifndef INGOT_SIMT_IR_H
#define INGOT_SIMT_IR_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { IGI_MAX_WIDTH = 256 };   // lanes
enum { IGI_MAX_INDICES = 64 };  // of an address into nested arrays and structs

typedef struct igi_simt_values {
    LLVMValueRef *items;
    size_t count, capacity;
} igi_simt_values;
bool igi_simt_values_add(igi_simt_values *values, LLVMValueRef value);
void igi_simt_values_free(igi_simt_values *values);

// All instructions of a function for which `wanted` holds, collected first so that a pass may change the function.
bool igi_simt_collect(LLVMValueRef function, bool (*wanted)(LLVMValueRef instruction), igi_simt_values *found);

// The name of the function that a call goes to, "" for anything else.
const char *igi_simt_callee_name(LLVMValueRef instruction);
// Whether it calls a function of exactly this name.
bool igi_simt_calls(LLVMValueRef instruction, const char *name);

bool igi_simt_is_invariant_load(LLVMValueRef instruction);  // of memory that does not change
bool igi_simt_is_barrier(LLVMValueRef instruction);
// The type that a load or store reads or writes.
LLVMTypeRef igi_simt_accessed_type(LLVMValueRef access);

size_t igi_simt_instruction_count(LLVMValueRef function);
// Whether it copies or fills memory.
bool igi_simt_is_memory_intrinsic(LLVMValueRef instruction);

// Names are for readers of the code (--emit simt).
void igi_simt_set_name(LLVMValueRef value, const char *name);
// Takes the name of what it was made from, if it has none yet.
void igi_simt_name_like(LLVMValueRef made, LLVMValueRef original);
// Inserts an instruction that was removed elsewhere, under its name, which LLVMInsertIntoBuilder would drop.
void igi_simt_insert_moved(LLVMBuilderRef builder, LLVMValueRef instruction);

// Cuts the block in two before the instruction. The new block gets what comes before it and all predecessors; the old
// one keeps the rest, so that phi nodes after it stay correct. The new block has no terminator yet.
LLVMBasicBlockRef igi_simt_split_before(LLVMValueRef instruction);

// The name of variables whose contents never outlive a barrier.
#define IGI_TEMPORARY "ig.temporary"

// i1 (i1): whether it holds for all lanes; and the metadata of instructions in the copy for the edges (inside.c).
#define IGI_INSIDE "__ig_inside"
#define IGI_EDGE "ig.edge"
bool igi_simt_is_at_edge(LLVMValueRef instruction);

// Metadata of a variable.
#define IGI_LANE_STRIDE "ig.lane.stride"

// Declares a function or intrinsic if it is not declared yet.
LLVMValueRef igi_simt_declare(LLVMModuleRef module, const char *name, LLVMTypeRef type);
LLVMValueRef igi_simt_intrinsic(LLVMModuleRef module, const char *name, LLVMTypeRef *types, size_t count);
LLVMValueRef igi_simt_call_intrinsic(LLVMBuilderRef builder, const char *name, LLVMTypeRef *types, size_t type_count,
                                     LLVMValueRef *arguments, unsigned argument_count);

// Scalar type of a scalar or vector; the same shape with float elements; a constant of an integer shape.
LLVMTypeRef igi_simt_element_type(LLVMTypeRef type);
LLVMTypeRef igi_simt_floats_like(LLVMTypeRef type);
LLVMTypeRef igi_simt_integers_like(LLVMTypeRef type, unsigned bits);
LLVMValueRef igi_simt_splat(LLVMTypeRef type, uint64_t value, bool is_signed);
// A constant for each element of the type, or for the type itself.
LLVMValueRef igi_simt_repeat(LLVMTypeRef type, LLVMValueRef scalar);

void igi_simt_add_attribute(LLVMValueRef function, const char *name);
void igi_simt_remove_attribute(LLVMValueRef function, const char *name);

// Removes lifetime markers and annotations of a variable that will no longer be an alloca. Returns false when memory is
// short.
bool igi_simt_drop_lifetimes(LLVMValueRef variable);

// The first instruction of the entry block that is not an alloca.
LLVMValueRef igi_simt_first_after_allocas(LLVMValueRef function);

// Whether the type is one that a lane of a vector can have: a number or a pointer.
bool igi_simt_is_scalar(LLVMTypeRef type);

// Pointer to a field `offset` bytes after a base.
LLVMValueRef igi_simt_field(LLVMBuilderRef builder, LLVMValueRef base, size_t offset);
// Whether it is one, and its offset; whether its base is an argument of the function.
bool igi_simt_constant_offset(LLVMValueRef pointer, uint64_t *offset);
bool igi_simt_is_field(LLVMValueRef pointer, uint64_t *offset);

#endif
