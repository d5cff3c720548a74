// SPDX-License-Identifier: Apache-2.0
// Loads from constant buffers and from the descriptions of textures are marked as invariant: a kernel never writes to
// them, so loops over threads load a constant once, and code after a barrier loads it again instead of keeping it.
#include <llvm-c/Target.h>

#include "msl/stdlib/__ingot_texture_layout"
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

// The offset of a member of a texture's description, before or after GEPs are simplified.
static bool member_offset(const igi_simt_module *m, LLVMValueRef gep, uint64_t *offset) {
    if (!LLVMIsAGetElementPtrInst(gep)) return false;
    LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);
    if (LLVMGetTypeKind(type) != LLVMStructTypeKind) return igi_simt_constant_offset(gep, offset);
    if (LLVMGetNumOperands(gep) != 3 || !LLVMIsNull(LLVMGetOperand(gep, 1))) return false;
    unsigned member = (unsigned)LLVMConstIntGetZExtValue(LLVMGetOperand(gep, 2));
    *offset = LLVMOffsetOfElement(LLVMGetModuleDataLayout(m->module), type, member);
    return true;
}

// The last coordinate of a side is not negative. LLVM knows of single bits only: it is told that the sign is 0.
static void mark_last(igi_simt_module *m, LLVMValueRef size) {
    LLVMValueRef last = NULL;
    for (LLVMUseRef use = LLVMGetFirstUse(size); use && !last; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        bool less = LLVMIsAInstruction(user) && LLVMGetInstructionOpcode(user) == LLVMAdd &&
                    LLVMIsAConstantInt(LLVMGetOperand(user, 1)) &&
                    LLVMConstIntGetSExtValue(LLVMGetOperand(user, 1)) == -1 && LLVMGetOperand(user, 0) == size;
        if (less) last = user;
    }
    if (!last) return;
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(m->context);
    LLVMPositionBuilderBefore(builder, LLVMGetNextInstruction(last));
    LLVMTypeRef type = LLVMTypeOf(last);
    LLVMValueRef positive = LLVMBuildAnd(builder, last, LLVMConstInt(type, INT32_MAX, 0), "");
    LLVMReplaceAllUsesWith(last, positive);
    LLVMSetOperand(positive, 0, last);
    LLVMDisposeBuilder(builder);
}

// Sides, layers and levels are at least 1, and positive as signed numbers.
static void mark_sizes(igi_simt_module *m, LLVMValueRef texture) {
    LLVMTypeRef i32 = LLVMInt32TypeInContext(m->context);
    unsigned kind = LLVMGetMDKindIDInContext(m->context, "range", 5);
    LLVMMetadataRef ends[] = {LLVMValueAsMetadata(LLVMConstInt(i32, 1, 0)),
                              LLVMValueAsMetadata(LLVMConstInt(i32, 1u << 31, 0))};
    LLVMValueRef range = LLVMMetadataAsValue(m->context, LLVMMDNodeInContext2(m->context, ends, 2));
    for (LLVMUseRef use = LLVMGetFirstUse(texture); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef field = LLVMGetUser(use);
        uint64_t offset;
        if (!member_offset(m, field, &offset)) continue;
        if (offset < offsetof(igi_texture, width) || offset >= offsetof(igi_texture, level)) continue;
        for (LLVMUseRef load = LLVMGetFirstUse(field); load; load = LLVMGetNextUse(load))
            if (LLVMIsALoadInst(LLVMGetUser(load)) && LLVMTypeOf(LLVMGetUser(load)) == i32) {
                LLVMSetMetadata(LLVMGetUser(load), kind, range);
                mark_last(m, LLVMGetUser(load));
            }
    }
}

static bool loads_texture(LLVMValueRef i) {
    uint64_t offset;
    return LLVMIsALoadInst(i) && igi_simt_is_field(LLVMGetOperand(i, 0), &offset) && is_texture(offset);
}

ig_status igi_simt_mark_textures(igi_simt_module *m) {
    unsigned kind = LLVMGetMDKindIDInContext(m->context, "invariant.load", 14);
    LLVMValueRef nothing = LLVMMetadataAsValue(m->context, LLVMMDNodeInContext2(m->context, NULL, 0));
    igi_simt_values loads;
    if (!igi_simt_collect(m->thread, loads_texture, &loads)) return igi_error_no_memory(m->error);
    for (size_t i = 0; i < loads.count; i++) {
        mark_loads(m, loads.items[i], kind, nothing);
        mark_sizes(m, loads.items[i]);
    }
    igi_simt_values_free(&loads);
    return IG_STATUS_OK;
}

ig_status igi_simt_pass_invariant(igi_simt_module *m) {
    unsigned kind = LLVMGetMDKindIDInContext(m->context, "invariant.load", 14);
    LLVMValueRef nothing = LLVMMetadataAsValue(m->context, LLVMMDNodeInContext2(m->context, NULL, 0));
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(m->thread); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (LLVMIsALoadInst(i) && is_constant_slot(m, LLVMGetOperand(i, 0))) mark_loads(m, i, kind, nothing);
    return IG_STATUS_OK;
}
