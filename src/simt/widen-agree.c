// SPDX-License-Identifier: Apache-2.0
// Conditions that compare a value that rises, or falls, from lane to lane with a uniform one: `i < n`. Where it holds for the first and
// the last lane, it holds for all between them, which scalars show.
//
// A branch on such conditions first asks whether all lanes go one way. Only if they do not, masks are computed: without
// registers for masks that takes many instructions.
#include "simt/ir.h"
#include "simt/widen.h"

// ---- One comparison ----

static bool is_ordered(LLVMIntPredicate predicate) {
    return predicate != LLVMIntEQ && predicate != LLVMIntNE;
}

static bool is_signed(LLVMIntPredicate predicate) {
    return predicate == LLVMIntSGT || predicate == LLVMIntSGE || predicate == LLVMIntSLT || predicate == LLVMIntSLE;
}

static bool is_rising_or_falling(const igi_simt_widener *w, igi_simt_shape shape) {
    if (shape.kind != IGI_SHAPE_PATTERN) return shape.kind == IGI_SHAPE_LINEAR;
    bool rising = true, falling = true;
    for (uint32_t i = 1; i < w->width; i++) {
        int64_t step = igi_simt_lane_offset(&w->s, shape, i) - igi_simt_lane_offset(&w->s, shape, i - 1);
        rising &= step >= 0;
        falling &= step <= 0;
    }
    return rising || falling;
}

// The operand that rises, or falls, from lane to lane; the other is uniform. IGI_NONE: it is another kind of comparison.
static uint32_t moving_operand(const igi_simt_widener *w, LLVMValueRef condition) {
    if (!LLVMIsAICmpInst(condition)) return IGI_NONE;
    for (uint32_t k = 0; k < 2; k++) {
        LLVMValueRef moving = LLVMGetOperand(condition, k), limit = LLVMGetOperand(condition, 1 - k);
        bool integer = LLVMGetTypeKind(LLVMTypeOf(moving)) == LLVMIntegerTypeKind;
        if (integer && is_rising_or_falling(w, igi_simt_shape_of(&w->s, moving)) &&
            igi_simt_shape_of(&w->s, limit).kind == IGI_SHAPE_UNIFORM)
            return k;
    }
    return IGI_NONE;
}

bool igi_simt_compares_lane(const igi_simt_widener *w, LLVMValueRef condition) {
    return moving_operand(w, condition) != IGI_NONE && is_ordered(LLVMGetICmpPredicate(condition));
}

// The condition, or its opposite, for the lane whose operand is `moving`.
static LLVMValueRef holds(igi_simt_widener *w, LLVMValueRef condition, uint32_t which, LLVMValueRef moving,
                          bool opposite) {
    LLVMValueRef limit = igi_simt_widen_scalar(w, LLVMGetOperand(condition, 1 - which));
    LLVMValueRef pair[] = {which ? limit : moving, which ? moving : limit};
    LLVMValueRef yes = LLVMBuildICmp(w->builder, LLVMGetICmpPredicate(condition), pair[0], pair[1], "");
    return opposite ? LLVMBuildNot(w->builder, yes, "") : yes;
}

// For the first and the last lane, without wrapping in between.
LLVMValueRef igi_simt_holds_for_all(igi_simt_widener *w, LLVMValueRef condition, bool opposite) {
    uint32_t which = moving_operand(w, condition);
    LLVMValueRef moving = LLVMGetOperand(condition, which), first = igi_simt_widen_scalar(w, moving);
    int64_t reach = igi_simt_lane_offset(&w->s, igi_simt_shape_of(&w->s, moving), w->width - 1);
    LLVMValueRef distance = LLVMConstInt(LLVMTypeOf(first), (uint64_t)reach, 1);
    LLVMValueRef last = LLVMBuildAdd(w->builder, first, distance, "");
    bool with_sign = is_signed(LLVMGetICmpPredicate(condition));
    LLVMIntPredicate up = with_sign ? LLVMIntSLE : LLVMIntULE, down = with_sign ? LLVMIntSGE : LLVMIntUGE;
    LLVMValueRef straight = LLVMBuildICmp(w->builder, reach > 0 ? up : down, first, last, "");
    LLVMValueRef both = LLVMBuildAnd(w->builder, holds(w, condition, which, first, opposite),
                                     holds(w, condition, which, last, opposite), "");
    return LLVMBuildAnd(w->builder, both, straight, "");
}

