// SPDX-License-Identifier: Apache-2.0
// Everything into one function.
#include <llvm-c/Transforms/PassBuilder.h>
#include <string.h>

#include "core/memory.h"
#include "msl/annotations.h"
#include "simt/ir.h"
#include "simt/passes.h"

ig_status igi_simt_run_passes(igi_simt_module *m, const char *passes) {
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef failure = LLVMRunPasses(m->module, passes, m->machine, options);
    LLVMDisposePassBuilderOptions(options);
    if (!failure) return IG_STATUS_OK;
    char *message = LLVMGetErrorMessage(failure);
    igi_error_set(m->error, IG_STATUS_INTERNAL, "LLVM could not run \"%s\": %s", passes, message);
    LLVMDisposeErrorMessage(message);
    return IG_STATUS_INTERNAL;
}

ig_status igi_simt_rewrite_instructions(igi_simt_module *m, bool (*wanted)(LLVMValueRef instruction),
                                        void (*rewrite)(LLVMBuilderRef builder, LLVMValueRef instruction)) {
    igi_simt_values found;
    if (!igi_simt_collect(m->thread, wanted, &found)) return igi_error_no_memory(m->error);
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(m->context);
    for (size_t i = 0; i < found.count; i++) {
        LLVMPositionBuilderBefore(builder, found.items[i]);
        rewrite(builder, found.items[i]);
    }
    LLVMDisposeBuilder(builder);
    igi_simt_values_free(&found);
    return IG_STATUS_OK;
}

// Annotations have been read; except for those that mark threadgroup storage, they would only keep variables in memory.
static bool is_spent_annotation(LLVMValueRef instruction) {
    igi_msl_annotation annotation;
    LLVMValueRef variable;
    if (strncmp(igi_simt_callee_name(instruction), "llvm.var.annotation", 19) != 0) return false;
    return !igi_msl_variable_annotation(instruction, &annotation, &variable) ||
           !igi_msl_is_threadgroup_storage(variable, &annotation);
}

// Members of classes have their own kind of annotation, which is between the member and its users.
static bool is_member_annotation(LLVMValueRef instruction) {
    return strncmp(igi_simt_callee_name(instruction), "llvm.ptr.annotation", 19) == 0;
}

static ig_status drop_member_annotations(igi_simt_module *m, LLVMValueRef function) {
    igi_simt_values found;
    if (!igi_simt_collect(function, is_member_annotation, &found)) return igi_error_no_memory(m->error);
    for (size_t i = 0; i < found.count; i++) {
        LLVMReplaceAllUsesWith(found.items[i], LLVMGetOperand(found.items[i], 0));
        LLVMInstructionEraseFromParent(found.items[i]);
    }
    igi_simt_values_free(&found);
    return IG_STATUS_OK;
}

static ig_status drop_annotations(igi_simt_module *m) {
    for (LLVMValueRef f = LLVMGetFirstFunction(m->module); f; f = LLVMGetNextFunction(f)) {
        igi_simt_values spent;
        if (!igi_simt_collect(f, is_spent_annotation, &spent)) return igi_error_no_memory(m->error);
        for (size_t i = 0; i < spent.count; i++) LLVMInstructionEraseFromParent(spent.items[i]);
        igi_simt_values_free(&spent);
        if (drop_member_annotations(m, f) != IG_STATUS_OK) return IG_STATUS_OUT_OF_MEMORY;
    }
    return IG_STATUS_OK;
}

// Inlining leaves them around what it inlined. All variables are in the entry, so that they mark nothing.
static bool is_stack_mark(LLVMValueRef instruction) {
    return igi_simt_calls(instruction, "llvm.stacksave.p0") || igi_simt_calls(instruction, "llvm.stackrestore.p0");
}

static ig_status drop_stack_marks(igi_simt_module *m) {
    igi_simt_values marks;
    if (!igi_simt_collect(m->thread, is_stack_mark, &marks)) return igi_error_no_memory(m->error);
    for (size_t i = 0; i < marks.count; i++) {
        LLVMTypeRef type = LLVMTypeOf(marks.items[i]);
        if (LLVMGetTypeKind(type) != LLVMVoidTypeKind) LLVMReplaceAllUsesWith(marks.items[i], LLVMGetUndef(type));
        LLVMInstructionEraseFromParent(marks.items[i]);
    }
    igi_simt_values_free(&marks);
    return IG_STATUS_OK;
}

static bool is_long_double(LLVMValueRef instruction) {
    return LLVMIsAAllocaInst(instruction) && LLVMGetTypeKind(LLVMGetAllocatedType(instruction)) == LLVMFP128TypeKind;
}

