// SPDX-License-Identifier: Apache-2.0
// Fences between shuffles of shuffles, in quick code. LLVM's code generator for x86 looks for one shuffle that does the
// work of several, through all their operands: transposing 32 rows of 16 floats took it two thirds of the time that the
// whole kernel took to compile.
#include "simt/ir.h"
#include "simt/passes.h"
#include "simt/target.h"

enum { REGISTER_LANES = 16 };

static bool is_several_registers_of_floats(LLVMTypeRef type) {
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind && LLVMGetVectorSize(type) > REGISTER_LANES &&
           LLVMGetTypeKind(LLVMGetElementType(type)) == LLVMFloatTypeKind;
}

static bool is_shuffled_again(LLVMValueRef instruction) {
    if (!LLVMIsAShuffleVectorInst(instruction) || !is_several_registers_of_floats(LLVMTypeOf(instruction)))
        return false;
    for (LLVMUseRef use = LLVMGetFirstUse(instruction); use; use = LLVMGetNextUse(use))
        if (LLVMIsAShuffleVectorInst(LLVMGetUser(use))) return true;
    return false;
}

static void fence(LLVMBuilderRef builder, LLVMValueRef shuffle) {
    LLVMTypeRef type = LLVMTypeOf(shuffle);
    LLVMValueRef undefined = LLVMGetUndef(type);
    LLVMPositionBuilderBefore(builder, LLVMGetNextInstruction(shuffle));
    LLVMValueRef fenced = igi_simt_call_intrinsic(builder, "llvm.arithmetic.fence", &type, 1, &undefined, 1);
    LLVMReplaceAllUsesWith(shuffle, fenced);
    LLVMSetOperand(fenced, 0, shuffle);
}

static ig_status separate_in(igi_simt_module *m, LLVMValueRef function, LLVMBuilderRef builder) {
    igi_simt_values shuffles;
    if (!igi_simt_collect(function, is_shuffled_again, &shuffles)) return igi_error_no_memory(m->error);
    for (size_t i = 0; i < shuffles.count; i++) fence(builder, shuffles.items[i]);
    igi_simt_values_free(&shuffles);
    return IG_STATUS_OK;
}

ig_status igi_simt_pass_separate(igi_simt_module *m) {
    if (!m->request->first_tier || !igi_simt_is_for_x86()) return IG_STATUS_OK;
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(m->context);
    ig_status status = IG_STATUS_OK;
    for (LLVMValueRef f = LLVMGetFirstFunction(m->module); f && status == IG_STATUS_OK; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f)) status = separate_in(m, f, builder);
    LLVMDisposeBuilder(builder);
    return status;
}
