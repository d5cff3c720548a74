// SPDX-License-Identifier: Apache-2.0
// Alignment of vectors: kernels read rows of any length as float4, which GPUs allow.
#include <string.h>

#include "simt/ir.h"
#include "simt/passes.h"

// Alignments above this are not assumed, unless they are guaranteed.
enum { MOST_ASSUMED = 8 };

static LLVMTypeRef accessed_type(LLVMValueRef access) {
    bool stores = LLVMGetInstructionOpcode(access) == LLVMStore;
    return LLVMTypeOf(stores ? LLVMGetOperand(access, 0) : access);
}

static bool is_vector_access(LLVMValueRef instruction) {
    LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
    return (opcode == LLVMLoad || opcode == LLVMStore) &&
           LLVMGetTypeKind(accessed_type(instruction)) == LLVMVectorTypeKind;
}

static void cap_operand(LLVMValueRef call, LLVMAttributeIndex operand) {
    unsigned kind = LLVMGetEnumAttributeKindForName("align", 5);
    LLVMAttributeRef align = LLVMGetCallSiteEnumAttribute(call, operand, kind);
    if (!align || LLVMGetEnumAttributeValue(align) <= MOST_ASSUMED) return;
    LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(call));
    LLVMRemoveCallSiteEnumAttribute(call, operand, kind);
    LLVMAddCallSiteAttribute(call, operand, LLVMCreateEnumAttribute(context, kind, MOST_ASSUMED));
}

static void cap_alignment(LLVMValueRef instruction) {
    if (is_vector_access(instruction)) {
        if (LLVMGetAlignment(instruction) > MOST_ASSUMED) LLVMSetAlignment(instruction, MOST_ASSUMED);
    } else if (strncmp(igi_simt_callee_name(instruction), "llvm.memcpy.", 12) == 0) {
        cap_operand(instruction, 1);
        cap_operand(instruction, 2);
    }
}

ig_status igi_simt_pass_align(igi_simt_module *m) {
    for (LLVMValueRef f = LLVMGetFirstFunction(m->module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) cap_alignment(i);
    return IG_STATUS_OK;
}
