// SPDX-License-Identifier: Apache-2.0
// Threadgroup variables: global in AIR, annotated variables of the kernel here. Everything has been inlined.
#include <llvm-c/Target.h>
#include <string.h>

#include "air/translator.h"

enum { MOST_INDICES = 16, DEEPEST = 64 };

// The same address by instructions, instead of a constant expression over the global. NULL: that failed.
static LLVMValueRef materialise(air_translator *t, LLVMValueRef value, LLVMValueRef global, LLVMValueRef slot,
                                int depth) {
    if (value == global) return slot;
    if (!LLVMIsAConstantExpr(value)) return value;
    LLVMValueRef base = LLVMGetOperand(value, 0);
    LLVMValueRef moved = depth < DEEPEST ? materialise(t, base, global, slot, depth + 1) : NULL;
    if (!moved || moved == base) return moved ? value : NULL;
    LLVMValueRef indices[MOST_INDICES];
    int count = LLVMGetNumOperands(value) - 1;
    switch (LLVMGetConstOpcode(value)) {
        case LLVMGetElementPtr:
            if (count > MOST_INDICES) return NULL;
            for (int i = 0; i < count; i++) indices[i] = LLVMGetOperand(value, (unsigned)i + 1);
            return LLVMBuildGEP2(t->builder, LLVMGetGEPSourceElementType(value), moved, indices, (unsigned)count, "");
        case LLVMBitCast: return moved;
        case LLVMPtrToInt: return LLVMBuildPtrToInt(t->builder, moved, LLVMTypeOf(value), "");
        default: return NULL;
    }
}

static void position_for_operand(air_translator *t, LLVMValueRef instruction, unsigned operand) {
    if (LLVMIsAPHINode(instruction))
        LLVMPositionBuilderBefore(t->builder, LLVMGetBasicBlockTerminator(LLVMGetIncomingBlock(instruction, operand)));
    else
        LLVMPositionBuilderBefore(t->builder, instruction);
}

static bool replace_in(air_translator *t, LLVMValueRef instruction, LLVMValueRef global, LLVMValueRef slot) {
    for (int i = 0; i < LLVMGetNumOperands(instruction); i++) {
        LLVMValueRef operand = LLVMGetOperand(instruction, (unsigned)i);
        if (operand != global && !LLVMIsAConstantExpr(operand)) continue;
        position_for_operand(t, instruction, (unsigned)i);
        LLVMValueRef moved = materialise(t, operand, global, slot, 0);
        if (!moved) return igi_air_fail_unknown(t, "the address of threadgroup memory in this way");
        if (moved != operand) LLVMSetOperand(instruction, (unsigned)i, moved);
    }
    return true;
}

// A phi that has a block twice must have the same value for it twice: the first one's.
static void unify_phi(LLVMValueRef phi) {
    unsigned count = LLVMCountIncoming(phi);
    for (unsigned i = 1; i < count; i++)
        for (unsigned k = 0; k < i; k++)
            if (LLVMGetIncomingBlock(phi, k) == LLVMGetIncomingBlock(phi, i))
                LLVMSetOperand(phi, i, LLVMGetIncomingValue(phi, k));
}

static LLVMValueRef first_after_allocas(LLVMValueRef function) {
    LLVMValueRef at = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function));
    while (LLVMIsAAllocaInst(at)) at = LLVMGetNextInstruction(at);
    return at;
}

// As bytes: only those who read and write it know its type.
static LLVMValueRef make_slot(air_translator *t, LLVMValueRef global) {
    LLVMTargetDataRef layout = LLVMGetModuleDataLayout(t->module);
    uint64_t bytes = LLVMABISizeOfType(layout, LLVMGlobalGetValueType(global));
    unsigned alignment = LLVMGetAlignment(global),
             natural = LLVMABIAlignmentOfType(layout, LLVMGlobalGetValueType(global));
    LLVMPositionBuilderBefore(t->builder, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(t->wrapper)));
    LLVMTypeRef type = LLVMArrayType2(LLVMInt8TypeInContext(t->context), bytes);
    LLVMValueRef slot = LLVMBuildAlloca(t->builder, type, "threadgroup_variable");
    if (natural > alignment) alignment = natural;
    LLVMSetAlignment(slot, alignment);
    // As src/simt will place it.
    uint64_t offset = igi_round_up(t->threadgroup_bytes, alignment > 16 ? alignment : 16);
    if (!igi_add(offset, bytes, &t->threadgroup_bytes)) t->threadgroup_bytes = UINT64_MAX / 2;
    LLVMPositionBuilderBefore(t->builder, first_after_allocas(t->wrapper));
    igi_air_annotate(t, slot, "ig.threadgroup", -1);
    return slot;
}

static bool place(air_translator *t, LLVMValueRef global) {
    LLVMValueRef slot = make_slot(t, global);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(t->wrapper); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            if (!replace_in(t, i, global, slot)) return false;
            if (LLVMIsAPHINode(i)) unify_phi(i);
        }
    return true;
}

static bool is_threadgroup(LLVMValueRef global) {
    const char *section = LLVMGetSection(global);
    return section && strcmp(section, AIR_THREADGROUP_SECTION) == 0;
}

// Only a kernel has variables of its own.
bool igi_air_place_threadgroup(air_translator *t) {
    if (t->kind == IG_FUNCTION_VISIBLE) return true;
    for (LLVMValueRef g = LLVMGetFirstGlobal(t->module); g; g = LLVMGetNextGlobal(g))
        if (is_threadgroup(g) && LLVMGetFirstUse(g) && !place(t, g)) return false;
    return true;
}

bool igi_air_check_threadgroup(air_translator *t) {
    for (LLVMValueRef g = LLVMGetFirstGlobal(t->module); g; g = LLVMGetNextGlobal(g))
        if (is_threadgroup(g))
            return igi_air_fail_unknown(t, t->kind == IG_FUNCTION_VISIBLE
                                               ? "threadgroup memory of a visible function"
                                               : "threadgroup memory in a function that calls itself, or in a "
                                                 "constant");
    return true;
}
