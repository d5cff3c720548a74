// SPDX-License-Identifier: Apache-2.0
// What a kernel may not contain once everything is inlined: the second check, after that of the library
// (msl/contents.h), with the same list.
#include <string.h>

#include "core/memory.h"
#include "msl/allowed.h"
#include "msl/constant-symbol.h"
#include "msl/type-names.h"
#include "simt/ir.h"
#include "simt/passes.h"

static bool is_call(LLVMValueRef instruction) {
    return LLVMIsACallInst(instruction) != NULL;
}

static bool calls_itself(LLVMValueRef function) {
    for (LLVMUseRef use = LLVMGetFirstUse(function); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (is_call(user) && LLVMGetBasicBlockParent(LLVMGetInstructionParent(user)) == function) return true;
    }
    return false;
}

static ig_status refuse_pointer(igi_simt_module *m) {
    return igi_error_set(m->error, IG_STATUS_UNSUPPORTED,
                         "kernel '%s' calls through a function pointer, which Ingot does not support",
                         m->request->name);
}

static ig_status refuse_call(igi_simt_module *m, LLVMValueRef callee) {
    if (!LLVMIsDeclaration(callee) && !calls_itself(callee)) return refuse_pointer(m);
    size_t length;
    igi_msl_signature signature;
    igi_msl_signature_read(LLVMGetValueName2(callee, &length), &signature);
    const char *name = signature.name ? signature.name : "a function";
    ig_status status = IG_STATUS_UNSUPPORTED;
    if (LLVMIsDeclaration(callee))
        igi_error_set(m->error, status, "kernel '%s' calls '%s', which is declared but not defined", m->request->name,
                      name);
    else if (strncmp(name, IGI_CALL_OF_POINTER, sizeof IGI_CALL_OF_POINTER - 1) == 0)
        igi_error_set(
            m->error, status,
            "kernel '%s' calls a function recursively, through a pointer or a function table, which Metal does "
            "not allow",
            m->request->name);
    else
        igi_error_set(m->error, status, "kernel '%s' calls '%s' recursively, which Metal does not allow",
                      m->request->name, name);
    igi_msl_signature_free(&signature);
    return status;
}

// igi_simt_pass_bind generates these.
static bool is_simd_place(LLVMValueRef call) {
    return igi_simt_calls(call, "__ig_simd_lane") || igi_simt_calls(call, "__ig_simd_index");
}

// igi_simt_pass_instrument generates these; a source cannot, because the names are reserved.
static bool is_checking(const igi_simt_module *m, LLVMValueRef call) {
    const char *name = igi_simt_callee_name(call);
    return m->request->check && (strncmp(name, "ig.check.", 9) == 0 || strncmp(name, "__msan_", 7) == 0);
}

static ig_status check_call(igi_simt_module *m, LLVMValueRef call) {
    LLVMValueRef callee = LLVMGetCalledValue(call);
    if (igi_simt_calls(call, "__ig_render_command"))
        return igi_error_set(
            m->error, IG_STATUS_UNSUPPORTED,
            "kernel '%s' encodes render commands (metal::render_command), which Ingot does not support; "
            "compute commands are supported",
            m->request->name);
    if (LLVMIsAInlineAsm(callee))
        return igi_error_set(m->error, IG_STATUS_UNSUPPORTED, "kernel '%s' contains inline assembly", m->request->name);
    if (!LLVMIsAFunction(callee)) return refuse_pointer(m);
    bool known = LLVMIsDeclaration(callee) && (is_simd_place(call) || is_checking(m, call) || igi_msl_allows(callee));
    return known && igi_msl_allows_operands(call) ? IG_STATUS_OK : refuse_call(m, callee);
}

// Whether a constant mentions a function, at any depth.
static bool mentions_function(LLVMValueRef constant) {
    if (LLVMIsAFunction(constant)) return true;
    if (LLVMIsAGlobalValue(constant) || !LLVMIsAConstant(constant)) return false;
    for (int i = 0; i < LLVMGetNumOperands(constant); i++)
        if (mentions_function(LLVMGetOperand(constant, (unsigned)i))) return true;
    return false;
}

static bool uses_function(LLVMValueRef instruction) {
    int count = LLVMGetNumOperands(instruction) - is_call(instruction);
    for (int i = 0; i < count; i++)
        if (mentions_function(LLVMGetOperand(instruction, (unsigned)i))) return true;
    return false;
}

static ig_status refuse_address(igi_simt_module *m) {
    return igi_error_set(m->error, IG_STATUS_UNSUPPORTED,
                         "kernel '%s' takes the address of a function, which Ingot does not support", m->request->name);
}

static ig_status check_addresses(igi_simt_module *m) {
    igi_simt_values uses;
    if (!igi_simt_collect(m->thread, uses_function, &uses)) return igi_error_no_memory(m->error);
    size_t count = uses.count;
    igi_simt_values_free(&uses);
    return count ? refuse_address(m) : IG_STATUS_OK;
}

static ig_status check_global(igi_simt_module *m, LLVMValueRef global) {
    size_t length;
    const char *symbol = LLVMGetValueName2(global, &length);
    if (!LLVMGetFirstUse(global) || strncmp(symbol, "llvm.", 5) == 0) return IG_STATUS_OK;
    igi_msl_constant_symbol constant;
    if (LLVMIsDeclaration(global) && igi_msl_constant_symbol_read(symbol, &constant))
        return igi_error_set(m->error, IG_STATUS_WRONG_CONSTANT,
                             "kernel '%s' needs a value for function constant %u ('%s') of type %.*s", m->request->name,
                             constant.id, constant.name, (int)constant.type_length, constant.type);
    if (LLVMIsGlobalConstant(global) && !LLVMIsDeclaration(global))
        return mentions_function(LLVMGetInitializer(global)) ? refuse_address(m) : IG_STATUS_OK;
    char *name = igi_msl_variable_name(symbol);
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

ig_status igi_simt_pass_check(igi_simt_module *m) {
    igi_simt_values calls;
    if (!igi_simt_collect(m->thread, is_call, &calls)) return igi_error_no_memory(m->error);
    ig_status status = IG_STATUS_OK;
    for (size_t i = 0; i < calls.count && status == IG_STATUS_OK; i++) status = check_call(m, calls.items[i]);
    igi_simt_values_free(&calls);
    if (status == IG_STATUS_OK) status = check_addresses(m);
    for (LLVMValueRef g = LLVMGetFirstGlobal(m->module); g && status == IG_STATUS_OK; g = LLVMGetNextGlobal(g))
        status = check_global(m, g);
    return status;
}
