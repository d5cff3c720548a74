// SPDX-License-Identifier: Apache-2.0
// The pipeline of passes.
#include "simt/compile.h"

#include <llvm-c/Core.h>
#include <llvm-c/Support.h>
#include <llvm-c/TargetMachine.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "msl/llvm-context.h"
#include "simt/contracts.h"
#include "simt/ir.h"
#include "simt/passes.h"
#include "simt/target.h"

static ig_status open_machine(igi_simt_module *m, LLVMCodeGenOptLevel level) {
    if (m->machine) LLVMDisposeTargetMachine(m->machine);
    m->machine = igi_simt_open_machine(level);
    if (m->machine) return IG_STATUS_OK;
    return igi_error_set(m->error, IG_STATUS_UNSUPPORTED, "this LLVM cannot generate code for %s",
                         igi_simt_chosen_target().triple);
}

// ---- Passes ----

static const struct {
    const char *name;
    ig_status (*run)(igi_simt_module *m);
    igi_simt_stage completes;
} passes[] = {
#define PASS(name, stage) {#name, igi_simt_pass_##name, stage},
    IGI_SIMT_PASS_LIST(PASS)
#undef PASS
};

// ---- Output ----

static ig_status give(igi_simt_module *m, const char *bytes, size_t count, char **output, size_t *length) {
    char *copy = igi_strndup(bytes, count);
    if (!copy) return igi_error_no_memory(m->error);
    *output = copy;
    *length = count;
    return IG_STATUS_OK;
}

static ig_status print_module(igi_simt_module *m, char **output, size_t *length) {
    char *text = LLVMPrintModuleToString(m->module);
    ig_status status = give(m, text, strlen(text), output, length);
    LLVMDisposeMessage(text);
    return status;
}

static uint64_t largest_function(const igi_simt_module *m) {
    uint64_t largest = 0;
    for (LLVMValueRef f = LLVMGetFirstFunction(m->module); f; f = LLVMGetNextFunction(f)) {
        uint64_t count = LLVMIsDeclaration(f) ? 0 : igi_simt_instruction_count(f);
        if (count > largest) largest = count;
    }
    return largest;
}

// The time that LLVM needs to allocate registers grows with the square of a function's blocks, of which checks make many:
// half a minute and more. Such a kernel is not compiled for speed.
static ig_status hurry(igi_simt_module *m) {
    enum { TOO_LARGE = 8000 };
    if (!m->request->check || largest_function(m) <= TOO_LARGE) return IG_STATUS_OK;
    return open_machine(m, LLVMCodeGenLevelNone);
}

// Quick code keeps nearly every value on the stack. LLVM reports frames that are larger than this attribute says.
static void limit_frames(igi_simt_module *m) {
    uint32_t stack = m->request->stack_bytes ? m->request->stack_bytes : IGI_STACK_BYTES;
    char bytes[16];
    int length = snprintf(bytes, sizeof bytes, "%u", stack / 4 * 3);
    LLVMAttributeRef limit = LLVMCreateStringAttribute(m->context, "warn-stack-size", 15, bytes, (unsigned)length);
    for (LLVMValueRef f = LLVMGetFirstFunction(m->module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f)) LLVMAddAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, limit);
}

static void note_frames(LLVMDiagnosticInfoRef info, void *module) {
    igi_simt_module *m = module;
    char *text = LLVMGetDiagInfoDescription(info);
    if (strstr(text, "stack frame size")) m->overflows = true;
    LLVMDisposeMessage(text);
}

static ig_status emit(igi_simt_module *m, LLVMCodeGenFileType type, char **output, size_t *length) {
    LLVMMemoryBufferRef buffer = NULL;
    char *message = NULL;
    if (hurry(m) != IG_STATUS_OK) return IG_STATUS_UNSUPPORTED;
    if (m->request->first_tier) {
        limit_frames(m);
        LLVMContextSetDiagnosticHandler(m->context, note_frames, m);
    }
    if (LLVMTargetMachineEmitToMemoryBuffer(m->machine, m->module, type, &message, &buffer)) {
        igi_error_set(m->error, IG_STATUS_INTERNAL, "LLVM could not generate code for kernel '%s': %s",
                      m->request->name, message);
        LLVMDisposeMessage(message);
        return IG_STATUS_INTERNAL;
    }
    ig_status status = give(m, LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer), output, length);
    LLVMDisposeMemoryBuffer(buffer);
    return status;
}

