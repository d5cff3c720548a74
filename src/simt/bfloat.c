// SPDX-License-Identifier: Apache-2.0
// bfloat without bfloat instructions: a bfloat is the upper half of a float. Operations run in float and are rounded
// one by one, as the language requires; LLVM would turn them into calls to a runtime library that kernels do not have.
#include <assert.h>
#include <string.h>

#include "simt/ir.h"
#include "simt/passes.h"

static bool is_bfloat(LLVMTypeRef type) {
    return LLVMGetTypeKind(igi_simt_element_type(type)) == LLVMBFloatTypeKind;
}

static LLVMValueRef extend(LLVMBuilderRef builder, LLVMValueRef value) {
    LLVMTypeRef type = LLVMTypeOf(value), wide = igi_simt_integers_like(type, 32);
    LLVMValueRef bits = LLVMBuildBitCast(builder, value, igi_simt_integers_like(type, 16), "");
    LLVMValueRef shifted =
        LLVMBuildShl(builder, LLVMBuildZExt(builder, bits, wide, ""), igi_simt_splat(wide, 16, false), "");
    return LLVMBuildBitCast(builder, shifted, igi_simt_floats_like(type), "");
}

// To nearest even; a NaN stays a NaN.
static LLVMValueRef round_to(LLVMBuilderRef builder, LLVMValueRef value, LLVMTypeRef to) {
    LLVMTypeRef wide = igi_simt_integers_like(to, 32);
    LLVMValueRef bits = LLVMBuildBitCast(builder, value, wide, ""), sixteen = igi_simt_splat(wide, 16, false);
    LLVMValueRef odd =
        LLVMBuildAnd(builder, LLVMBuildLShr(builder, bits, sixteen, ""), igi_simt_splat(wide, 1, false), "");
    LLVMValueRef bias = LLVMBuildAdd(builder, odd, igi_simt_splat(wide, 0x7fff, false), "");
    LLVMValueRef rounded = LLVMBuildAdd(builder, bits, bias, "");
    LLVMValueRef quiet = LLVMBuildOr(builder, bits, igi_simt_splat(wide, 0x400000, false), "");
    LLVMValueRef magnitude = LLVMBuildAnd(builder, bits, igi_simt_splat(wide, 0x7fffffff, false), "");
    LLVMValueRef is_nan = LLVMBuildICmp(builder, LLVMIntUGT, magnitude, igi_simt_splat(wide, 0x7f800000, false), "");
    LLVMValueRef chosen = LLVMBuildSelect(builder, is_nan, quiet, rounded, "");
    LLVMValueRef top = LLVMBuildLShr(builder, chosen, sixteen, "");
    return LLVMBuildBitCast(builder, LLVMBuildTrunc(builder, top, igi_simt_integers_like(to, 16), ""), to, "");
}

static LLVMValueRef operand(LLVMBuilderRef builder, LLVMValueRef instruction, unsigned index) {
    LLVMValueRef value = LLVMGetOperand(instruction, index);
    return is_bfloat(LLVMTypeOf(value)) ? extend(builder, value) : value;
}

static bool touches_bfloat(LLVMValueRef instruction) {
    if (is_bfloat(LLVMTypeOf(instruction))) return true;
    for (int i = 0; i < LLVMGetNumOperands(instruction); i++)
        if (is_bfloat(LLVMTypeOf(LLVMGetOperand(instruction, (unsigned)i)))) return true;
    return false;
}

// Moving bfloats (loads, phis, selects, shuffles) needs no change.
static bool computes_bfloat(LLVMValueRef instruction) {
    switch (LLVMGetInstructionOpcode(instruction)) {
        case LLVMFAdd:
        case LLVMFSub:
        case LLVMFMul:
        case LLVMFDiv:
        case LLVMFRem:
        case LLVMFNeg:
        case LLVMFCmp:
        case LLVMFPExt:
        case LLVMFPTrunc:
        case LLVMSIToFP:
        case LLVMUIToFP:
        case LLVMFPToSI:
        case LLVMFPToUI: return touches_bfloat(instruction);
        case LLVMCall:
            return strncmp(igi_simt_callee_name(instruction), "llvm.", 5) == 0 && touches_bfloat(instruction);
        default: return false;
    }
}

enum { MOST_ARGUMENTS = 4 };

// llvm.fma.bf16 and the like are replaced by the float function of the same name.
static LLVMValueRef call_in_float(LLVMBuilderRef builder, LLVMValueRef call) {
    LLVMValueRef callee = LLVMGetCalledValue(call), arguments[MOST_ARGUMENTS];
    unsigned count = LLVMGetNumArgOperands(call);
    assert(count <= MOST_ARGUMENTS);
    LLVMTypeRef result = LLVMTypeOf(call), first = LLVMTypeOf(LLVMGetOperand(call, 0));
    LLVMTypeRef types[2] = {is_bfloat(result) ? igi_simt_floats_like(result) : result,
                            is_bfloat(first) ? igi_simt_floats_like(first) : first};
    for (unsigned i = 0; i < count; i++) arguments[i] = operand(builder, call, i);
    LLVMModuleRef module = LLVMGetGlobalParent(callee);
    // Operations on one type are overloaded once, conversions (fptosi.sat) on result and operand, tests on the operand.
    bool test = strncmp(igi_simt_callee_name(call), "llvm.is.fpclass", 15) == 0;
    size_t overloads = is_bfloat(result) || test ? 1 : 2;
    if (test) types[0] = types[1];
    LLVMValueRef function = LLVMGetIntrinsicDeclaration(module, LLVMGetIntrinsicID(callee), types, overloads);
    return LLVMBuildCall2(builder, LLVMGlobalGetValueType(function), function, arguments, count, "");
}

