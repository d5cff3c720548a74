// SPDX-License-Identifier: Apache-2.0
// Private arrays that stay in memory: the lanes' elements are interleaved, so that an access with the same index in all
// lanes is one vector access. Otherwise the lanes' arrays would follow each other in memory.
//
// Only arrays all of whose accesses have one size: then an offset of n elements becomes one of n * lanes elements.
//
// An index outside of the array reaches a spare element behind it. Without that it would reach the arrays of other
// threads, whose memory is next to it; on a GPU no thread can do that, and programs rely on it.
#include <llvm-c/Target.h>
#include <string.h>

#include "core/memory.h"
#include "simt/ir.h"
#include "simt/passes.h"

enum { MAX_ELEMENT = 8, MAX_POINTERS = 2000 };

typedef struct interleaver {
    igi_simt_module *m;
    LLVMTargetDataRef layout;
    LLVMBuilderRef builder;
    uint64_t element;         // bytes of every access; 0 before the first
    igi_simt_values derived;  // the variable and every pointer derived from it
    bool failed;              // memory is short
} interleaver;

// ---- Which ----

static bool is_derived(const interleaver *p, LLVMValueRef value) {
    for (size_t i = 0; i < p->derived.count; i++)
        if (p->derived.items[i] == value) return true;
    return false;
}

static bool is_one_element(interleaver *p, LLVMTypeRef type) {
    LLVMTypeKind kind = LLVMGetTypeKind(type);
    if (kind == LLVMVectorTypeKind || kind == LLVMStructTypeKind || kind == LLVMArrayTypeKind) return false;
    uint64_t bytes = LLVMABISizeOfType(p->layout, type);
    if (!p->element) p->element = bytes;
    return bytes == p->element && bytes <= MAX_ELEMENT;
}

static bool adds_up(interleaver *p, LLVMValueRef pointer) {
    if (is_derived(p, pointer)) return true;
    p->failed |= !igi_simt_values_add(&p->derived, pointer);
    return !p->failed && p->derived.count <= MAX_POINTERS;
}

static bool is_harmless_call(LLVMValueRef user) {
    return strncmp(igi_simt_callee_name(user), "llvm.lifetime.", 14) == 0;
}

// A use that stays correct when offsets grow; pointers derived by it are checked later.
static bool can_follow(interleaver *p, LLVMValueRef user, LLVMValueRef pointer) {
    switch (LLVMGetInstructionOpcode(user)) {
        case LLVMLoad: return !LLVMGetVolatile(user) && is_one_element(p, LLVMTypeOf(user));
        case LLVMStore:
            return LLVMGetOperand(user, 0) != pointer && !LLVMGetVolatile(user) &&
                   is_one_element(p, LLVMTypeOf(LLVMGetOperand(user, 0)));
        case LLVMGetElementPtr: return LLVMGetOperand(user, 0) == pointer && adds_up(p, user);
        case LLVMPHI: return adds_up(p, user);
        case LLVMCall: return is_harmless_call(user);
        default: return false;
    }
}

// Whether every pointer that a phi may be is derived from the variable.
static bool phis_are_closed(const interleaver *p) {
    for (size_t i = 0; i < p->derived.count; i++) {
        LLVMValueRef phi = p->derived.items[i];
        if (!LLVMIsAPHINode(phi)) continue;
        for (unsigned k = 0; k < LLVMCountIncoming(phi); k++)
            if (!is_derived(p, LLVMGetIncomingValue(phi, k))) return false;
    }
    return true;
}

// ---- Offsets ----

// Calls `each` for every index of a getelementptr with the size it counts in; constants are passed as such.
typedef bool (*index_visitor)(interleaver *p, LLVMValueRef index, uint64_t bytes, void *context);

