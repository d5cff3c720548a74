// SPDX-License-Identifier: Apache-2.0
// Control flow of a group of lanes, by partial linearization (Moll and Hack, PLDI 2018): uniform branches stay
// branches; where lanes diverge, all paths are executed one after the other in program order, each under the mask of
// its lanes. Blocks still to be visited are carried along as "pending". Loops that lanes leave in different iterations
// run until no lane is left.
#include <string.h>

#include "simt/ir.h"
#include "simt/regions.h"
#include "simt/widen.h"

// ---- Pending blocks ----

static bool *pending_of(igi_simt_widener *w, uint32_t block) {
    return w->pending + (size_t)block * w->s.cfg.count;
}

static uint32_t earliest(const igi_simt_widener *w, const bool *set) {
    uint32_t best = IGI_NONE;
    for (uint32_t i = 0; i < w->s.cfg.count; i++)
        if (set[i] && (best == IGI_NONE || w->position[i] < w->position[best])) best = i;
    return best;
}

// The next block to visit if `set` is still to be visited; the rest stays pending.
static uint32_t relay(igi_simt_widener *w, const bool *set) {
    uint32_t next = earliest(w, set);
    if (next == IGI_NONE) return next;
    bool *further = pending_of(w, next);
    for (uint32_t i = 0; i < w->s.cfg.count; i++)
        if (set[i] && i != next) further[i] = true;
    return next;
}

// ---- Loops ----

static uint32_t loop_ending_at(const igi_simt_widener *w, uint32_t latch) {
    const igi_simt_block *block = &w->s.cfg.blocks[latch];
    for (uint32_t k = 0; k < block->successor_count; k++)
        if (igi_simt_cfg_is_back_edge(&w->s.cfg, latch, block->successors[k]))
            return w->s.cfg.blocks[block->successors[k]].loop;
    return IGI_NONE;
}

// The outermost divergent loop that an edge leaves.
static uint32_t divergent_loop_left(const igi_simt_widener *w, uint32_t from, uint32_t to) {
    uint32_t found = IGI_NONE;
    for (uint32_t loop = w->s.cfg.blocks[from].loop; loop != IGI_NONE; loop = w->s.cfg.loops[loop].parent)
        if (!igi_simt_cfg_in_loop(&w->s.cfg, to, loop) && w->s.divergent_loop[loop]) found = loop;
    return found;
}

// Where lanes continue after a divergent loop.
static uint32_t after_loop(igi_simt_widener *w, uint32_t loop, uint32_t latch) {
    uint32_t count = w->s.cfg.count;
    bool *set = w->loop_pending + (size_t)loop * count, *outside = pending_of(w, latch);
    for (uint32_t i = 0; i < count; i++)
        if (outside[i] && !igi_simt_cfg_in_loop(&w->s.cfg, i, loop)) set[i] = true;
    return relay(w, set);
}

static uint32_t latch_of(const igi_simt_widener *w, uint32_t loop) {
    const igi_simt_block *header = &w->s.cfg.blocks[w->s.cfg.loops[loop].header];
    for (uint32_t k = 0; k < header->predecessor_count; k++)
        if (igi_simt_cfg_is_back_edge(&w->s.cfg, header->predecessors[k], w->s.cfg.loops[loop].header))
            return header->predecessors[k];
    return IGI_NONE;
}

// Phi nodes keep no values from one iteration to the next, which would take registers only to be selected by masks.
static void forget_phis(igi_simt_widener *w, uint32_t block) {
    LLVMValueRef i = LLVMGetFirstInstruction(w->s.cfg.blocks[block].block);
    for (; i && LLVMIsAPHINode(i); i = LLVMGetNextInstruction(i)) {
        uint32_t number;
        if (igi_map_get(&w->s.index, i, &number) && w->incoming[number])
            LLVMBuildStore(w->builder, LLVMConstNull(LLVMGetAllocatedType(w->incoming[number])), w->incoming[number]);
    }
}

enum { PARTS_OF_ADDRESS = 3 };

// Whether lanes need it in other iterations or after the loop, or what is computed from it: an address is made again of
// its parts where it is used (widen-guess.c).
static bool outlives_iteration(const igi_simt_widener *w, LLVMValueRef value, uint32_t loop, int depth) {
    for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        uint32_t block = igi_simt_cfg_index(&w->s.cfg, LLVMGetInstructionParent(user));
        if (block == IGI_NONE || !igi_simt_cfg_in_loop(&w->s.cfg, block, loop)) return true;
        if (depth && !LLVMIsAPHINode(user) && outlives_iteration(w, user, loop, depth - 1)) return true;
    }
    return false;
}

