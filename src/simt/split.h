// SPDX-License-Identifier: Apache-2.0
// Parts of split.c: the registers that a vector of many becomes.
#ifndef INGOT_SIMT_SPLIT_H
#define INGOT_SIMT_SPLIT_H

#include "core/pointer-map.h"
#include "simt/ir.h"
#include "simt/passes.h"

typedef struct igi_simt_splitter {
    igi_simt_module *m;
    LLVMBuilderRef builder;
    unsigned each;             // lanes of a part
    igi_simt_values run;       // instructions to be done together, not emitted yet
    igi_simt_values split;     // all that were split
    igi_simt_values replaced;  // others that nothing uses any more
    igi_simt_values parts;     // of them, from `first` on
    igi_pointer_map first;     // by value: its first part
} igi_simt_splitter;

// Intrinsics whose lanes depend only on the same lanes of their operands.
bool igi_simt_split_is_elementwise_call(LLVMValueRef instruction);
bool igi_simt_split_is_masked_read(LLVMValueRef instruction);
bool igi_simt_split_is_masked_write(LLVMValueRef instruction);

// Every function that returns a bool returns false when memory is short, unless it says otherwise.

// Makes room for the parts of an instruction, which igi_simt_split_emit fills.
bool igi_simt_split_note(igi_simt_splitter *s, LLVMValueRef instruction);
bool igi_simt_split_emit(igi_simt_splitter *s, LLVMValueRef instruction, unsigned part);
// pre: all lanes of the shuffle are the first of its operand.
bool igi_simt_split_splat(igi_simt_splitter *s, LLVMValueRef shuffle);
// Parts without incoming values, which igi_simt_split_complete_phis adds once all blocks were visited.
bool igi_simt_split_phi(igi_simt_splitter *s, LLVMValueRef phi);
bool igi_simt_split_complete_phis(igi_simt_splitter *s);

bool igi_simt_split_has_parts(const igi_simt_splitter *s, LLVMValueRef value);
LLVMValueRef igi_simt_split_join(igi_simt_splitter *s, LLVMValueRef value);
// Lanes that are extracted, and tests whether any or all bits of a vector are set, need no joined vector. Returns false
// if the instruction is neither.
bool igi_simt_split_use_parts(igi_simt_splitter *s, LLVMValueRef instruction);

// Nothing uses them any more.
void igi_simt_split_remove_originals(igi_simt_splitter *s);
void igi_simt_split_free(igi_simt_splitter *s);

#endif
