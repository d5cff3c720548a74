// SPDX-License-Identifier: Apache-2.0
#include "fuzz-air-parts.h"

#include <llvm-c/Transforms/PassBuilder.h>
#include <string.h>

#include "air/translator.h"
#include "fuzz.h"

enum { CALLS_PER_PART = 4 };

static bool is_air_call(LLVMValueRef instruction) {
    LLVMValueRef callee = LLVMIsACallInst(instruction) ? LLVMGetCalledValue(instruction) : NULL;
    return callee && LLVMIsAFunction(callee) && LLVMIsDeclaration(callee) &&
           strncmp(igi_air_symbol(callee), "air.", 4) == 0;
}

static void remove_call(LLVMValueRef call) {
    LLVMTypeRef type = LLVMTypeOf(call);
    if (LLVMGetTypeKind(type) != LLVMVoidTypeKind) LLVMReplaceAllUsesWith(call, LLVMConstNull(type));
    LLVMInstructionEraseFromParent(call);
}

// Removes all calls of AIR's functions but those from `first` on. Returns how many there were.
static size_t keep_calls(LLVMModuleRef module, size_t first, size_t kept) {
    size_t count = 0;
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
                next = LLVMGetNextInstruction(i);
                if (!is_air_call(i)) continue;
                if (count < first || count >= first + kept) remove_call(i);
                count++;
            }
    return count;
}

// Declarations that metadata name stay.
static void remove_unused(LLVMModuleRef module) {
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMConsumeError(LLVMRunPasses(module, "function(adce)", NULL, options));
    LLVMDisposePassBuilderOptions(options);
    for (LLVMValueRef f = LLVMGetFirstFunction(module), next; f; f = next) {
        next = LLVMGetNextFunction(f);
        bool air = strncmp(igi_air_symbol(f), "air.", 4) == 0;
        if (LLVMIsDeclaration(f) && air && !LLVMGetFirstUse(f)) LLVMDeleteFunction(f);
    }
}

void cut_air(LLVMContextRef context, const char *bitcode, size_t length, air_parts *parts) {
    air_translator t = {.name = "seed", .context = context};
    MUST(igi_air_parse(&t, bitcode, length));
    parts->modules[0] = t.module;
    parts->count = 1;
    size_t calls = keep_calls(t.module, 0, SIZE_MAX);
    for (size_t at = 0; calls > CALLS_PER_PART && at < calls && parts->count < MOST_AIR_PARTS; at += CALLS_PER_PART) {
        LLVMModuleRef part = LLVMCloneModule(t.module);
        keep_calls(part, at, CALLS_PER_PART);
        remove_unused(part);
        parts->modules[parts->count++] = part;
    }
}

void free_air_parts(air_parts *parts) {
    for (size_t i = 0; i < parts->count; i++) LLVMDisposeModule(parts->modules[i]);
}