// Nor do other values of the loop's own blocks: a block may be skipped, so LLVM would believe that what an earlier
// iteration computed in it is still wanted.
static void forget_values(igi_simt_widener *w, uint32_t block, uint32_t loop) {
    if (w->s.cfg.blocks[block].loop != loop) return;
    LLVMValueRef i = LLVMGetFirstInstruction(w->s.cfg.blocks[block].block);
    for (; i; i = LLVMGetNextInstruction(i)) {
        uint32_t number;
        if (!igi_map_get(&w->s.index, i, &number) || !w->slot[number] ||
            outlives_iteration(w, i, loop, PARTS_OF_ADDRESS))
            continue;
        LLVMBuildStore(w->builder, LLVMGetUndef(LLVMGetAllocatedType(w->slot[number])), w->slot[number]);
    }
}

void igi_simt_widen_reset_masks(igi_simt_widener *w, uint32_t block) {
    const igi_simt_cfg *cfg = &w->s.cfg;
    uint32_t loop = cfg->blocks[block].loop;
    if (loop == IGI_NONE || cfg->loops[loop].header != block) return;
    for (uint32_t i = 0; i < cfg->count; i++)
        if (i != block && w->mask_slot[i] && igi_simt_cfg_in_loop(cfg, i, loop)) {
            LLVMBuildStore(w->builder, LLVMConstNull(LLVMGetAllocatedType(w->mask_slot[i])), w->mask_slot[i]);
            igi_simt_reset_known(w, w->builder, i);
        }
    bool forgets_phis = igi_simt_asks_for_agreement(w) || igi_simt_is_hasty(w->m);
    for (uint32_t i = 0; i < cfg->count; i++) {
        if (i == block || !igi_simt_cfg_in_loop(cfg, i, loop)) continue;
        if (forgets_phis) forget_phis(w, i);
        forget_values(w, i, loop);
    }
    // Every lane that stays in the loop passes the latch.
    if (w->s.divergent_loop[loop] && latch_of(w, loop) != block) pending_of(w, block)[latch_of(w, loop)] = true;
}

// ---- Guards ----

// Postpones an edge that leaves a divergent loop; returns true if it did.
static bool postpone(igi_simt_widener *w, uint32_t from, uint32_t to) {
    uint32_t loop = divergent_loop_left(w, from, to);
    if (loop != IGI_NONE) w->loop_pending[(size_t)loop * w->s.cfg.count + to] = true;
    return loop != IGI_NONE;
}

// Whether its lanes came along one edge from a block with a uniform branch.
static bool surely_has_lanes(const igi_simt_widener *w, uint32_t block) {
    const igi_simt_block *at = &w->s.cfg.blocks[block];
    if (at->predecessor_count != 1) return false;
    uint32_t from = at->predecessors[0];
    const igi_simt_block *branch = &w->s.cfg.blocks[from];
    // A uniform exit of a divergent loop is not taken but recorded: the other branch may then have no active lanes.
    for (uint32_t k = 0; k < branch->successor_count; k++)
        if (divergent_loop_left(w, from, branch->successors[k]) != IGI_NONE) return false;
    return !w->s.divergent_branch[from];
}

// Whether it is safe to execute without active lanes, and cheaper than a branch. Memory is not accessed for inactive
// lanes, but masked accesses to unmapped addresses are slow.
static bool may_run_without_lanes(const igi_simt_widener *w, uint32_t block) {
    enum { CHEAP = 6 };
    int count = 0;
    if (!w->mask_registers || w->s.cfg.blocks[block].successor_count != 1) return false;
    // A loop is not entered without active lanes: its header has no guard.
    uint32_t next = w->s.cfg.blocks[block].successors[0], loop = w->s.cfg.blocks[next].loop;
    if (loop != IGI_NONE && w->s.cfg.loops[loop].header == next) return false;
    LLVMValueRef i = LLVMGetFirstInstruction(w->s.cfg.blocks[block].block);
    for (; i && !LLVMIsATerminatorInst(i); i = LLVMGetNextInstruction(i)) {
        if (LLVMIsAPHINode(i)) continue;
        if (!LLVMIsABinaryOperator(i) && !LLVMIsACastInst(i) && !LLVMIsACmpInst(i) && !LLVMIsASelectInst(i) &&
            !LLVMIsAGetElementPtrInst(i))
            return false;
        if (++count > CHEAP) return false;
    }
    return true;
}

