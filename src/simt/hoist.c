// SPDX-License-Identifier: Apache-2.0
// Hoists loads from igi_simt_group, and loads through `constant T &`, out of the loops over threads.
//
// LLVM does that only for loads that a loop always executes: after a branch, every group of lanes would load again.
#include <llvm-c/Target.h>

#include "simt/ir.h"
#include "simt/passes.h"

typedef struct hoister {
    igi_simt_module *m;
    LLVMBuilderRef builder;  // at the end of the entry block
    unsigned dereferenceable;
} hoister;

// The pointer without its constant offset.
static LLVMValueRef base_of(LLVMValueRef pointer, uint64_t *offset) {
    *offset = 0;
    return igi_simt_constant_offset(pointer, offset) ? LLVMGetOperand(pointer, 0) : pointer;
}

static uint64_t bytes_behind(const hoister *h, LLVMValueRef pointer) {
    LLVMValueRef promise = LLVMIsALoadInst(pointer) ? LLVMGetMetadata(pointer, h->dereferenceable) : NULL, number;
    if (!promise) return 0;
    LLVMGetMDNodeOperands(promise, &number);
    return LLVMConstIntGetZExtValue(number);
}

// Whether it can be read in the entry block, which already has its base.
static bool can_move(const hoister *h, LLVMValueRef load) {
    uint64_t offset, bytes = LLVMABISizeOfType(LLVMGetModuleDataLayout(h->m->module), LLVMTypeOf(load));
    LLVMValueRef base = base_of(LLVMGetOperand(load, 0), &offset);
    if (LLVMIsAArgument(base)) return true;
    return offset <= UINT32_MAX && offset + bytes <= bytes_behind(h, base);
}

static void move(hoister *h, LLVMValueRef load) {
    LLVMValueRef address = LLVMGetOperand(load, 0);
    if (LLVMIsAGetElementPtrInst(address)) {
        LLVMValueRef copy = LLVMInstructionClone(address);
        LLVMInsertIntoBuilder(h->builder, copy);
        LLVMSetOperand(load, 0, copy);
    }
    LLVMInstructionRemoveFromParent(load);
    igi_simt_insert_moved(h->builder, load);
}

// In the order of blocks, so that pointers come before what they point to.
static void hoist(hoister *h, LLVMValueRef run) {
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(run);
    LLVMPositionBuilderBefore(h->builder, LLVMGetBasicBlockTerminator(entry));
    for (int round = 0; round < 2; round++)
        for (LLVMBasicBlockRef b = LLVMGetNextBasicBlock(entry); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
                next = LLVMGetNextInstruction(i);
                uint64_t offset;
                bool field = igi_simt_is_invariant_load(i) && LLVMIsAArgument(base_of(LLVMGetOperand(i, 0), &offset));
                if (igi_simt_is_invariant_load(i) && field == (round == 0) && can_move(h, i)) move(h, i);
            }
}

ig_status igi_simt_pass_hoist(igi_simt_module *m) {
    LLVMValueRef run = LLVMGetNamedFunction(m->module, "ig.run");
    if (!run) return IG_STATUS_OK;
    ig_status status = igi_simt_run_passes(m, "always-inline");
    if (status != IG_STATUS_OK) return status;
    hoister h = {.m = m,
                 .builder = LLVMCreateBuilderInContext(m->context),
                 .dereferenceable = LLVMGetMDKindIDInContext(m->context, "dereferenceable", 15)};
    hoist(&h, run);
    LLVMDisposeBuilder(h.builder);
    return IG_STATUS_OK;
}
