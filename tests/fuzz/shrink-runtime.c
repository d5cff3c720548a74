// SPDX-License-Identifier: Apache-2.0
// Part of the build of fuzz-air-fast: shrink-runtime OUTPUT.c KERNEL.ll... writes a small stand-in for the functions that
// AIR's intrinsics stand for (src/air/runtime.metal). It has those that the kernels can call, with empty bodies. Reading the
// real ones takes ten times as long as the rest of a translation, and they are no input.
#include <llvm-c/BitReader.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/Core.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "air/runtime.h"
#include "core/embed.h"
#include "core/memory.h"

// All kernels as one text in which air.exp.v4f32 is air_exp_f32.
static bool add_names(igi_text *names, const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) return false;
    for (int c = fgetc(file); c != EOF;) {
        char shown = c == '.' ? '_' : (char)c;
        igi_text_append(names, &shown, 1);
        bool dot = c == '.';
        c = fgetc(file);
        if (!dot || c != 'v') continue;
        while ((c = fgetc(file)) >= '0' && c <= '9') {
        }
    }
    return fclose(file) == 0;
}

static bool is_wanted(const igi_text *names, const char *symbol) {
    static const char *const families[] = {"air_texture_", "air_pair_", "air_dot4_"};
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (strncmp(symbol, families[i], strlen(families[i])) == 0) return true;
    return strncmp(symbol, "air_", 4) == 0 && strstr(names->data, symbol);
}

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

static void shrink(LLVMModuleRef module, const igi_text *names) {
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
        size_t length;
        if (LLVMIsDeclaration(f)) continue;
        empty(LLVMGetModuleContext(module), f);
        if (!is_wanted(names, LLVMGetValueName2(f, &length))) LLVMSetLinkage(f, LLVMInternalLinkage);
    }
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMConsumeError(LLVMRunPasses(module, "globaldce,strip-dead-prototypes", NULL, options));
    LLVMDisposePassBuilderOptions(options);
}

int main(int argc, char **argv) {
    igi_text names = {0};
    LLVMModuleRef module;
    FILE *out = argc > 2 ? fopen(argv[1], "w") : NULL;
    LLVMContextRef context = LLVMContextCreate();
    LLVMMemoryBufferRef whole =
        LLVMCreateMemoryBufferWithMemoryRange(igi_air_runtime, igi_air_runtime_length, "runtime", 0);
    for (int i = 2; i < argc; i++)
        if (!add_names(&names, argv[i])) return 1;
    if (!out || names.failed || LLVMParseBitcodeInContext2(context, whole, &module)) return 1;
    shrink(module, &names);
    LLVMMemoryBufferRef small = LLVMWriteBitcodeToMemoryBuffer(module);
    fprintf(out, "#include \"air/runtime.h\"\n\n_Alignas(8) const char igi_air_runtime[] =\n");
    igi_embed_bytes(out, LLVMGetBufferStart(small), LLVMGetBufferSize(small));
    fprintf(out, ";\nconst size_t igi_air_runtime_length = %zu;\n", LLVMGetBufferSize(small));
    LLVMDisposeMemoryBuffer(small), LLVMDisposeMemoryBuffer(whole);
    LLVMDisposeModule(module), LLVMContextDispose(context);
    igi_text_free(&names);
    return fclose(out);
}