// No lane is at the limit: from the first lane on it is further away than the last.
static LLVMValueRef differs_for_all(igi_simt_widener *w, LLVMValueRef condition) {
    uint32_t which = moving_operand(w, condition);
    LLVMValueRef moving = LLVMGetOperand(condition, which), first = igi_simt_widen_scalar(w, moving);
    LLVMValueRef limit = igi_simt_widen_scalar(w, LLVMGetOperand(condition, 1 - which));
    int64_t reach = igi_simt_lane_offset(&w->s, igi_simt_shape_of(&w->s, moving), w->width - 1);
    LLVMValueRef distance = LLVMBuildSub(w->builder, reach > 0 ? limit : first, reach > 0 ? first : limit, "");
    LLVMValueRef most = LLVMConstInt(LLVMTypeOf(first), (uint64_t)(reach > 0 ? reach : -reach), 0);
    return LLVMBuildICmp(w->builder, LLVMIntUGT, distance, most, "");
}

static LLVMValueRef compare_all(igi_simt_widener *w, LLVMValueRef condition, bool opposite) {
    LLVMIntPredicate predicate = LLVMGetICmpPredicate(condition);
    if (is_ordered(predicate)) return igi_simt_holds_for_all(w, condition, opposite);
    bool wants_equal = (predicate == LLVMIntEQ) != opposite;
    return wants_equal ? LLVMConstNull(w->i1) : differs_for_all(w, condition);
}

// ---- Several, with `and`, `or` and `not` ----

enum { MOST_DEPTH = 6 };

typedef enum connective { LEAF, SAME, NOT, AND, OR } connective;

static bool is_constant(LLVMValueRef value, uint64_t bits) {
    return LLVMIsAConstantInt(value) && LLVMConstIntGetZExtValue(value) == bits;
}

static bool is_bit(LLVMValueRef value) {
    LLVMTypeRef type = LLVMTypeOf(value);
    return LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) == 1;
}

// a && b is also `select a, b, false`, and a || b `select a, true, b`.
static connective connective_of_select(LLVMValueRef value, LLVMValueRef parts[2]) {
    if (!is_bit(value)) return LEAF;
    if (is_constant(LLVMGetOperand(value, 2), 0)) return AND;
    if (!is_constant(parts[1], 1)) return LEAF;
    parts[1] = LLVMGetOperand(value, 2);
    return OR;
}

// Integers stand for "not 0": clang makes bytes of the bools in vectors.
static connective connective_of(LLVMValueRef value, LLVMValueRef parts[2]) {
    if (!LLVMIsAInstruction(value)) return LEAF;
    parts[0] = LLVMGetNumOperands(value) > 0 ? LLVMGetOperand(value, 0) : NULL;
    parts[1] = LLVMGetNumOperands(value) > 1 ? LLVMGetOperand(value, 1) : NULL;
    switch (LLVMGetInstructionOpcode(value)) {
        case LLVMAnd: return is_bit(value) ? AND : LEAF;
        case LLVMOr: return OR;
        case LLVMXor: return is_bit(value) && is_constant(parts[1], 1) ? NOT : LEAF;
        case LLVMSelect: return connective_of_select(value, parts);
        case LLVMZExt:
        case LLVMSExt: return SAME;
        case LLVMICmp:
            if (!is_constant(parts[1], 0)) return LEAF;
            if (LLVMGetICmpPredicate(value) == LLVMIntNE) return SAME;
            return LLVMGetICmpPredicate(value) == LLVMIntEQ ? NOT : LEAF;
        default: return LEAF;
    }
}

// Values of other blocks need not be at hand.
static bool is_of_block(LLVMValueRef value, LLVMBasicBlockRef block) {
    return LLVMIsAInstruction(value) && LLVMGetInstructionParent(value) == block;
}

// Whether it consists of comparisons with the lane, and uniform ones.
static bool is_agreeable(const igi_simt_widener *w, LLVMValueRef condition, LLVMBasicBlockRef block, uint32_t depth) {
    if (igi_simt_shape_of(&w->s, condition).kind == IGI_SHAPE_UNIFORM) return true;
    if (!is_of_block(condition, block)) return false;
    if (moving_operand(w, condition) != IGI_NONE) return true;
    LLVMValueRef parts[2];
    connective how = connective_of(condition, parts);
    return how != LEAF && depth > 0 && is_agreeable(w, parts[0], block, depth - 1) &&
           (how == NOT || how == SAME || is_agreeable(w, parts[1], block, depth - 1));
}

// True only if the condition, or its opposite, holds for all lanes.
static LLVMValueRef surely(igi_simt_widener *w, LLVMValueRef condition, bool opposite) {
    if (igi_simt_shape_of(&w->s, condition).kind == IGI_SHAPE_UNIFORM) {
        LLVMValueRef value = igi_simt_widen_scalar(w, condition), zero = LLVMConstNull(LLVMTypeOf(value));
        return LLVMBuildICmp(w->builder, opposite ? LLVMIntEQ : LLVMIntNE, value, zero, "");
    }
    if (moving_operand(w, condition) != IGI_NONE) return compare_all(w, condition, opposite);
    LLVMValueRef parts[2];
    connective how = connective_of(condition, parts);
    if (how == NOT || how == SAME) return surely(w, parts[0], opposite != (how == NOT));
    LLVMValueRef one = surely(w, parts[0], opposite), other = surely(w, parts[1], opposite);
    return (how == AND) == opposite ? LLVMBuildOr(w->builder, one, other, "")
                                    : LLVMBuildAnd(w->builder, one, other, "");
}

