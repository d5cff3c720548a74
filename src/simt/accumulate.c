// SPDX-License-Identifier: Apache-2.0
// Vectors that a loop with barriers accumulates: for (...) { sum += ...; threadgroup_barrier(...); }
//
// A phi node of such a loop would be loaded from the context after each barrier and stored before the next one. Matrix
// products have more of them than there are registers, so that all would go through the stack, too. They live in the
// context instead: a new sum is stored where it is computed, and loaded where it is used.
#include "simt/ir.h"
#include "simt/regions-kept.h"

typedef igi_simt_splitter splitter;

static uint32_t home_of(const splitter *s, LLVMValueRef value) {
    return igi_simt_cfg_index(&s->cfg, LLVMGetInstructionParent(value));
}

static bool crosses(splitter *s, LLVMValueRef phi) {
    bool any = false;
    igi_simt_mark_live(s, phi);
    for (uint32_t i = 0; i < s->cut_count; i++) any |= igi_simt_lives_at(s, &s->cuts[i]);
    return any;
}

// Whether the phi node's value is still needed at the end of the block: it must not be overwritten there.
// pre: it was marked last.
static bool is_needed_after(const splitter *s, LLVMValueRef phi, uint32_t block) {
    const igi_simt_block *b = &s->cfg.blocks[block];
    for (uint32_t k = 0; k < b->successor_count; k++)
        if (s->live[b->successors[k]]) return true;
    for (LLVMUseRef use = LLVMGetFirstUse(phi); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        for (unsigned k = 0; LLVMIsAPHINode(user) && k < LLVMCountIncoming(user); k++)
            if (LLVMGetIncomingValue(user, k) == phi && LLVMGetIncomingBlock(user, k) == b->block) return true;
    }
    return false;
}

static bool is_used_from(LLVMValueRef phi, LLVMValueRef instruction) {
    for (LLVMValueRef i = instruction; i; i = LLVMGetNextInstruction(i))
        for (int k = 0; k < LLVMGetNumOperands(i); k++)
            if (LLVMGetOperand(i, (unsigned)k) == phi) return true;
    return false;
}

// Whether the new sum can be stored as soon as it is computed: nobody needs the old one then.
static bool replaces(const splitter *s, LLVMValueRef phi, LLVMValueRef sum) {
    uint32_t home = LLVMIsAInstruction(sum) ? home_of(s, sum) : IGI_NONE;
    if (home == IGI_NONE || LLVMIsAPHINode(sum) || home == home_of(s, phi)) return false;
    return !is_needed_after(s, phi, home) && !is_used_from(phi, LLVMGetNextInstruction(sum));
}

// The value from inside the loop; NULL if there are several, or none that takes the phi node's place.
static LLVMValueRef find_sum(const splitter *s, LLVMValueRef phi, uint32_t loop) {
    LLVMValueRef sum = NULL;
    for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
        uint32_t from = igi_simt_cfg_index(&s->cfg, LLVMGetIncomingBlock(phi, k));
        if (from == IGI_NONE) return NULL;
        bool inside = igi_simt_cfg_in_loop(&s->cfg, from, loop);
        if (inside && sum) return NULL;
        if (inside) sum = LLVMGetIncomingValue(phi, k);
        if (!inside && is_needed_after(s, phi, from)) return NULL;
    }
    return sum && replaces(s, phi, sum) ? sum : NULL;
}

// Without a barrier between them, a register is better.
static bool is_behind_barrier(splitter *s, LLVMValueRef phi, LLVMValueRef sum) {
    igi_simt_mark_until_cuts(s, phi);
    return !s->live[home_of(s, sum)];
}

static LLVMValueRef sum_of_accumulator(splitter *s, LLVMValueRef phi) {
    uint32_t home = home_of(s, phi), loop = home == IGI_NONE ? IGI_NONE : s->cfg.blocks[home].loop;
    bool heads = loop != IGI_NONE && s->cfg.loops[loop].header == home;
    if (!heads || LLVMGetTypeKind(LLVMTypeOf(phi)) != LLVMVectorTypeKind || !crosses(s, phi)) return NULL;
    LLVMValueRef sum = find_sum(s, phi, loop);
    return sum && is_behind_barrier(s, phi, sum) ? sum : NULL;
}

// ---- In the context ----

static void store_when_known(splitter *s, LLVMValueRef phi, LLVMValueRef sum, uint64_t offset) {
    LLVMPositionBuilderBefore(s->builder, LLVMGetNextInstruction(sum));
    igi_simt_store_context(s, sum, offset);
    for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
        if (LLVMGetIncomingValue(phi, k) == sum) continue;
        LLVMPositionBuilderBefore(s->builder, LLVMGetBasicBlockTerminator(LLVMGetIncomingBlock(phi, k)));
        igi_simt_store_context(s, LLVMGetIncomingValue(phi, k), offset);
    }
}

