// SPDX-License-Identifier: Apache-2.0
// Operations that are undefined in LLVM but harmless on a GPU get a value: a kernel must not trap the process.
#include <string.h>

#include "simt/ir.h"
#include "simt/passes.h"

static LLVMTypeRef element_of(LLVMTypeRef type) {
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetElementType(type) : type;
}

static LLVMValueRef splat(LLVMTypeRef type, uint64_t value, bool is_signed) {
    LLVMValueRef scalar = LLVMConstInt(element_of(type), value, is_signed);
    if (LLVMGetTypeKind(type) != LLVMVectorTypeKind) return scalar;
    LLVMValueRef items[64];
    unsigned count = LLVMGetVectorSize(type);
    for (unsigned i = 0; i < count && i < 64; i++) items[i] = scalar;
    return LLVMConstVector(items, count);
}

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
    LLVMValueRef unsafe = LLVMBuildICmp(builder, LLVMIntEQ, divisor, splat(type, 0, false), "");
    LLVMValueRef minus = NULL;
    if (is_signed) {
        minus = LLVMBuildICmp(builder, LLVMIntEQ, divisor, splat(type, UINT64_MAX, true), "");
        unsafe = LLVMBuildOr(builder, unsafe, minus, "");
    }
    LLVMValueRef safe = LLVMBuildSelect(builder, unsafe, splat(type, 1, false), divisor, "");
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

// The distance counts modulo the width.
static void define_shift(LLVMBuilderRef builder, LLVMValueRef shift) {
    LLVMValueRef distance = LLVMGetOperand(shift, 1);
    LLVMTypeRef type = LLVMTypeOf(distance);
    LLVMValueRef mask = splat(type, LLVMGetIntTypeWidth(element_of(type)) - 1, false);
    LLVMSetOperand(shift, 1, LLVMBuildAnd(builder, distance, mask, ""));
}

// ---- bfloat ----

static bool is_bfloat(LLVMTypeRef type) {
    return LLVMGetTypeKind(element_of(type)) == LLVMBFloatTypeKind;
}

static bool is_bfloat_conversion(LLVMValueRef instruction) {
    LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
    if (opcode == LLVMFPExt) return is_bfloat(LLVMTypeOf(LLVMGetOperand(instruction, 0)));
    return opcode == LLVMFPTrunc && is_bfloat(LLVMTypeOf(instruction));
}

static LLVMTypeRef integers(LLVMTypeRef like, unsigned bits) {
    LLVMTypeRef integer = LLVMIntTypeInContext(LLVMGetTypeContext(like), bits);
    bool vector = LLVMGetTypeKind(like) == LLVMVectorTypeKind;
    return vector ? LLVMVectorType(integer, LLVMGetVectorSize(like)) : integer;
}

// Hosts without bfloat instructions would call a runtime function: the top half of a float is all it is.
static LLVMValueRef extend_bfloat(LLVMBuilderRef builder, LLVMValueRef value, LLVMTypeRef to) {
    LLVMTypeRef type = LLVMTypeOf(value), wide = integers(type, 32);
    LLVMValueRef bits = LLVMBuildZExt(builder, LLVMBuildBitCast(builder, value, integers(type, 16), ""), wide, "");
    return LLVMBuildBitCast(builder, LLVMBuildShl(builder, bits, splat(wide, 16, false), ""), to, "");
}

// Round to nearest even; a NaN stays one.
static LLVMValueRef round_bfloat(LLVMBuilderRef builder, LLVMValueRef value, LLVMTypeRef to) {
    LLVMTypeRef wide = integers(to, 32);
    LLVMValueRef bits = LLVMBuildBitCast(builder, value, wide, "");
    LLVMValueRef sixteen = splat(wide, 16, false);
    LLVMValueRef odd = LLVMBuildAnd(builder, LLVMBuildLShr(builder, bits, sixteen, ""), splat(wide, 1, false), "");
    LLVMValueRef bias = LLVMBuildAdd(builder, odd, splat(wide, 0x7fff, false), "");
    LLVMValueRef rounded = LLVMBuildAdd(builder, bits, bias, "");
    LLVMValueRef quiet = LLVMBuildOr(builder, bits, splat(wide, 0x400000, false), "");
    LLVMValueRef is_nan = LLVMBuildFCmp(builder, LLVMRealUNO, value, value, "");
    LLVMValueRef chosen = LLVMBuildSelect(builder, is_nan, quiet, rounded, "");
    LLVMValueRef top = LLVMBuildTrunc(builder, LLVMBuildLShr(builder, chosen, sixteen, ""), integers(to, 16), "");
    return LLVMBuildBitCast(builder, top, to, "");
}

