// SPDX-License-Identifier: Apache-2.0
// Arithmetic, of numbers or of vectors, whose exact result does not fit: integers that wrap, shifts that are too wide,
// conversions to a type that cannot hold the value.
#include <string.h>

#include "simt/checked/instrument.h"

// fptosi.sat and fptoui.sat, which are MSL's conversions.
static bool is_conversion(LLVMValueRef i) {
    const char *name = igi_simt_callee_name(i);
    bool saturating = strncmp(name, "llvm.fptosi.sat.", 16) == 0 || strncmp(name, "llvm.fptoui.sat.", 16) == 0;
    return saturating || LLVMIsAFPToSIInst(i) || LLVMIsAFPToUIInst(i);
}

static bool is_signed_conversion(LLVMValueRef i) {
    return LLVMIsAFPToSIInst(i) || strncmp(igi_simt_callee_name(i), "llvm.fptosi", 11) == 0;
}

static bool is_odd_candidate(LLVMValueRef i) {
    if (is_conversion(i)) return true;
    switch (LLVMGetInstructionOpcode(i)) {
        case LLVMShl:
        case LLVMLShr:
        case LLVMAShr: return true;
        case LLVMAdd:
        case LLVMSub:
        case LLVMMul: return LLVMGetNSW(i);
        default: return false;
    }
}

static LLVMValueRef shift_is_odd(igi_simt_instrumenter *in, LLVMValueRef i) {
    LLVMTypeRef type = LLVMTypeOf(i);
    LLVMValueRef width = igi_simt_splat(type, LLVMGetIntTypeWidth(igi_simt_element_type(type)), false);
    return LLVMBuildICmp(in->builder, LLVMIntUGE, LLVMGetOperand(i, 1), width, "");
}

static LLVMValueRef wraps(igi_simt_instrumenter *in, LLVMValueRef i) {
    LLVMOpcode opcode = LLVMGetInstructionOpcode(i);
    const char *name = opcode == LLVMAdd   ? "llvm.sadd.with.overflow"
                       : opcode == LLVMSub ? "llvm.ssub.with.overflow"
                                           : "llvm.smul.with.overflow";
    LLVMTypeRef type = LLVMTypeOf(i);
    LLVMValueRef operands[] = {LLVMGetOperand(i, 0), LLVMGetOperand(i, 1)};
    LLVMValueRef both = igi_simt_call_intrinsic(in->builder, name, &type, 1, operands, 2);
    return LLVMBuildExtractValue(in->builder, both, 1, "");
}

static double power_of_two(unsigned exponent) {
    double power = 1;
    while (exponent--) power *= 2;
    return power;
}

static LLVMTypeRef doubles_like(const igi_simt_instrumenter *in, LLVMTypeRef type) {
    LLVMTypeRef number = LLVMDoubleTypeInContext(in->m->context);
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMVectorType(number, LLVMGetVectorSize(type)) : number;
}

static LLVMValueRef real_splat(LLVMTypeRef type, double value) {
    return igi_simt_repeat(type, LLVMConstReal(igi_simt_element_type(type), value));
}

// The value, rounded towards zero, must be above the lower bound and below the upper; a NaN is neither.
static LLVMValueRef does_not_fit(igi_simt_instrumenter *in, LLVMValueRef i) {
    bool is_signed = is_signed_conversion(i);
    unsigned bits = LLVMGetIntTypeWidth(igi_simt_element_type(LLVMTypeOf(i)));
    LLVMTypeRef type = doubles_like(in, LLVMTypeOf(i));
    LLVMValueRef value = LLVMBuildFPCast(in->builder, LLVMGetOperand(i, 0), type, "");
    double above = is_signed ? -power_of_two(bits - 1) - (bits > 52 ? 2048 : 1) : -1;
    double below = power_of_two(is_signed ? bits - 1 : bits);
    LLVMValueRef low = LLVMBuildFCmp(in->builder, LLVMRealULE, value, real_splat(type, above), "");
    LLVMValueRef high = LLVMBuildFCmp(in->builder, LLVMRealUGE, value, real_splat(type, below), "");
    return LLVMBuildOr(in->builder, low, high, "");
}

static void instrument(igi_simt_instrumenter *in, LLVMValueRef i) {
    LLVMBasicBlockRef rest = LLVMGetInstructionParent(i), head = igi_simt_split_before(i);
    LLVMBasicBlockRef odd = LLVMAppendBasicBlockInContext(in->m->context, in->m->thread, "odd");
    LLVMPositionBuilderAtEnd(in->builder, head);
    LLVMOpcode opcode = LLVMGetInstructionOpcode(i);
    bool shift = opcode == LLVMShl || opcode == LLVMLShr || opcode == LLVMAShr;
    bool conversion = is_conversion(i);
    LLVMValueRef condition = shift ? shift_is_odd(in, i) : conversion ? does_not_fit(in, i) : wraps(in, i);
    LLVMBuildCondBr(in->builder, igi_simt_any_element(in, condition), odd, rest);
    LLVMPositionBuilderAtEnd(in->builder, odd);
    uint32_t site = igi_simt_add_site(in, i, IGI_ACT_RESULT, NULL, 0, 0);
    igi_simt_finding_kind kind = shift ? IGI_FINDING_SHIFT : conversion ? IGI_FINDING_CONVERSION : IGI_FINDING_OVERFLOW;
    LLVMValueRef arguments[] = {in->check, in->thread, igi_simt_number32(in, site), igi_simt_number32(in, kind)};
    igi_simt_call_hook(in, "odd", in->void_type, arguments, 4);
    LLVMBuildBr(in->builder, rest);
}

void igi_simt_instrument_arithmetic(igi_simt_instrumenter *in) {
    igi_simt_values all;
    if (!igi_simt_collect(in->m->thread, is_odd_candidate, &all)) {
        in->failed = true;
        return;
    }
    for (size_t k = 0; k < all.count; k++) instrument(in, all.items[k]);
    igi_simt_values_free(&all);
}
