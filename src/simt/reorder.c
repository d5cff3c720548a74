// SPDX-License-Identifier: Apache-2.0
#include "simt/reorder.h"

#include "core/pointer-map.h"
#include "simt/ir.h"

// Instructions that wait until they are needed, and where that is.
typedef struct order {
    igi_simt_values all;
    igi_pointer_map waiting;  // 1: it waits; 0: it has been placed
    LLVMBuilderRef builder;   // before the instruction that needs them
} order;

static bool may_wait(LLVMValueRef i) {
    return LLVMIsABinaryOperator(i) || LLVMIsACastInst(i) || LLVMIsAShuffleVectorInst(i) || LLVMIsASelectInst(i) ||
           LLVMIsACmpInst(i) || LLVMIsAUnaryOperator(i) || LLVMIsAExtractElementInst(i) ||
           LLVMIsAInsertElementInst(i) || LLVMIsAFreezeInst(i) || LLVMIsAGetElementPtrInst(i);
}

static bool waits(const order *o, LLVMValueRef value) {
    uint32_t waiting;
    return igi_map_get(&o->waiting, value, &waiting) && waiting;
}

// What it needs first. Recursion is as deep as the longest chain of operations in the block.
static bool place_operands(order *o, LLVMValueRef i) {
    for (int k = 0; k < LLVMGetNumOperands(i); k++) {
        LLVMValueRef operand = LLVMGetOperand(i, (unsigned)k);
        if (!waits(o, operand)) continue;
        if (!igi_map_set(&o->waiting, operand, 0) || !place_operands(o, operand)) return false;
        LLVMInstructionRemoveFromParent(operand);
        igi_simt_insert_moved(o->builder, operand);
    }
    return true;
}

static bool collect(order *o, LLVMBasicBlockRef block) {
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
        if (!igi_simt_values_add(&o->all, i) || (may_wait(i) && !igi_map_set(&o->waiting, i, 1))) return false;
    return true;
}

// What only other blocks need stays at the end.
static bool place_rest(order *o) {
    for (size_t k = 0; k < o->all.count; k++) {
        LLVMValueRef i = o->all.items[k];
        if (!waits(o, i)) continue;
        if (!igi_map_set(&o->waiting, i, 0) || !place_operands(o, i)) return false;
        LLVMInstructionRemoveFromParent(i);
        igi_simt_insert_moved(o->builder, i);
    }
    return true;
}

static bool place_all(order *o) {
    for (size_t k = 0; k < o->all.count; k++) {
        LLVMValueRef i = o->all.items[k];
        if (may_wait(i) || LLVMIsAPHINode(i)) continue;
        LLVMPositionBuilderBefore(o->builder, i);
        if (LLVMIsATerminatorInst(i) && !place_rest(o)) return false;
        if (!place_operands(o, i)) return false;
    }
    return true;
}

bool igi_simt_reorder(LLVMBasicBlockRef block) {
    order o = {.builder = LLVMCreateBuilderInContext(LLVMGetTypeContext(LLVMTypeOf(LLVMBasicBlockAsValue(block))))};
    bool ok = collect(&o, block) && place_all(&o);
    igi_map_free(&o.waiting);
    igi_simt_values_free(&o.all);
    LLVMDisposeBuilder(o.builder);
    return ok;
}