static void forward_literal(LLVMValueRef variable) {
    LLVMValueRef value = NULL;
    for (LLVMUseRef use = LLVMGetFirstUse(variable); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (!LLVMIsAStoreInst(user)) continue;
        if (value || !LLVMIsConstant(LLVMGetOperand(user, 0))) return;
        value = LLVMGetOperand(user, 0);
    }
    for (LLVMUseRef use = LLVMGetFirstUse(variable), next; use && value; use = next) {
        next = LLVMGetNextUse(use);
        if (LLVMIsALoadInst(LLVMGetUser(use))) LLVMReplaceAllUsesWith(LLVMGetUser(use), value);
    }
}

// 1.5h calls a function of the standard headers with a long double, for which no machine code can be generated.
static ig_status forward_literals(igi_simt_module *m) {
    igi_simt_values variables;
    if (!igi_simt_collect(m->thread, is_long_double, &variables)) return igi_error_no_memory(m->error);
    for (size_t i = 0; i < variables.count; i++) forward_literal(variables.items[i]);
    igi_simt_values_free(&variables);
    return IG_STATUS_OK;
}

static bool calls_a_body(LLVMValueRef instruction) {
    LLVMValueRef callee = LLVMIsACallInst(instruction) ? LLVMGetCalledValue(instruction) : NULL;
    return callee && LLVMIsAFunction(callee) && !LLVMIsDeclaration(callee);
}

// Tail recursion is a loop, and Metal programs contain it. What still calls itself afterwards is true recursion.
static ig_status unroll_tail_calls(igi_simt_module *m) {
    igi_simt_values left;
    if (!igi_simt_collect(m->thread, calls_a_body, &left)) return igi_error_no_memory(m->error);
    size_t count = left.count;
    igi_simt_values_free(&left);
    if (!count) return IG_STATUS_OK;
    return igi_simt_run_passes(m, "function(sroa,early-cse,simplifycfg,tailcallelim),always-inline,globaldce");
}

static bool is_load(LLVMValueRef instruction) {
    return LLVMIsALoadInst(instruction) != NULL;
}

// Arguments that are left now are used; hosts need not set the others.
static ig_status note_slots(igi_simt_module *m) {
    const uint64_t first = offsetof(igi_simt_group, arguments), end = first + IGI_MAX_SLOTS * sizeof(void *);
    igi_simt_values loads;
    if (!igi_simt_collect(m->thread, is_load, &loads)) return igi_error_no_memory(m->error);
    for (size_t i = 0; i < loads.count; i++) {
        uint64_t offset;
        if (!igi_simt_is_field(LLVMGetOperand(loads.items[i], 0), &offset) || !LLVMGetFirstUse(loads.items[i]))
            continue;
        if (offset >= first && offset < end) m->info.slots |= 1u << (offset - first) / sizeof(void *);
    }
    igi_simt_values_free(&loads);
    return IG_STATUS_OK;
}

static ig_status simplify(igi_simt_module *m) {
    // Variables stay in memory, where a debugger finds them.
    if (m->request->variables) {
        ig_status status = drop_stack_marks(m);
        if (status == IG_STATUS_OK) status = forward_literals(m);
        return status == IG_STATUS_OK
                   ? igi_simt_run_passes(m, "globalopt,function(instsimplify,simplifycfg,lower-switch)")
                   : status;
    }
    ig_status status = igi_simt_run_passes(m,
                                           "globalopt,function(sroa,early-cse,simplifycfg,"
                                           "instcombine<no-verify-fixpoint>,sroa,early-cse,adce)");
    if (status == IG_STATUS_OK) status = igi_simt_mark_textures(m);
    return status == IG_STATUS_OK ? igi_simt_pass_unroll(m) : status;
}

// The variables of a function become registers before it is inlined, often many times: later there would be thousands of
// variables in one function, for which LLVM takes a time that grows with their square. Checks and debuggers need variables.
static ig_status inline_all(igi_simt_module *m) {
    bool keeps = m->request->variables || m->request->check;
    return igi_simt_run_passes(
        m, keeps ? "globaldce,always-inline,globaldce" : "globaldce,function(sroa),always-inline,globaldce");
}

ig_status igi_simt_pass_inline(igi_simt_module *m) {
    ig_status status = drop_annotations(m);
    if (status == IG_STATUS_OK) status = inline_all(m);
    if (status == IG_STATUS_OK) status = igi_simt_hide_magnitudes(m);
    if (status == IG_STATUS_OK) status = unroll_tail_calls(m);
    if (status == IG_STATUS_OK) status = igi_simt_replace_placeholders(m);
    if (status == IG_STATUS_OK) status = igi_simt_fix_layouts(m);
    if (status == IG_STATUS_OK) status = igi_simt_localise_derived(m);
    if (status == IG_STATUS_OK) status = igi_simt_pass_threadgroup(m);
    if (status == IG_STATUS_OK) status = igi_simt_pass_instrument(m);
    if (status == IG_STATUS_OK) status = simplify(m);
    return status == IG_STATUS_OK ? note_slots(m) : status;
}
