// SPDX-License-Identifier: Apache-2.0
// Results that nobody reads soon go to memory without being fetched into the caches first, as every ordinary write of a
// line is. Only for requests that write more than caches hold.
#include <llvm-c/Target.h>

#include "simt/ir.h"
#include "simt/widen.h"

enum { LINE = 64 };

// The buffer an address lies in; NULL when that is not plain to see.
static LLVMValueRef buffer_of(LLVMValueRef address) {
    while (LLVMIsAGetElementPtrInst(address)) address = LLVMGetOperand(address, 0);
    return LLVMIsALoadInst(address) ? address : NULL;
}

static bool reads(const igi_widener *w, LLVMValueRef buffer) {
    for (uint32_t b = 0; b < w->s.cfg.count; b++)
        for (LLVMValueRef i = LLVMGetFirstInstruction(w->s.cfg.blocks[b].block); i; i = LLVMGetNextInstruction(i))
            if (LLVMIsALoadInst(i) && buffer_of(LLVMGetOperand(i, 0)) == buffer) return true;
    return false;
}

bool igi_is_streamed(const igi_widener *w, LLVMValueRef store) {
    if (!w->m->request->streaming || !w->m->info.any_groups || !LLVMIsAStoreInst(store)) return false;
    LLVMValueRef address = LLVMGetOperand(store, 1), buffer = buffer_of(address);
    LLVMTypeRef type = LLVMTypeOf(LLVMGetOperand(store, 0));
    uint64_t bytes = LLVMABISizeOfType(w->s.layout, type) * w->width;
    return buffer && bytes % LINE == 0 && igi_is_plain_access(store, type) && igi_is_row_access(w, address, type) &&
           !reads(w, buffer);
}

static void mark(igi_widener *w, LLVMValueRef store) {
    LLVMMetadataRef one = LLVMValueAsMetadata(LLVMConstInt(w->i32, 1, 0));
    LLVMMetadataRef node = LLVMMDNodeInContext2(w->m->context, &one, 1);
    unsigned kind = LLVMGetMDKindIDInContext(w->m->context, "nontemporal", 11);
    LLVMSetMetadata(store, kind, LLVMMetadataAsValue(w->m->context, node));
}

// Only whole lines can go that way.
void igi_store_past_cache(igi_widener *w, LLVMValueRef value, LLVMValueRef address, unsigned alignment) {
    LLVMBuilderRef b = w->builder;
    LLVMValueRef number = LLVMBuildPtrToInt(b, address, w->i64, "");
    LLVMValueRef beside = LLVMBuildAnd(b, number, LLVMConstInt(w->i64, LINE - 1, 0), "");
    LLVMBasicBlockRef past = LLVMAppendBasicBlockInContext(w->m->context, w->to, "past"),
                      plain = LLVMAppendBasicBlockInContext(w->m->context, w->to, "plain"),
                      after = LLVMAppendBasicBlockInContext(w->m->context, w->to, "");
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
