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

ig_status igi_simt_pass_inline(igi_simt_module *m) {
    ig_status status = drop_annotations(m);
    if (status == IG_STATUS_OK) status = igi_simt_run_passes(m, "globaldce,always-inline,globaldce");
    if (status == IG_STATUS_OK) status = igi_simt_hide_magnitudes(m);
    if (status == IG_STATUS_OK) status = unroll_tail_calls(m);
    if (status == IG_STATUS_OK) status = igi_simt_replace_placeholders(m);
    if (status == IG_STATUS_OK) status = igi_simt_fix_layouts(m);
    if (status == IG_STATUS_OK) status = igi_simt_localise_derived(m);
    if (status == IG_STATUS_OK) status = igi_simt_pass_threadgroup(m);
    if (status == IG_STATUS_OK) status = igi_simt_pass_instrument(m);
    if (status != IG_STATUS_OK) return status;
    // Variables stay in memory, where a debugger finds them.
    if (m->request->variables) return igi_simt_run_passes(m, "globalopt");
    status = igi_simt_run_passes(m,
                                 "globalopt,function(sroa,early-cse,simplifycfg,instcombine<no-verify-fixpoint>,sroa,"
                                 "early-cse)");
    return status == IG_STATUS_OK ? igi_simt_pass_unroll(m) : status;
}
