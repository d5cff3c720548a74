// SPDX-License-Identifier: Apache-2.0
// Operations that are undefined in LLVM but harmless on a GPU get a value: a kernel must not trap the process.
#include <string.h>

#include "simt/ir.h"
#include "simt/passes.h"

// ---- Division ----

static bool is_division(LLVMValueRef instruction) {
    switch (LLVMGetInstructionOpcode(instruction)) {
        case LLVMSDiv:
        case LLVMUDiv:
        case LLVMSRem:
        case LLVMURem: return !LLVMIsConstant(LLVMGetOperand(instruction, 1));
        default: return false;
    }
}

// x / 0 is x, x % 0 is 0, and the one overflowing division wraps.
static void define_division(LLVMBuilderRef builder, LLVMValueRef division) {
    LLVMOpcode opcode = LLVMGetInstructionOpcode(division);
    bool is_signed = opcode == LLVMSDiv || opcode == LLVMSRem;
    LLVMValueRef divisor = LLVMGetOperand(division, 1), dividend = LLVMGetOperand(division, 0);
    LLVMTypeRef type = LLVMTypeOf(divisor);
    LLVMValueRef unsafe = LLVMBuildICmp(builder, LLVMIntEQ, divisor, igi_simt_splat(type, 0, false), "");
    LLVMValueRef minus = NULL;
    if (is_signed) {
        minus = LLVMBuildICmp(builder, LLVMIntEQ, divisor, igi_simt_splat(type, UINT64_MAX, true), "");
        unsafe = LLVMBuildOr(builder, unsafe, minus, "");
    }
    LLVMValueRef safe = LLVMBuildSelect(builder, unsafe, igi_simt_splat(type, 1, false), divisor, "");
    LLVMValueRef result = LLVMBuildBinOp(builder, opcode, dividend, safe, "");
    if (opcode == LLVMSDiv) result = LLVMBuildSelect(builder, minus, LLVMBuildNeg(builder, dividend, ""), result, "");
    LLVMReplaceAllUsesWith(division, result);
    LLVMInstructionEraseFromParent(division);
}

// ---- Shifts ----

static bool is_shift(LLVMValueRef instruction) {
    switch (LLVMGetInstructionOpcode(instruction)) {
        case LLVMShl:
        case LLVMLShr:
        case LLVMAShr: return !LLVMIsConstant(LLVMGetOperand(instruction, 1));
        default: return false;
    }
}

// Shift counts are taken modulo the width.
static void define_shift(LLVMBuilderRef builder, LLVMValueRef shift) {
    LLVMValueRef distance = LLVMGetOperand(shift, 1);
    LLVMTypeRef type = LLVMTypeOf(distance);
    LLVMValueRef mask = igi_simt_splat(type, LLVMGetIntTypeWidth(igi_simt_element_type(type)) - 1, false);
    LLVMSetOperand(shift, 1, LLVMBuildAnd(builder, distance, mask, ""));
}

// ---- half ----

// Without half arithmetic the host would call fminf and fmaxf for these.
static bool is_half_extreme(LLVMValueRef instruction) {
    const char *name = igi_simt_callee_name(instruction);
    bool extreme = strncmp(name, "llvm.minnum.", 12) == 0 || strncmp(name, "llvm.maxnum.", 12) == 0;
    return extreme && LLVMGetTypeKind(igi_simt_element_type(LLVMTypeOf(instruction))) == LLVMHalfTypeKind;
}

static void define_half_extreme(LLVMBuilderRef builder, LLVMValueRef call) {
    LLVMTypeRef half = LLVMTypeOf(call), single = igi_simt_floats_like(half);
    bool minimum = strncmp(igi_simt_callee_name(call), "llvm.minnum.", 12) == 0;
    LLVMValueRef arguments[2];
    for (unsigned i = 0; i < 2; i++) arguments[i] = LLVMBuildFPExt(builder, LLVMGetOperand(call, i), single, "");
    LLVMValueRef wide =
        igi_simt_call_intrinsic(builder, minimum ? "llvm.minnum" : "llvm.maxnum", &single, 1, arguments, 2);
    LLVMReplaceAllUsesWith(call, LLVMBuildFPTrunc(builder, wide, half, ""));
    LLVMInstructionEraseFromParent(call);
}

ig_status igi_simt_pass_define(igi_simt_module *m) {
    ig_status status = igi_simt_rewrite_instructions(m, is_division, define_division);
    if (status == IG_STATUS_OK) status = igi_simt_rewrite_instructions(m, is_shift, define_shift);
    if (status == IG_STATUS_OK) status = igi_simt_pass_bfloat(m);
    if (status == IG_STATUS_OK) status = igi_simt_rewrite_instructions(m, is_half_extreme, define_half_extreme);
    return status;
}
