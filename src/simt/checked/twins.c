// SPDX-License-Identifier: Apache-2.0
// For a quick look: which parts of private variables have been written. Each variable that stays in memory has a twin of
// the same type, all zeros at first, and all ones where the variable was written. It is accessed as the variable is, so
// that what LLVM and the passes make of one they make of the other.
#include <string.h>

#include "simt/checked/instrument.h"

typedef struct twins {
    igi_simt_instrumenter *in;
    igi_simt_values variables, twins;  // all of them, side by side
    LLVMValueRef variable, twin;       // at hand
    bool failed;                       // it goes where it cannot be followed
} twins;

static bool is_alloca(LLVMValueRef i) {
    return LLVMIsAAllocaInst(i) != NULL;
}

static bool is_simple(LLVMTypeRef type) {
    LLVMTypeKind kind = LLVMGetTypeKind(type);
    return kind != LLVMStructTypeKind && kind != LLVMArrayTypeKind;
}

// Integers that lie in memory as values of the type do.
static LLVMTypeRef bits_of(const igi_simt_instrumenter *in, LLVMTypeRef type) {
    LLVMTypeRef element = igi_simt_element_type(type);
    return igi_simt_integers_like(type, (unsigned)(LLVMStoreSizeOfType(in->layout, element) * 8));
}

// ---- Uses ----

static void double_store(twins *t, LLVMValueRef store, LLVMValueRef pointer) {
    LLVMTypeRef type = LLVMTypeOf(LLVMGetOperand(store, 0));
    t->failed |= !is_simple(type);
    if (t->failed) return;
    LLVMPositionBuilderBefore(t->in->builder, store);
    LLVMValueRef made = LLVMBuildStore(t->in->builder, LLVMConstAllOnes(bits_of(t->in, type)), pointer);
    LLVMSetAlignment(made, LLVMGetAlignment(store));
}

static void double_load(twins *t, LLVMValueRef load, LLVMValueRef pointer) {
    LLVMTypeRef type = LLVMTypeOf(load);
    t->failed |= !is_simple(type);
    if (t->failed) return;
    LLVMBuilderRef b = t->in->builder;
    LLVMPositionBuilderBefore(b, load);
    LLVMValueRef written = LLVMBuildLoad2(b, bits_of(t->in, type), pointer, "");
    LLVMSetAlignment(written, LLVMGetAlignment(load));
    LLVMValueRef doubt = LLVMBuildICmp(b, LLVMIntNE, written, LLVMConstAllOnes(LLVMTypeOf(written)), "");
    igi_simt_doubt(t->in, load, doubt);
}

static LLVMValueRef twin_of(twins *t, LLVMValueRef pointer);

static LLVMValueRef variable_of(LLVMValueRef pointer) {
    while (LLVMIsAGetElementPtrInst(pointer)) pointer = LLVMGetOperand(pointer, 0);
    return LLVMIsAAllocaInst(pointer) ? pointer : NULL;
}

// What leaves the variables must have been written.
static void require_written(twins *t, LLVMValueRef pointer, LLVMValueRef length) {
    enum { MOST_BYTES = 256 };
    LLVMBuilderRef b = t->in->builder;
    uint64_t bytes = LLVMIsAConstantInt(length) ? LLVMConstIntGetZExtValue(length) : 0;
    t->failed |= !bytes || bytes > MOST_BYTES;
    if (t->failed) return;
    LLVMTypeRef element = bytes % 4 ? t->in->i8 : t->in->i32;
    unsigned count = (unsigned)(bytes % 4 ? bytes : bytes / 4);
    LLVMValueRef all = LLVMConstInt(t->in->i1, 1, 0), at = twin_of(t, pointer);
    for (unsigned i = 0; i < count; i++) {
        LLVMValueRef index = igi_simt_number32(t->in, i);
        LLVMValueRef part = LLVMBuildLoad2(b, element, LLVMBuildGEP2(b, element, at, &index, 1, ""), "");
        LLVMSetAlignment(part, 1);
        all = LLVMBuildAnd(b, all, LLVMBuildICmp(b, LLVMIntEQ, part, LLVMConstAllOnes(element), ""), "");
    }
    igi_simt_suspect_unless(t->in, all);
}

// What comes from elsewhere counts as written. Called for each end that is a variable.
static void double_copy(twins *t, LLVMValueRef copy, LLVMValueRef end) {
    LLVMBuilderRef b = t->in->builder;
    LLVMValueRef to = LLVMGetOperand(copy, 0), from = LLVMGetOperand(copy, 1), length = LLVMGetOperand(copy, 2);
    LLVMPositionBuilderBefore(b, copy);
    if (to == end && variable_of(from))
        LLVMBuildMemMove(b, twin_of(t, to), 1, twin_of(t, from), 1, length);
    else if (to == end)
        LLVMBuildMemSet(b, twin_of(t, to), LLVMConstAllOnes(t->in->i8), length, 1);
    else if (!variable_of(to))
        require_written(t, from, length);
}