static bool each_index(interleaver *p, LLVMValueRef gep, index_visitor visit, void *context) {
    LLVMTypeRef type = LLVMGetGEPSourceElementType(gep), i64 = LLVMInt64TypeInContext(p->m->context);
    if (!visit(p, LLVMGetOperand(gep, 1), LLVMABISizeOfType(p->layout, type), context)) return false;
    for (int k = 2; k < LLVMGetNumOperands(gep); k++) {
        LLVMValueRef index = LLVMGetOperand(gep, (unsigned)k);
        if (LLVMGetTypeKind(type) == LLVMStructTypeKind) {
            unsigned field = (unsigned)LLVMConstIntGetZExtValue(index);
            LLVMValueRef offset = LLVMConstInt(i64, LLVMOffsetOfElement(p->layout, type, field), 0);
            if (!visit(p, offset, 1, context)) return false;
            type = LLVMStructGetTypeAtIndex(type, field);
            continue;
        }
        type = LLVMGetElementType(type);
        if (!visit(p, index, LLVMABISizeOfType(p->layout, type), context)) return false;
    }
    return true;
}

static bool is_whole(interleaver *p, LLVMValueRef index, uint64_t bytes, void *context) {
    (void)context;
    if (bytes % p->element == 0) return true;
    return LLVMIsAConstantInt(index) && (uint64_t)LLVMConstIntGetSExtValue(index) * bytes % p->element == 0;
}

static bool offsets_are_whole(interleaver *p) {
    for (size_t i = 0; i < p->derived.count; i++)
        if (LLVMIsAGetElementPtrInst(p->derived.items[i]) && !each_index(p, p->derived.items[i], is_whole, NULL))
            return false;
    return true;
}

typedef struct offset {
    LLVMValueRef sum;  // of bytes
    bool is_known;
} offset;

static bool add_index(interleaver *p, LLVMValueRef index, uint64_t bytes, void *context) {
    offset *o = context;
    LLVMTypeRef i64 = LLVMInt64TypeInContext(p->m->context);
    LLVMValueRef wide = LLVMBuildIntCast2(p->builder, index, i64, 1, "");
    LLVMValueRef part = LLVMBuildMul(p->builder, wide, LLVMConstInt(i64, bytes, 0), "");
    o->sum = o->sum ? LLVMBuildAdd(p->builder, o->sum, part, "") : part;
    o->is_known &= LLVMIsAConstantInt(index) != NULL;
    return true;
}

// Whether all that it reaches is seen here: it starts at the variable, and is only read and written through.
static bool is_final(const interleaver *p, LLVMValueRef gep) {
    if (LLVMGetOperand(gep, 0) != p->derived.items[0]) return false;
    for (LLVMUseRef use = LLVMGetFirstUse(gep); use; use = LLVMGetNextUse(use))
        if (!LLVMIsALoadInst(LLVMGetUser(use)) && !LLVMIsAStoreInst(LLVMGetUser(use))) return false;
    return true;
}

// pre: offsets are whole elements, and there is a spare one at `bytes`.
static LLVMValueRef contain(interleaver *p, LLVMValueRef sum, uint64_t bytes) {
    LLVMValueRef end = LLVMConstInt(LLVMInt64TypeInContext(p->m->context), bytes, 0);
    LLVMValueRef is_inside = LLVMBuildICmp(p->builder, LLVMIntULT, sum, end, "inside");
    return LLVMBuildSelect(p->builder, is_inside, sum, end, "contained");
}

static void scale(interleaver *p, LLVMValueRef gep, uint64_t bytes, uint32_t width) {
    offset o = {.is_known = true};
    LLVMPositionBuilderBefore(p->builder, gep);
    each_index(p, gep, add_index, &o);
    if (!o.is_known && is_final(p, gep)) o.sum = contain(p, o.sum, bytes);
    LLVMValueRef lanes = LLVMConstInt(LLVMInt64TypeInContext(p->m->context), width, 0);
    LLVMValueRef scaled_sum = LLVMBuildMul(p->builder, o.sum, lanes, "");
    LLVMValueRef scaled =
        LLVMBuildGEP2(p->builder, LLVMInt8TypeInContext(p->m->context), LLVMGetOperand(gep, 0), &scaled_sum, 1, "");
    LLVMReplaceAllUsesWith(gep, scaled);
    LLVMInstructionEraseFromParent(gep);
}

