// SPDX-License-Identifier: Apache-2.0
// os_log: Apple's compiler makes a function of the arguments of each message that takes any number of them and hands their
// addresses to air.os_log. There is nowhere to put messages of compiled kernels: the calls go, and kernels run without
// them, as on a Mac whose program does not ask for them.
#include <string.h>

#include "air/translator.h"

static bool calls_log(LLVMValueRef function) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            LLVMValueRef callee = LLVMIsACallInst(i) ? LLVMGetCalledValue(i) : NULL;
            if (callee && LLVMIsAFunction(callee) && strcmp(igi_air_symbol(callee), "air.os_log") == 0) return true;
        }
    return false;
}

// Returns false if something else than calls without a result refers to it.
static bool drop_calls(LLVMValueRef function) {
    for (LLVMUseRef use = LLVMGetFirstUse(function), next; use; use = next) {
        LLVMValueRef user = LLVMGetUser(use);
        next = LLVMGetNextUse(use);
        bool plain = LLVMIsACallInst(user) && LLVMGetCalledValue(user) == function &&
                     LLVMGetTypeKind(LLVMTypeOf(user)) == LLVMVoidTypeKind;
        for (unsigned i = 0; plain && i < LLVMGetNumArgOperands(user); i++) plain = LLVMGetOperand(user, i) != function;
        if (!plain) return false;
        LLVMInstructionEraseFromParent(user);
    }
    return true;
}

bool igi_air_drop_logging(air_translator *t) {
    for (LLVMValueRef f = LLVMGetFirstFunction(t->module), next; f; f = next) {
        next = LLVMGetNextFunction(f);
        bool log = strcmp(igi_air_symbol(f), "air.os_log") == 0 && LLVMIsDeclaration(f);
        bool helper = f != t->kernel && LLVMIsFunctionVarArg(LLVMGlobalGetValueType(f)) && calls_log(f);
        if (!log && !helper) continue;
        if (!drop_calls(f)) return igi_air_fail_unknown(t, "logging in this way");
        if (helper) LLVMDeleteFunction(f);
    }
    return true;
}
