// SPDX-License-Identifier: Apache-2.0
// Iterations of a loop in which all lanes are active: `for (k = thread; k < n; k += threads)`. While the last lane
// stays in the loop, all do, which one comparison of scalars shows: such iterations need no masks, and branch from the
// end of the loop to its beginning.
#include "simt/ir.h"
#include "simt/widen.h"

static bool is_ordered(LLVMIntPredicate predicate) {
    return predicate != LLVMIntEQ && predicate != LLVMIntNE;
}

static bool is_signed(LLVMIntPredicate predicate) {
    return predicate == LLVMIntSGT || predicate == LLVMIntSGE || predicate == LLVMIntSLT || predicate == LLVMIntSLE;
}

// The operand that is linear in the lane; the other is uniform. IGI_NONE: it is another kind of comparison.
static uint32_t linear_operand(const igi_simt_widener *w, LLVMValueRef condition) {
    if (!LLVMIsAICmpInst(condition) || !is_ordered(LLVMGetICmpPredicate(condition))) return IGI_NONE;
    for (uint32_t k = 0; k < 2; k++) {
        LLVMValueRef moving = LLVMGetOperand(condition, k), limit = LLVMGetOperand(condition, 1 - k);
        bool integer = LLVMGetTypeKind(LLVMTypeOf(moving)) == LLVMIntegerTypeKind;
        if (integer && igi_simt_shape_of(&w->s, moving).kind == IGI_SHAPE_LINEAR &&
            igi_simt_shape_of(&w->s, limit).kind == IGI_SHAPE_UNIFORM)
            return k;
    }
    return IGI_NONE;
}

static bool has_barrier(LLVMBasicBlockRef block) {
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
        if (igi_simt_calls(i, "__ig_barrier")) return true;
    return false;
}

bool igi_simt_has_whole_rounds(const igi_simt_widener *w, uint32_t block) {
    const igi_simt_block *at = &w->s.cfg.blocks[block];
    LLVMValueRef terminator = LLVMGetBasicBlockTerminator(at->block);
    if (at->loop == IGI_NONE || !w->s.divergent_loop[at->loop] || !w->s.divergent_branch[block]) return false;
    if (at->successor_count != 2 || !LLVMIsABranchInst(terminator) || has_barrier(at->block)) return false;
    bool alone = (at->successors[0] == block) != (at->successors[1] == block);
    return alone && linear_operand(w, LLVMGetCondition(terminator)) != IGI_NONE;
}

// The condition, or its opposite, for the lane whose operand is `moving`.
static LLVMValueRef holds(igi_simt_widener *w, LLVMValueRef condition, uint32_t which, LLVMValueRef moving,
                          bool opposite) {
    LLVMValueRef limit = igi_simt_widen_scalar(w, LLVMGetOperand(condition, 1 - which));
    LLVMValueRef pair[] = {which ? limit : moving, which ? moving : limit};
    LLVMValueRef yes = LLVMBuildICmp(w->builder, LLVMGetICmpPredicate(condition), pair[0], pair[1], "");
    return opposite ? LLVMBuildNot(w->builder, yes, "") : yes;
}

// Whether it holds for all lanes: for the first and the last, without wrapping in between.
static LLVMValueRef all_hold(igi_simt_widener *w, LLVMValueRef condition, bool opposite) {
    uint32_t which = linear_operand(w, condition);
    LLVMValueRef moving = LLVMGetOperand(condition, which), first = igi_simt_widen_scalar(w, moving);
    int64_t stride = igi_simt_shape_of(&w->s, moving).stride;
    LLVMValueRef distance = LLVMConstInt(LLVMTypeOf(first), (uint64_t)(stride * (int64_t)(w->width - 1)), 1);
    LLVMValueRef last = LLVMBuildAdd(w->builder, first, distance, "");
    bool with_sign = is_signed(LLVMGetICmpPredicate(condition));
    LLVMIntPredicate up = with_sign ? LLVMIntSLE : LLVMIntULE, down = with_sign ? LLVMIntSGE : LLVMIntUGE;
    LLVMValueRef straight = LLVMBuildICmp(w->builder, stride > 0 ? up : down, first, last, "");
    LLVMValueRef both = LLVMBuildAnd(w->builder, holds(w, condition, which, first, opposite),
                                     holds(w, condition, which, last, opposite), "");
    return LLVMBuildAnd(w->builder, both, straight, "");
}

// Values of the next iteration, computed where they dominate both branches.
static void prepare_values(igi_simt_widener *w, uint32_t block) {
    LLVMBasicBlockRef here = w->s.cfg.blocks[block].block;
    for (LLVMValueRef i = LLVMGetFirstInstruction(here); i && LLVMIsAPHINode(i); i = LLVMGetNextInstruction(i))
        for (unsigned k = 0; k < LLVMCountIncoming(i); k++) {
            if (LLVMGetIncomingBlock(i, k) != here) continue;
            if (igi_simt_shape_of(&w->s, i).kind == IGI_SHAPE_VARYING)
                igi_simt_widen_vector(w, LLVMGetIncomingValue(i, k));
            else if (igi_simt_shape_of(&w->s, i).kind != IGI_SHAPE_MATRIX)
                igi_simt_widen_scalar(w, LLVMGetIncomingValue(i, k));
        }
}

void igi_simt_widen_whole_round(igi_simt_widener *w, uint32_t block, LLVMValueRef condition) {
    bool opposite = w->s.cfg.blocks[block].successors[1] == block;
    LLVMBasicBlockRef again = LLVMAppendBasicBlockInContext(w->m->context, w->to, "again"),
                      rest = LLVMAppendBasicBlockInContext(w->m->context, w->to, "rest");
    prepare_values(w, block);
    LLVMBuildCondBr(w->builder, all_hold(w, condition, opposite), again, rest);
    LLVMPositionBuilderAtEnd(w->builder, again);
    igi_simt_pass_lanes(w, block, block, NULL);
    LLVMBuildBr(w->builder, w->whole);
    LLVMPositionBuilderAtEnd(w->builder, rest);
}
