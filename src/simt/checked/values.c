// SPDX-License-Identifier: Apache-2.0
// Uninitialised values, tracked to where they matter: a branch, an address, a buffer. LLVM's memory sanitizer does the
// tracking, in its form for operating systems, which requests shadow memory by calls (init.c); its warnings become
// calls of our hook, with a site.
#include <llvm-c/DebugInfo.h>
#include <stdio.h>
#include <string.h>

#include "simt/checked/instrument.h"

static const char use_prefix[] = "ig.use.", address_name[] = "ig.use.address";

static bool is_call(LLVMValueRef i) {
    return LLVMIsACallInst(i) != NULL;
}

static bool is_use(LLVMValueRef i) {
    return strncmp(igi_simt_callee_name(i), use_prefix, sizeof use_prefix - 1) == 0;
}

static bool is_warning(LLVMValueRef i) {
    return igi_simt_calls(i, "__msan_warning");
}

static bool is_nothing(LLVMValueRef i) {
    return igi_simt_calls(i, "llvm.donothing");
}

static bool is_store(LLVMValueRef i) {
    return LLVMIsAStoreInst(i) != NULL;
}

static bool is_alloca(LLVMValueRef i) {
    return LLVMIsAAllocaInst(i) != NULL;
}

// ---- Before ----

static unsigned noundef(void) {
    return LLVMGetEnumAttributeKindForName("noundef", 7);
}

// Passing a value to another lane is not yet a use.
static void take_promises(igi_simt_instrumenter *in, LLVMValueRef call) {
    (void)in;
    unsigned count = LLVMGetNumArgOperands(call);
    LLVMValueRef callee = LLVMGetCalledValue(call);
    for (unsigned i = 0; i <= count; i++) {
        LLVMRemoveCallSiteEnumAttribute(call, i, noundef());
        if (LLVMIsAFunction(callee)) LLVMRemoveEnumAttributeAtIndex(callee, i, noundef());
    }
}

// A vector of three is stored as four elements, of which the last is undefined.
static LLVMValueRef meaningful_part(LLVMValueRef value) {
    if (!LLVMIsAShuffleVectorInst(value)) return value;
    LLVMValueRef first = LLVMGetOperand(value, 0);
    unsigned count = LLVMGetNumMaskElements(value), whole = LLVMGetVectorSize(LLVMTypeOf(first));
    for (unsigned i = 0; i < count; i++)
        if (LLVMGetMaskValue(value, i) != (i < whole ? (int)i : LLVMGetUndefMaskElem())) return value;
    return count > whole ? first : value;
}

static void use(igi_simt_instrumenter *in, LLVMValueRef value) {
    LLVMTypeRef parameter = LLVMTypeOf(value), type = LLVMFunctionType(in->void_type, &parameter, 1, 0);
    char name[40];
    snprintf(name, sizeof name, "%s%p", use_prefix, (void *)parameter);
    LLVMValueRef call = LLVMBuildCall2(in->builder, type, igi_simt_declare(in->m->module, name, type), &value, 1, "");
    LLVMAddCallSiteAttribute(call, 1, LLVMCreateEnumAttribute(in->m->context, noundef(), 0));
}

// LLVM has split a vector: the fourth element of three is stored separately, without a purpose.
static bool is_padding(LLVMValueRef store) {
    uint64_t offset;
    LLVMValueRef value = LLVMGetOperand(store, 0);
    return (LLVMIsUndef(value) || igi_simt_is_unwritten(value)) &&
           igi_simt_constant_offset(LLVMGetOperand(store, 1), &offset);
}

static bool is_for_others(const igi_simt_instrumenter *in, LLVMValueRef pointer) {
    igi_simt_checked_space space = igi_simt_trace_pointer(in, pointer).space;
    return space == IGI_SPACE_BUFFER || space == IGI_SPACE_PART;
}

static void use_stored(igi_simt_instrumenter *in, LLVMValueRef store) {
    if (is_padding(store)) return;
    if (!is_for_others(in, LLVMGetOperand(store, 1))) return;
    LLVMPositionBuilderBefore(in->builder, store);
    use(in, meaningful_part(LLVMGetOperand(store, 0)));
}

