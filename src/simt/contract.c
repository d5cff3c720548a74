// SPDX-License-Identifier: Apache-2.0
// a * b + c as one operation, where the source allows it: across expressions in fast math, and where clang has found it in
// one expression in safe math. LLVM's code generator could do it too, but differently for
// scalars and vectors; done here, every width computes the same bits. Under fast math a * bool becomes a choice first.
#include <string.h>

#include "simt/ir.h"
#include "simt/passes.h"
#include "simt/target.h"

static bool may_contract(LLVMValueRef value) {
    return LLVMCanValueUseFastMathFlags(value) && (LLVMGetFastMathFlags(value) & LLVMFastMathAllowContract);
}

static bool is_sum(LLVMValueRef instruction) {
    LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
    LLVMTypeKind kind = LLVMGetTypeKind(igi_simt_element_type(LLVMTypeOf(instruction)));
    return (opcode == LLVMFAdd || opcode == LLVMFSub) && kind == LLVMFloatTypeKind && may_contract(instruction);
}

// A product without other uses.
static bool is_product(LLVMValueRef value) {
    LLVMUseRef use = LLVMGetFirstUse(value);
    return LLVMIsAInstruction(value) && LLVMGetInstructionOpcode(value) == LLVMFMul && may_contract(value) && use &&
           !LLVMGetNextUse(use);
}

static void fuse(LLVMBuilderRef builder, LLVMValueRef sum) {
    LLVMValueRef left = LLVMGetOperand(sum, 0), right = LLVMGetOperand(sum, 1);
    bool minus = LLVMGetInstructionOpcode(sum) == LLVMFSub, from_left = is_product(left);
    if (!from_left && !is_product(right)) return;
    LLVMValueRef product = from_left ? left : right, other = from_left ? right : left;
    LLVMValueRef arguments[3] = {LLVMGetOperand(product, 0), LLVMGetOperand(product, 1), other};
    if (minus && from_left) arguments[2] = LLVMBuildFNeg(builder, other, "");
    if (minus && !from_left) arguments[0] = LLVMBuildFNeg(builder, arguments[0], "");
    LLVMTypeRef type = LLVMTypeOf(sum);
    LLVMReplaceAllUsesWith(sum, igi_simt_call_intrinsic(builder, "llvm.fma", &type, 1, arguments, 3));
    LLVMInstructionEraseFromParent(sum);
    LLVMInstructionEraseFromParent(product);
}

// ---- What clang has joined: products and sums of one expression ----

static bool is_joined(LLVMValueRef instruction) {
    static const char name[] = "llvm.fmuladd.";
    return strncmp(igi_simt_callee_name(instruction), name, strlen(name)) == 0;
}

// half and bfloat round twice, as they do where we join them.
static void join(LLVMBuilderRef builder, LLVMValueRef call) {
    LLVMTypeRef type = LLVMTypeOf(call);
    LLVMValueRef operands[] = {LLVMGetOperand(call, 0), LLVMGetOperand(call, 1), LLVMGetOperand(call, 2)};
    bool fused = LLVMGetTypeKind(igi_simt_element_type(type)) == LLVMFloatTypeKind && igi_simt_has_fused_multiply_add();
    LLVMValueRef sum =
        fused ? igi_simt_call_intrinsic(builder, "llvm.fma", &type, 1, operands, 3)
              : LLVMBuildFAdd(builder, LLVMBuildFMul(builder, operands[0], operands[1], ""), operands[2], "");
    igi_simt_name_like(sum, call);
    LLVMReplaceAllUsesWith(call, sum);
    LLVMInstructionEraseFromParent(call);
}

static bool is_part_of_sum(LLVMValueRef instruction) {
    LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
    return (opcode == LLVMFAdd || opcode == LLVMFSub || opcode == LLVMFMul) && may_contract(instruction);
}

