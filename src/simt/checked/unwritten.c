// SPDX-License-Identifier: Apache-2.0
// Keeps unwritten variables undefined. LLVM would take "1 or undefined" for 1 as soon as a variable becomes a register;
// until the sanitizer has run, the undefined value is the result of a call.
#include <llvm-c/DebugInfo.h>
#include <stdio.h>
#include <string.h>

#include "simt/checked/instrument.h"

static const char prefix[] = "ig.unwritten.";
enum { MOST_BYTES = 256 };

bool igi_simt_is_unwritten(LLVMValueRef i) {
    if (LLVMIsAExtractValueInst(i) || LLVMIsAExtractElementInst(i)) return igi_simt_is_unwritten(LLVMGetOperand(i, 0));
    return LLVMIsACallInst(i) && strncmp(igi_simt_callee_name(i), prefix, sizeof prefix - 1) == 0;
}

bool igi_simt_is_unwritten_call(LLVMValueRef i) {
    return LLVMIsACallInst(i) && igi_simt_is_unwritten(i);
}

static bool is_alloca(LLVMValueRef i) {
    return LLVMIsAAllocaInst(i) != NULL;
}

bool igi_simt_begins_life(LLVMValueRef i) {
    return strncmp(igi_simt_callee_name(i), "llvm.lifetime.start", 19) == 0;
}

static void store_unwritten(igi_simt_instrumenter *in, LLVMValueRef variable) {
    LLVMTypeRef type = LLVMGetAllocatedType(variable), function_type = LLVMFunctionType(type, NULL, 0, 0);
    char name[48];
    snprintf(name, sizeof name, "%s%p", prefix, (void *)type);
    LLVMValueRef function = igi_simt_declare(in->m->module, name, function_type);
    LLVMValueRef value = LLVMBuildCall2(in->builder, function_type, function, NULL, 0, "");
    LLVMSetAlignment(LLVMBuildStore(in->builder, value, variable), LLVMGetAlignment(variable));
}

// Where its lifetime begins: in a loop, in every iteration.
static void instrument(igi_simt_instrumenter *in, LLVMValueRef variable) {
    bool found = false;
    for (LLVMUseRef use = LLVMGetFirstUse(variable), next; use; use = next) {
        next = LLVMGetNextUse(use);
        LLVMValueRef user = LLVMGetUser(use);
        if (!igi_simt_begins_life(user)) continue;
        found = true;
        LLVMPositionBuilderBefore(in->builder, LLVMGetNextInstruction(user));
        LLVMSetCurrentDebugLocation2(in->builder, NULL);
        store_unwritten(in, variable);
    }
    if (found) return;
    LLVMPositionBuilderBefore(in->builder, igi_simt_first_after_allocas(in->m->thread));
    LLVMSetCurrentDebugLocation2(in->builder, NULL);
    store_unwritten(in, variable);
}

// clang's own variables, which are written before they are read. Parts of them may be undefined, such as the fourth
// byte of three that are passed as an integer, and that is better left to LLVM.
static bool is_temporary(LLVMValueRef variable) {
    static const char *const names[] = {"coerce", "agg.tmp", "ref.tmp", "retval", "undef.agg"};
    size_t length;
    const char *name = LLVMGetValueName2(variable, &length);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0) return true;
    return !length;
}

void igi_simt_keep_unwritten(igi_simt_instrumenter *in) {
    igi_simt_values all;
    if (!igi_simt_collect(in->m->thread, is_alloca, &all)) {
        in->failed = true;
        return;
    }
    for (size_t i = 0; i < all.count; i++)
        if (igi_simt_variable_bytes(in, all.items[i]) <= MOST_BYTES && !is_temporary(all.items[i]))
            instrument(in, all.items[i]);
    igi_simt_values_free(&all);
}

