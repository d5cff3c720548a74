// SPDX-License-Identifier: Apache-2.0
// Which additions may come late (simt/late.h): those after which their threads only end. A thread that adds late is then
// one that is slow at its end, which any thread may be, and no thread of this kernel can be waiting for it, because the
// kernel looks at no memory that changes meanwhile: it has no other atomic or volatile accesses of device memory.
#include <string.h>

#include "core/memory.h"
#include "simt/cfg.h"
#include "simt/ir.h"
#include "simt/widen.h"

static bool is_addition(LLVMValueRef i) {
    return LLVMIsAAtomicRMWInst(i) && LLVMGetAtomicRMWBinOp(i) == LLVMAtomicRMWBinOpAdd && !LLVMGetFirstUse(i) &&
           !LLVMGetVolatile(i) && LLVMGetOrdering(i) == LLVMAtomicOrderingMonotonic;
}

static bool is_access(LLVMValueRef i) {
    return LLVMIsALoadInst(i) || LLVMIsAStoreInst(i);
}

// Whether it may show what other threadgroups do, or be seen by them in an order.
static bool watches(LLVMValueRef i) {
    if (LLVMIsAAtomicCmpXchgInst(i) || LLVMIsAAtomicRMWInst(i))
        return !igi_simt_is_relaxed_atomic(i) && !is_addition(i);
    if (!is_access(i)) return LLVMIsAFenceInst(i);
    return LLVMGetVolatile(i) || LLVMGetOrdering(i) != LLVMAtomicOrderingNotAtomic;
}

static bool is_own_memory(LLVMValueRef access) {
    uint64_t offset;
    LLVMValueRef address = LLVMGetOperand(access, LLVMIsAStoreInst(access) ? 1 : 0);
    return igi_simt_owner_of(address) == IGI_OWNER_THREADGROUP || igi_simt_is_field(address, &offset);
}

// Whether a thread may do this after an addition that comes late.
static bool may_follow(LLVMValueRef i) {
    if (LLVMIsAAtomicRMWInst(i)) return is_addition(i) || igi_simt_is_relaxed_atomic(i);
    if (LLVMIsAAtomicCmpXchgInst(i) || LLVMIsAFenceInst(i)) return false;
    if (is_access(i)) return is_own_memory(i);
    return !LLVMIsACallInst(i) || (LLVMIsAIntrinsicInst(i) && !igi_simt_is_memory_intrinsic(i));
}

static bool may_all_follow(LLVMValueRef from) {
    for (LLVMValueRef i = from; i; i = LLVMGetNextInstruction(i))
        if (!may_follow(i)) return false;
    return true;
}

static bool is_watched(const igi_simt_cfg *cfg) {
    for (uint32_t b = 0; b < cfg->count; b++)
        for (LLVMValueRef i = LLVMGetFirstInstruction(cfg->blocks[b].block); i; i = LLVMGetNextInstruction(i))
            if (watches(i)) return true;
    return false;
}

// The blocks of `reached` are those that may come after the addition.
static bool only_ends(const igi_simt_cfg *cfg, LLVMValueRef addition, bool *reached) {
    uint32_t start = igi_simt_cfg_index(cfg, LLVMGetInstructionParent(addition));
    bool more = true;
    if (start == IGI_NONE || !may_all_follow(LLVMGetNextInstruction(addition))) return false;
    for (uint32_t k = 0; k < cfg->blocks[start].successor_count; k++) reached[cfg->blocks[start].successors[k]] = true;
    while (more) {
        more = false;
        for (uint32_t b = 0; b < cfg->count; b++)
            for (uint32_t k = 0; k < cfg->blocks[b].successor_count && reached[b]; k++) {
                more |= !reached[cfg->blocks[b].successors[k]];
                reached[cfg->blocks[b].successors[k]] = true;
            }
    }
    for (uint32_t b = 0; b < cfg->count; b++)
        if (reached[b] && !may_all_follow(LLVMGetFirstInstruction(cfg->blocks[b].block))) return false;
    return true;
}

bool igi_simt_may_add_late(const igi_simt_widener *w, LLVMValueRef atomic) {
    const igi_simt_cfg *cfg = &w->s.cfg;
    const igi_simt_request *request = w->m->request;
    if (!is_addition(atomic) || request->check || request->scheduled || is_watched(cfg)) return false;
    bool *reached = igi_calloc(cfg->count, 1), late = reached && only_ends(cfg, atomic, reached);
    free(reached);
    return late;
}