static LLVMValueRef compute(LLVMBuilderRef builder, LLVMValueRef i) {
    LLVMTypeRef type = LLVMTypeOf(i), single = is_bfloat(type) ? igi_simt_floats_like(type) : type;
    LLVMOpcode opcode = LLVMGetInstructionOpcode(i);
    switch (opcode) {
        case LLVMFNeg: return LLVMBuildFNeg(builder, operand(builder, i, 0), "");
        case LLVMFCmp:
            return LLVMBuildFCmp(builder, LLVMGetFCmpPredicate(i), operand(builder, i, 0), operand(builder, i, 1), "");
        case LLVMFPExt:
        case LLVMFPTrunc: return LLVMBuildFPCast(builder, operand(builder, i, 0), single, "");
        case LLVMSIToFP:
        case LLVMUIToFP:
        case LLVMFPToSI:
        case LLVMFPToUI: return LLVMBuildCast(builder, opcode, operand(builder, i, 0), single, "");
        case LLVMCall: return call_in_float(builder, i);
        default: return LLVMBuildBinOp(builder, opcode, operand(builder, i, 0), operand(builder, i, 1), "");
    }
}

static void rewrite(LLVMBuilderRef builder, LLVMValueRef instruction) {
    LLVMTypeRef type = LLVMTypeOf(instruction);
    LLVMValueRef result = compute(builder, instruction);
    if (is_bfloat(type)) result = round_to(builder, result, type);
    LLVMReplaceAllUsesWith(instruction, result);
    LLVMInstructionEraseFromParent(instruction);
}

// ---- Moving them about ----

// As integers: on some machines LLVM would keep a bfloat in a float, and call a library function to round it.
static bool moves_bfloat(LLVMValueRef i) {
    switch (LLVMGetInstructionOpcode(i)) {
        case LLVMLoad:
        case LLVMSelect:
        case LLVMPHI: return is_bfloat(LLVMTypeOf(i));
        case LLVMStore: return is_bfloat(LLVMTypeOf(LLVMGetOperand(i, 0)));
        default: return false;
    }
}

static LLVMValueRef as_bits(LLVMBuilderRef builder, LLVMValueRef value) {
    return LLVMBuildBitCast(builder, value, igi_simt_integers_like(LLVMTypeOf(value), 16), "");
}

static LLVMValueRef merge_bits(LLVMBuilderRef builder, LLVMValueRef phi) {
    LLVMValueRef merged = LLVMBuildPhi(builder, igi_simt_integers_like(LLVMTypeOf(phi), 16), "");
    for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
        LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, k);
        LLVMPositionBuilderBefore(builder, LLVMGetBasicBlockTerminator(from));
        LLVMValueRef bits = as_bits(builder, LLVMGetIncomingValue(phi, k));
        LLVMAddIncoming(merged, &bits, &from, 1);
    }
    LLVMValueRef next = phi;
    while (LLVMIsAPHINode(next)) next = LLVMGetNextInstruction(next);
    LLVMPositionBuilderBefore(builder, next);
    return merged;
}

static void move_bits(LLVMBuilderRef builder, LLVMValueRef i) {
    LLVMValueRef bits;
    switch (LLVMGetInstructionOpcode(i)) {
        case LLVMStore: LLVMSetOperand(i, 0, as_bits(builder, LLVMGetOperand(i, 0))); return;
        case LLVMLoad:
            bits = LLVMBuildLoad2(builder, igi_simt_integers_like(LLVMTypeOf(i), 16), LLVMGetOperand(i, 0), "");
            LLVMSetAlignment(bits, LLVMGetAlignment(i));
            LLVMSetVolatile(bits, LLVMGetVolatile(i));
            break;
        case LLVMSelect:
            bits = LLVMBuildSelect(builder, LLVMGetOperand(i, 0), as_bits(builder, LLVMGetOperand(i, 1)),
                                   as_bits(builder, LLVMGetOperand(i, 2)), "");
            break;
        default: bits = merge_bits(builder, i); break;
    }
    LLVMReplaceAllUsesWith(i, LLVMBuildBitCast(builder, bits, LLVMTypeOf(i), ""));
    LLVMInstructionEraseFromParent(i);
}

ig_status igi_simt_pass_bfloat(igi_simt_module *m) {
    ig_status status = igi_simt_rewrite_instructions(m, computes_bfloat, rewrite);
    return status == IG_STATUS_OK ? igi_simt_rewrite_instructions(m, moves_bfloat, move_bits) : status;
}
