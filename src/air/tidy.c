// SPDX-License-Identifier: Apache-2.0
// Names, linkage, attributes and metadata, so that nothing of the module can be mistaken for something of ours, and
// everything will be inlined into the kernel.
#include <stdio.h>
#include <string.h>

#include "air/translator.h"
#include "msl/llvm-versions.h"

static bool is_initialiser(LLVMValueRef function) {
    const char *section = LLVMGetSection(function);
    return section && strcmp(section, "air.static_init") == 0;
}

static void rename_to(LLVMValueRef value, const char *format, unsigned number) {
    char name[64];
    int length = snprintf(name, sizeof name, format, number);
    LLVMSetValueName2(value, name, (size_t)length);
}

// ---- Functions ----

static void remove_attribute(LLVMValueRef function, LLVMAttributeIndex index, const char *name) {
    unsigned kind = igi_llvm_attribute_kind(name);
    if (kind) LLVMRemoveEnumAttributeAtIndex(function, index, kind);
}

// Attributes about memory would become metadata when the function is inlined. Buffers may overlap here.
static void drop_promises(LLVMValueRef function) {
    static const char *const promises[] = {"noalias", "nocapture",       "readonly", "writeonly", "readnone", "nonnull",
                                           "align",   "dereferenceable", "noundef",  "returned",  "nofree"};
    for (unsigned i = 0; i <= LLVMCountParams(function); i++)
        for (size_t k = 0; k < sizeof promises / sizeof *promises; k++) remove_attribute(function, i, promises[k]);
    static const char *const whole[] = {"noinline", "optnone", "memory", "nosync", "willreturn", "nofree", "cold"};
    for (size_t k = 0; k < sizeof whole / sizeof *whole; k++)
        remove_attribute(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, whole[k]);
}

static void add_attribute(air_translator *t, LLVMValueRef function, const char *name) {
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            LLVMCreateEnumAttribute(t->context, kind, 0));
}

static void tidy_function(air_translator *t, LLVMValueRef function, unsigned number) {
    // src/simt knows initialisers by this name.
    rename_to(function, is_initialiser(function) ? "__cxx_global_var_init.%u" : "air.function.%u", number);
    LLVMSetSection(function, "");
    LLVMSetLinkage(function, LLVMInternalLinkage);
    LLVMSetVisibility(function, LLVMDefaultVisibility);
    LLVMSetFunctionCallConv(function, LLVMCCallConv);
    drop_promises(function);
    add_attribute(t, function, "alwaysinline");
    add_attribute(t, function, "null_pointer_is_valid");
}

// ---- Instructions ----

// Fast math here means that products and sums may become one operation; nothing is reordered, and NaN and infinities
// count, as in a source that is compiled here. Flags cannot be removed: the instruction is created anew.
static LLVMValueRef create_plain(air_translator *t, LLVMValueRef instruction) {
    LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
    LLVMValueRef left = LLVMGetOperand(instruction, 0);
    if (LLVMIsABinaryOperator(instruction))
        return LLVMBuildBinOp(t->builder, opcode, left, LLVMGetOperand(instruction, 1), "");
    switch (opcode) {
        case LLVMFNeg: return LLVMBuildFNeg(t->builder, left, "");
        case LLVMFCmp:
            return LLVMBuildFCmp(t->builder, LLVMGetFCmpPredicate(instruction), left, LLVMGetOperand(instruction, 1),
                                 "");
        case LLVMSelect:
            return LLVMBuildSelect(t->builder, left, LLVMGetOperand(instruction, 1), LLVMGetOperand(instruction, 2),
                                   "");
        default: return instruction;
    }
}

static void keep_contraction_only(air_translator *t, LLVMValueRef instruction) {
    if (!LLVMCanValueUseFastMathFlags(instruction) || !LLVMGetFastMathFlags(instruction)) return;
    unsigned flags = LLVMGetFastMathFlags(instruction) & LLVMFastMathAllowContract;
    LLVMPositionBuilderBefore(t->builder, instruction);
    LLVMValueRef plain = create_plain(t, instruction);
    if (plain == instruction) return;
    if (flags && LLVMIsAInstruction(plain) && LLVMCanValueUseFastMathFlags(plain)) LLVMSetFastMathFlags(plain, flags);
    LLVMReplaceAllUsesWith(instruction, plain);
    LLVMInstructionEraseFromParent(instruction);
}

// Of what instructions say about themselves only hints for loops are kept.
static void tidy_instruction(LLVMValueRef instruction, unsigned loop) {
    size_t count = 0;
    LLVMValueMetadataEntry *entries = LLVMInstructionGetAllMetadataOtherThanDebugLoc(instruction, &count);
    for (unsigned i = 0; i < count; i++) {
        unsigned kind = LLVMValueMetadataEntriesGetKind(entries, i);
        if (kind != loop) LLVMSetMetadata(instruction, kind, NULL);
    }
    LLVMDisposeValueMetadataEntries(entries);
    if (LLVMIsACallInst(instruction)) LLVMSetInstructionCallConv(instruction, LLVMCCallConv);
}

static void tidy_instructions(air_translator *t, LLVMValueRef function) {
    unsigned loop = LLVMGetMDKindIDInContext(t->context, "llvm.loop", 9);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
            next = LLVMGetNextInstruction(i);
            tidy_instruction(i, loop);
            keep_contraction_only(t, i);
        }
}

// ---- Variables ----

static bool is_list(LLVMValueRef global) {
    return strncmp(igi_air_symbol(global), "llvm.", 5) == 0;
}

static bool is_constant(LLVMValueRef global) {
    return strncmp(igi_air_symbol(global), "ig.fc.", 6) == 0 && LLVMIsDeclaration(global);
}

static void tidy_variable(LLVMValueRef global, unsigned number) {
    const char *section = LLVMGetSection(global);
    bool threadgroup = section && strcmp(section, AIR_THREADGROUP_SECTION) == 0;
    rename_to(global, "air.variable.%u", number);
    if (!threadgroup) LLVMSetSection(global, "");
    if (!LLVMIsDeclaration(global)) LLVMSetLinkage(global, LLVMInternalLinkage);
    LLVMSetExternallyInitialized(global, 0);
}

// All other names are ours.
static bool may_be_declared(LLVMValueRef function) {
    const char *name = igi_air_symbol(function);
    return strncmp(name, "air.", 4) == 0 || strncmp(name, "llvm.", 5) == 0;
}

bool igi_air_tidy(air_translator *t) {
    unsigned number = 0;
    if (LLVMGetFirstGlobalAlias(t->module) || LLVMGetFirstGlobalIFunc(t->module))
        return igi_air_fail_unknown(t, "an alias");
    for (LLVMValueRef f = LLVMGetFirstFunction(t->module); f; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f) && !may_be_declared(f)) return igi_air_fail_unknown(t, igi_air_symbol(f));
        if (LLVMIsDeclaration(f)) continue;
        tidy_function(t, f, number++);
        tidy_instructions(t, f);
    }
    for (LLVMValueRef g = LLVMGetFirstGlobal(t->module); g; g = LLVMGetNextGlobal(g))
        if (!is_list(g) && !is_constant(g)) tidy_variable(g, number++);
    return true;
}