static LLVMTypeRef floats_like(LLVMTypeRef type) {
    LLVMTypeRef single = LLVMFloatTypeInContext(LLVMGetTypeContext(type));
    bool vector = LLVMGetTypeKind(type) == LLVMVectorTypeKind;
    return vector ? LLVMVectorType(single, LLVMGetVectorSize(type)) : single;
}

static void define_bfloat(LLVMBuilderRef builder, LLVMValueRef conversion) {
    LLVMValueRef value = LLVMGetOperand(conversion, 0), result;
    LLVMTypeRef to = LLVMTypeOf(conversion);
    if (LLVMGetInstructionOpcode(conversion) == LLVMFPExt) {
        LLVMTypeRef single = floats_like(to);
        result = extend_bfloat(builder, value, single);
        if (single != to) result = LLVMBuildFPExt(builder, result, to, "");
    } else {
        LLVMTypeRef single = floats_like(to);
        if (LLVMTypeOf(value) != single) value = LLVMBuildFPTrunc(builder, value, single, "");
        result = round_bfloat(builder, value, to);
    }
    LLVMReplaceAllUsesWith(conversion, result);
    LLVMInstructionEraseFromParent(conversion);
}

// ---- half ----

// Without half arithmetic the host would call fminf and fmaxf for these.
static bool is_half_extreme(LLVMValueRef instruction) {
    const char *name = igi_callee_name(instruction);
    bool extreme = strncmp(name, "llvm.minnum.", 12) == 0 || strncmp(name, "llvm.maxnum.", 12) == 0;
    return extreme && LLVMGetTypeKind(element_of(LLVMTypeOf(instruction))) == LLVMHalfTypeKind;
}

static void define_half_extreme(LLVMBuilderRef builder, LLVMValueRef call) {
    LLVMTypeRef half = LLVMTypeOf(call), single = floats_like(half);
    bool minimum = strncmp(igi_callee_name(call), "llvm.minnum.", 12) == 0;
    LLVMValueRef arguments[2];
    for (unsigned i = 0; i < 2; i++) arguments[i] = LLVMBuildFPExt(builder, LLVMGetOperand(call, i), single, "");
    LLVMValueRef wide = igi_call_intrinsic(builder, minimum ? "llvm.minnum" : "llvm.maxnum", &single, 1, arguments, 2);
    LLVMReplaceAllUsesWith(call, LLVMBuildFPTrunc(builder, wide, half, ""));
    LLVMInstructionEraseFromParent(call);
}

static ig_status rewrite(igi_simt_module *m, bool (*wanted)(LLVMValueRef),
                         void (*define)(LLVMBuilderRef, LLVMValueRef)) {
    igi_values found;
    if (!igi_collect(m->thread, wanted, &found)) return igi_error_no_memory(m->error);
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(m->context);
    for (size_t i = 0; i < found.count; i++) {
        LLVMPositionBuilderBefore(builder, found.items[i]);
        define(builder, found.items[i]);
    }
    LLVMDisposeBuilder(builder);
    igi_values_free(&found);
    return IG_STATUS_OK;
}

ig_status igi_pass_define(igi_simt_module *m) {
    ig_status status = rewrite(m, is_division, define_division);
    if (status == IG_STATUS_OK) status = rewrite(m, is_shift, define_shift);
    if (status == IG_STATUS_OK) status = rewrite(m, is_bfloat_conversion, define_bfloat);
    if (status == IG_STATUS_OK) status = rewrite(m, is_half_extreme, define_half_extreme);
    return status;
}
