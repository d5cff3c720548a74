// SPDX-License-Identifier: Apache-2.0
// Hides the operands of fabs behind a fence. LLVM 19 infers from `|a| > 0` that a is positive, not that it is nonzero,
// and drops the second magnitude of `e = |a| > 0 ? a : 0; |b| > |e|`: kernels that look for the largest magnitude
// computed wrong results as soon as the loop was unrolled. LLVM looks through llvm.fabs, but not through a fence in its
// operand.
#include <string.h>

#include "simt/ir.h"
#include "simt/passes.h"

static bool is_magnitude(LLVMValueRef i) {
    return strncmp(igi_simt_callee_name(i), "llvm.fabs.", 10) == 0;
}

static bool is_fence(LLVMValueRef i) {
    return strncmp(igi_simt_callee_name(i), "llvm.arithmetic.fence.", 22) == 0;
}

static LLVMValueRef fenced(LLVMBuilderRef builder, LLVMValueRef x) {
    LLVMTypeRef type = LLVMTypeOf(x);
    return igi_simt_call_intrinsic(builder, "llvm.arithmetic.fence", &type, 1, &x, 1);
}

// Element by element: passes that split vectors leave fences whole.
static LLVMValueRef fenced_elements(LLVMBuilderRef builder, LLVMValueRef x) {
    LLVMTypeRef index_type = LLVMInt32TypeInContext(LLVMGetTypeContext(LLVMTypeOf(x)));
    LLVMValueRef all = LLVMGetPoison(LLVMTypeOf(x));
    for (unsigned i = 0; i < LLVMGetVectorSize(LLVMTypeOf(x)); i++) {
        LLVMValueRef at = LLVMConstInt(index_type, i, false);
        LLVMValueRef element = fenced(builder, LLVMBuildExtractElement(builder, x, at, ""));
        all = LLVMBuildInsertElement(builder, all, element, at, "");
    }
    return all;
}

static void hide(LLVMBuilderRef builder, LLVMValueRef magnitude) {
    LLVMValueRef x = LLVMGetOperand(magnitude, 0);
    bool vector = LLVMGetTypeKind(LLVMTypeOf(x)) == LLVMVectorTypeKind;
    LLVMSetOperand(magnitude, 0, vector ? fenced_elements(builder, x) : fenced(builder, x));
}

ig_status igi_simt_hide_magnitudes(igi_simt_module *m) {
    return igi_simt_rewrite_instructions(m, is_magnitude, hide);
}

static ig_status show_in(igi_simt_module *m, LLVMValueRef function) {
    igi_simt_values fences;
    if (!igi_simt_collect(function, is_fence, &fences)) return igi_error_no_memory(m->error);
    for (size_t i = 0; i < fences.count; i++) {
        LLVMReplaceAllUsesWith(fences.items[i], LLVMGetOperand(fences.items[i], 0));
        LLVMInstructionEraseFromParent(fences.items[i]);
    }
    igi_simt_values_free(&fences);
    return IG_STATUS_OK;
}

ig_status igi_simt_pass_show_magnitudes(igi_simt_module *m) {
    ig_status status = IG_STATUS_OK;
    for (LLVMValueRef f = LLVMGetFirstFunction(m->module); f && status == IG_STATUS_OK; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f)) status = show_in(m, f);
    return status;
}