// Nothing follows a block that never ends; lanes that do not enter it are done.
static LLVMBasicBlockRef the_end(igi_simt_widener *w) {
    LLVMBasicBlockRef here = LLVMGetInsertBlock(w->builder);
    LLVMBasicBlockRef end = LLVMAppendBasicBlockInContext(w->m->context, w->to, "end");
    LLVMPositionBuilderAtEnd(w->builder, end);
    LLVMBuildRet(w->builder, LLVMConstInt(w->i32, IGI_REGION_DONE, 0));
    LLVMPositionBuilderAtEnd(w->builder, here);
    return end;
}

// A block without active lanes must not run: the addresses of its uniform loads may be invalid.
void igi_simt_widen_guard(igi_simt_widener *w, uint32_t block) {
    LLVMPositionBuilderAtEnd(w->builder, w->entry[block]);
    uint32_t loop = loop_ending_at(w, block);
    bool divergent_latch = loop != IGI_NONE && w->s.divergent_loop[loop];
    bool header =
        w->s.cfg.blocks[block].loop != IGI_NONE && w->s.cfg.loops[w->s.cfg.blocks[block].loop].header == block;
    uint32_t past = IGI_NONE;
    bool guarded = false;
    if (divergent_latch && !header) {
        // No lane has come this far: the loop is over.
        for (uint32_t k = 0; k < w->s.cfg.blocks[block].successor_count; k++)
            postpone(w, block, w->s.cfg.blocks[block].successors[k]);
        past = after_loop(w, loop, block);
        guarded = past != IGI_NONE;
    } else if (w->mask_slot[block] && !surely_has_lanes(w, block) && !header && !may_run_without_lanes(w, block)) {
        past = relay(w, pending_of(w, block));
        guarded = true;
    }
    if (!guarded) {
        LLVMBuildBr(w->builder, w->body[block]);
        return;
    }
    LLVMBasicBlockRef beyond = past == IGI_NONE ? the_end(w) : w->entry[past];
    igi_simt_branch_if_none(w, block, beyond);
    igi_simt_branch_if_all(w, block, w->body[block]);
    LLVMValueRef mask = igi_simt_load_slot(w, w->mask_type, w->mask_slot[block]);
    LLVMBuildCondBr(w->builder, igi_simt_any(w, mask), w->body[block], beyond);
}

// ---- Edges ----

// The value each phi node of `to` gets along the edge.
static void pass_values(igi_simt_widener *w, uint32_t from, uint32_t to, LLVMValueRef mask) {
    LLVMBasicBlockRef source = w->s.cfg.blocks[from].block;
    LLVMValueRef i = LLVMGetFirstInstruction(w->s.cfg.blocks[to].block);
    for (; i && LLVMIsAPHINode(i); i = LLVMGetNextInstruction(i)) {
        uint32_t number;
        LLVMValueRef value = NULL;
        if (!igi_map_get(&w->s.index, i, &number) || !w->incoming[number]) continue;
        for (unsigned k = 0; k < LLVMCountIncoming(i); k++)
            if (LLVMGetIncomingBlock(i, k) == source) value = LLVMGetIncomingValue(i, k);
        if (!value) continue;
        LLVMValueRef slot = w->incoming[number];
        igi_simt_shape_kind kind = igi_simt_shape_of(&w->s, i).kind;
        if (kind != IGI_SHAPE_VARYING && kind != IGI_SHAPE_MATRIX) {
            LLVMBuildStore(w->builder, igi_simt_widen_scalar(w, value), slot);
            continue;
        }
        LLVMValueRef wide =
            kind == IGI_SHAPE_MATRIX ? igi_simt_widen_matrix(w, value) : igi_simt_widen_vector(w, value);
        if (mask && w->s.join[to]) {
            LLVMValueRef old = igi_simt_load_slot(w, LLVMTypeOf(wide), slot);
            wide = LLVMBuildSelect(w->builder, mask, wide, old, "");
        }
        igi_simt_store_slot(w, wide, slot);
    }
}

