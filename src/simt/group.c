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

static void call_thread(nest *n) {
    LLVMValueRef arguments[] = {n->group, n->counters[0], n->counters[1], n->counters[2],
                                LLVMConstPointerNull(LLVMPointerTypeInContext(n->m->context, 0))};
    LLVMBuildCall2(n->builder, LLVMGlobalGetValueType(n->m->thread), n->m->thread, arguments, 5, "");
}

// for (counter = 0; counter < size; counter++) for the dimension and, inside it, the ones below.
static void build_loop(nest *n, int dimension) {
    LLVMBasicBlockRef before = LLVMGetInsertBlock(n->builder);
    LLVMBasicBlockRef body = new_block(n, "body"), after = new_block(n, "after");
    LLVMBuildBr(n->builder, body);
    LLVMPositionBuilderAtEnd(n->builder, body);
    LLVMValueRef counter = LLVMBuildPhi(n->builder, n->i32, "");
    n->counters[dimension] = counter;
    if (dimension == 0)
        call_thread(n);
    else
        build_loop(n, dimension - 1);
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(n->builder);
    LLVMValueRef next = LLVMBuildNUWAdd(n->builder, counter, LLVMConstInt(n->i32, 1, 0), "");
    LLVMValueRef more = LLVMBuildICmp(n->builder, LLVMIntULT, next, n->sizes[dimension], "");
    LLVMBuildCondBr(n->builder, more, body, after);
    LLVMValueRef values[] = {LLVMConstInt(n->i32, 0, 0), next};
    LLVMBasicBlockRef blocks[] = {before, latch};
    LLVMAddIncoming(counter, values, blocks, 2);
    LLVMPositionBuilderAtEnd(n->builder, after);
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
    LLVMSetLinkage(m->thread, LLVMInternalLinkage);
    igi_add_attribute(m->thread, "alwaysinline");
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

ig_status igi_pass_group(igi_simt_module *m) {
    igi_sites sites;
    ig_status status = igi_find_sites(m, &sites);
    if (status != IG_STATUS_OK) return status;
    m->info.version = IGI_CODE_VERSION;
    m->info.width = 1;
    m->info.form = sites.count ? IGI_FORM_COROUTINE : IGI_FORM_LOOP;
    promise_no_alias(m->thread);
    if (sites.count) {
        status = igi_make_coroutine(m, &sites);
    } else {
        build_run(m);
        promise_no_alias(LLVMGetNamedFunction(m->module, "ig.run"));
    }
    igi_sites_free(&sites);
    return status;
}
