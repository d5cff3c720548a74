// SPDX-License-Identifier: Apache-2.0
// Atomic operations of neighbouring lanes on neighbouring elements, whose results nobody needs, as at the end of a
// histogram. A processor does few of them per microsecond, and fewer when several cores want the same cache lines: two
// or four elements are changed at once, by a compare-and-exchange of 8 or 16 bytes. Each element still changes atomically.
#include <string.h>

#include "simt/ir.h"
#include "simt/target.h"
#include "simt/widen.h"

enum { LEAST_LANES = 8, MOST_BYTES = 16, FALLBACK_BYTES = 8 };

typedef struct operation {
    LLVMAtomicRMWBinOp atomic;
    LLVMOpcode opcode;      // 0: an intrinsic
    const char *intrinsic;  // of two vectors; NULL: an instruction
} operation;

static const operation operations[] = {
    {LLVMAtomicRMWBinOpAdd, LLVMAdd, NULL},   {LLVMAtomicRMWBinOpSub, LLVMSub, NULL},
    {LLVMAtomicRMWBinOpAnd, LLVMAnd, NULL},   {LLVMAtomicRMWBinOpOr, LLVMOr, NULL},
    {LLVMAtomicRMWBinOpXor, LLVMXor, NULL},   {LLVMAtomicRMWBinOpUMax, 0, "llvm.umax"},
    {LLVMAtomicRMWBinOpUMin, 0, "llvm.umin"}, {LLVMAtomicRMWBinOpMax, 0, "llvm.smax"},
    {LLVMAtomicRMWBinOpMin, 0, "llvm.smin"},
};

static const operation *find_operation(LLVMValueRef i) {
    for (size_t k = 0; k < sizeof operations / sizeof *operations; k++)
        if (operations[k].atomic == LLVMGetAtomicRMWBinOp(i)) return &operations[k];
    return NULL;
}

// Bytes of one compare-and-exchange.
static uint32_t widest(void) {
    return igi_simt_is_for_x86() && strstr(igi_simt_features(), "+cx16") ? MOST_BYTES : FALLBACK_BYTES;
}

// Threadgroup memory needs no atomics; quick code is not worth the time that this takes to compile.
static bool is_row_of_atomics(const igi_simt_widener *w, LLVMValueRef i) {
    LLVMTypeRef type = LLVMTypeOf(i);
    if (w->mask || w->m->request->first_tier || w->width < LEAST_LANES || LLVMGetFirstUse(i) || LLVMGetVolatile(i))
        return false;
    return LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) == 32 &&
           LLVMGetOrdering(i) == LLVMAtomicOrderingMonotonic && !igi_simt_is_relaxed_atomic(i) &&
           igi_simt_is_row_access(w, LLVMGetOperand(i, 0), type);
}

static LLVMValueRef combined(igi_simt_widener *w, const operation *o, LLVMValueRef a, LLVMValueRef b) {
    LLVMTypeRef type = LLVMTypeOf(a);
    LLVMValueRef pair[] = {a, b};
    return o->intrinsic ? igi_simt_call_intrinsic(w->builder, o->intrinsic, &type, 1, pair, 2)
                        : LLVMBuildBinOp(w->builder, o->opcode, a, b, "");
}

// What is there now, read in halves where the processor reads no more at once: a compare-and-exchange that finds
// something else says what.
static LLVMValueRef look(igi_simt_widener *w, LLVMValueRef address, LLVMTypeRef bits) {
    LLVMBuilderRef b = w->builder;
    LLVMValueRef whole = LLVMConstNull(bits);
    for (unsigned at = 0; at < LLVMGetIntTypeWidth(bits) / 8; at += 8) {
        LLVMValueRef distance = LLVMConstInt(w->i64, at, 0);
        LLVMValueRef half = LLVMBuildLoad2(b, w->i64, LLVMBuildGEP2(b, w->i8, address, &distance, 1, ""), "");
        LLVMSetOrdering(half, LLVMAtomicOrderingMonotonic);
        LLVMSetAlignment(half, 8);
        LLVMValueRef moved = LLVMBuildShl(b, LLVMBuildZExt(b, half, bits, ""), LLVMConstInt(bits, 8ull * at, 0), "");
        whole = LLVMBuildOr(b, whole, moved, "");
    }
    return whole;
}

// Some elements at once, again and again until nobody else was there meanwhile.
static void change(igi_simt_widener *w, const operation *o, LLVMValueRef address, LLVMValueRef given) {
    LLVMBuilderRef b = w->builder;
    LLVMTypeRef type = LLVMTypeOf(given), bits = LLVMIntTypeInContext(w->m->context, 32 * LLVMGetVectorSize(type));
    LLVMValueRef seen = look(w, address, bits);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(b), attempt = igi_simt_new_block(w, "attempt"),
                      changed = igi_simt_new_block(w, "changed");
    LLVMBuildBr(b, attempt);
    LLVMPositionBuilderAtEnd(b, attempt);
    LLVMValueRef old = LLVMBuildPhi(b, bits, "old");
    LLVMValueRef next = combined(w, o, LLVMBuildBitCast(b, old, type, ""), given);
    LLVMValueRef pair = LLVMBuildAtomicCmpXchg(b, address, old, LLVMBuildBitCast(b, next, bits, ""),
                                               LLVMAtomicOrderingMonotonic, LLVMAtomicOrderingMonotonic, 0);
    LLVMSetAlignment(pair, LLVMGetIntTypeWidth(bits) / 8);
    LLVMValueRef values[] = {seen, LLVMBuildExtractValue(b, pair, 0, "")};
    LLVMBasicBlockRef blocks[] = {before, attempt};
    LLVMAddIncoming(old, values, blocks, 2);
    LLVMBuildCondBr(b, LLVMBuildExtractValue(b, pair, 1, ""), changed, attempt);
    LLVMPositionBuilderAtEnd(b, changed);
}