void igi_simt_prepare_values(igi_simt_widener *w, uint32_t from, uint32_t to) {
    LLVMBasicBlockRef source = w->s.cfg.blocks[from].block;
    LLVMValueRef i = LLVMGetFirstInstruction(w->s.cfg.blocks[to].block);
    for (; i && LLVMIsAPHINode(i); i = LLVMGetNextInstruction(i))
        for (unsigned k = 0; k < LLVMCountIncoming(i); k++) {
            igi_simt_shape_kind kind = igi_simt_shape_of(&w->s, i).kind;
            if (LLVMGetIncomingBlock(i, k) != source) continue;
            if (kind == IGI_SHAPE_MATRIX)
                igi_simt_widen_matrix(w, LLVMGetIncomingValue(i, k));
            else if (kind == IGI_SHAPE_VARYING)
                igi_simt_widen_vector(w, LLVMGetIncomingValue(i, k));
            else
                igi_simt_widen_scalar(w, LLVMGetIncomingValue(i, k));
        }
}

void igi_simt_pass_lanes(igi_simt_widener *w, uint32_t from, uint32_t to, LLVMValueRef mask) {
    pass_values(w, from, to, mask);
    LLVMValueRef slot = w->mask_slot[to];
    if (!slot) return;
    bool back = igi_simt_cfg_is_back_edge(&w->s.cfg, from, to);
    if (w->came_slot[to]) LLVMBuildStore(w->builder, LLVMConstInt(w->i1, 1, 0), w->came_slot[to]);
    if (w->all_slot[to] && (!mask || back)) LLVMBuildStore(w->builder, LLVMConstInt(w->i1, !mask, 0), w->all_slot[to]);
    if (!mask) mask = LLVMConstAllOnes(w->mask_type);
    if (!back) {
        LLVMValueRef there = igi_simt_load_slot(w, w->mask_type, slot);
        mask = LLVMBuildOr(w->builder, there, mask, "");
    }
    igi_simt_store_slot(w, mask, slot);
}

// Masks of the two edges of a conditional branch.
static void edge_masks(igi_simt_widener *w, uint32_t block, LLVMValueRef condition, LLVMValueRef masks[2]) {
    LLVMValueRef all = igi_simt_active_mask(w);
    if (w->s.divergent_branch[block]) {
        LLVMValueRef wide = igi_simt_widen_vector(w, condition);
        masks[0] = LLVMBuildAnd(w->builder, all, wide, "");
        masks[1] = LLVMBuildAnd(w->builder, all, LLVMBuildNot(w->builder, wide, ""), "");
        return;
    }
    LLVMValueRef one = igi_simt_widen_scalar(w, condition), none = LLVMConstNull(w->mask_type);
    masks[0] = LLVMBuildSelect(w->builder, one, all, none, "");
    masks[1] = LLVMBuildSelect(w->builder, one, none, all, "");
}

// ---- Terminators ----

// The next block to visit after `block` if it continues at `successor` (IGI_NONE: at none of its own).
static uint32_t next_for(igi_simt_widener *w, uint32_t block, uint32_t successor) {
    bool *pending = pending_of(w, block);
    bool had = successor != IGI_NONE && pending[successor];
    if (successor != IGI_NONE) pending[successor] = true;
    uint32_t next = relay(w, pending);
    if (successor != IGI_NONE) pending[successor] = had;
    return next;
}

static void branch_to(igi_simt_widener *w, uint32_t next, uint32_t block) {
    if (next == IGI_NONE)
        igi_simt_decline(w, "a block without successors", LLVMGetBasicBlockTerminator(w->s.cfg.blocks[block].block));
    else
        LLVMBuildBr(w->builder, w->entry[next]);
}

static void end_divergent_loop(igi_simt_widener *w, uint32_t block, uint32_t loop) {
    uint32_t header = w->s.cfg.loops[loop].header, next = after_loop(w, loop, block);
    if (next == IGI_NONE) {
        igi_simt_decline(w, "a loop without an exit", LLVMGetBasicBlockTerminator(w->s.cfg.blocks[block].block));
        return;
    }
    LLVMValueRef left = igi_simt_load_slot(w, w->mask_type, w->mask_slot[header]);
    LLVMBuildCondBr(w->builder, igi_simt_any(w, left), w->entry[header], w->entry[next]);
}

