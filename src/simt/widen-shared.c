// SPDX-License-Identifier: Apache-2.0
// Functions that quick code calls instead of repeating them. Kernels have dozens of gathers, and of loads and products
// of simdgroup matrices, each of them up to hundreds of instructions, and LLVM takes most of the time that a kernel takes
// to compile for them.
#include <assert.h>

#include "simt/ir.h"
#include "simt/widen.h"

LLVMValueRef igi_simt_begin_shared(igi_simt_widener *w, const char *name, LLVMTypeRef type, igi_simt_shared *outer) {
    LLVMValueRef function = LLVMAddFunction(w->m->module, name, type);
    LLVMSetLinkage(function, LLVMInternalLinkage);
    igi_simt_add_attribute(function, "noinline");
    igi_simt_add_attribute(function, "nounwind");
    *outer = (igi_simt_shared){LLVMGetInsertBlock(w->builder), LLVMGetCurrentDebugLocation2(w->builder)};
    LLVMSetCurrentDebugLocation2(w->builder, NULL);
    LLVMPositionBuilderAtEnd(w->builder, LLVMAppendBasicBlockInContext(w->m->context, function, "entry"));
    return function;
}

void igi_simt_end_shared(igi_simt_widener *w, const igi_simt_shared *outer) {
    LLVMBuildRetVoid(w->builder);
    LLVMPositionBuilderAtEnd(w->builder, outer->block);
    LLVMSetCurrentDebugLocation2(w->builder, outer->place);
}

// ---- Active lanes, one after the other ----

LLVMValueRef igi_simt_active_lanes(igi_simt_widener *w) {
    assert(w->width <= IGI_MOST_SHARED_LANES);
    LLVMTypeRef bits = LLVMIntTypeInContext(w->m->context, w->width);
    LLVMValueRef mask = LLVMBuildBitCast(w->builder, igi_simt_active_mask(w), bits, "");
    return LLVMBuildZExt(w->builder, mask, w->i64, "active");
}

LLVMValueRef igi_simt_begin_lanes(igi_simt_widener *w, LLVMValueRef active, igi_simt_lane_rounds *rounds) {
    LLVMBuilderRef b = w->builder;
    LLVMValueRef function = LLVMGetBasicBlockParent(LLVMGetInsertBlock(b)), zero = LLVMConstNull(w->i64);
    *rounds = (igi_simt_lane_rounds){.body = LLVMAppendBasicBlockInContext(w->m->context, function, "lanes"),
                                     .after = LLVMAppendBasicBlockInContext(w->m->context, function, "after")};
    LLVMBasicBlockRef before = LLVMGetInsertBlock(b);
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntNE, active, zero, ""), rounds->body, rounds->after);
    LLVMPositionBuilderAtEnd(b, rounds->body);
    rounds->rest = LLVMBuildPhi(b, w->i64, "rest");
    LLVMAddIncoming(rounds->rest, &active, &before, 1);
    LLVMValueRef arguments[] = {rounds->rest, LLVMConstInt(w->i1, 1, 0)};
    return igi_simt_call_intrinsic(b, "llvm.cttz", &w->i64, 1, arguments, 2);
}

void igi_simt_end_lanes(igi_simt_widener *w, const igi_simt_lane_rounds *rounds) {
    LLVMBuilderRef b = w->builder;
    LLVMValueRef less = LLVMBuildAdd(b, rounds->rest, LLVMConstAllOnes(w->i64), "");
    LLVMValueRef next = LLVMBuildAnd(b, rounds->rest, less, "next");
    LLVMBasicBlockRef body = LLVMGetInsertBlock(b);
    LLVMAddIncoming(rounds->rest, &next, &body, 1);
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntNE, next, LLVMConstNull(w->i64), ""), rounds->body, rounds->after);
    LLVMPositionBuilderAtEnd(b, rounds->after);
}