typedef struct rounds {
    LLVMValueRef at;  // the first lane of the round
    LLVMBasicBlockRef head;
} rounds;

static rounds begin_rounds(igi_simt_widener *w) {
    LLVMBasicBlockRef before = LLVMGetInsertBlock(w->builder);
    rounds r = {.head = igi_simt_new_block(w, "atomics")};
    LLVMBuildBr(w->builder, r.head);
    LLVMPositionBuilderAtEnd(w->builder, r.head);
    LLVMValueRef zero = LLVMConstNull(w->i32);
    r.at = LLVMBuildPhi(w->builder, w->i32, "lane");
    LLVMAddIncoming(r.at, &zero, &before, 1);
    return r;
}

static void end_rounds(igi_simt_widener *w, const rounds *r, uint32_t step, LLVMBasicBlockRef after) {
    LLVMBuilderRef b = w->builder;
    LLVMValueRef next = LLVMBuildAdd(b, r->at, LLVMConstInt(w->i32, step, 0), "");
    LLVMBasicBlockRef last = LLVMGetInsertBlock(b);
    LLVMAddIncoming(r->at, &next, &last, 1);
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntULT, next, LLVMConstInt(w->i32, w->width, 0), ""), r->head, after);
}

// Calls the function that adds late. The builder is left where it has not done so.
static void try_late(igi_simt_widener *w, LLVMValueRef first, LLVMValueRef values, LLVMBasicBlockRef after) {
    LLVMBuilderRef b = w->builder;
    LLVMTypeRef parameters[] = {w->pointer, w->pointer, w->i32}, type = LLVMFunctionType(w->i32, parameters, 3, 0);
    LLVMValueRef arguments[] = {first, values, LLVMConstInt(w->i32, w->width, 0)};
    LLVMValueRef done = LLVMBuildCall2(b, type, igi_simt_declare(w->m->module, "ig.late", type), arguments, 3, "late");
    LLVMBasicBlockRef now = igi_simt_new_block(w, "now");
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntNE, done, LLVMConstNull(w->i32), ""), after, now);
    LLVMPositionBuilderAtEnd(b, now);
}

bool igi_simt_widen_atomic_row(igi_simt_widener *w, LLVMValueRef i) {
    if (!LLVMIsAAtomicRMWInst(i) || !is_row_of_atomics(w, i)) return false;
    const operation *o = find_operation(i);
    uint32_t bytes = widest(), lanes = bytes / 4;
    if (!o || w->width % lanes != 0) return false;
    LLVMBuilderRef b = w->builder;
    LLVMValueRef first = igi_simt_widen_scalar(w, LLVMGetOperand(i, 0));
    LLVMValueRef values = igi_simt_spill(w, igi_simt_widen_vector(w, LLVMGetOperand(i, 1)));
    LLVMBasicBlockRef aligned = igi_simt_new_block(w, "aligned"), odd = igi_simt_new_block(w, "odd"),
                      after = igi_simt_new_block(w, "after");
    if (igi_simt_may_add_late(w, i)) try_late(w, first, values, after);
    LLVMValueRef beside =
        LLVMBuildAnd(b, LLVMBuildPtrToInt(b, first, w->i64, ""), LLVMConstInt(w->i64, bytes - 1, 0), "");
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, beside, LLVMConstNull(w->i64), ""), aligned, odd);

    LLVMPositionBuilderAtEnd(b, aligned);
    rounds r = begin_rounds(w);
    LLVMValueRef given =
        LLVMBuildLoad2(b, LLVMVectorType(w->i32, lanes), igi_simt_element_address(w, values, w->i32, r.at), "");
    LLVMSetAlignment(given, 4);
    change(w, o, igi_simt_element_address(w, first, w->i32, r.at), given);
    end_rounds(w, &r, lanes, after);

    LLVMPositionBuilderAtEnd(b, odd);
    r = begin_rounds(w);
    LLVMValueRef copy = LLVMInstructionClone(i);
    LLVMSetOperand(copy, 0, igi_simt_element_address(w, first, w->i32, r.at));
    LLVMSetOperand(copy, 1, LLVMBuildLoad2(b, w->i32, igi_simt_element_address(w, values, w->i32, r.at), ""));
    LLVMInsertIntoBuilder(b, copy);
    end_rounds(w, &r, 1, after);
    LLVMPositionBuilderAtEnd(b, after);
    return true;
}
