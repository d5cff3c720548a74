// SPDX-License-Identifier: Apache-2.0
#include "msl/initialisers.h"

#include <string.h>

static bool sets_variable(LLVMValueRef function) {
    static const char name[] = "__cxx_global_var_init";
    size_t length;
    return strncmp(LLVMGetValueName2(function, &length), name, strlen(name)) == 0;
}

bool igi_msl_is_initialiser(LLVMValueRef function) {
    static const char name[] = "_GLOBAL__";
    size_t length;
    return sets_variable(function) || strncmp(LLVMGetValueName2(function, &length), name, strlen(name)) == 0;
}

bool igi_msl_is_derived(LLVMValueRef global) {
    for (LLVMUseRef use = LLVMGetFirstUse(global); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (LLVMIsAConstantExpr(user) && igi_msl_is_derived(user)) return true;
        if (LLVMIsAInstruction(user) && sets_variable(LLVMGetBasicBlockParent(LLVMGetInstructionParent(user))))
            return true;
    }
    return false;
}
