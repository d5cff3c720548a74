// SPDX-License-Identifier: Apache-2.0
// Loads from constant buffers and from the descriptions of textures are marked as invariant: a kernel never writes to
// them, so loops over threads load a constant once, and code after a barrier loads it again instead of keeping it.
#include "simt/ir.h"
#include "simt/passes.h"

static bool is_texture(uint64_t offset) {
    return offset >= offsetof(igi_simt_group, textures) && offset < offsetof(igi_simt_group, samplers);
}

static bool is_constant_slot(const igi_simt_module *m, LLVMValueRef field) {
    const size_t first = offsetof(igi_simt_group, arguments), end = first + IGI_MAX_SLOTS * sizeof(void *);
    uint64_t offset;
    if (!igi_simt_is_field(field, &offset)) return false;
    if (is_texture(offset)) return true;
    if (offset < first || offset >= end) return false;
    return m->constant_slots >> ((offset - first) / sizeof(void *)) & 1;
}

static void mark_loads(igi_simt_module *m, LLVMValueRef pointer, unsigned kind, LLVMValueRef nothing) {
    for (LLVMUseRef use = LLVMGetFirstUse(pointer); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (LLVMIsALoadInst(user) && !LLVMGetVolatile(user)) LLVMSetMetadata(user, kind, nothing);
        if (LLVMIsAGetElementPtrInst(user)) mark_loads(m, user, kind, nothing);
    }
}

ig_status igi_simt_pass_invariant(igi_simt_module *m) {
    unsigned kind = LLVMGetMDKindIDInContext(m->context, "invariant.load", 14);
    LLVMValueRef nothing = LLVMMetadataAsValue(m->context, LLVMMDNodeInContext2(m->context, NULL, 0));
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(m->thread); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (LLVMIsALoadInst(i) && is_constant_slot(m, LLVMGetOperand(i, 0))) mark_loads(m, i, kind, nothing);
    return IG_STATUS_OK;
}