// Stores to variables that stayed in memory are not needed: the sanitizer tracks those.
static void drop_stores(igi_simt_instrumenter *in, LLVMValueRef value) {
    for (LLVMUseRef use = LLVMGetFirstUse(value), next; use; use = next) {
        next = LLVMGetNextUse(use);
        LLVMValueRef user = LLVMGetUser(use);
        if (LLVMIsAStoreInst(user) && LLVMGetOperand(user, 0) == value) {
            LLVMInstructionEraseFromParent(user);
        } else if (LLVMIsAExtractValueInst(user)) {
            drop_stores(in, user);
            if (!LLVMGetFirstUse(user)) LLVMInstructionEraseFromParent(user);
        }
    }
}

// Before anything is instrumented.
void igi_simt_forget_stores_of_unwritten(igi_simt_instrumenter *in) {
    igi_simt_values all;
    if (!igi_simt_collect(in->m->thread, igi_simt_is_unwritten_call, &all)) {
        in->failed = true;
        return;
    }
    for (size_t i = 0; i < all.count; i++) drop_stores(in, all.items[i]);
    igi_simt_values_free(&all);
}

// Other undefined values were put there by LLVM, for parts of values that nobody uses.
static void define_operands(LLVMValueRef i) {
    for (int k = 0; k < LLVMGetNumOperands(i); k++) {
        LLVMValueRef operand = LLVMGetOperand(i, (unsigned)k);
        if (operand && LLVMIsUndef(operand) && LLVMTypeIsSized(LLVMTypeOf(operand)))
            LLVMSetOperand(i, (unsigned)k, LLVMConstNull(LLVMTypeOf(operand)));
    }
}

static bool has_holes(LLVMValueRef shuffle) {
    for (unsigned i = 0; i < LLVMGetNumMaskElements(shuffle); i++)
        if (LLVMGetMaskValue(shuffle, i) == LLVMGetUndefMaskElem()) return true;
    return false;
}

static bool is_shuffle_with_holes(LLVMValueRef i) {
    return LLVMIsAShuffleVectorInst(i) && has_holes(i);
}

static void fill_holes(igi_simt_instrumenter *in, LLVMValueRef shuffle) {
    enum { MOST = 64 };
    LLVMValueRef mask[MOST];
    unsigned count = LLVMGetNumMaskElements(shuffle);
    for (unsigned i = 0; i < count && i < MOST; i++) {
        int from = LLVMGetMaskValue(shuffle, i);
        mask[i] = igi_simt_number32(in, from < 0 ? 0 : (uint64_t)from);
    }
    if (count > MOST) return;
    LLVMPositionBuilderBefore(in->builder, shuffle);
    LLVMValueRef whole = LLVMBuildShuffleVector(in->builder, LLVMGetOperand(shuffle, 0), LLVMGetOperand(shuffle, 1),
                                                LLVMConstVector(mask, count), "");
    LLVMReplaceAllUsesWith(shuffle, whole);
    LLVMInstructionEraseFromParent(shuffle);
}

static bool is_any(LLVMValueRef i) {
    return i != NULL;
}

void igi_simt_define_the_rest(igi_simt_instrumenter *in) {
    igi_simt_values all = {0}, shuffles = {0};
    bool ok = igi_simt_collect(in->m->thread, is_shuffle_with_holes, &shuffles);
    for (size_t i = 0; ok && i < shuffles.count; i++) fill_holes(in, shuffles.items[i]);
    ok = ok && igi_simt_collect(in->m->thread, is_any, &all);
    for (size_t i = 0; ok && i < all.count; i++) define_operands(all.items[i]);
    igi_simt_values_free(&all);
    igi_simt_values_free(&shuffles);
    in->failed |= !ok;
}

void igi_simt_forget_unwritten(igi_simt_instrumenter *in) {
    igi_simt_values all;
    if (!igi_simt_collect(in->m->thread, igi_simt_is_unwritten_call, &all)) {
        in->failed = true;
        return;
    }
    for (size_t i = 0; i < all.count; i++) {
        LLVMReplaceAllUsesWith(all.items[i], LLVMGetUndef(LLVMTypeOf(all.items[i])));
        LLVMInstructionEraseFromParent(all.items[i]);
    }
    igi_simt_values_free(&all);
}
