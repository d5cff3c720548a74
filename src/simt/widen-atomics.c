// SPDX-License-Identifier: Apache-2.0
// Atomic operations of all lanes on one address: the lanes' values are combined first, and memory is changed once. The
// result of each lane is the old contents of memory, combined with the values of the lanes before it.
#include "simt/ir.h"
#include "simt/widen.h"

typedef struct combination {
    LLVMAtomicRMWBinOp operation;
    LLVMOpcode opcode;      // 0: an intrinsic
    const char *intrinsic;  // of two values; NULL: an instruction
    const char *reduction;  // of a vector
    enum { ZERO, ONES, LEAST, MOST } neutral;
} combination;

// sub subtracts the sum.
static const combination combinations[] = {
    {LLVMAtomicRMWBinOpAdd, LLVMAdd, NULL, "llvm.vector.reduce.add", ZERO},
    {LLVMAtomicRMWBinOpSub, LLVMAdd, NULL, "llvm.vector.reduce.add", ZERO},
    {LLVMAtomicRMWBinOpAnd, LLVMAnd, NULL, "llvm.vector.reduce.and", ONES},
    {LLVMAtomicRMWBinOpOr, LLVMOr, NULL, "llvm.vector.reduce.or", ZERO},
    {LLVMAtomicRMWBinOpXor, LLVMXor, NULL, "llvm.vector.reduce.xor", ZERO},
    {LLVMAtomicRMWBinOpUMax, 0, "llvm.umax", "llvm.vector.reduce.umax", ZERO},
    {LLVMAtomicRMWBinOpUMin, 0, "llvm.umin", "llvm.vector.reduce.umin", ONES},
    {LLVMAtomicRMWBinOpMax, 0, "llvm.smax", "llvm.vector.reduce.smax", LEAST},
    {LLVMAtomicRMWBinOpMin, 0, "llvm.smin", "llvm.vector.reduce.smin", MOST},
};

static const combination *find_combination(const igi_simt_widener *w, LLVMValueRef i) {
    if (!LLVMIsAAtomicRMWInst(i) || LLVMGetTypeKind(LLVMTypeOf(i)) != LLVMIntegerTypeKind) return NULL;
    if (igi_simt_shape_of(&w->s, LLVMGetOperand(i, 0)).kind != IGI_SHAPE_UNIFORM || LLVMGetVolatile(i)) return NULL;
    for (size_t k = 0; k < sizeof combinations / sizeof *combinations; k++)
        if (combinations[k].operation == LLVMGetAtomicRMWBinOp(i)) return &combinations[k];
    return NULL;
}

static LLVMValueRef neutral_of(const combination *c, LLVMTypeRef type) {
    LLVMTypeRef element = LLVMGetElementType(type);
    uint64_t top = 1ull << (LLVMGetIntTypeWidth(element) - 1);
    uint64_t value = c->neutral == ZERO ? 0 : c->neutral == ONES ? UINT64_MAX : c->neutral == LEAST ? top : top - 1;
    return igi_simt_splat(type, value, false);
}

static LLVMValueRef combine(igi_simt_widener *w, const combination *c, LLVMValueRef a, LLVMValueRef b) {
    LLVMTypeRef type = LLVMTypeOf(a);
    LLVMValueRef pair[] = {a, b};
    return c->intrinsic ? igi_simt_call_intrinsic(w->builder, c->intrinsic, &type, 1, pair, 2)
                        : LLVMBuildBinOp(w->builder, c->opcode, a, b, "");
}

// Combines each lane with the lanes before it, inclusive.
static LLVMValueRef scan(igi_simt_widener *w, const combination *c, LLVMValueRef values, LLVMValueRef neutral) {
    for (uint32_t step = 1; step < w->width; step *= 2) {
        uint32_t from[IGI_MAX_WIDTH];
        for (uint32_t lane = 0; lane < w->width; lane++) from[lane] = lane < step ? w->width : lane - step;
        LLVMValueRef before =
            LLVMBuildShuffleVector(w->builder, values, neutral, igi_simt_shuffle_mask(w, from, w->width), "");
        values = combine(w, c, values, before);
    }
    return values;
}

static LLVMValueRef moved_by_one(igi_simt_widener *w, LLVMValueRef values, LLVMValueRef neutral) {
    uint32_t from[IGI_MAX_WIDTH];
    for (uint32_t lane = 0; lane < w->width; lane++) from[lane] = lane ? lane - 1 : w->width;
    return LLVMBuildShuffleVector(w->builder, values, neutral, igi_simt_shuffle_mask(w, from, w->width), "");
}

// Changes memory once, and computes the lanes' results from its old contents. NULL if they are not used.
static LLVMValueRef change_once(igi_simt_widener *w, const combination *c, LLVMValueRef i, LLVMValueRef address,
                                LLVMValueRef values) {
    LLVMTypeRef wide = LLVMTypeOf(values);
    LLVMValueRef neutral = neutral_of(c, wide), once = LLVMInstructionClone(i), sums = NULL, total;
    if (w->mask) values = LLVMBuildSelect(w->builder, w->mask, values, neutral, "");
    if (LLVMGetFirstUse(i)) {
        sums = scan(w, c, values, neutral);
        total = LLVMBuildExtractElement(w->builder, sums, LLVMConstInt(w->i32, w->width - 1, 0), "");
    } else {
        total = igi_simt_call_intrinsic(w->builder, c->reduction, &wide, 1, &values, 1);
    }
    LLVMSetOperand(once, 0, address);
    LLVMSetOperand(once, 1, total);
    LLVMInsertIntoBuilder(w->builder, once);
    if (!sums) return NULL;
    LLVMValueRef before = moved_by_one(w, sums, neutral), was = igi_simt_splat_value(w, once);
    return c->operation == LLVMAtomicRMWBinOpSub ? LLVMBuildSub(w->builder, was, before, "")
                                                 : combine(w, c, was, before);
}

bool igi_simt_widen_shared_atomic(igi_simt_widener *w, LLVMValueRef i) {
    const combination *c = find_combination(w, i);
    if (!c) return false;
    // Computed here, where it dominates both branches.
    LLVMValueRef address = igi_simt_widen_scalar(w, LLVMGetOperand(i, 0));
    LLVMValueRef values = igi_simt_widen_vector(w, LLVMGetOperand(i, 1));
    if (!w->mask) {
        igi_simt_widen_set(w, i, NULL, change_once(w, c, i, address, values));
        return true;
    }
    // Without an active lane, the address may be invalid.
    LLVMBasicBlockRef before = LLVMGetInsertBlock(w->builder);
    LLVMBasicBlockRef some = LLVMAppendBasicBlockInContext(w->m->context, w->to, "some"),
                      after = LLVMAppendBasicBlockInContext(w->m->context, w->to, "after");
    LLVMBuildCondBr(w->builder, igi_simt_any(w, w->mask), some, after);
    LLVMPositionBuilderAtEnd(w->builder, some);
    LLVMValueRef results = change_once(w, c, i, address, values);
    LLVMBasicBlockRef last = LLVMGetInsertBlock(w->builder);
    LLVMBuildBr(w->builder, after);
    LLVMPositionBuilderAtEnd(w->builder, after);
    if (!results) return true;
    LLVMValueRef phi = LLVMBuildPhi(w->builder, LLVMTypeOf(results), "");
    LLVMValueRef given[] = {results, LLVMGetPoison(LLVMTypeOf(results))};
    LLVMBasicBlockRef ways[] = {last, before};
    LLVMAddIncoming(phi, given, ways, 2);
    igi_simt_widen_set(w, i, NULL, phi);
    return true;
}
