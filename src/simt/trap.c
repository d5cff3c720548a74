// SPDX-License-Identifier: Apache-2.0
// Code that is marked unreachable may be reached: without this pass, execution would run into whatever follows, and a
// switch without a default would jump through the memory after its table.
#include "simt/ir.h"
#include "simt/passes.h"

static bool is_trap(LLVMValueRef instruction) {
    return instruction && igi_simt_calls(instruction, "llvm.trap");
}

void igi_simt_trap_unreachable(LLVMValueRef function) {
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(LLVMGetTypeContext(LLVMTypeOf(function)));
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
        if (!LLVMIsAUnreachableInst(end) || is_trap(LLVMGetPreviousInstruction(end))) continue;
        LLVMPositionBuilderBefore(builder, end);
        igi_simt_call_intrinsic(builder, "llvm.trap", NULL, 0, NULL, 0);
    }
    LLVMDisposeBuilder(builder);
}
