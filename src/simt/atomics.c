// SPDX-License-Identifier: Apache-2.0
// Atomics on threadgroup memory need no locks: one thread of the host runs a whole threadgroup.
//
// Plain loads and stores replace atomic ones before widening. A read-modify-write must stay one operation until the lanes
// that may access the same address have been serialised, so it is only marked, and replaced afterwards.
#include <stdlib.h>

#include "core/memory.h"
#include "simt/ir.h"
#include "simt/passes.h"

static const char mark[] = "ig.threadgroup";

static LLVMValueRef address_of(LLVMValueRef i) {
    return LLVMGetOperand(i, LLVMIsAStoreInst(i) ? 1 : 0);
}

static bool is_atomic(LLVMValueRef i) {
    if (LLVMIsALoadInst(i) || LLVMIsAStoreInst(i)) return LLVMGetOrdering(i) != LLVMAtomicOrderingNotAtomic;
    return LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i);
}

static bool is_threadgroup_atomic(LLVMValueRef i) {
    return is_atomic(i) && igi_simt_owner_of(address_of(i)) == IGI_OWNER_THREADGROUP;
}

// ---- Before widening ----

static void relax(LLVMBuilderRef builder, LLVMValueRef i) {
    (void)builder;
    if (LLVMIsALoadInst(i) || LLVMIsAStoreInst(i)) {
        LLVMSetOrdering(i, LLVMAtomicOrderingNotAtomic);
        LLVMSetVolatile(i, 0);
        return;
    }
    LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(i));
    unsigned kind = LLVMGetMDKindIDInContext(context, mark, sizeof mark - 1);
    LLVMSetMetadata(i, kind, LLVMMetadataAsValue(context, LLVMMDNodeInContext2(context, NULL, 0)));
}

ig_status igi_simt_pass_relax(igi_simt_module *m) {
    return igi_simt_rewrite_instructions(m, is_threadgroup_atomic, relax);
}

// ---- After it ----

bool igi_simt_is_relaxed_atomic(LLVMValueRef i) {
    if (!LLVMIsAAtomicRMWInst(i) && !LLVMIsAAtomicCmpXchgInst(i)) return false;
    LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(i));
    return LLVMGetMetadata(i, LLVMGetMDKindIDInContext(context, mark, sizeof mark - 1)) != NULL;
}

static LLVMValueRef choose(LLVMBuilderRef b, LLVMIntPredicate keep, LLVMValueRef old, LLVMValueRef given) {
    return LLVMBuildSelect(b, LLVMBuildICmp(b, keep, old, given, ""), old, given, "");
}

static LLVMValueRef modified(LLVMBuilderRef b, LLVMAtomicRMWBinOp operation, LLVMValueRef old, LLVMValueRef given) {
    switch (operation) {
        case LLVMAtomicRMWBinOpXchg: return given;
        case LLVMAtomicRMWBinOpAdd: return LLVMBuildAdd(b, old, given, "");
        case LLVMAtomicRMWBinOpSub: return LLVMBuildSub(b, old, given, "");
        case LLVMAtomicRMWBinOpAnd: return LLVMBuildAnd(b, old, given, "");
        case LLVMAtomicRMWBinOpOr: return LLVMBuildOr(b, old, given, "");
        case LLVMAtomicRMWBinOpXor: return LLVMBuildXor(b, old, given, "");
        case LLVMAtomicRMWBinOpMax: return choose(b, LLVMIntSGT, old, given);
        case LLVMAtomicRMWBinOpMin: return choose(b, LLVMIntSLT, old, given);
        case LLVMAtomicRMWBinOpUMax: return choose(b, LLVMIntUGT, old, given);
        case LLVMAtomicRMWBinOpUMin: return choose(b, LLVMIntULT, old, given);
        case LLVMAtomicRMWBinOpFAdd: return LLVMBuildFAdd(b, old, given, "");
        case LLVMAtomicRMWBinOpFSub: return LLVMBuildFSub(b, old, given, "");
        default: return NULL;
    }
}

static void replace_modify(LLVMBuilderRef b, LLVMValueRef i) {
    LLVMValueRef address = LLVMGetOperand(i, 0);
    LLVMValueRef old = LLVMBuildLoad2(b, LLVMTypeOf(i), address, "");
    LLVMValueRef next = modified(b, LLVMGetAtomicRMWBinOp(i), old, LLVMGetOperand(i, 1));
    if (!next) return;  // stays atomic, which is correct too; the load is removed
    LLVMBuildStore(b, next, address);
    LLVMReplaceAllUsesWith(i, old);
    LLVMInstructionEraseFromParent(i);
}

static void replace_exchange(LLVMBuilderRef b, LLVMValueRef i) {
    LLVMValueRef address = LLVMGetOperand(i, 0), expected = LLVMGetOperand(i, 1);
    LLVMValueRef old = LLVMBuildLoad2(b, LLVMTypeOf(expected), address, "");
    LLVMValueRef same = LLVMBuildICmp(b, LLVMIntEQ, old, expected, "");
    LLVMBuildStore(b, LLVMBuildSelect(b, same, LLVMGetOperand(i, 2), old, ""), address);
    LLVMValueRef pair = LLVMBuildInsertValue(b, LLVMGetPoison(LLVMTypeOf(i)), old, 0, "");
    LLVMReplaceAllUsesWith(i, LLVMBuildInsertValue(b, pair, same, 1, ""));
    LLVMInstructionEraseFromParent(i);
}

static void replace(LLVMBuilderRef builder, LLVMValueRef i) {
    if (LLVMIsAAtomicRMWInst(i))
        replace_modify(builder, i);
    else
        replace_exchange(builder, i);
}

ig_status igi_simt_pass_unlock(igi_simt_module *m) {
    LLVMValueRef thread = m->thread;
    ig_status status = IG_STATUS_OK;
    for (LLVMValueRef f = LLVMGetFirstFunction(m->module); f && status == IG_STATUS_OK; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f)) continue;
        m->thread = f;
        status = igi_simt_rewrite_instructions(m, igi_simt_is_relaxed_atomic, replace);
    }
    m->thread = thread;
    return status;
}