// ---- Branches ----

// Even where there are registers for masks, a mask of many lanes takes several, and as many instructions as elsewhere.
bool igi_simt_should_agree(const igi_simt_module *m, uint32_t width) {
    enum { FEW_MASKS = 2 };
    bool many = width > FEW_MASKS * igi_simt_register_lanes();
    return (many || !igi_simt_has_mask_registers()) && !igi_simt_is_hasty(m);
}

bool igi_simt_asks_for_agreement(const igi_simt_widener *w) {
    return w->agrees;
}

void igi_simt_reset_known(igi_simt_widener *w, LLVMBuilderRef builder, uint32_t block) {
    if (w->came_slot[block]) LLVMBuildStore(builder, LLVMConstNull(w->i1), w->came_slot[block]);
    if (w->all_slot[block]) LLVMBuildStore(builder, LLVMConstNull(w->i1), w->all_slot[block]);
}

void igi_simt_make_known_slots(igi_simt_widener *w, uint32_t block) {
    if (!igi_simt_asks_for_agreement(w)) return;
    w->came_slot[block] = LLVMBuildAlloca(w->slots, w->i1, "came");
    w->all_slot[block] = LLVMBuildAlloca(w->slots, w->i1, "all");
    igi_simt_reset_known(w, w->slots, block);
}

void igi_simt_branch_if_none(igi_simt_widener *w, uint32_t block, LLVMBasicBlockRef to) {
    if (!w->came_slot[block]) return;
    LLVMBasicBlockRef some = igi_simt_new_block(w, "came");
    LLVMBuildCondBr(w->builder, LLVMBuildLoad2(w->builder, w->i1, w->came_slot[block], ""), some, to);
    LLVMPositionBuilderAtEnd(w->builder, some);
}

void igi_simt_branch_if_all(igi_simt_widener *w, uint32_t block, LLVMBasicBlockRef to) {
    if (!w->all_slot[block]) return;
    LLVMBasicBlockRef unsure = igi_simt_new_block(w, "unsure");
    LLVMBuildCondBr(w->builder, LLVMBuildLoad2(w->builder, w->i1, w->all_slot[block], ""), to, unsure);
    LLVMPositionBuilderAtEnd(w->builder, unsure);
}

bool igi_simt_may_agree(const igi_simt_widener *w, uint32_t block) {
    const igi_simt_block *at = &w->s.cfg.blocks[block];
    LLVMValueRef terminator = LLVMGetBasicBlockTerminator(at->block);
    if (!igi_simt_asks_for_agreement(w) || !w->s.divergent_branch[block]) return false;
    if (at->successor_count != 2 || !LLVMIsABranchInst(terminator)) return false;
    // The mask of a loop's header is replaced along the edge back to it, even without lanes.
    for (uint32_t k = 0; k < 2; k++)
        if (igi_simt_cfg_is_back_edge(&w->s.cfg, block, at->successors[k])) return false;
    return is_agreeable(w, LLVMGetCondition(terminator), at->block, MOST_DEPTH);
}

// What phi nodes get along both edges is computed where it dominates them.
static void prepare_values(igi_simt_widener *w, uint32_t block) {
    const igi_simt_block *at = &w->s.cfg.blocks[block];
    for (uint32_t k = 0; k < 2; k++) igi_simt_prepare_values(w, block, at->successors[k]);
}

static void pass_all(igi_simt_widener *w, uint32_t block, uint32_t successor, LLVMBasicBlockRef way,
                     LLVMBasicBlockRef after) {
    LLVMPositionBuilderAtEnd(w->builder, way);
    igi_simt_pass_lanes(w, block, w->s.cfg.blocks[block].successors[successor], NULL);
    LLVMBuildBr(w->builder, after);
}

LLVMBasicBlockRef igi_simt_pass_agreeing(igi_simt_widener *w, uint32_t block, LLVMValueRef condition) {
    LLVMBasicBlockRef all = igi_simt_new_block(w, "all_lanes"), not_all = igi_simt_new_block(w, "not_all"),
                      none = igi_simt_new_block(w, "no_lanes"), apart = igi_simt_new_block(w, "lanes_apart"),
                      after = igi_simt_new_block(w, "lanes_passed");
    prepare_values(w, block);
    LLVMBuildCondBr(w->builder, surely(w, condition, false), all, not_all);
    pass_all(w, block, 0, all, after);
    LLVMPositionBuilderAtEnd(w->builder, not_all);
    LLVMBuildCondBr(w->builder, surely(w, condition, true), none, apart);
    pass_all(w, block, 1, none, after);
    LLVMPositionBuilderAtEnd(w->builder, apart);
    return after;
}