// Whether there is no padding between its parts.
static bool is_dense(const igi_simt_instrumenter *in, LLVMTypeRef type) {
    uint64_t bytes = 0;
    switch (LLVMGetTypeKind(type)) {
        case LLVMStructTypeKind:
            for (unsigned i = 0; i < LLVMCountStructElementTypes(type); i++) {
                LLVMTypeRef part = LLVMStructGetTypeAtIndex(type, i);
                if (!is_dense(in, part)) return false;
                bytes += LLVMABISizeOfType(in->layout, part);
            }
            return bytes == LLVMABISizeOfType(in->layout, type);
        case LLVMArrayTypeKind: return is_dense(in, LLVMGetElementType(type));
        default: return LLVMSizeOfTypeInBits(in->layout, type) == 8 * LLVMABISizeOfType(in->layout, type);
    }
}

// Copies of small values into buffers: a vector, or a structure of numbers.
static void use_copied(igi_simt_instrumenter *in, LLVMValueRef copy) {
    enum { MOST_BYTES = 64 };
    LLVMValueRef to = LLVMGetOperand(copy, 0), from = LLVMGetOperand(copy, 1), length = LLVMGetOperand(copy, 2);
    uint64_t bytes = LLVMIsAConstantInt(length) ? LLVMConstIntGetZExtValue(length) : 0;
    LLVMTypeRef type = LLVMIsAGetElementPtrInst(to) ? LLVMGetGEPSourceElementType(to) : NULL;
    if (!type || !bytes || bytes > MOST_BYTES || LLVMABISizeOfType(in->layout, type) != bytes || !is_dense(in, type))
        return;
    if (!is_for_others(in, to)) return;
    LLVMPositionBuilderBefore(in->builder, copy);
    LLVMTypeRef bits = LLVMIntTypeInContext(in->m->context, (unsigned)bytes * 8);
    LLVMValueRef value = LLVMBuildLoad2(in->builder, bits, from, "");
    LLVMSetAlignment(value, 1);
    use(in, value);
}

static bool is_copy(LLVMValueRef i) {
    return strncmp(igi_simt_callee_name(i), "llvm.memcpy.", 12) == 0 ||
           strncmp(igi_simt_callee_name(i), "llvm.memmove.", 13) == 0;
}

static void promise_parameters(igi_simt_instrumenter *in) {
    for (unsigned i = 1; i <= 5; i++)
        LLVMAddAttributeAtIndex(in->m->thread, i, LLVMCreateEnumAttribute(in->m->context, noundef(), 0));
}

// ---- Buffers that are written as a whole ----

static bool is_access(LLVMValueRef i) {
    return LLVMIsALoadInst(i) || LLVMIsAStoreInst(i);
}

// Only the address can be uninitialised: the sanitizer need not request the shadow of every element.
static void use_address(igi_simt_instrumenter *in, LLVMValueRef i) {
    LLVMValueRef pointer = LLVMGetOperand(i, LLVMIsAStoreInst(i) ? 1 : 0);
    unsigned foreign = LLVMGetMDKindIDInContext(in->m->context, "nosanitize", 10);
    if (LLVMGetMetadata(i, foreign) || igi_simt_trace_pointer(in, pointer).space != IGI_SPACE_BUFFER) return;
    LLVMTypeRef type = LLVMFunctionType(in->void_type, &in->pointer, 1, 0);
    LLVMPositionBuilderBefore(in->builder, i);
    LLVMValueRef function = igi_simt_declare(in->m->module, address_name, type);
    LLVMValueRef call = LLVMBuildCall2(in->builder, type, function, &pointer, 1, "");
    LLVMAddCallSiteAttribute(call, 1, LLVMCreateEnumAttribute(in->m->context, noundef(), 0));
    LLVMMetadataRef nothing = LLVMMDNodeInContext2(in->m->context, NULL, 0);
    LLVMSetMetadata(i, foreign, LLVMMetadataAsValue(in->m->context, nothing));
}

