// SPDX-License-Identifier: Apache-2.0
// Whose memory an address is in: that of the threadgroup, or of a buffer. The two never overlap.
#include <stddef.h>

#include "simt/ir.h"
#include "simt/passes.h"

enum { DEEPEST = 12 };

// A load of group->threadgroup_memory, or of one of the arguments.
static igi_simt_owner owner_of_root(LLVMValueRef load) {
    uint64_t offset, threadgroup_arguments = offsetof(igi_simt_group, arguments[IGI_MAX_SLOTS]);
    if (!igi_simt_is_field(LLVMGetOperand(load, 0), &offset)) return IGI_OWNER_UNKNOWN;
    if (offset == offsetof(igi_simt_group, threadgroup_memory)) return IGI_OWNER_THREADGROUP;
    if (offset < offsetof(igi_simt_group, arguments) || offset >= offsetof(igi_simt_group, textures))
        return IGI_OWNER_UNKNOWN;
    return offset >= threadgroup_arguments ? IGI_OWNER_THREADGROUP : IGI_OWNER_BUFFER;
}

// Nothing is known yet, or both are the same.
static igi_simt_owner joined(igi_simt_owner a, igi_simt_owner b) {
    if (a == IGI_OWNER_ANY || a == b) return b;
    return b == IGI_OWNER_ANY ? a : IGI_OWNER_UNKNOWN;
}

// `loop` is a phi node that leads to the pointer: what it adds of itself changes nothing.
static igi_simt_owner owner_of(LLVMValueRef pointer, LLVMValueRef loop, int depth) {
    igi_simt_owner owner = IGI_OWNER_ANY;
    if (pointer == loop) return IGI_OWNER_ANY;
    if (depth == 0 || !LLVMIsAInstruction(pointer)) return IGI_OWNER_UNKNOWN;
    switch (LLVMGetInstructionOpcode(pointer)) {
        case LLVMLoad: return owner_of_root(pointer);
        case LLVMGetElementPtr: return owner_of(LLVMGetOperand(pointer, 0), loop, depth - 1);
        case LLVMSelect:
            return joined(owner_of(LLVMGetOperand(pointer, 1), loop, depth - 1),
                          owner_of(LLVMGetOperand(pointer, 2), loop, depth - 1));
        case LLVMPHI:
            if (loop) return IGI_OWNER_UNKNOWN;
            for (unsigned k = 0; k < LLVMCountIncoming(pointer); k++)
                owner = joined(owner, owner_of(LLVMGetIncomingValue(pointer, k), pointer, depth - 1));
            return owner;
        default: return IGI_OWNER_UNKNOWN;
    }
}

igi_simt_owner igi_simt_owner_of(LLVMValueRef pointer) {
    igi_simt_owner owner = owner_of(pointer, NULL, DEEPEST);
    return owner == IGI_OWNER_ANY ? IGI_OWNER_UNKNOWN : owner;
}

static igi_simt_owner accessed(LLVMValueRef access) {
    if (!LLVMIsALoadInst(access) && !LLVMIsAStoreInst(access)) return IGI_OWNER_UNKNOWN;
    if (LLVMGetVolatile(access) || LLVMGetOrdering(access) != LLVMAtomicOrderingNotAtomic) return IGI_OWNER_UNKNOWN;
    return igi_simt_owner_of(LLVMGetOperand(access, LLVMIsAStoreInst(access) ? 1 : 0));
}

bool igi_simt_are_apart(LLVMValueRef a, LLVMValueRef b) {
    igi_simt_owner first = accessed(a), second = accessed(b);
    return first != second && first != IGI_OWNER_UNKNOWN && second != IGI_OWNER_UNKNOWN;
}
