// SPDX-License-Identifier: Apache-2.0
// The functions of runtime.metal, of which a kernel gets those that it calls.
#include "air/runtime.h"

#include <llvm-c/BitReader.h>
#include <llvm-c/Linker.h>
#include <string.h>

#include "air/translator.h"

bool igi_air_open_runtime(air_translator *t) {
    if (!igi_air_runtime_length)
        return igi_air_fail(t, IG_STATUS_UNSUPPORTED,
                            "this build of Ingot cannot run compiled Metal libraries: clang was missing when it was "
                            "built");
    t->runtime = igi_calloc(igi_air_runtime_module_count, sizeof(LLVMModuleRef));
    return t->runtime || igi_air_fail_memory(t);
}

void igi_air_close_runtime(air_translator *t) {
    for (size_t i = 0; t->runtime && i < igi_air_runtime_module_count; i++)
        if (t->runtime[i]) LLVMDisposeModule(t->runtime[i]);
    free(t->runtime);
}

static int by_name(const void *name, const void *function) {
    return strcmp(name, ((const igi_air_runtime_function *)function)->name);
}

// A module is read when a function of it is first called, and bodies when the linker needs them.
static LLVMModuleRef open_module(air_translator *t, uint32_t index) {
    if (t->runtime[index]) return t->runtime[index];
    const igi_air_runtime_module *module = &igi_air_runtime_modules[index];
    LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRange(igi_air_runtime + module->offset, module->length, "runtime", 0);
    if (!LLVMGetBitcodeModuleInContext2(t->context, buffer, &t->runtime[index])) return t->runtime[index];
    t->runtime[index] = NULL;
    LLVMDisposeMemoryBuffer(buffer);
    igi_air_fail(t, IG_STATUS_INTERNAL, "the functions for compiled Metal libraries cannot be read");
    return NULL;
}

static LLVMValueRef find_function(air_translator *t, const char *symbol) {
    const igi_air_runtime_function *found = bsearch(symbol, igi_air_runtime_functions, igi_air_runtime_function_count,
                                                    sizeof *igi_air_runtime_functions, by_name);
    LLVMModuleRef module = found ? open_module(t, found->module) : NULL;
    return module ? LLVMGetNamedFunction(module, symbol) : NULL;
}

LLVMValueRef igi_air_call_runtime(air_translator *t, const char *symbol, LLVMTypeRef result, LLVMValueRef *arguments,
                                  unsigned count) {
    enum { MOST = 24 };
    LLVMTypeRef types[MOST];
    if (count > MOST) return NULL;
    for (unsigned i = 0; i < count; i++) types[i] = LLVMTypeOf(arguments[i]);
    LLVMTypeRef type = LLVMFunctionType(result, types, count, 0);
    LLVMValueRef there = find_function(t, symbol), here = LLVMGetNamedFunction(t->module, symbol);
    if (!there || LLVMGlobalGetValueType(there) != type) return NULL;
    if (!here) here = LLVMAddFunction(t->module, symbol, type);
    static const char convergent[] = "convergent";
    unsigned kind = LLVMGetEnumAttributeKindForName(convergent, strlen(convergent));
    LLVMAttributeIndex whole = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
    LLVMAttributeRef together = LLVMGetEnumAttributeAtIndex(there, whole, kind);
    if (together) LLVMAddAttributeAtIndex(here, whole, LLVMCreateEnumAttribute(t->context, kind, 0));
    return LLVMBuildCall2(t->builder, type, here, arguments, count, "");
}

static bool is_wanted(const air_translator *t, LLVMValueRef function) {
    LLVMValueRef here = LLVMGetNamedFunction(t->module, igi_air_symbol(function));
    return here && LLVMIsDeclaration(here);
}

// What the kernel does not call becomes internal, so that the linker leaves it out.
static bool link_module(air_translator *t, LLVMModuleRef *module) {
    for (LLVMValueRef f = LLVMGetFirstFunction(*module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f) && !is_wanted(t, f)) LLVMSetLinkage(f, LLVMInternalLinkage);
    LLVMModuleRef linked = *module;
    *module = NULL;
    if (!LLVMLinkModules2(t->module, linked)) return true;
    return igi_air_fail(t, IG_STATUS_INTERNAL, "kernel '%.200s' cannot be linked", t->name);
}

bool igi_air_link_runtime(air_translator *t) {
    LLVMSetTarget(t->module, igi_air_runtime_target);
    LLVMSetDataLayout(t->module, igi_air_runtime_layout);
    bool ok = true;
    for (size_t i = 0; i < igi_air_runtime_module_count && ok; i++)
        if (t->runtime[i]) ok = link_module(t, &t->runtime[i]);
    return ok;
}
