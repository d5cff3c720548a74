// SPDX-License-Identifier: Apache-2.0
// Fused multiply-adds of floats for processors that have none: LLVM would call a function of the C library for each lane.
// A product of two floats is exact in double. If the sum is rounded there to the odd
// one of its neighbours, rounding it once more, to float, gives what one rounding would have given (Boldo and Melquiond,
// "Emulation of FMA and correctly rounded sums", 2008).
#include <string.h>

#include "core/memory.h"
#include "simt/ir.h"
#include "simt/passes.h"
#include "simt/target.h"

static bool is_fused(LLVMValueRef i) {
    return LLVMIsACallInst(i) && strncmp(igi_simt_callee_name(i), "llvm.fma.", 9) == 0 &&
           LLVMGetTypeKind(igi_simt_element_type(LLVMTypeOf(i))) == LLVMFloatTypeKind;
}

static LLVMTypeRef doubles_like(LLVMTypeRef type) {
    LLVMTypeRef scalar = LLVMDoubleTypeInContext(LLVMGetTypeContext(type));
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMVectorType(scalar, LLVMGetVectorSize(type)) : scalar;
}

// What rounding has dropped from the sum of two doubles (Knuth).
static LLVMValueRef error_of(LLVMBuilderRef b, LLVMValueRef sum, LLVMValueRef left, LLVMValueRef right) {
    LLVMValueRef of_right = LLVMBuildFSub(b, sum, left, ""), of_left = LLVMBuildFSub(b, sum, of_right, "");
    return LLVMBuildFAdd(b, LLVMBuildFSub(b, left, of_left, ""), LLVMBuildFSub(b, right, of_right, ""), "error");
}

// The neighbour of an inexact sum that is odd: itself, or the next one towards the error.
static LLVMValueRef rounded_to_odd(LLVMBuilderRef b, LLVMValueRef sum, LLVMValueRef error) {
    LLVMTypeRef type = LLVMTypeOf(sum), integers = igi_simt_integers_like(type, 64);
    LLVMValueRef zero = LLVMConstNull(type), one = igi_simt_splat(integers, 1, false);
    LLVMValueRef bits = LLVMBuildBitCast(b, sum, integers, "");
    LLVMValueRef inexact = LLVMBuildFCmp(b, LLVMRealONE, error, zero, "inexact");
    LLVMValueRef even = LLVMBuildICmp(b, LLVMIntEQ, LLVMBuildAnd(b, bits, one, ""), LLVMConstNull(integers), "even");
    LLVMValueRef outwards = LLVMBuildICmp(b, LLVMIntEQ, LLVMBuildFCmp(b, LLVMRealOGT, error, zero, ""),
                                          LLVMBuildFCmp(b, LLVMRealOGT, sum, zero, ""), "outwards");
    LLVMValueRef next =
        LLVMBuildSelect(b, outwards, LLVMBuildAdd(b, bits, one, ""), LLVMBuildSub(b, bits, one, ""), "");
    LLVMValueRef odd = LLVMBuildSelect(b, LLVMBuildAnd(b, inexact, even, ""), next, bits, "");
    return LLVMBuildBitCast(b, odd, type, "odd");
}

static void compute_in_doubles(LLVMBuilderRef b, LLVMValueRef call) {
    LLVMTypeRef doubles = doubles_like(LLVMTypeOf(call));
    LLVMValueRef operands[3];
    LLVMPositionBuilderBefore(b, call);
    for (unsigned k = 0; k < 3; k++) operands[k] = LLVMBuildFPExt(b, LLVMGetOperand(call, k), doubles, "");
    LLVMValueRef product = LLVMBuildFMul(b, operands[0], operands[1], "product");
    LLVMValueRef sum = LLVMBuildFAdd(b, product, operands[2], "sum");
    LLVMValueRef odd = rounded_to_odd(b, sum, error_of(b, sum, product, operands[2]));
    LLVMReplaceAllUsesWith(call, LLVMBuildFPTrunc(b, odd, LLVMTypeOf(call), ""));
    LLVMInstructionEraseFromParent(call);
}

static bool compute_all(LLVMBuilderRef builder, LLVMValueRef function) {
    igi_simt_values calls;
    if (!igi_simt_collect(function, is_fused, &calls)) return false;
    for (size_t i = 0; i < calls.count; i++) compute_in_doubles(builder, calls.items[i]);
    igi_simt_values_free(&calls);
    return true;
}

ig_status igi_simt_pass_fused(igi_simt_module *m) {
    if (igi_simt_has_fused_multiply_add()) return IG_STATUS_OK;
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(m->context);
    bool done = true;
    for (LLVMValueRef f = LLVMGetFirstFunction(m->module); f && done; f = LLVMGetNextFunction(f))
        done = LLVMIsDeclaration(f) || compute_all(builder, f);
    LLVMDisposeBuilder(builder);
    return done ? IG_STATUS_OK : igi_error_no_memory(m->error);
}