// LLVMSetFastMathFlags can add flags but not remove one: the instruction is created anew.
static void forbid(LLVMBuilderRef builder, LLVMValueRef instruction) {
    LLVMValueRef left = LLVMGetOperand(instruction, 0), right = LLVMGetOperand(instruction, 1);
    LLVMValueRef plain = LLVMBuildBinOp(builder, LLVMGetInstructionOpcode(instruction), left, right, "");
    unsigned flags = LLVMGetFastMathFlags(instruction) & ~(unsigned)LLVMFastMathAllowContract;
    if (LLVMIsAInstruction(plain)) LLVMSetFastMathFlags(plain, flags);
    igi_simt_name_like(plain, instruction);
    LLVMReplaceAllUsesWith(instruction, plain);
    LLVMInstructionEraseFromParent(instruction);
}

// ---- Products with a bool: 0 where it is false, even if the other factor is infinite or not a number ----

// The lane 0 that a shuffle repeats, or the value itself.
static LLVMValueRef repeated(LLVMValueRef value) {
    if (!LLVMIsAShuffleVectorInst(value)) return value;
    for (unsigned i = 0; i < LLVMGetNumMaskElements(value); i++)
        if (LLVMGetMaskValue(value, i) != 0) return value;
    LLVMValueRef insert = LLVMGetOperand(value, 0);
    bool first = LLVMIsAInsertElementInst(insert) && LLVMIsAConstantInt(LLVMGetOperand(insert, 2)) &&
                 LLVMConstIntGetZExtValue(LLVMGetOperand(insert, 2)) == 0;
    return first ? LLVMGetOperand(insert, 1) : value;
}

// The bool, or one for each element, that a factor is converted from; NULL if it is something else.
static LLVMValueRef bool_of(LLVMValueRef factor) {
    factor = repeated(factor);
    if (!LLVMIsAUIToFPInst(factor)) return NULL;
    LLVMValueRef from = LLVMGetOperand(factor, 0);
    LLVMTypeRef element = igi_simt_element_type(LLVMTypeOf(from));
    return LLVMGetIntTypeWidth(element) == 1 ? from : NULL;
}

// Only where products may be contracted: a pragma for safe math forbids both.
static bool multiplies_bool(LLVMValueRef instruction) {
    return LLVMGetInstructionOpcode(instruction) == LLVMFMul && may_contract(instruction) &&
           (bool_of(LLVMGetOperand(instruction, 0)) || bool_of(LLVMGetOperand(instruction, 1)));
}

static void choose(LLVMBuilderRef builder, LLVMValueRef product) {
    LLVMValueRef condition = bool_of(LLVMGetOperand(product, 1));
    LLVMValueRef other = LLVMGetOperand(product, condition ? 0 : 1);
    if (!condition) condition = bool_of(LLVMGetOperand(product, 0));
    LLVMValueRef chosen = LLVMBuildSelect(builder, condition, other, LLVMConstNull(LLVMTypeOf(product)), "");
    igi_simt_name_like(chosen, product);
    LLVMReplaceAllUsesWith(product, chosen);
    LLVMInstructionEraseFromParent(product);
}

static bool is_product_of_vectors(LLVMValueRef instruction) {
    return LLVMGetInstructionOpcode(instruction) == LLVMFMul && may_contract(instruction) &&
           LLVMGetTypeKind(LLVMTypeOf(instruction)) == LLVMVectorTypeKind;
}

ig_status igi_simt_pass_contract(igi_simt_module *m) {
    ig_status status = IG_STATUS_OK;
    if (m->apart) status = igi_simt_rewrite_instructions(m, is_product_of_vectors, forbid);
    if (status == IG_STATUS_OK && m->request->fast_math)
        status = igi_simt_rewrite_instructions(m, multiplies_bool, choose);
    if (status == IG_STATUS_OK) status = igi_simt_rewrite_instructions(m, is_joined, join);
    if (status == IG_STATUS_OK && igi_simt_has_fused_multiply_add())
        status = igi_simt_rewrite_instructions(m, is_sum, fuse);
    return status == IG_STATUS_OK ? igi_simt_rewrite_instructions(m, is_part_of_sum, forbid) : status;
}
