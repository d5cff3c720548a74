// SPDX-License-Identifier: Apache-2.0
// The functions of runtime.metal, of which a kernel gets those that it calls.
#include "air/runtime.h"

#include <llvm-c/BitReader.h>
#include <llvm-c/Linker.h>
#include <string.h>

#include "air/translator.h"

// Bodies are read when the linker needs them.
bool igi_air_open_runtime(air_translator *t) {
    if (!igi_air_runtime_length)
        return igi_air_fail(t, IG_STATUS_UNSUPPORTED,
                            "this build of Ingot cannot run compiled Metal libraries: clang was missing when it was "
                            "built");
    LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRange(igi_air_runtime, igi_air_runtime_length, "runtime", 0);
    if (!LLVMGetBitcodeModuleInContext2(t->context, buffer, &t->runtime)) return true;
    t->runtime = NULL;
    LLVMDisposeMemoryBuffer(buffer);
    return igi_air_fail(t, IG_STATUS_INTERNAL, "the functions for compiled Metal libraries cannot be read");
}

LLVMValueRef igi_air_call_runtime(air_translator *t, const char *symbol, LLVMTypeRef result, LLVMValueRef *arguments,
                                  unsigned count) {
    enum { MOST = 24 };
    LLVMTypeRef types[MOST];
    if (count > MOST) return NULL;
    for (unsigned i = 0; i < count; i++) types[i] = LLVMTypeOf(arguments[i]);
    LLVMTypeRef type = LLVMFunctionType(result, types, count, 0);
    LLVMValueRef there = LLVMGetNamedFunction(t->runtime, symbol), here = LLVMGetNamedFunction(t->module, symbol);
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
bool igi_air_link_runtime(air_translator *t) {
    for (LLVMValueRef f = LLVMGetFirstFunction(t->runtime); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f) && !is_wanted(t, f)) LLVMSetLinkage(f, LLVMInternalLinkage);
    LLVMSetTarget(t->module, LLVMGetTarget(t->runtime));
    LLVMSetDataLayout(t->module, LLVMGetDataLayoutStr(t->runtime));
    LLVMModuleRef runtime = t->runtime;
    t->runtime = NULL;
    if (!LLVMLinkModules2(t->module, runtime)) return true;
    return igi_air_fail(t, IG_STATUS_INTERNAL, "kernel '%.200s' cannot be linked", t->name);
}
