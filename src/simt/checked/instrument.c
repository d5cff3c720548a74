// SPDX-License-Identifier: Apache-2.0
// The instrumented variant of a kernel, which is checked while it runs.
//
// This pass runs as soon as everything is in one function, before LLVM optimises on the assumption that programs are
// correct. Hooks are calls of "ig.check.NAME" (state.h). For initialisation, LLVM's own memory sanitizer tracks values.
#include "simt/checked/instrument.h"

#include <string.h>

#include "simt/contracts.h"

LLVMValueRef igi_simt_number32(const igi_simt_instrumenter *in, uint64_t value) {
    return LLVMConstInt(in->i32, value, 0);
}

LLVMValueRef igi_simt_number64(const igi_simt_instrumenter *in, uint64_t value) {
    return LLVMConstInt(in->i64, value, 0);
}

LLVMValueRef igi_simt_call_hook(igi_simt_instrumenter *in, const char *name, LLVMTypeRef result,
                                LLVMValueRef *arguments, unsigned count) {
    char full[40] = IGI_CHECKED_PREFIX;
    LLVMTypeRef types[8];
    strncat(full, name, sizeof full - strlen(full) - 1);
    for (unsigned i = 0; i < count; i++) types[i] = LLVMTypeOf(arguments[i]);
    LLVMTypeRef type = LLVMFunctionType(result, types, count, 0);
    LLVMValueRef function = igi_simt_declare(in->m->module, full, type);
    igi_simt_add_attribute(function, "nounwind");
    return LLVMBuildCall2(in->builder, type, function, arguments, count, "");
}

// ---- The kernel's own instructions ----

static unsigned own_kind(const igi_simt_instrumenter *in) {
    return LLVMGetMDKindIDInContext(in->m->context, "ig.own", 6);
}

static void set_mark(const igi_simt_instrumenter *in, LLVMValueRef instruction, unsigned kind) {
    LLVMMetadataRef nothing = LLVMMDNodeInContext2(in->m->context, NULL, 0);
    LLVMSetMetadata(instruction, kind, LLVMMetadataAsValue(in->m->context, nothing));
}

void igi_simt_mark_own(igi_simt_instrumenter *in, LLVMValueRef instruction) {
    set_mark(in, instruction, own_kind(in));
}

void igi_simt_instrument_all(igi_simt_instrumenter *in, bool (*wanted)(LLVMValueRef instruction),
                             void (*act)(igi_simt_instrumenter *in, LLVMValueRef instruction)) {
    igi_simt_values all;
    if (!igi_simt_collect(in->m->thread, wanted, &all)) {
        in->failed = true;
        return;
    }
    for (size_t i = 0; i < all.count; i++) act(in, all.items[i]);
    igi_simt_values_free(&all);
}

static void for_each(igi_simt_instrumenter *in, void (*act)(igi_simt_instrumenter *in, LLVMValueRef instruction)) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(in->m->thread); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) act(in, i);
}

// Positions, sizes, arguments and constants, which are always initialised.
static bool reads_group(const igi_simt_instrumenter *in, LLVMValueRef instruction) {
    if (!LLVMIsALoadInst(instruction)) return false;
    igi_simt_provenance from = igi_simt_trace_pointer(in, LLVMGetOperand(instruction, 0));
    return !from.known || from.space == IGI_SPACE_CONSTANT;
}

// LLVM's sanitizer need not look at instructions that were inserted here.
static void settle_mark(igi_simt_instrumenter *in, LLVMValueRef instruction) {
    unsigned own = own_kind(in), foreign = LLVMGetMDKindIDInContext(in->m->context, "nosanitize", 10);
    bool is_own = LLVMGetMetadata(instruction, own) != NULL && !reads_group(in, instruction);
    LLVMSetMetadata(instruction, own, NULL);
    if (!is_own) set_mark(in, instruction, foreign);
}

// ---- Who is who ----

static LLVMValueRef group_field(igi_simt_instrumenter *in, size_t offset, LLVMTypeRef type) {
    LLVMValueRef field = igi_simt_field(in->builder, LLVMGetParam(in->m->thread, 0), offset);
    LLVMValueRef load = LLVMBuildLoad2(in->builder, type, field, "");
    set_mark(in, load, LLVMGetMDKindIDInContext(in->m->context, "invariant.load", 14));
    return load;
}

static void build_identity(igi_simt_instrumenter *in) {
    LLVMBuilderRef b = in->builder;
    LLVMValueRef thread = in->m->thread, x = LLVMGetParam(thread, 1), y = LLVMGetParam(thread, 2),
                 z = LLVMGetParam(thread, 3);
    LLVMPositionBuilderBefore(b, igi_simt_first_after_allocas(thread));
    in->check = group_field(in, offsetof(igi_simt_group, check), in->pointer);
    LLVMValueRef row = LLVMBuildMul(b, z, group_field(in, offsetof(igi_simt_group, size) + 4, in->i32), "");
    row = LLVMBuildMul(b, LLVMBuildAdd(b, row, y, ""), group_field(in, offsetof(igi_simt_group, size), in->i32), "");
    in->thread = LLVMBuildAdd(b, row, x, "thread");
}

static bool is_object(LLVMValueRef instruction) {
    return igi_simt_calls(instruction, "ig.object") || igi_simt_is_part(instruction);
}

// Threadgroup variables and parts become plain addresses again.
static void forget_object(igi_simt_instrumenter *in, LLVMValueRef object) {
    (void)in;
    LLVMReplaceAllUsesWith(object, LLVMGetOperand(object, 0));
    LLVMInstructionEraseFromParent(object);
}