// Volatile if the value is stored by the same piece: LLVM would otherwise keep it on the stack as well until then.
static LLVMValueRef load_place(splitter *s, LLVMValueRef value, uint64_t offset, bool again) {
    LLVMValueRef load = igi_simt_load_context(s, LLVMTypeOf(value), offset);
    LLVMSetVolatile(load, again);
    return load;
}

// A phi node takes one value per predecessor, however often that is listed.
static void load_for_phi(splitter *s, LLVMValueRef phi, LLVMValueRef user, uint64_t offset, bool again) {
    for (unsigned k = 0; k < LLVMCountIncoming(user); k++) {
        if (LLVMGetOperand(user, k) != phi) continue;
        LLVMBasicBlockRef from = LLVMGetIncomingBlock(user, k);
        LLVMPositionBuilderBefore(s->builder, LLVMGetBasicBlockTerminator(from));
        LLVMValueRef load = load_place(s, phi, offset, again);
        for (unsigned j = k; j < LLVMCountIncoming(user); j++)
            if (LLVMGetIncomingBlock(user, j) == from) LLVMSetOperand(user, j, load);
    }
}

static void load_for(splitter *s, LLVMValueRef phi, LLVMValueRef user, uint64_t offset, bool again) {
    if (LLVMIsAPHINode(user)) {
        load_for_phi(s, phi, user, offset, again);
        return;
    }
    LLVMPositionBuilderBefore(s->builder, user);
    LLVMValueRef load = load_place(s, phi, offset, again);
    for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(user); k++)
        if (LLVMGetOperand(user, k) == phi) LLVMSetOperand(user, k, load);
}

// Whether the place holds the sum wherever the loop is left.
static bool is_stored_before_exits(const splitter *s, uint32_t home, uint32_t loop) {
    for (uint32_t b = 0; b < s->cfg.count; b++) {
        const igi_simt_block *block = &s->cfg.blocks[b];
        if (!igi_simt_cfg_in_loop(&s->cfg, b, loop) || igi_simt_cfg_dominates(&s->cfg, home, b)) continue;
        for (uint32_t k = 0; k < block->successor_count; k++)
            if (!igi_simt_cfg_in_loop(&s->cfg, block->successors[k], loop)) return false;
    }
    return true;
}

static bool is_outside(const splitter *s, LLVMBasicBlockRef block, uint32_t loop) {
    uint32_t number = igi_simt_cfg_index(&s->cfg, block);
    return number != IGI_NONE && !igi_simt_cfg_in_loop(&s->cfg, number, loop);
}

static bool uses_outside(const splitter *s, LLVMValueRef user, LLVMValueRef sum, uint32_t loop) {
    if (!LLVMIsAPHINode(user)) return is_outside(s, LLVMGetInstructionParent(user), loop);
    for (unsigned k = 0; k < LLVMCountIncoming(user); k++)
        if (LLVMGetIncomingValue(user, k) == sum && !is_outside(s, LLVMGetIncomingBlock(user, k), loop)) return false;
    return true;
}

static LLVMValueRef user_outside(const splitter *s, LLVMValueRef sum, uint32_t loop) {
    for (LLVMUseRef use = LLVMGetFirstUse(sum); use; use = LLVMGetNextUse(use))
        if (uses_outside(s, LLVMGetUser(use), sum, loop)) return LLVMGetUser(use);
    return NULL;
}

// What is needed only after the loop would otherwise be kept on the stack, too, in each round. pre: what the loop exits to
// can only be reached from the loop, so that loads there are not in it.
static void load_after_loop(splitter *s, LLVMValueRef sum, uint32_t loop, uint64_t offset) {
    if (!is_stored_before_exits(s, home_of(s, sum), loop)) return;
    for (LLVMValueRef user; (user = user_outside(s, sum, loop));) load_for(s, sum, user, offset, true);
}

static void move_to_context(splitter *s, LLVMValueRef phi, LLVMValueRef sum) {
    uint64_t offset = igi_simt_take_context(s, LLVMTypeOf(phi));
    store_when_known(s, phi, sum, offset);
    load_after_loop(s, sum, s->cfg.blocks[home_of(s, phi)].loop, offset);
    for (LLVMUseRef use; (use = LLVMGetFirstUse(phi));) load_for(s, phi, LLVMGetUser(use), offset, false);
    LLVMInstructionEraseFromParent(phi);
}

static bool is_phi(LLVMValueRef instruction) {
    return LLVMIsAPHINode(instruction) != NULL;
}

bool igi_simt_keep_accumulators(splitter *s) {
    igi_simt_values phis;
    if (!igi_simt_collect(s->function, is_phi, &phis)) return false;
    for (size_t i = 0; i < phis.count; i++) {
        LLVMValueRef sum = sum_of_accumulator(s, phis.items[i]);
        if (sum) move_to_context(s, phis.items[i], sum);
    }
    igi_simt_values_free(&phis);
    return true;
}
