// SPDX-License-Identifier: Apache-2.0
// Bitcode to a module of LLVM in which all pointers are in one address space, and threadgroup variables are marked.
#include <llvm-c/BitReader.h>
#include <string.h>

#include "air/flatten.h"
#include "air/translator.h"
#include "msl/llvm-context.h"

static bool fail_damaged(air_translator *t) {
    return igi_air_fail(t, IG_STATUS_BAD_FORMAT, "the bitcode of kernel '%.200s' cannot be read", t->name);
}

// Names of local values are not read.
static bool read_module(air_translator *t, const char *bitcode, size_t length) {
    LLVMContextSetDiscardValueNames(t->context, 1);
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRange(bitcode, length, "air", 0);
    bool failed = LLVMParseBitcodeInContext2(t->context, buffer, &t->module);
    LLVMDisposeMemoryBuffer(buffer);
    LLVMContextSetDiscardValueNames(t->context, 0);
    if (failed) t->module = NULL;
    return !failed;
}

static void mark_threadgroup(LLVMValueRef global) {
    LLVMSetSection(global, AIR_THREADGROUP_SECTION);
    LLVMSetLinkage(global, LLVMInternalLinkage);
    if (LLVMIsDeclaration(global)) LLVMSetInitializer(global, LLVMGetUndef(LLVMGlobalGetValueType(global)));
}

static bool mark_variables(air_translator *t, const igi_air_spaces *spaces) {
    enum { THREADGROUP = 3 };
    size_t i = 0;
    for (LLVMValueRef g = LLVMGetFirstGlobal(t->module); g; g = LLVMGetNextGlobal(g), i++) {
        if (i == spaces->count) return false;
        if (spaces->of_variables[i] == THREADGROUP) mark_threadgroup(g);
    }
    return i == spaces->count;
}

// llvm.used and the like hold addresses of everything.
static void drop_lists(air_translator *t) {
    static const char *const lists[] = {"llvm.compiler.used", "llvm.used"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        LLVMValueRef list = LLVMGetNamedGlobal(t->module, lists[i]);
        if (list) LLVMDeleteGlobal(list);
    }
}

// ---- That there is one space, whatever the bitcode was ----

static bool is_flat(LLVMTypeRef type) {
    if (LLVMGetTypeKind(type) == LLVMVectorTypeKind) type = LLVMGetElementType(type);
    return LLVMGetTypeKind(type) != LLVMPointerTypeKind || LLVMGetPointerAddressSpace(type) == 0;
}

static bool has_flat_code(LLVMValueRef function) {
    bool flat = is_flat(LLVMTypeOf(function));
    for (LLVMValueRef p = LLVMGetFirstParam(function); p && flat; p = LLVMGetNextParam(p))
        flat = is_flat(LLVMTypeOf(p));
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b && flat; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i && flat; i = LLVMGetNextInstruction(i))
            flat = is_flat(LLVMTypeOf(i));
    return flat;
}

static bool has_one_space(air_translator *t) {
    bool flat = true;
    for (LLVMValueRef g = LLVMGetFirstGlobal(t->module); g && flat; g = LLVMGetNextGlobal(g))
        flat = is_flat(LLVMTypeOf(g));
    for (LLVMValueRef f = LLVMGetFirstFunction(t->module); f && flat; f = LLVMGetNextFunction(f))
        flat = has_flat_code(f);
    return flat;
}

static bool read_flattened(air_translator *t, char *copy, size_t length, igi_air_spaces *spaces) {
    bool read = igi_air_flatten(copy, length, spaces) && read_module(t, copy, length);
    if (!read || !mark_variables(t, spaces) || !has_one_space(t)) return fail_damaged(t);
    drop_lists(t);
    return igi_air_verify(t, IG_STATUS_BAD_FORMAT);
}

bool igi_air_parse(air_translator *t, const char *bitcode, size_t length) {
    igi_air_spaces spaces = {0};
    char *copy = igi_alloc(length);
    if (!copy) return igi_air_fail_memory(t);
    memcpy(copy, bitcode, length);
    bool ok = read_flattened(t, copy, length, &spaces);
    free(copy), free(spaces.of_variables);
    return ok;
}

ig_status igi_air_print(const char *bitcode, size_t length, const char *name, char **output, size_t *output_length,
                        ig_error *error) {
    air_translator t = {.name = name, .context = igi_msl_llvm_context_create(), .error = error};
    if (!read_module(&t, bitcode, length)) {
        fail_damaged(&t);
    } else {
        char *text = LLVMPrintModuleToString(t.module);
        *output = igi_strdup(text);
        *output_length = strlen(text);
        if (!*output) igi_air_fail_memory(&t);
        LLVMDisposeMessage(text);
        LLVMDisposeModule(t.module);
    }
    LLVMContextDispose(t.context);
    return t.status;
}