// The variable with one more element behind it. post: it is the first of `derived`.
static LLVMValueRef add_spare(interleaver *p, LLVMValueRef variable) {
    LLVMTypeRef parts[] = {LLVMGetAllocatedType(variable),
                           LLVMIntTypeInContext(p->m->context, (unsigned)p->element * 8)};
    LLVMPositionBuilderBefore(p->builder, variable);
    LLVMValueRef longer =
        LLVMBuildAlloca(p->builder, LLVMStructTypeInContext(p->m->context, parts, 2, 0), LLVMGetValueName(variable));
    LLVMSetAlignment(longer, LLVMGetAlignment(variable));
    LLVMReplaceAllUsesWith(variable, longer);
    LLVMInstructionEraseFromParent(variable);
    return p->derived.items[0] = longer;
}

// ---- All of it ----

static bool is_suitable(interleaver *p, LLVMValueRef variable) {
    LLVMValueRef count = LLVMGetOperand(variable, 0);
    if (!LLVMIsAConstantInt(count) || LLVMConstIntGetZExtValue(count) != 1 || !adds_up(p, variable)) return false;
    for (size_t i = 0; i < p->derived.count; i++)
        for (LLVMUseRef use = LLVMGetFirstUse(p->derived.items[i]); use; use = LLVMGetNextUse(use))
            if (!can_follow(p, LLVMGetUser(use), p->derived.items[i])) return false;
    uint64_t bytes = LLVMABISizeOfType(p->layout, LLVMGetAllocatedType(variable));
    return p->element && bytes % p->element == 0 && phis_are_closed(p) && offsets_are_whole(p);
}

static void interleave(interleaver *p, LLVMValueRef variable, uint32_t width) {
    uint64_t bytes = LLVMABISizeOfType(p->layout, LLVMGetAllocatedType(variable));
    variable = add_spare(p, variable);
    for (size_t i = 0; i < p->derived.count; i++)
        if (LLVMIsAGetElementPtrInst(p->derived.items[i])) scale(p, p->derived.items[i], bytes, width);
    LLVMTypeRef i64 = LLVMInt64TypeInContext(p->m->context);
    LLVMMetadataRef stride = LLVMValueAsMetadata(LLVMConstInt(i64, p->element, 0));
    LLVMMetadataRef node = LLVMMDNodeInContext2(p->m->context, &stride, 1);
    LLVMSetMetadata(variable, LLVMGetMDKindIDInContext(p->m->context, IGI_LANE_STRIDE, strlen(IGI_LANE_STRIDE)),
                    LLVMMetadataAsValue(p->m->context, node));
}

static bool is_variable(LLVMValueRef instruction) {
    return LLVMIsAAllocaInst(instruction) != NULL;
}

ig_status igi_simt_pass_interleave(igi_simt_module *m, uint32_t width) {
    igi_simt_values variables;
    if (!igi_simt_collect(m->thread, is_variable, &variables)) return igi_error_no_memory(m->error);
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(m->context);
    bool failed = false;
    for (size_t i = 0; i < variables.count && !failed; i++) {
        interleaver p = {.m = m, .layout = LLVMGetModuleDataLayout(m->module), .builder = builder};
        if (is_suitable(&p, variables.items[i])) interleave(&p, variables.items[i], width);
        igi_simt_values_free(&p.derived);
        failed = p.failed;
    }
    LLVMDisposeBuilder(builder);
    igi_simt_values_free(&variables);
    return failed ? igi_error_no_memory(m->error) : IG_STATUS_OK;
}