static bool is_promise(LLVMValueRef instruction) {
    return strncmp(igi_simt_callee_name(instruction), "llvm.invariant.start", 20) == 0 && !LLVMGetFirstUse(instruction);
}

// They would keep derived constants, and what those are computed from, in memory.
static void drop_promise(igi_simt_instrumenter *in, LLVMValueRef promise) {
    (void)in;
    LLVMInstructionEraseFromParent(promise);
}

// Only whether anything may be wrong: quick.h.
static void look_quickly(igi_simt_instrumenter *in) {
    if (in->checks & IG_CHECK_ARITHMETIC) igi_simt_touch_finite(in);
    igi_simt_touch_accesses(in);
    igi_simt_touch_waits(in);
    if (in->checks & IG_CHECK_INIT) igi_simt_touch_variables(in);
    if (in->checks & IG_CHECK_INIT) igi_simt_touch_unwritten(in);
    igi_simt_restore_names(in);
    igi_simt_instrument_all(in, is_object, forget_object);
    igi_simt_forget_unwritten(in);
    igi_simt_emit_sites(in);
}

static ig_status run(igi_simt_instrumenter *in) {
    igi_simt_module *m = in->m;
    igi_simt_instrument_all(in, is_promise, drop_promise);
    igi_simt_remember_names(in);
    build_identity(in);
    igi_simt_instrument_constant_places(in);
    if (in->checks & IG_CHECK_INIT) igi_simt_keep_unwritten(in);
    if (in->checks & IG_CHECK_ARITHMETIC) igi_simt_allow_not_finite(in);
    if (in->checks & IG_CHECK_ARITHMETIC) igi_simt_instrument_arithmetic(in);
    ig_status status = igi_simt_pass_define(m);
    if (status == IG_STATUS_OK)
        status = igi_simt_run_passes(m, "function(sroa,early-cse,simplifycfg,sroa,early-cse,simplifycfg,adce)");
    bool quick = in->checks & IGI_CHECK_QUICK, each_thread = in->checks & ~(uint32_t)IG_CHECK_MEMORY;
    if (status == IG_STATUS_OK && !quick && each_thread) status = igi_simt_lower_matrices(m);
    if (status != IG_STATUS_OK) return status;
    igi_simt_remember_names(in);
    build_identity(in);
    igi_simt_forget_stores_of_unwritten(in);
    if (quick) {
        look_quickly(in);
        return IG_STATUS_OK;
    }
    if (in->checks & IG_CHECK_INIT) igi_simt_define_the_rest(in);
    for_each(in, igi_simt_mark_own);
    if (in->checks & IG_CHECK_ARITHMETIC) igi_simt_instrument_finite(in);
    igi_simt_instrument_accesses(in);
    igi_simt_instrument_waits(in);
    for_each(in, settle_mark);
    if (in->checks & IG_CHECK_INIT) igi_simt_instrument_results(in);
    igi_simt_restore_names(in);
    igi_simt_instrument_all(in, is_object, forget_object);
    igi_simt_forget_unwritten(in);
    if (in->checks & IG_CHECK_INIT) status = igi_simt_instrument_values(in);
    igi_simt_emit_sites(in);
    return status;
}

static void forget_part(LLVMBuilderRef builder, LLVMValueRef part) {
    (void)builder;
    LLVMReplaceAllUsesWith(part, LLVMGetOperand(part, 0));
    LLVMInstructionEraseFromParent(part);
}

// Where parts are not checked, they are what they are parts of. A quick look does not know them.
static ig_status forget_parts(igi_simt_module *m) {
    return igi_simt_rewrite_instructions(m, igi_simt_is_part, forget_part);
}

ig_status igi_simt_pass_instrument(igi_simt_module *m) {
    LLVMContextRef context = m->context;
    if (!m->request->check || m->request->check & IGI_CHECK_QUICK) {
        ig_status status = forget_parts(m);
        if (status != IG_STATUS_OK || !m->request->check) return status;
    }
    igi_simt_instrumenter in = {.m = m,
                                .builder = LLVMCreateBuilderInContext(context),
                                .i1 = LLVMInt1TypeInContext(context),
                                .i8 = LLVMInt8TypeInContext(context),
                                .i32 = LLVMInt32TypeInContext(context),
                                .i64 = LLVMInt64TypeInContext(context),
                                .pointer = LLVMPointerTypeInContext(context, 0),
                                .void_type = LLVMVoidTypeInContext(context),
                                .layout = LLVMGetModuleDataLayout(m->module),
                                .checks = m->request->check};
    ig_status status = run(&in);
    LLVMDisposeBuilder(in.builder);
    igi_simt_free_sites(&in.sites);
    free(in.found);
    igi_simt_values_free(&in.doubtful);
    igi_simt_values_free(&in.doubts);
    igi_simt_values_free(&in.origin_values);
    igi_simt_values_free(&in.origins);
    if (status == IG_STATUS_OK && in.failed) status = igi_error_no_memory(m->error);
    if (status == IG_STATUS_OK && in.sites.too_many)
        status = igi_error_set(
            m->error, IG_STATUS_UNSUPPORTED,
            "kernel '%s' has more than %d places to check; check fewer things at once, or make it smaller",
            m->request->name, IGI_CHECKED_MAX_SITES);
    // Here, because what comes next in the same pass may hide what is wrong.
    return status == IG_STATUS_OK ? igi_simt_verify(m, "instrument") : status;
}