static void double_call(twins *t, LLVMValueRef call, LLVMValueRef end) {
    const char *name = igi_simt_callee_name(call);
    LLVMBuilderRef b = t->in->builder;
    if (strncmp(name, "llvm.lifetime.", 14) == 0) return;
    if (strncmp(name, "llvm.memset.", 12) == 0) {
        LLVMPositionBuilderBefore(b, call);
        LLVMValueRef ones = LLVMConstAllOnes(t->in->i8);
        LLVMBuildMemSet(b, twin_of(t, LLVMGetOperand(call, 0)), ones, LLVMGetOperand(call, 2), 1);
    } else if (igi_simt_is_memory_intrinsic(call)) {
        double_copy(t, call, end);
    } else {
        t->failed = true;
    }
}

// The same place in the twin, computed where the builder is.
static LLVMValueRef twin_of(twins *t, LLVMValueRef pointer) {
    for (size_t i = 0; i < t->variables.count; i++)
        if (t->variables.items[i] == pointer) return t->twins.items[i];
    LLVMValueRef base = twin_of(t, LLVMGetOperand(pointer, 0)), copy = LLVMInstructionClone(pointer);
    LLVMSetOperand(copy, 0, base);
    LLVMInsertIntoBuilder(t->in->builder, copy);
    return copy;
}

static void double_use(twins *t, LLVMValueRef user, LLVMValueRef pointer);

static void double_uses(twins *t, LLVMValueRef pointer) {
    igi_simt_values users = {0};
    for (LLVMUseRef use = LLVMGetFirstUse(pointer); use; use = LLVMGetNextUse(use))
        t->in->failed |= !igi_simt_values_add(&users, LLVMGetUser(use));
    for (size_t i = 0; i < users.count && !t->failed; i++) double_use(t, users.items[i], pointer);
    igi_simt_values_free(&users);
}

static void double_use(twins *t, LLVMValueRef user, LLVMValueRef pointer) {
    switch (LLVMGetInstructionOpcode(user)) {
        case LLVMGetElementPtr:
            if (LLVMGetOperand(user, 0) == pointer) double_uses(t, user);
            return;
        case LLVMLoad:
            LLVMPositionBuilderBefore(t->in->builder, user);
            double_load(t, user, twin_of(t, pointer));
            return;
        case LLVMStore:
            if (LLVMGetOperand(user, 0) == pointer) {
                t->failed = true;
                return;
            }
            LLVMPositionBuilderBefore(t->in->builder, user);
            double_store(t, user, twin_of(t, pointer));
            return;
        case LLVMCall: double_call(t, user, pointer); return;
        default: t->failed = true;
    }
}

// ---- Variables ----

static void clear(twins *t) {
    uint64_t bytes = igi_simt_variable_bytes(t->in, t->variable);
    LLVMValueRef zero = LLVMConstNull(t->in->i8), length = igi_simt_number64(t->in, bytes);
    bool found = false;
    for (LLVMUseRef use = LLVMGetFirstUse(t->variable); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (!igi_simt_begins_life(user)) continue;
        LLVMPositionBuilderBefore(t->in->builder, LLVMGetNextInstruction(user));
        LLVMBuildMemSet(t->in->builder, t->twin, zero, length, LLVMGetAlignment(t->twin));
        found = true;
    }
    if (found) return;
    LLVMPositionBuilderBefore(t->in->builder, igi_simt_first_after_allocas(t->in->m->thread));
    LLVMBuildMemSet(t->in->builder, t->twin, zero, length, LLVMGetAlignment(t->twin));
}

static void add_twin(twins *t, LLVMValueRef variable) {
    igi_simt_instrumenter *in = t->in;
    t->failed |= igi_simt_variable_bytes(in, variable) == UINT64_MAX;
    if (t->failed) return;
    LLVMPositionBuilderBefore(in->builder, variable);
    LLVMValueRef twin =
        LLVMBuildArrayAlloca(in->builder, LLVMGetAllocatedType(variable), LLVMGetOperand(variable, 0), "");
    LLVMSetAlignment(twin, LLVMGetAlignment(variable));
    in->failed |= !igi_simt_values_add(&t->twins, twin);
}

void igi_simt_touch_variables(igi_simt_instrumenter *in) {
    twins t = {.in = in};
    LLVMSetCurrentDebugLocation2(in->builder, NULL);
    in->failed |= !igi_simt_collect(in->m->thread, is_alloca, &t.variables);
    for (size_t i = 0; i < t.variables.count && !in->failed; i++) add_twin(&t, t.variables.items[i]);
    for (size_t i = 0; i < t.variables.count && !t.failed && !in->failed; i++) {
        t.variable = t.variables.items[i], t.twin = t.twins.items[i];
        double_uses(&t, t.variable);
        clear(&t);
    }
    if (t.failed) igi_simt_suspect_always(in);
    igi_simt_values_free(&t.variables);
    igi_simt_values_free(&t.twins);
}
