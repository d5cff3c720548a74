// SPDX-License-Identifier: Apache-2.0
// Helpers that every pass needs and the LLVM-C API lacks.
#include "simt/ir.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"

bool igi_simt_values_add(igi_simt_values *values, LLVMValueRef value) {
    if (!igi_grow((void **)&values->items, &values->capacity, values->count + 1, sizeof *values->items)) return false;
    values->items[values->count++] = value;
    return true;
}

void igi_simt_values_free(igi_simt_values *values) {
    free(values->items);
    *values = (igi_simt_values){0};
}

bool igi_simt_collect(LLVMValueRef function, bool (*wanted)(LLVMValueRef instruction), igi_simt_values *found) {
    *found = (igi_simt_values){0};
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
            if (!wanted(i) || igi_simt_values_add(found, i)) continue;
            igi_simt_values_free(found);
            return false;
        }
    }
    return true;
}

const char *igi_simt_callee_name(LLVMValueRef instruction) {
    if (!LLVMIsACallInst(instruction)) return "";
    LLVMValueRef callee = LLVMGetCalledValue(instruction);
    size_t length;
    return callee && LLVMIsAFunction(callee) ? LLVMGetValueName2(callee, &length) : "";
}

bool igi_simt_calls(LLVMValueRef instruction, const char *name) {
    return strcmp(igi_simt_callee_name(instruction), name) == 0;
}

bool igi_simt_is_invariant_load(LLVMValueRef instruction) {
    unsigned kind = LLVMGetMDKindIDInContext(LLVMGetTypeContext(LLVMTypeOf(instruction)), "invariant.load", 14);
    return LLVMIsALoadInst(instruction) && LLVMGetMetadata(instruction, kind);
}

bool igi_simt_is_barrier(LLVMValueRef instruction) {
    return igi_simt_calls(instruction, "__ig_barrier");
}

LLVMTypeRef igi_simt_accessed_type(LLVMValueRef access) {
    return LLVMIsAStoreInst(access) ? LLVMTypeOf(LLVMGetOperand(access, 0)) : LLVMTypeOf(access);
}

size_t igi_simt_instruction_count(LLVMValueRef function) {
    size_t count = 0;
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) count++;
    return count;
}

bool igi_simt_is_memory_intrinsic(LLVMValueRef instruction) {
    const char *name = igi_simt_callee_name(instruction);
    return strncmp(name, "llvm.mem", 8) == 0 || strncmp(name, "llvm.masked.", 12) == 0;
}

// Not LLVMReplaceAllUsesWith: that would also rename the block in the phi nodes after it.
static void redirect(LLVMBasicBlockRef from, LLVMBasicBlockRef to) {
    LLVMUseRef use;
    while ((use = LLVMGetFirstUse(LLVMBasicBlockAsValue(from)))) {
        LLVMValueRef terminator = LLVMGetUser(use);
        for (unsigned i = 0; i < LLVMGetNumSuccessors(terminator); i++)
            if (LLVMGetSuccessor(terminator, i) == from) LLVMSetSuccessor(terminator, i, to);
    }
}

LLVMBasicBlockRef igi_simt_split_before(LLVMValueRef instruction) {
    LLVMBasicBlockRef block = LLVMGetInstructionParent(instruction);
    LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(LLVMBasicBlockAsValue(block)));
    LLVMBasicBlockRef head = LLVMInsertBasicBlockInContext(context, block, "");
    redirect(block, head);
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
    LLVMPositionBuilderAtEnd(builder, head);
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i != instruction;) {
        LLVMValueRef next = LLVMGetNextInstruction(i);
        size_t length;
        bool temporary = strncmp(LLVMGetValueName2(i, &length), IGI_TEMPORARY, sizeof IGI_TEMPORARY - 1) == 0;
        LLVMInstructionRemoveFromParent(i);
        LLVMInsertIntoBuilderWithName(builder, i, temporary ? IGI_TEMPORARY : "");  // inserting drops names
        i = next;
    }
    LLVMDisposeBuilder(builder);
    return head;
}

LLVMValueRef igi_simt_declare(LLVMModuleRef module, const char *name, LLVMTypeRef type) {
    LLVMValueRef found = LLVMGetNamedFunction(module, name);
    return found ? found : LLVMAddFunction(module, name, type);
}

LLVMValueRef igi_simt_intrinsic(LLVMModuleRef module, const char *name, LLVMTypeRef *types, size_t count) {
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    return LLVMGetIntrinsicDeclaration(module, id, types, count);
}

LLVMValueRef igi_simt_call_intrinsic(LLVMBuilderRef builder, const char *name, LLVMTypeRef *types, size_t type_count,
                                     LLVMValueRef *arguments, unsigned argument_count) {
    LLVMModuleRef module = LLVMGetGlobalParent(LLVMGetBasicBlockParent(LLVMGetInsertBlock(builder)));
    LLVMValueRef function = igi_simt_intrinsic(module, name, types, type_count);
    return LLVMBuildCall2(builder, LLVMGlobalGetValueType(function), function, arguments, argument_count, "");
}

void igi_simt_add_attribute(LLVMValueRef function, const char *name) {
    LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(function));
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            LLVMCreateEnumAttribute(context, kind, 0));
}

void igi_simt_remove_attribute(LLVMValueRef function, const char *name) {
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMRemoveEnumAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, kind);
}

// Inlining adds ".i" and numbers after a dot; clang names the memory of a parameter "name.addr".
static size_t length_without_endings(const char *name, size_t length) {
    const char *dot = memchr(name, '.', length);
    return dot && dot > name ? (size_t)(dot - name) : length;
}

