// SPDX-License-Identifier: Apache-2.0
// What a kernel may not contain once everything is inlined.
#include <string.h>

#include "core/memory.h"
#include "msl/constant-symbol.h"
#include "msl/type-names.h"
#include "simt/ir.h"
#include "simt/passes.h"

static bool is_call(LLVMValueRef instruction) {
    return LLVMIsACallInst(instruction) != NULL;
}

static ig_status refuse_call(igi_simt_module *m, LLVMValueRef callee) {
    size_t length;
    igi_signature signature;
    igi_signature_read(LLVMGetValueName2(callee, &length), &signature);
    const char *name = signature.name ? signature.name : "a function";
    ig_status status = IG_STATUS_UNSUPPORTED;
    if (LLVMIsDeclaration(callee))
        igi_error_set(m->error, status, "kernel '%s' calls '%s', which is declared but not defined", m->request->name,
                      name);
    else
        igi_error_set(m->error, status, "kernel '%s' calls '%s' recursively, which Metal does not allow",
                      m->request->name, name);
    igi_signature_free(&signature);
    return status;
}

static ig_status check_call(igi_simt_module *m, LLVMValueRef call) {
    LLVMValueRef callee = LLVMGetCalledValue(call);
    if (LLVMIsAInlineAsm(callee))
        return igi_error_set(m->error, IG_STATUS_UNSUPPORTED, "kernel '%s' contains inline assembly", m->request->name);
    if (!LLVMIsAFunction(callee))
        return igi_error_set(m->error, IG_STATUS_UNSUPPORTED,
                             "kernel '%s' calls through a function pointer, which Ingot does not support",
                             m->request->name);
    const char *name = igi_callee_name(call);
    bool known = strncmp(name, "llvm.", 5) == 0 || strncmp(name, "__ig_", 5) == 0;
    return known ? IG_STATUS_OK : refuse_call(m, callee);
}

// "_ZL7counter" is called counter by its author.
static char *variable_name(const char *symbol) {
    igi_signature signature;
    igi_signature_read(symbol, &signature);
    char *name = signature.name;
    if (name && strncmp(name, "_ZL", 3) == 0) {
        const char *plain = name + 3;
        while (*plain >= '0' && *plain <= '9') plain++;
        char *copy = igi_strdup(plain);
        free(name);
        signature.name = name = copy;
    }
    signature.name = NULL;
    igi_signature_free(&signature);
    return name;
}

static ig_status check_global(igi_simt_module *m, LLVMValueRef global) {
    size_t length;
    const char *symbol = LLVMGetValueName2(global, &length);
    if (!LLVMGetFirstUse(global) || strncmp(symbol, "llvm.", 5) == 0) return IG_STATUS_OK;
    igi_constant_symbol constant;
    if (LLVMIsDeclaration(global) && igi_constant_symbol_read(symbol, &constant))
        return igi_error_set(m->error, IG_STATUS_WRONG_CONSTANT,
                             "kernel '%s' needs a value for function constant %u ('%s')", m->request->name, constant.id,
                             constant.name);
    if (LLVMIsGlobalConstant(global) && !LLVMIsDeclaration(global)) return IG_STATUS_OK;
    char *name = variable_name(symbol);
    ig_status status = IG_STATUS_UNSUPPORTED;
    if (LLVMIsDeclaration(global))
        igi_error_set(m->error, status, "variable '%s' is declared but not defined", name ? name : symbol);
    else
        igi_error_set(m->error, status,
                      "variable '%s' outlives a function but is not constant; Metal allows that only in the constant "
                      "address space",
                      name ? name : symbol);
    free(name);
    return status;
}

ig_status igi_pass_check(igi_simt_module *m) {
    igi_values calls;
    if (!igi_collect(m->thread, is_call, &calls)) return igi_error_no_memory(m->error);
    ig_status status = IG_STATUS_OK;
    for (size_t i = 0; i < calls.count && status == IG_STATUS_OK; i++) status = check_call(m, calls.items[i]);
    igi_values_free(&calls);
    for (LLVMValueRef g = LLVMGetFirstGlobal(m->module); g && status == IG_STATUS_OK; g = LLVMGetNextGlobal(g))
        status = check_global(m, g);
    return status;
}
