// SPDX-License-Identifier: Apache-2.0
// What the threads of a column have in common. The coordinates of a texture that is sampled, their limits and the weights
// of the filter in x are the same for all rows of a picture. If a group of lanes runs several rows, one directly after
// the other, LLVM computes them once.
#include "simt/ir.h"
#include "simt/passes.h"

enum { BY_X = 1, BY_Y = 2, WORTH_SHARING = 12 };

typedef struct dependences {
    LLVMValueRef x, y;
    igi_pointer_map of;  // instruction -> BY_X | BY_Y
} dependences;

static uint32_t dependence_of(const dependences *d, LLVMValueRef value) {
    uint32_t known = 0;
    if (value == d->x) return BY_X;
    if (value == d->y) return BY_Y;
    return LLVMIsAInstruction(value) && igi_map_get(&d->of, value, &known) ? known : 0;
}

static bool update(dependences *d, LLVMValueRef i, bool *changed) {
    uint32_t before = dependence_of(d, i), now = before;
    for (int k = 0; k < LLVMGetNumOperands(i); k++) now |= dependence_of(d, LLVMGetOperand(i, (unsigned)k));
    if (now == before) return true;
    *changed = true;
    return igi_map_set(&d->of, i, now);
}

static bool find_all(dependences *d, LLVMValueRef function) {
    for (bool changed = true; changed;) {
        changed = false;
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
                if (!update(d, i, &changed)) return false;
    }
    return true;
}

static bool is_computation(LLVMValueRef i) {
    return !LLVMIsALoadInst(i) && !LLVMIsAStoreInst(i) && !LLVMIsAPHINode(i) && !LLVMIsATerminatorInst(i) &&
           !LLVMIsACastInst(i) && !LLVMIsAGetElementPtrInst(i);
}

bool igi_simt_has_common_columns(const igi_simt_module *m) {
    dependences d = {.x = LLVMGetParam(m->thread, 1), .y = LLVMGetParam(m->thread, 2)};
    size_t shared = 0;
    if (find_all(&d, m->thread))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(m->thread); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
                shared += dependence_of(&d, i) == BY_X && is_computation(i);
    igi_map_free(&d.of);
    return shared >= WORTH_SHARING;
}