void igi_simt_set_name(LLVMValueRef value, const char *name) {
    if (LLVMIsAInstruction(value) || LLVMIsAArgument(value)) LLVMSetValueName2(value, name, strlen(name));
}

void igi_simt_name_like(LLVMValueRef made, LLVMValueRef original) {
    size_t length = 0;
    const char *name = LLVMGetValueName2(original, &length);
    size_t named = 0;
    if (!made || !(LLVMIsAInstruction(made) || LLVMIsAArgument(made)) || (LLVMGetValueName2(made, &named), named))
        return;
    if (LLVMGetTypeKind(LLVMTypeOf(made)) == LLVMVoidTypeKind) return;
    LLVMSetValueName2(made, name, length_without_endings(name, length));
}

void igi_simt_insert_moved(LLVMBuilderRef builder, LLVMValueRef instruction) {
    char name[64];  // a longer name is cut: only people read it
    size_t length;
    snprintf(name, sizeof name, "%s", LLVMGetValueName2(instruction, &length));
    LLVMInsertIntoBuilderWithName(builder, instruction, name);
}

LLVMValueRef igi_simt_field(LLVMBuilderRef builder, LLVMValueRef base, size_t offset) {
    LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(base));
    LLVMValueRef index = LLVMConstInt(LLVMInt64TypeInContext(context), offset, 0);
    return LLVMBuildInBoundsGEP2(builder, LLVMInt8TypeInContext(context), base, &index, 1, "");
}

bool igi_simt_constant_offset(LLVMValueRef pointer, uint64_t *offset) {
    if (!LLVMIsAGetElementPtrInst(pointer) || LLVMGetNumOperands(pointer) != 2) return false;
    LLVMValueRef index = LLVMGetOperand(pointer, 1);
    LLVMTypeRef element = LLVMGetGEPSourceElementType(pointer);
    if (!LLVMIsAConstantInt(index) || LLVMGetTypeKind(element) != LLVMIntegerTypeKind) return false;
    *offset = LLVMConstIntGetZExtValue(index) * (LLVMGetIntTypeWidth(element) / 8);
    return true;
}

bool igi_simt_is_scalar(LLVMTypeRef type) {
    switch (LLVMGetTypeKind(type)) {
        case LLVMIntegerTypeKind:
        case LLVMHalfTypeKind:
        case LLVMBFloatTypeKind:
        case LLVMFloatTypeKind:
        case LLVMDoubleTypeKind:
        case LLVMPointerTypeKind: return true;
        default: return false;
    }
}

bool igi_simt_is_field(LLVMValueRef pointer, uint64_t *offset) {
    *offset = 0;
    if (LLVMIsAArgument(pointer)) return true;
    return igi_simt_constant_offset(pointer, offset) && LLVMIsAArgument(LLVMGetOperand(pointer, 0));
}

bool igi_simt_is_at_edge(LLVMValueRef instruction) {
    LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(instruction));
    return LLVMGetMetadata(instruction, LLVMGetMDKindIDInContext(context, IGI_EDGE, sizeof IGI_EDGE - 1)) != NULL;
}

LLVMValueRef igi_simt_first_after_allocas(LLVMValueRef function) {
    LLVMValueRef i = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function));
    while (LLVMIsAAllocaInst(i)) i = LLVMGetNextInstruction(i);
    return i;
}

bool igi_simt_drop_lifetimes(LLVMValueRef variable) {
    igi_simt_values markers = {0};
    bool ok = true;
    for (LLVMUseRef use = LLVMGetFirstUse(variable); use && ok; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        const char *name = igi_simt_callee_name(user);
        if (strncmp(name, "llvm.lifetime.", 14) == 0 || strncmp(name, "llvm.var.annotation", 19) == 0)
            ok = igi_simt_values_add(&markers, user);
    }
    for (size_t i = 0; i < markers.count; i++) LLVMInstructionEraseFromParent(markers.items[i]);
    igi_simt_values_free(&markers);
    return ok;
}

LLVMTypeRef igi_simt_element_type(LLVMTypeRef type) {
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetElementType(type) : type;
}

static LLVMTypeRef shaped_like(LLVMTypeRef shape, LLVMTypeRef element) {
    bool vector = LLVMGetTypeKind(shape) == LLVMVectorTypeKind;
    return vector ? LLVMVectorType(element, LLVMGetVectorSize(shape)) : element;
}

LLVMTypeRef igi_simt_floats_like(LLVMTypeRef type) {
    return shaped_like(type, LLVMFloatTypeInContext(LLVMGetTypeContext(type)));
}

LLVMTypeRef igi_simt_integers_like(LLVMTypeRef type, unsigned bits) {
    return shaped_like(type, LLVMIntTypeInContext(LLVMGetTypeContext(type), bits));
}

LLVMValueRef igi_simt_splat(LLVMTypeRef type, uint64_t value, bool is_signed) {
    return igi_simt_repeat(type, LLVMConstInt(igi_simt_element_type(type), value, is_signed));
}

LLVMValueRef igi_simt_repeat(LLVMTypeRef type, LLVMValueRef scalar) {
    if (LLVMGetTypeKind(type) != LLVMVectorTypeKind) return scalar;
    LLVMValueRef items[IGI_MAX_WIDTH];
    unsigned count = LLVMGetVectorSize(type);
    assert(count <= IGI_MAX_WIDTH);
    for (unsigned i = 0; i < count; i++) items[i] = scalar;
    return LLVMConstVector(items, count);
}