void igi_simt_leave_together(igi_simt_widener *w, uint32_t block, uint32_t exit) {
    postpone(w, block, exit);
    uint32_t next = after_loop(w, w->s.cfg.blocks[block].loop, block);
    igi_simt_pass_lanes(w, block, exit, NULL);
    igi_simt_store_slot(w, LLVMConstNull(w->mask_type), w->mask_slot[block]);
    if (w->all_slot[block]) LLVMBuildStore(w->builder, LLVMConstNull(w->i1), w->all_slot[block]);
    branch_to(w, next, block);
}

static void leave(igi_simt_widener *w, uint32_t block, LLVMValueRef terminator) {
    uint32_t next = next_for(w, block, IGI_NONE);
    if (next != IGI_NONE)
        LLVMBuildBr(w->builder, w->entry[next]);
    else if (LLVMIsAReturnInst(terminator))
        LLVMBuildRet(w->builder, LLVMConstInt(w->i32, IGI_REGION_DONE, 0));
    else
        LLVMBuildUnreachable(w->builder);
}

static void go_either_way(igi_simt_widener *w, uint32_t block, LLVMValueRef condition) {
    const igi_simt_block *at = &w->s.cfg.blocks[block];
    uint32_t next[2];
    for (int k = 0; k < 2; k++) {
        uint32_t to = at->successors[k];
        bool back = igi_simt_cfg_is_back_edge(&w->s.cfg, block, to);
        next[k] = back ? to : postpone(w, block, to) ? IGI_NONE : next_for(w, block, to);
    }
    if (next[0] != IGI_NONE && next[1] != IGI_NONE)
        LLVMBuildCondBr(w->builder, igi_simt_widen_scalar(w, condition), w->entry[next[0]], w->entry[next[1]]);
    else
        branch_to(w, next[0] != IGI_NONE ? next[0] : next[1], block);
}

static void go_every_way(igi_simt_widener *w, uint32_t block) {
    const igi_simt_block *at = &w->s.cfg.blocks[block];
    bool *pending = pending_of(w, block);
    for (uint32_t k = 0; k < at->successor_count; k++)
        if (!postpone(w, block, at->successors[k])) pending[at->successors[k]] = true;
    branch_to(w, relay(w, pending), block);
}

void igi_simt_widen_terminator(igi_simt_widener *w, uint32_t block) {
    const igi_simt_block *at = &w->s.cfg.blocks[block];
    LLVMValueRef terminator = LLVMGetBasicBlockTerminator(at->block);
    if (at->successor_count == 0) {
        leave(w, block, terminator);
        return;
    }
    if (!LLVMIsABranchInst(terminator)) {
        igi_simt_decline(w, "a branch with more than two targets", terminator);
        return;
    }
    bool conditional = LLVMIsConditional(terminator) && at->successors[0] != at->successors[1];
    LLVMValueRef condition = conditional ? LLVMGetCondition(terminator) : NULL;
    LLVMValueRef masks[2] = {w->mask, NULL};
    if (w->whole && igi_simt_has_whole_rounds(w, block)) igi_simt_widen_whole_round(w, block, condition);
    LLVMBasicBlockRef after = NULL;
    if (conditional && !w->mask && igi_simt_may_agree(w, block)) after = igi_simt_pass_agreeing(w, block, condition);
    bool needed = conditional && (w->mask || w->s.divergent_branch[block] || w->mask_slot[at->successors[0]] ||
                                  w->mask_slot[at->successors[1]]);
    if (needed) edge_masks(w, block, condition, masks);
    for (uint32_t k = 0; k < (conditional ? 2 : 1); k++) igi_simt_pass_lanes(w, block, at->successors[k], masks[k]);
    if (after) {
        LLVMBuildBr(w->builder, after);
        LLVMPositionBuilderAtEnd(w->builder, after);
    }
    uint32_t loop = loop_ending_at(w, block);
    if (loop != IGI_NONE && w->s.divergent_loop[loop]) {
        for (uint32_t k = 0; k < at->successor_count; k++) postpone(w, block, at->successors[k]);
        end_divergent_loop(w, block, loop);
    } else if (!conditional) {
        uint32_t to = at->successors[0];
        bool back = igi_simt_cfg_is_back_edge(&w->s.cfg, block, to);
        if (back)
            LLVMBuildBr(w->builder, w->entry[to]);
        else
            branch_to(w, next_for(w, block, postpone(w, block, to) ? IGI_NONE : to), block);
    } else if (w->s.divergent_branch[block]) {
        go_every_way(w, block);
    } else {
        go_either_way(w, block, condition);
    }
}
