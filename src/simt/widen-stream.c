// SPDX-License-Identifier: Apache-2.0
// Results that are not read soon are written to memory without first fetching their cache lines, which ordinary stores
// do. Only for requests that write more than the caches hold.
#include <llvm-c/Target.h>

#include "simt/ir.h"
#include "simt/widen.h"

enum { LINE = 64, MAX_DEPTH = 8 };

// The buffer that an address belongs to; NULL if that is not obvious.
static LLVMValueRef buffer_of(LLVMValueRef address) {
    while (LLVMIsAGetElementPtrInst(address)) address = LLVMGetOperand(address, 0);
    return LLVMIsALoadInst(address) ? address : NULL;
}

static bool reads(const igi_simt_widener *w, LLVMValueRef buffer) {
    for (uint32_t b = 0; b < w->s.cfg.count; b++)
        for (LLVMValueRef i = LLVMGetFirstInstruction(w->s.cfg.blocks[b].block); i; i = LLVMGetNextInstruction(i))
            if (LLVMIsALoadInst(i) && buffer_of(LLVMGetOperand(i, 0)) == buffer) return true;
    return false;
}

// Whether others might read the results before the kernel has ended: non-temporal stores are not ordered with atomics
// and volatile accesses.
static bool is_watched(const igi_simt_widener *w) {
    for (uint32_t b = 0; b < w->s.cfg.count; b++)
        for (LLVMValueRef i = LLVMGetFirstInstruction(w->s.cfg.blocks[b].block); i; i = LLVMGetNextInstruction(i)) {
            if (LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i) || LLVMIsAFenceInst(i)) return true;
            bool access = LLVMIsALoadInst(i) || LLVMIsAStoreInst(i);
            if (access && (LLVMGetVolatile(i) || LLVMGetOrdering(i) != LLVMAtomicOrderingNotAtomic)) return true;
        }
    return false;
}

static bool depends_on_round(const igi_simt_widener *w, LLVMValueRef value, uint32_t loop, int depth) {
    if (depth == 0 || !LLVMIsAInstruction(value)) return false;
    uint32_t home = igi_simt_cfg_index(&w->s.cfg, LLVMGetInstructionParent(value));
    if (home == IGI_NONE || !igi_simt_cfg_in_loop(&w->s.cfg, home, loop)) return false;
    if (LLVMIsAPHINode(value)) return home == w->s.cfg.loops[loop].header;
    for (int k = 0; k < LLVMGetNumOperands(value); k++)
        if (depends_on_round(w, LLVMGetOperand(value, (unsigned)k), loop, depth - 1)) return true;
    return false;
}

// What is written repeatedly to the same address belongs in the caches.
static bool is_written_once(const igi_simt_widener *w, LLVMValueRef store) {
    uint32_t block = igi_simt_cfg_index(&w->s.cfg, LLVMGetInstructionParent(store));
    uint32_t loop = block == IGI_NONE ? IGI_NONE : w->s.cfg.blocks[block].loop;
    if (loop == IGI_NONE) return true;
    return w->s.cfg.loops[loop].parent == IGI_NONE && depends_on_round(w, LLVMGetOperand(store, 1), loop, MAX_DEPTH);
}

bool igi_simt_is_streamed(const igi_simt_widener *w, LLVMValueRef store) {
    if (!w->m->request->streaming || !LLVMIsAStoreInst(store)) return false;
    LLVMValueRef address = LLVMGetOperand(store, 1), buffer = buffer_of(address);
    LLVMTypeRef type = LLVMTypeOf(LLVMGetOperand(store, 0));
    uint64_t bytes = LLVMABISizeOfType(w->s.layout, type) * w->width;
    return buffer && bytes % LINE == 0 && igi_simt_is_plain_access(store, type) &&
           igi_simt_is_row_access(w, address, type) && is_written_once(w, store) && !reads(w, buffer) && !is_watched(w);
}

static void mark(igi_simt_widener *w, LLVMValueRef store) {
    LLVMMetadataRef one = LLVMValueAsMetadata(LLVMConstInt(w->i32, 1, 0));
    LLVMMetadataRef node = LLVMMDNodeInContext2(w->m->context, &one, 1);
    unsigned kind = LLVMGetMDKindIDInContext(w->m->context, "nontemporal", 11);
    LLVMSetMetadata(store, kind, LLVMMetadataAsValue(w->m->context, node));
}

// Only whole cache lines can be written this way.
void igi_simt_store_past_cache(igi_simt_widener *w, LLVMValueRef value, LLVMValueRef address, unsigned alignment) {
    LLVMBuilderRef b = w->builder;
    LLVMValueRef number = LLVMBuildPtrToInt(b, address, w->i64, "");
    LLVMValueRef beside = LLVMBuildAnd(b, number, LLVMConstInt(w->i64, LINE - 1, 0), "");
    LLVMBasicBlockRef past = LLVMAppendBasicBlockInContext(w->m->context, w->to, "past"),
                      plain = LLVMAppendBasicBlockInContext(w->m->context, w->to, "plain"),
                      after = LLVMAppendBasicBlockInContext(w->m->context, w->to, "after");
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, beside, LLVMConstNull(w->i64), ""), past, plain);
    LLVMPositionBuilderAtEnd(b, past);
    LLVMValueRef store = LLVMBuildStore(b, value, address);
    LLVMSetAlignment(store, LINE);
    mark(w, store);
    LLVMBuildBr(b, after);
    LLVMPositionBuilderAtEnd(b, plain);
    LLVMSetAlignment(LLVMBuildStore(b, value, address), alignment);
    LLVMBuildBr(b, after);
    LLVMPositionBuilderAtEnd(b, after);
}
