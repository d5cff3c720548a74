// SPDX-License-Identifier: Apache-2.0
#include "simt/contracts.h"

#include <llvm-c/Analysis.h>
#include <string.h>

#include "simt/ir.h"
#include "simt/target.h"

// ---- Instructions ----

typedef bool (*test)(LLVMValueRef instruction);

static bool none_in(LLVMValueRef function, test is_wrong) {
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
            if (is_wrong(i)) return false;
    return true;
}

static bool is_switch(LLVMValueRef i) {
    return LLVMGetInstructionOpcode(i) == LLVMSwitch;
}

static bool computes(LLVMValueRef i) {
    switch (LLVMGetInstructionOpcode(i)) {
        case LLVMFAdd:
        case LLVMFSub:
        case LLVMFMul:
        case LLVMFDiv:
        case LLVMFRem:
        case LLVMFNeg: return true;
        default: return false;
    }
}

static bool computes_with_bfloat(LLVMValueRef i) {
    return computes(i) && LLVMGetTypeKind(igi_simt_element_type(LLVMTypeOf(i))) == LLVMBFloatTypeKind;
}

static bool may_be_contracted(LLVMValueRef i) {
    LLVMOpcode opcode = LLVMGetInstructionOpcode(i);
    bool part = opcode == LLVMFAdd || opcode == LLVMFSub || opcode == LLVMFMul;
    return part && (LLVMGetFastMathFlags(i) & LLVMFastMathAllowContract);
}

static bool is_fused_product(LLVMValueRef i) {
    return strncmp(igi_simt_callee_name(i), "llvm.fma.", 9) == 0 &&
           LLVMGetTypeKind(igi_simt_element_type(LLVMTypeOf(i))) == LLVMFloatTypeKind;
}

// ---- Promises ----

static bool has_kernel(const igi_simt_module *m) {
    return m->kernel && !LLVMIsDeclaration(m->kernel);
}

static bool thread_calls_kernel_once(const igi_simt_module *m) {
    LLVMUseRef use = m->thread && m->kernel ? LLVMGetFirstUse(m->kernel) : NULL;
    if (!use || LLVMGetNextUse(use)) return false;
    LLVMValueRef user = LLVMGetUser(use);
    return LLVMIsACallInst(user) && LLVMGetBasicBlockParent(LLVMGetInstructionParent(user)) == m->thread;
}

// What is still used is recursive or has its address taken, which the check pass refuses with an error message.
static bool thread_is_alone(const igi_simt_module *m) {
    for (LLVMValueRef f = LLVMGetFirstFunction(m->module); f; f = LLVMGetNextFunction(f))
        if (f != m->thread && !LLVMIsDeclaration(f) && !LLVMGetFirstUse(f)) return false;
    return true;
}

static bool has_no_switches(const igi_simt_module *m) {
    return none_in(m->thread, is_switch);
}

static bool has_no_bfloat_arithmetic(const igi_simt_module *m) {
    return none_in(m->thread, computes_with_bfloat);
}

static bool is_contracted(const igi_simt_module *m) {
    return none_in(m->thread, may_be_contracted);
}

static bool fits_threadgroup(const igi_simt_module *m) {
    return m->rows <= 1 || (m->request->group[1] && m->request->group[1] % m->rows == 0);
}

static bool has_body(const igi_simt_module *m, const char *name) {
    LLVMValueRef function = LLVMGetNamedFunction(m->module, name);
    return function && !LLVMIsDeclaration(function);
}

static bool has_entry(const igi_simt_module *m) {
    return has_body(m, "ig.run") || (has_body(m, "ig.start") && has_body(m, "ig.resume"));
}

static bool fuses_by_instructions(const igi_simt_module *m) {
    for (LLVMValueRef f = LLVMGetFirstFunction(m->module); f && !igi_simt_has_fused_multiply_add();
         f = LLVMGetNextFunction(f))
        if (!none_in(f, is_fused_product)) return false;
    return true;
}

static bool has_width(const igi_simt_module *m) {
    return m->info.width >= 1 && m->info.width <= IGI_MAX_WIDTH && (m->info.width > 1) == igi_simt_is_wide(m);
}

static const struct {
    const char *pass;
    bool (*holds)(const igi_simt_module *m);
    const char *promise;
} promises[] = {
    {"extract", has_kernel, "there is a kernel with a body"},
    {"bind", thread_calls_kernel_once, "the thread calls the kernel once, and nobody else does"},
    {"inline", thread_is_alone, "nothing but the thread has a body and no use"},
    {"inline", has_no_switches, "there are no switches"},
    {"define", has_no_bfloat_arithmetic, "nothing computes with bfloats"},
    {"contract", is_contracted, "nothing may be contracted any more"},
    {"coarsen", fits_threadgroup, "rows divide the height of the threadgroup"},
    {"group", has_entry, "there is ig.run, or ig.start and ig.resume"},
    {"group", has_width, "the width is that of the code"},
    {"fused", fuses_by_instructions, "multiply-adds of floats are fused by instructions only"},
};

const char *igi_simt_broken_promise(const igi_simt_module *m, const char *pass) {
    for (size_t i = 0; i < sizeof promises / sizeof *promises; i++)
        if (strcmp(promises[i].pass, pass) == 0 && !promises[i].holds(m)) return promises[i].promise;
    return NULL;
}

ig_status igi_simt_verify(igi_simt_module *m, const char *pass) {
#ifdef NDEBUG
    (void)m, (void)pass;
    return IG_STATUS_OK;
#else
    char *message = NULL;
    ig_status status = IG_STATUS_OK;
    if (LLVMVerifyModule(m->module, LLVMReturnStatusAction, &message))
        status = igi_error_set(m->error, IG_STATUS_INTERNAL, "the %s pass broke the kernel: %s", pass, message);
    LLVMDisposeMessage(message);
    const char *promise = status == IG_STATUS_OK ? igi_simt_broken_promise(m, pass) : NULL;
    if (promise)
        status =
            igi_error_set(m->error, IG_STATUS_INTERNAL, "the %s pass does not keep its promise that %s", pass, promise);
    return status;
#endif
}