// instcombine compares every phi node of a block with every other, and large widened kernels have hundreds: it would
// take nearly all the time. Its useful part was done before widening.
static const char *optimisation_for(const igi_simt_module *m) {
    if (m->request->variables) return "default<O0>,globaldce";
    enum { VERY_LARGE_KERNEL = 10000 };
    bool wide = igi_simt_is_wide(m);
    if (m->request->first_tier)
        return wide ? "globaldce,cgscc(inline),function(sroa,early-cse,simplifycfg,adce)"
                    : "function(sroa,early-cse,simplifycfg),default<O0>,function(sroa,early-cse,simplifycfg),globaldce";
    if (!wide) return m->request->check && m->info.instructions > VERY_LARGE_KERNEL ? "default<O1>" : "default<O2>";
    if (!igi_simt_is_hasty(m)) return "default<O2>";
    return "globaldce,cgscc(inline),function(sroa,early-cse<memssa>,simplifycfg,loop-mssa(licm),gvn,instsimplify,dse,"
           "adce,simplifycfg)";
}

ig_status igi_simt_pass_optimise(igi_simt_module *m) {
    return igi_simt_run_passes(m, optimisation_for(m));
}

static ig_status run_passes_until(igi_simt_module *m, igi_simt_stage stage) {
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++) {
        ig_status status = passes[i].run(m);
        if (status == IG_STATUS_OK) status = igi_simt_verify(m, passes[i].name);
        if (status != IG_STATUS_OK || passes[i].completes == stage) return status;
    }
    return IG_STATUS_OK;
}

static ig_status run_all(igi_simt_module *m, igi_simt_stage stage, char **output, size_t *length) {
    bool plain = m->request->variables || m->request->first_tier;
    ig_status status = open_machine(m, plain ? LLVMCodeGenLevelNone : LLVMCodeGenLevelDefault);
    if (status == IG_STATUS_OK) status = run_passes_until(m, stage);
    if (status != IG_STATUS_OK) return status;
    switch (stage) {
        case IGI_STAGE_LLVM:
        case IGI_STAGE_SIMT: return print_module(m, output, length);
        case IGI_STAGE_ASM: return emit(m, LLVMAssemblyFile, output, length);
        case IGI_STAGE_OBJECT: return emit(m, LLVMObjectFile, output, length);
        case IGI_STAGE_NONE:
        case IGI_STAGE_TRANSLATED:
        case IGI_STAGE_AIR:
        case IGI_STAGE_REMARKS: break;
    }
    return IG_STATUS_OK;
}

// Changes the request to what is compiled instead. Returns false if nothing is.
static bool settle_for_less(const igi_simt_module *m, igi_simt_request *request) {
    if (m->declined) {
        request->width = 1;
        request->declined = true;
    }
    if (m->overflows) request->first_tier = false;
    return m->declined || m->overflows;
}

ig_status igi_simt_compile(const igi_simt_request *request, igi_simt_stage stage, char **output, size_t *length,
                           ig_error *error) {
    igi_simt_request attempt = *request;
    char *made;
    bool again;
    ig_status status;
    do {
        igi_simt_module m = {.request = &attempt, .context = igi_msl_llvm_context_create(), .error = error};
        made = NULL;
        status = run_all(&m, stage, &made, length);
        if (m.module) LLVMDisposeModule(m.module);
        if (m.machine) LLVMDisposeTargetMachine(m.machine);
        LLVMContextDispose(m.context);
        again = settle_for_less(&m, &attempt);
        if (again) free(made);
    } while (again);
    if (status == IG_STATUS_OK && made) *output = made;
    return status;
}

// Options of LLVM are global, and a host may use LLVM itself: only the process that does nothing but compile has any.
static void choose_options(void) {
    // Processors reorder instructions themselves, and the time this takes is quadratic in the length of a block.
    static const char *const options[] = {"ingot-codegen", "-post-RA-scheduler=false"};
    LLVMParseCommandLineOptions(2, options, NULL);
}

// An empty function, sent through the same passes and code generator as kernels.
void igi_simt_warm_up(void) {
    choose_options();
    igi_simt_module m = {.context = igi_msl_llvm_context_create(), .request = &(igi_simt_request){.name = "nothing"}};
    m.module = LLVMModuleCreateWithNameInContext("warm-up", m.context);
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(m.context), NULL, 0, 0);
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(m.context);
    LLVMPositionBuilderAtEnd(builder,
                             LLVMAppendBasicBlockInContext(m.context, LLVMAddFunction(m.module, "f", type), "entry"));
    LLVMBuildRetVoid(builder);
    LLVMDisposeBuilder(builder);
    char *object = NULL;
    size_t length;
    if (open_machine(&m, LLVMCodeGenLevelDefault) == IG_STATUS_OK && igi_simt_pass_optimise(&m) == IG_STATUS_OK)
        emit(&m, LLVMObjectFile, &object, &length);
    free(object);
    if (m.machine) LLVMDisposeTargetMachine(m.machine);
    LLVMDisposeModule(m.module);
    LLVMContextDispose(m.context);
}
