// SPDX-License-Identifier: Apache-2.0
// Part of the build of fuzz-air-fast: shrink-runtime OUTPUT.c writes a stand-in for the functions that AIR's intrinsics
// stand for (src/air/runtime.metal), with empty bodies. Linking and inlining the real ones takes most of the time of a
// translation, and they are no input.
#include <llvm-c/BitReader.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/Core.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdio.h>
#include <stdlib.h>

#include "air/embed-runtime.h"
#include "air/runtime.h"

static void empty(LLVMContextRef context, LLVMValueRef function) {
    while (LLVMGetFirstBasicBlock(function)) {
        LLVMBasicBlockRef last = LLVMGetLastBasicBlock(function);
        for (LLVMValueRef i; (i = LLVMGetLastInstruction(last));) {
            LLVMTypeRef type = LLVMTypeOf(i);
            if (LLVMGetTypeKind(type) != LLVMVoidTypeKind) LLVMReplaceAllUsesWith(i, LLVMGetUndef(type));
            LLVMInstructionEraseFromParent(i);
        }
        if (last != LLVMGetFirstBasicBlock(function)) {
            LLVMReplaceAllUsesWith(LLVMBasicBlockAsValue(last),
                                   LLVMBasicBlockAsValue(LLVMGetFirstBasicBlock(function)));
            LLVMDeleteBasicBlock(last);
            continue;
        }
        LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
        LLVMPositionBuilderAtEnd(builder, last);
        LLVMTypeRef result = LLVMGetReturnType(LLVMGlobalGetValueType(function));
        if (LLVMGetTypeKind(result) == LLVMVoidTypeKind)
            LLVMBuildRetVoid(builder);
        else
            LLVMBuildRet(builder, LLVMConstNull(result));
        LLVMDisposeBuilder(builder);
        return;
    }
}

// A module of its own for each function, so that a kernel reads no more than it calls.
static void embed(LLVMModuleRef module, const char *name, igi_air_embedded *embedded) {
    LLVMModuleRef single = LLVMCloneModule(module);
    for (LLVMValueRef f = LLVMGetFirstFunction(single); f; f = LLVMGetNextFunction(f))
        if (f != LLVMGetNamedFunction(single, name)) LLVMSetLinkage(f, LLVMInternalLinkage);
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMConsumeError(LLVMRunPasses(single, "globaldce,strip-dead-prototypes", NULL, options));
    LLVMDisposePassBuilderOptions(options);
    LLVMMemoryBufferRef small = LLVMWriteBitcodeToMemoryBuffer(single);
    igi_air_embed_function(embedded, name);
    igi_air_embed_module(embedded, LLVMGetBufferStart(small), LLVMGetBufferSize(small));
    LLVMDisposeMemoryBuffer(small), LLVMDisposeModule(single);
}

static LLVMModuleRef read_emptied(LLVMContextRef context, size_t index) {
    const igi_air_runtime_module *at = &igi_air_runtime_modules[index];
    LLVMModuleRef module;
    LLVMMemoryBufferRef whole =
        LLVMCreateMemoryBufferWithMemoryRange(igi_air_runtime + at->offset, at->length, "runtime", 0);
    if (LLVMParseBitcodeInContext2(context, whole, &module)) abort();
    LLVMDisposeMemoryBuffer(whole);
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f)) empty(context, f);
    return module;
}

int main(int argc, char **argv) {
    FILE *out = argc == 2 ? fopen(argv[1], "w") : NULL;
    igi_air_embedded embedded = {.target = igi_strdup(igi_air_runtime_target),
                                 .layout = igi_strdup(igi_air_runtime_layout)};
    if (!out) return 1;
    size_t next = 0;
    for (size_t i = 0; i < igi_air_runtime_module_count; i++) {
        LLVMContextRef context = LLVMContextCreate();
        LLVMModuleRef module = read_emptied(context, i);
        for (; next < igi_air_runtime_function_count && igi_air_runtime_functions[next].module == i; next++)
            embed(module, igi_air_runtime_functions[next].name, &embedded);
        LLVMDisposeModule(module), LLVMContextDispose(context);
    }
    bool written = igi_air_embed_write(&embedded, out);
    return fclose(out) == 0 && written ? 0 : 1;
}
