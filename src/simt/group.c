// SPDX-License-Identifier: Apache-2.0
// From one thread to a threadgroup: three nested loops where threads are independent, else a coroutine per thread.
#include <string.h>

#include "simt/coroutine.h"
#include "simt/ir.h"
#include "simt/passes.h"

typedef struct nest {
    igi_simt_module *m;
    LLVMBuilderRef builder;
    LLVMTypeRef i32;
    LLVMValueRef function, group;
    LLVMValueRef sizes[3], counters[3];
} nest;

static LLVMBasicBlockRef new_block(nest *n, const char *name) {
    return LLVMAppendBasicBlockInContext(n->m->context, n->function, name);
}

static void call_thread(nest *n, LLVMValueRef thread) {
    LLVMValueRef arguments[] = {n->group, n->counters[0], n->counters[1], n->counters[2],
                                LLVMConstPointerNull(LLVMPointerTypeInContext(n->m->context, 0))};
    LLVMBuildCall2(n->builder, LLVMGlobalGetValueType(thread), thread, arguments, 5, "");
}

// Full groups of lanes go without a mask; the end of a row needs one.
static void call_lanes(nest *n) {
    LLVMBasicBlockRef full = new_block(n, "full"), tail = new_block(n, "tail"), after = new_block(n, "");
    LLVMValueRef width = LLVMConstInt(n->i32, n->m->info.width, 0);
    LLVMValueRef left = LLVMBuildSub(n->builder, n->sizes[0], n->counters[0], "");
    LLVMBuildCondBr(n->builder, LLVMBuildICmp(n->builder, LLVMIntUGE, left, width, ""), full, tail);
    LLVMBasicBlockRef ways[] = {tail, full};
    for (int i = 0; i < 2; i++) {
        LLVMPositionBuilderAtEnd(n->builder, ways[i]);
        call_thread(n, n->m->wide[i]);
        LLVMBuildBr(n->builder, after);
    }
    LLVMPositionBuilderAtEnd(n->builder, after);
}

// for (counter = 0; counter < size; counter += step) for the dimension and, inside it, the ones below.
static void build_loop(nest *n, int dimension) {
    LLVMBasicBlockRef before = LLVMGetInsertBlock(n->builder);
    LLVMBasicBlockRef body = new_block(n, "body"), after = new_block(n, "after");
    LLVMBuildBr(n->builder, body);
    LLVMPositionBuilderAtEnd(n->builder, body);
    LLVMValueRef counter = LLVMBuildPhi(n->builder, n->i32, "");
    n->counters[dimension] = counter;
    if (dimension > 0)
        build_loop(n, dimension - 1);
    else if (n->m->wide[1])
        call_lanes(n);
    else if (n->m->wide[0])
        call_thread(n, n->m->wide[0]);
    else
        call_thread(n, n->m->thread);
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(n->builder);
    uint64_t step = dimension == 0 ? n->m->info.width : 1;
    LLVMValueRef next = LLVMBuildNUWAdd(n->builder, counter, LLVMConstInt(n->i32, step, 0), "");
    LLVMValueRef more = LLVMBuildICmp(n->builder, LLVMIntULT, next, n->sizes[dimension], "");
    LLVMBuildCondBr(n->builder, more, body, after);
    LLVMValueRef values[] = {LLVMConstInt(n->i32, 0, 0), next};
    LLVMBasicBlockRef blocks[] = {before, latch};
    LLVMAddIncoming(counter, values, blocks, 2);
    LLVMPositionBuilderAtEnd(n->builder, after);
}

static void hide(LLVMValueRef function) {
    LLVMSetLinkage(function, LLVMInternalLinkage);
    igi_add_attribute(function, "alwaysinline");
}

static void build_run(igi_simt_module *m) {
    LLVMTypeRef pointer = LLVMPointerTypeInContext(m->context, 0);
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(m->context), &pointer, 1, 0);
    nest n = {.m = m,
              .builder = LLVMCreateBuilderInContext(m->context),
              .i32 = LLVMInt32TypeInContext(m->context),
              .function = LLVMAddFunction(m->module, "ig.run", type)};
    igi_add_attribute(n.function, "nounwind");
    n.group = LLVMGetParam(n.function, 0);
    LLVMPositionBuilderAtEnd(n.builder, new_block(&n, "entry"));
    for (int i = 0; i < 3; i++) {
        LLVMValueRef field = igi_field(n.builder, n.group, offsetof(igi_group, size) + 4 * (size_t)i);
        n.sizes[i] = LLVMBuildLoad2(n.builder, n.i32, field, "");
    }
    build_loop(&n, 2);
    LLVMBuildRetVoid(n.builder);
    LLVMDisposeBuilder(n.builder);
    hide(m->thread);
    for (int i = 0; i < 2; i++)
        if (m->wide[i]) hide(m->wide[i]);
}

