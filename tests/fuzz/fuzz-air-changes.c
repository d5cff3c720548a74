// SPDX-License-Identifier: Apache-2.0
#include "fuzz-air-changes.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

// ---- Finding the n-th of something ----

static LLVMValueRef find_function(LLVMModuleRef module, uint32_t at, bool declared) {
    for (int round = 0; round < 2; round++) {
        uint32_t count = 0;
        for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
            if ((bool)LLVMIsDeclaration(f) == declared && count++ == at && round) return f;
        if (!count) return NULL;
        at %= count;
    }
    return NULL;
}

static LLVMValueRef find_instruction(LLVMModuleRef module, uint32_t at) {
    for (int round = 0; round < 2; round++) {
        uint32_t count = 0;
        for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
            for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
                for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
                    if (count++ == at && round) return i;
        if (!count) return NULL;
        at %= count;
    }
    return NULL;
}

// A value of the type that comes before the instruction in its block, or a parameter; NULL if there is none.
static LLVMValueRef find_like(LLVMValueRef instruction, LLVMTypeRef type, uint32_t with) {
    for (LLVMValueRef i = LLVMGetPreviousInstruction(instruction); i; i = LLVMGetPreviousInstruction(i))
        if (LLVMTypeOf(i) == type && with-- % 3 == 0) return i;
    LLVMValueRef function = LLVMGetBasicBlockParent(LLVMGetInstructionParent(instruction));
    for (LLVMValueRef p = LLVMGetFirstParam(function); p; p = LLVMGetNextParam(p))
        if (LLVMTypeOf(p) == type) return p;
    return NULL;
}

// ---- Code ----

static LLVMValueRef other_value(LLVMValueRef instruction, LLVMTypeRef type, uint32_t with) {
    LLVMValueRef like = with & 1 ? find_like(instruction, type, with >> 1) : NULL;
    if (like) return like;
    if (LLVMGetTypeKind(type) == LLVMIntegerTypeKind && with & 2) return LLVMConstInt(type, with >> 2, 0);
    return with & 4 ? LLVMGetPoison(type) : LLVMConstNull(type);
}

static bool has_constants(LLVMTypeRef type) {
    LLVMTypeKind kind = LLVMGetTypeKind(type);
    return kind != LLVMLabelTypeKind && kind != LLVMMetadataTypeKind && kind != LLVMTokenTypeKind &&
           kind != LLVMVoidTypeKind;
}

// The last operand of a call is the function, which another change renames.
static void change_operand(LLVMModuleRef module, const air_change *c) {
    LLVMValueRef instruction = find_instruction(module, c->at);
    int count = instruction ? LLVMGetNumOperands(instruction) : 0;
    if (count && LLVMIsACallInst(instruction)) count--;
    if (!count) return;
    unsigned index = c->with % (unsigned)count;
    LLVMTypeRef type = LLVMTypeOf(LLVMGetOperand(instruction, index));
    if (has_constants(type)) LLVMSetOperand(instruction, index, other_value(instruction, type, c->with >> 3));
}

static void remove_instruction(LLVMModuleRef module, const air_change *c) {
    LLVMValueRef instruction = find_instruction(module, c->at);
    if (!instruction || LLVMIsATerminatorInst(instruction)) return;
    LLVMTypeRef type = LLVMTypeOf(instruction);
    if (has_constants(type)) LLVMReplaceAllUsesWith(instruction, other_value(instruction, type, c->with));
    LLVMInstructionEraseFromParent(instruction);
}

// ---- Names and attributes ----

static void rename_function(LLVMModuleRef module, const air_change *c) {
    LLVMValueRef function = find_function(module, c->at, true);
    if (function && *c->word == '@' && c->word_length > 1) LLVMSetValueName2(function, c->word + 1, c->word_length - 1);
}

// Another type in the name: air.exp.f32 becomes air.exp.v4f32.
static void rename_type(LLVMModuleRef module, const air_change *c) {
    static const char *const types[] = {"f32", "f16",   "bf16",  "i8",    "i16",   "i32",
                                        "i64", "v4f32", "v3i32", "s.i32", "u.i32", "x"};
    LLVMValueRef function = find_function(module, c->at, true);
    size_t length = 0;
    const char *name = function ? LLVMGetValueName2(function, &length) : "";
    const char *dot = strrchr(name, '.');
    if (!dot || strncmp(name, "air.", 4) != 0 || length > 100) return;
    char changed[128];
    memcpy(changed, name, (size_t)(dot + 1 - name));
    strcpy(changed + (dot + 1 - name), types[c->with % (sizeof types / sizeof *types)]);
    LLVMSetValueName2(function, changed, strlen(changed));
}

static void change_function(LLVMModuleRef module, const air_change *c) {
    static const char *const sections[] = {"", "air.static_init", "air.threadgroup", "llvm.metadata"};
    static const LLVMLinkage linkages[] = {LLVMExternalLinkage, LLVMInternalLinkage, LLVMLinkOnceODRLinkage,
                                           LLVMWeakAnyLinkage};
    LLVMValueRef function = find_function(module, c->at, false);
    if (!function) return;
    LLVMSetSection(function, sections[c->with % 4]);
    LLVMSetLinkage(function, linkages[c->with / 4 % 4]);
}