// ---- After ----

static bool leads_to_warning(LLVMBasicBlockRef block) {
    LLVMValueRef i = LLVMGetFirstInstruction(block);
    while (i && !is_call(i)) i = LLVMGetNextInstruction(i);
    return i && is_warning(i);
}

// What follows a warning: the instruction that it is about.
static igi_simt_checked_act act_behind(LLVMValueRef warning) {
    LLVMValueRef i = LLVMGetNextInstruction(warning);
    for (int steps = 0; i && steps < 200; steps++) {
        if (igi_simt_calls(i, address_name)) return IGI_ACT_ADDRESS;
        if (is_use(i)) return IGI_ACT_RESULT;
        if (LLVMIsALoadInst(i) || LLVMIsAStoreInst(i) || LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i) ||
            igi_simt_is_memory_intrinsic(i))
            return IGI_ACT_ADDRESS;
        if (LLVMIsATerminatorInst(i)) {
            unsigned count = LLVMGetNumSuccessors(i);
            if (count == 0 || count > 2) return IGI_ACT_BRANCH;
            LLVMBasicBlockRef next = LLVMGetSuccessor(i, 0);
            if (count == 2 && leads_to_warning(next))
                next = LLVMGetSuccessor(i, 1);
            else if (count == 2)
                return IGI_ACT_BRANCH;
            i = LLVMGetFirstInstruction(next);
            continue;
        }
        i = LLVMGetNextInstruction(i);
    }
    return IGI_ACT_BRANCH;
}

static void replace_warning(igi_simt_instrumenter *in, LLVMValueRef warning) {
    LLVMPositionBuilderBefore(in->builder, warning);
    uint32_t site = igi_simt_add_site(in, warning, act_behind(warning), NULL, 0, 0);
    LLVMValueRef arguments[] = {in->check, in->thread, igi_simt_number32(in, site), LLVMGetOperand(warning, 0)};
    igi_simt_call_hook(in, "uninitialised", in->void_type, arguments, 4);
}

static void erase(igi_simt_instrumenter *in, LLVMValueRef i) {
    (void)in;
    LLVMInstructionEraseFromParent(i);
}

// Other passes expect variables at the beginning of the function.
static void move_up(igi_simt_instrumenter *in, LLVMValueRef variable) {
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(in->m->thread);
    if (LLVMGetInstructionParent(variable) != entry) return;
    size_t length;
    char *name = igi_strdup(LLVMGetValueName2(variable, &length));
    LLVMPositionBuilderBefore(in->builder, LLVMGetFirstInstruction(entry));
    if (LLVMGetFirstInstruction(entry) != variable) {
        LLVMInstructionRemoveFromParent(variable);
        LLVMInsertIntoBuilderWithName(in->builder, variable, name ? name : "");
    }
    free(name);
}

void igi_simt_instrument_results(igi_simt_instrumenter *in) {
    igi_simt_instrument_all(in, is_call, take_promises);
    igi_simt_instrument_all(in, is_store, use_stored);
    igi_simt_instrument_all(in, is_copy, use_copied);
    if (!(in->checks & IGI_CHECK_BUFFERS)) igi_simt_instrument_all(in, is_access, use_address);
}

ig_status igi_simt_instrument_values(igi_simt_instrumenter *in) {
    promise_parameters(in);
    igi_simt_add_attribute(in->m->thread, "sanitize_memory");
    ig_status status = igi_simt_run_passes(in->m, "msan<kernel;recover;eager-checks;track-origins=1>");
    if (status != IG_STATUS_OK) return status;
    igi_simt_remove_attribute(in->m->thread, "sanitize_memory");
    igi_simt_instrument_all(in, is_warning, replace_warning);
    igi_simt_instrument_all(in, is_warning, erase);
    igi_simt_instrument_all(in, is_use, erase);
    igi_simt_instrument_all(in, is_nothing, erase);
    igi_simt_instrument_all(in, is_alloca, move_up);
    return IG_STATUS_OK;
}