// A kernel writes to buffers, never to the igi_group it reads from.
static void promise_no_alias(LLVMValueRef function) {
    LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(function));
    unsigned kind = LLVMGetEnumAttributeKindForName("noalias", 7);
    LLVMAddAttributeAtIndex(function, 1, LLVMCreateEnumAttribute(context, kind, 0));
}

ig_status igi_pass_info(igi_simt_module *m) {
    LLVMTypeRef i32 = LLVMInt32TypeInContext(m->context);
    uint32_t fields[sizeof m->info / 4];
    memcpy(fields, &m->info, sizeof m->info);
    LLVMValueRef items[sizeof fields / 4];
    for (size_t i = 0; i < sizeof fields / 4; i++) items[i] = LLVMConstInt(i32, fields[i], 0);
    LLVMValueRef value = LLVMConstArray2(i32, items, sizeof fields / 4);
    LLVMValueRef global = LLVMAddGlobal(m->module, LLVMTypeOf(value), "ig.info");
    LLVMSetInitializer(global, value);
    LLVMSetGlobalConstant(global, 1);
    return IG_STATUS_OK;
}

// ---- Widening ----

enum { LARGE_KERNEL = 1000 };

static size_t instruction_count(LLVMValueRef function) {
    size_t count = 0;
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) count++;
    return count;
}

static ig_status widen(igi_simt_module *m) {
    static const char *const names[] = {"ig.tail", "ig.full"};
    uint32_t width = igi_choose_width(m);
    const char *declined = NULL;
    ig_status status = IG_STATUS_OK;
    m->info.width = 1;
    if (width > 1) status = igi_pass_prepare(m);
    // A second copy of a large kernel costs more to compile than masks cost to run.
    int copies = width > 1 && instruction_count(m->thread) <= LARGE_KERNEL ? 2 : 1;
    for (int i = 0; i < copies && width > 1 && status == IG_STATUS_OK && !declined; i++)
        status = igi_widen(m, width, i == 1, names[i], &m->wide[i], &declined);
    if (declined) igi_log(IG_LOG_INFO, "kernel '%s' runs one thread at a time: %s", m->request->name, declined);
    if (declined || width == 1) {
        if (m->wide[0]) LLVMDeleteFunction(m->wide[0]);
        m->wide[0] = m->wide[1] = NULL;
        return status;
    }
    m->info.width = width;
    if (status == IG_STATUS_OK)
        status = igi_run_passes(m, "function(sroa,early-cse,simplifycfg,instcombine<no-verify-fixpoint>,simplifycfg)");
    return status;
}

static ig_status make_coroutines(igi_simt_module *m, const igi_sites *narrow_sites) {
    if (!m->wide[0]) return igi_make_coroutine(m, narrow_sites, "ig.start");
    static const char *const names[] = {"ig.start", "ig.start.full"};
    LLVMValueRef thread = m->thread;
    ig_status status = IG_STATUS_OK;
    for (int i = 0; i < 2 && m->wide[i] && status == IG_STATUS_OK; i++) {
        igi_sites sites;
        m->thread = m->wide[i];
        status = igi_find_sites(m, &sites);
        if (status == IG_STATUS_OK) status = igi_make_coroutine(m, &sites, names[i]);
        igi_sites_free(&sites);
    }
    m->thread = thread;
    LLVMSetLinkage(thread, LLVMInternalLinkage);
    return status;
}

ig_status igi_pass_group(igi_simt_module *m) {
    ig_status status = widen(m);
    if (status != IG_STATUS_OK) return status;
    igi_sites sites;
    LLVMValueRef narrow = m->thread;
    if (m->wide[0]) m->thread = m->wide[0];
    status = igi_find_sites(m, &sites);
    m->thread = narrow;
    if (status != IG_STATUS_OK) return status;
    m->info.version = IGI_CODE_VERSION;
    m->info.form = sites.count ? IGI_FORM_COROUTINE : IGI_FORM_LOOP;
    promise_no_alias(m->thread);
    for (int i = 0; i < 2; i++)
        if (m->wide[i]) promise_no_alias(m->wide[i]);
    if (sites.count) {
        status = make_coroutines(m, &sites);
        igi_add_resume(m);
    } else {
        build_run(m);
        promise_no_alias(LLVMGetNamedFunction(m->module, "ig.run"));
    }
    igi_sites_free(&sites);
    return status;
}