static void change_variable(LLVMModuleRef module, const air_change *c) {
    static const char *const names[] = {"llvm.used", "ig.fc.1.int.x", "air.kernel", "llvm.global_ctors"};
    uint32_t at = c->at % 4;
    LLVMValueRef g = LLVMGetFirstGlobal(module);
    while (g && at-- && LLVMGetNextGlobal(g)) g = LLVMGetNextGlobal(g);
    if (!g) return;
    LLVMTypeRef type = LLVMGlobalGetValueType(g);
    switch (c->with % 4) {
        case 0: LLVMSetInitializer(g, LLVMConstNull(type)); break;
        case 1: LLVMSetGlobalConstant(g, !LLVMIsGlobalConstant(g)); break;
        case 2: LLVMSetValueName2(g, names[c->with / 4 % 4], strlen(names[c->with / 4 % 4])); break;
        default: LLVMSetInitializer(g, LLVMGetUndef(type)); break;
    }
}

// ---- Metadata ----

static LLVMMetadataRef other_metadata(LLVMModuleRef module, LLVMValueRef old, const air_change *c) {
    LLVMContextRef context = LLVMGetModuleContext(module);
    static const int64_t numbers[] = {-1, 0, 1, 2, 3, 30, 31, 64, 1 << 20, INT32_MAX, INT64_MAX};
    if (c->with % 5 == 0) return NULL;
    if (old && !LLVMIsAMDString(old) && !LLVMIsAMDNode(old)) {
        LLVMTypeRef type = c->with & 1 ? LLVMInt32TypeInContext(context) : LLVMInt64TypeInContext(context);
        return LLVMValueAsMetadata(LLVMConstInt(type, (uint64_t)numbers[c->with / 2 % 11], 1));
    }
    bool quoted = *c->word == '"' && c->word_length > 2;
    return LLVMMDStringInContext2(context, quoted ? c->word + 1 : c->word, c->word_length - (quoted ? 2u : 0));
}

// A node that differs from `node` in an operand, or in one of a node below it. Nodes are not changed in place: those
// that name nothing of a module are shared by all modules of the context.
static LLVMMetadataRef changed_node(LLVMModuleRef module, LLVMValueRef node, const air_change *c, int depth);

enum { MOST_OPERANDS = 64 };

static LLVMMetadataRef changed_operand(LLVMModuleRef module, LLVMValueRef operand, const air_change *c, int depth) {
    bool below = operand && LLVMIsAMDNode(operand) && c->with % 16 && depth < 4;
    return below ? changed_node(module, operand, c, depth + 1) : other_metadata(module, operand, c);
}

static LLVMMetadataRef changed_node(LLVMModuleRef module, LLVMValueRef node, const air_change *c, int depth) {
    LLVMValueRef operands[MOST_OPERANDS];
    LLVMMetadataRef changed[MOST_OPERANDS];
    unsigned count = LLVMGetMDNodeNumOperands(node);
    if (!count || count > MOST_OPERANDS) return LLVMValueAsMetadata(node);
    LLVMGetMDNodeOperands(node, operands);
    for (unsigned i = 0; i < count; i++) changed[i] = operands[i] ? LLVMValueAsMetadata(operands[i]) : NULL;
    unsigned index = (c->at >> (2 * depth)) % count;
    changed[index] = changed_operand(module, operands[index], c, depth);
    return LLVMMDNodeInContext2(LLVMGetModuleContext(module), changed, count);
}

// One that names a function or variable is this module's alone.
static bool is_own(LLVMValueRef node) {
    LLVMValueRef operands[MOST_OPERANDS];
    unsigned count = LLVMGetMDNodeNumOperands(node);
    if (count > MOST_OPERANDS) return false;
    LLVMGetMDNodeOperands(node, operands);
    for (unsigned i = 0; i < count; i++)
        if (operands[i] && LLVMIsAGlobalValue(operands[i])) return true;
    return false;
}

// A shared node of a list gets a changed one behind it.
static void change_root(LLVMModuleRef module, const char *list, LLVMValueRef root, const air_change *c) {
    LLVMValueRef operands[MOST_OPERANDS];
    unsigned count = LLVMGetMDNodeNumOperands(root);
    if (!count || count > MOST_OPERANDS) return;
    if (!is_own(root)) {
        LLVMMetadataRef changed = changed_node(module, root, c, 0);
        LLVMAddNamedMetadataOperand(module, list, LLVMMetadataAsValue(LLVMGetModuleContext(module), changed));
        return;
    }
    LLVMGetMDNodeOperands(root, operands);
    unsigned index = c->at % count;
    if (index == 0 && c->with % 16) index = count - 1;  // without its function a kernel has nothing else to try
    LLVMReplaceMDNodeOperandWith(root, index, changed_operand(module, operands[index], c, 0));
}

static const char *const lists[] = {"air.kernel", "air.function_constants", "air.compile_options",
                                    "air.sampler_states"};

static void change_metadata(LLVMModuleRef module, const air_change *c) {
    LLVMValueRef nodes[16];
    const char *list = lists[c->with / 7 % 8 < 5 ? 0 : c->with / 7 % 4];
    unsigned count = LLVMGetNamedMetadataNumOperands(module, list);
    if (!count || count > 16) return;
    LLVMGetNamedMetadataOperands(module, list, nodes);
    change_root(module, list, nodes[c->at % count], c);
}

static void list_node_elsewhere(LLVMModuleRef module, const air_change *c) {
    LLVMValueRef nodes[16];
    unsigned count = LLVMGetNamedMetadataNumOperands(module, lists[c->at % 4]);
    if (!count || count > 16) return;
    LLVMGetNamedMetadataOperands(module, lists[c->at % 4], nodes);
    LLVMAddNamedMetadataOperand(module, lists[c->with % 4], nodes[0]);
}

void change_air(LLVMModuleRef module, const air_change *change) {
    static void (*const changes[])(LLVMModuleRef, const air_change *) = {
        change_operand,  remove_instruction, rename_function, rename_type,     change_function,
        change_variable, change_metadata,    change_metadata, change_metadata, list_node_elsewhere};
    changes[change->kind % (sizeof changes / sizeof *changes)](module, change);
}
