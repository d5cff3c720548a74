// SPDX-License-Identifier: Apache-2.0
// Iterations of a loop in which all lanes are active: `for (k = thread; k < n; k += threads)`. While the last lane
// stays in the loop, all do, which one comparison of scalars shows: such iterations need no masks, and branch from the
// end of the loop to its beginning. Where masks are slow, another comparison shows that all lanes leave. The last iteration often has only a few of the lower lanes left: copies of it compute
// only the lower half, or a quarter, or exactly four lanes, without masks.
#include <string.h>

#include "simt/ir.h"
#include "simt/widen.h"

bool igi_simt_has_whole_rounds(const igi_simt_widener *w, uint32_t block) {
    const igi_simt_block *at = &w->s.cfg.blocks[block];
    LLVMValueRef terminator = LLVMGetBasicBlockTerminator(at->block);
    if (at->loop == IGI_NONE || !w->s.divergent_loop[at->loop] || !w->s.divergent_branch[block]) return false;
    if (at->successor_count != 2 || !LLVMIsABranchInst(terminator)) return false;
    bool alone = (at->successors[0] == block) != (at->successors[1] == block);
    return alone && igi_simt_compares_lane(w, LLVMGetCondition(terminator));
}

// ---- Half of the lanes ----

enum { FEWEST_HALVED = 16 };

// Whether all of it can be done for fewer lanes, if elements of each lane that are loaded together are at most `most`.
static bool can_be_shortened(const igi_simt_widener *w, uint32_t block, uint32_t most) {
    LLVMValueRef i = LLVMGetFirstInstruction(w->s.cfg.blocks[block].block);
    for (; i; i = LLVMGetNextInstruction(i)) {
        uint32_t number;
        if (strncmp(igi_simt_callee_name(i), "__ig_", 5) == 0 || LLVMIsAAllocaInst(i)) return false;
        if (igi_map_get(&w->s.index, i, &number) && igi_simt_bundle_size(w->bundle[number]) > most) return false;
    }
    return true;
}

static bool may_be_shortened(const igi_simt_widener *w) {
    return !igi_simt_is_hasty(w->m) && !w->m->request->check && w->s.width >= 2 * igi_simt_register_lanes();
}

bool igi_simt_has_half_rounds(const igi_simt_widener *w, uint32_t block) {
    return may_be_shortened(w) && w->width >= FEWEST_HALVED && can_be_shortened(w, block, w->width / 2) &&
           igi_simt_has_whole_rounds(w, block);
}

bool igi_simt_has_short_round(const igi_simt_widener *w, uint32_t block) {
    return may_be_shortened(w) && w->width == 2 * IGI_SIMT_FEW_LANES && can_be_shortened(w, block, w->width) &&
           igi_simt_has_whole_rounds(w, block);
}

LLVMValueRef igi_simt_exactly_lowest(igi_simt_widener *w, LLVMValueRef mask) {
    LLVMTypeRef bits = LLVMIntTypeInContext(w->m->context, w->width);
    LLVMValueRef all = LLVMBuildBitCast(w->builder, mask, bits, "");
    return LLVMBuildICmp(w->builder, LLVMIntEQ, all, LLVMConstInt(bits, (1u << IGI_SIMT_FEW_LANES) - 1, 0), "");
}

LLVMValueRef igi_simt_only_lower_half(igi_simt_widener *w, LLVMValueRef mask) {
    LLVMTypeRef bits = LLVMIntTypeInContext(w->m->context, w->width);
    LLVMValueRef all = LLVMBuildBitCast(w->builder, mask, bits, "");
    LLVMValueRef upper = LLVMBuildLShr(w->builder, all, LLVMConstInt(bits, w->width / 2, 0), "");
    return LLVMBuildICmp(w->builder, LLVMIntEQ, upper, LLVMConstNull(bits), "");
}

void igi_simt_set_lanes(igi_simt_widener *w, uint32_t width) {
    w->width = width;
    w->mask_type = LLVMVectorType(w->i1, width);
}

// ---- All lanes ----

void igi_simt_widen_whole_round(igi_simt_widener *w, uint32_t block, LLVMValueRef condition) {
    bool opposite = w->s.cfg.blocks[block].successors[1] == block;
    LLVMBasicBlockRef again = LLVMAppendBasicBlockInContext(w->m->context, w->to, "again"),
                      rest = LLVMAppendBasicBlockInContext(w->m->context, w->to, "rest");
    uint32_t exit = w->s.cfg.blocks[block].successors[!opposite];
    bool agree = igi_simt_asks_for_agreement(w);
    igi_simt_prepare_values(w, block, block);
    if (agree) igi_simt_prepare_values(w, block, exit);
    LLVMBuildCondBr(w->builder, igi_simt_holds_for_all(w, condition, opposite), again, rest);
    LLVMPositionBuilderAtEnd(w->builder, again);
    igi_simt_pass_lanes(w, block, block, NULL);
    LLVMBuildBr(w->builder, w->whole);
    LLVMPositionBuilderAtEnd(w->builder, rest);
    if (!agree) return;
    LLVMBasicBlockRef left = igi_simt_new_block(w, "left"), apart = igi_simt_new_block(w, "lanes_apart");
    LLVMBuildCondBr(w->builder, igi_simt_holds_for_all(w, condition, !opposite), left, apart);
    LLVMPositionBuilderAtEnd(w->builder, left);
    igi_simt_leave_together(w, block, exit);
    LLVMPositionBuilderAtEnd(w->builder, apart);
}
