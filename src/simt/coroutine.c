// SPDX-License-Identifier: Apache-2.0
// LLVM's coroutines do the hard part: exactly the values alive at each suspension go into a frame that we provide.
#include "simt/coroutine.h"

#include <string.h>

#include "core/memory.h"
#include "simt/cfg.h"
#include "simt/ir.h"

enum { FRAME_ALIGNMENT = 64 };

// ---- Sites ----

static const char *const op_names[] = {
#define NAME(name, type) "__ig_" #name,
    IGI_LANE_OP_LIST(NAME)
#undef NAME
};

static bool is_site(LLVMValueRef instruction, igi_simt_site *site) {
    const char *name = igi_simt_callee_name(instruction);
    if (strncmp(name, "__ig_", 5) != 0) return false;
    *site = (igi_simt_site){.instruction = instruction, .wait = IGI_WAIT_LANES};
    if (strcmp(name, "__ig_barrier") == 0) {
        site->wait = IGI_WAIT_BARRIER;
        return true;
    }
    for (size_t i = 0; i < sizeof op_names / sizeof *op_names; i++) {
        if (strcmp(name, op_names[i]) != 0) continue;
        site->op = (igi_simt_lane_op)i;
        return true;
    }
    return false;
}

static bool add_site(igi_simt_sites *sites, igi_simt_site site) {
    if (!igi_grow((void **)&sites->items, &sites->capacity, sites->count + 1, sizeof *sites->items)) return false;
    sites->items[sites->count++] = site;
    return true;
}

static bool block_has_lane_op(LLVMBasicBlockRef block) {
    igi_simt_site site;
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
        if (is_site(i, &site) && site.wait == IGI_WAIT_LANES) return true;
    return false;
}

static bool loop_has_lane_op(const igi_simt_cfg *cfg, uint32_t loop) {
    for (uint32_t i = 0; i < cfg->count; i++)
        if (igi_simt_cfg_in_loop(cfg, i, loop) && block_has_lane_op(cfg->blocks[i].block)) return true;
    return false;
}

// The lanes of a simdgroup stay together in a loop: at the end of its body, lanes wait for slower ones.
static bool add_meeting(const igi_simt_cfg *cfg, uint32_t block, igi_simt_sites *sites) {
    for (uint32_t k = 0; k < cfg->blocks[block].successor_count; k++) {
        uint32_t header = cfg->blocks[block].successors[k];
        if (!igi_simt_cfg_is_back_edge(cfg, block, header) || !loop_has_lane_op(cfg, cfg->blocks[header].loop))
            continue;
        LLVMValueRef terminator = LLVMGetBasicBlockTerminator(cfg->blocks[block].block);
        return add_site(sites, (igi_simt_site){terminator, IGI_WAIT_LANES, IGI_LANE_converge});
    }
    return true;
}

ig_status igi_simt_find_sites(igi_simt_module *m, LLVMValueRef function, igi_simt_sites *sites) {
    igi_simt_cfg cfg;
    *sites = (igi_simt_sites){0};
    if (!igi_simt_cfg_build(function, &cfg)) return igi_error_no_memory(m->error);
    bool ok = true;
    for (uint32_t n = 0; n < cfg.count && ok; n++) {
        uint32_t block = cfg.order[n];
        igi_simt_site site;
        LLVMValueRef i = LLVMGetFirstInstruction(cfg.blocks[block].block);
        for (; i && ok; i = LLVMGetNextInstruction(i))
            if (is_site(i, &site)) ok = add_site(sites, site);
        ok = ok && add_meeting(&cfg, block, sites);
    }
    igi_simt_cfg_free(&cfg);
    if (ok) return IG_STATUS_OK;
    igi_simt_sites_free(sites);
    return igi_error_no_memory(m->error);
}

void igi_simt_sites_free(igi_simt_sites *sites) {
    free(sites->items);
    *sites = (igi_simt_sites){0};
}

// ---- The coroutine ----

typedef struct weaver {
    igi_simt_module *m;
    LLVMBuilderRef builder;
    LLVMTypeRef i1, i8, i32, i64, pointer, token;
    LLVMValueRef lane, handle;
    LLVMBasicBlockRef suspend;  // leaves the coroutine, suspended or finished
} weaver;

static void store_u32(weaver *w, size_t offset, uint32_t value) {
    LLVMBuildStore(w->builder, LLVMConstInt(w->i32, value, 0), igi_simt_field(w->builder, w->lane, offset));
}

#define STORE(w, field, value) store_u32(w, offsetof(igi_simt_lane, field), value)

static unsigned bits_of(LLVMTypeRef type) {
    switch (LLVMGetTypeKind(type)) {
        case LLVMIntegerTypeKind: return LLVMGetIntTypeWidth(type);
        case LLVMVectorTypeKind: return 64;
        default: return 32;
    }
}

static LLVMValueRef to_u64(weaver *w, LLVMValueRef value) {
    LLVMTypeRef integer = LLVMIntTypeInContext(w->m->context, bits_of(LLVMTypeOf(value)));
    value = LLVMBuildBitCast(w->builder, value, integer, "");
    return integer == w->i64 ? value : LLVMBuildZExt(w->builder, value, w->i64, "");
}

static LLVMValueRef from_u64(weaver *w, LLVMValueRef value, LLVMTypeRef type) {
    LLVMTypeRef integer = LLVMIntTypeInContext(w->m->context, bits_of(type));
    if (integer != w->i64) value = LLVMBuildTrunc(w->builder, value, integer, "");
    return LLVMBuildBitCast(w->builder, value, type, "");
}

// All lane operations except these two take the width as their last argument.
static bool has_width(igi_simt_lane_op op) {
    return op != IGI_LANE_simd_barrier && op != IGI_LANE_mma_f32 && op != IGI_LANE_converge;
}

static void store_request(weaver *w, const igi_simt_site *site, uint32_t number) {
    STORE(w, wait, site->wait);
    STORE(w, site, number);
    if (site->wait != IGI_WAIT_LANES) return;
    STORE(w, op, site->op);
    if (site->op == IGI_LANE_converge) return;
    unsigned count = LLVMGetNumArgOperands(site->instruction);
    unsigned operands = has_width(site->op) ? count - 1 : count;
    for (unsigned i = 0; i < operands && i < 3; i++)
        LLVMBuildStore(w->builder, to_u64(w, LLVMGetOperand(site->instruction, i)),
                       igi_simt_field(w->builder, w->lane, offsetof(igi_simt_lane, operands) + (size_t)8 * i));
    if (has_width(site->op))
        LLVMBuildStore(w->builder, LLVMGetOperand(site->instruction, count - 1),
                       igi_simt_field(w->builder, w->lane, offsetof(igi_simt_lane, width)));
}

static void take_result(weaver *w, LLVMValueRef call) {
    LLVMTypeRef type = LLVMTypeOf(call);
    if (LLVMGetTypeKind(type) != LLVMVoidTypeKind) {
        LLVMPositionBuilderBefore(w->builder, call);
        LLVMValueRef field = igi_simt_field(w->builder, w->lane, offsetof(igi_simt_lane, result));
        LLVMReplaceAllUsesWith(call, from_u64(w, LLVMBuildLoad2(w->builder, w->i64, field, ""), type));
    }
    LLVMInstructionEraseFromParent(call);
}

static void suspend_at(weaver *w, const igi_simt_site *site, uint32_t number) {
    LLVMBasicBlockRef rest = LLVMGetInstructionParent(site->instruction);
    LLVMPositionBuilderAtEnd(w->builder, igi_simt_split_before(site->instruction));
    store_request(w, site, number);
    LLVMValueRef arguments[] = {LLVMConstNull(w->token), LLVMConstInt(w->i1, 0, 0)};
    LLVMValueRef state = igi_simt_call_intrinsic(w->builder, "llvm.coro.suspend", NULL, 0, arguments, 2);
    LLVMValueRef choice = LLVMBuildSwitch(w->builder, state, w->suspend, 2);
    LLVMAddCase(choice, LLVMConstInt(w->i8, 0, 0), rest);
    LLVMAddCase(choice, LLVMConstInt(w->i8, 1, 0), w->suspend);
    if (LLVMIsACallInst(site->instruction)) take_result(w, site->instruction);
}

static bool is_return(LLVMValueRef instruction) {
    return LLVMIsAReturnInst(instruction) != NULL;
}

// Begins with the frame in lane->frame; without one, returns the size that it must have.
static void build_prologue(weaver *w) {
    LLVMValueRef function = w->m->thread;
    LLVMValueRef first = igi_simt_first_after_allocas(function);
    LLVMBasicBlockRef body = LLVMGetInstructionParent(first), entry = igi_simt_split_before(first);
    LLVMBasicBlockRef begin = LLVMAppendBasicBlockInContext(w->m->context, function, "begin");
    LLVMBasicBlockRef ask = LLVMAppendBasicBlockInContext(w->m->context, function, "ask");
    LLVMPositionBuilderAtEnd(w->builder, entry);
    LLVMValueRef null = LLVMConstPointerNull(w->pointer);
    LLVMValueRef id_arguments[] = {LLVMConstInt(w->i32, FRAME_ALIGNMENT, 0), null, null, null};
    LLVMValueRef id = igi_simt_call_intrinsic(w->builder, "llvm.coro.id", NULL, 0, id_arguments, 4);
    LLVMValueRef frame = LLVMBuildLoad2(w->builder, w->pointer, w->lane, "");
    LLVMBuildCondBr(w->builder, LLVMBuildIsNull(w->builder, frame, ""), ask, begin);

    LLVMPositionBuilderAtEnd(w->builder, ask);
    LLVMValueRef size = igi_simt_call_intrinsic(w->builder, "llvm.coro.size", &w->i64, 1, NULL, 0);
    LLVMBuildRet(w->builder, LLVMBuildIntToPtr(w->builder, size, w->pointer, ""));

    LLVMPositionBuilderAtEnd(w->builder, begin);
    LLVMValueRef begin_arguments[] = {id, frame};
    w->handle = igi_simt_call_intrinsic(w->builder, "llvm.coro.begin", NULL, 0, begin_arguments, 2);
    LLVMBuildBr(w->builder, body);
}

static void build_suspend(weaver *w) {
    LLVMPositionBuilderAtEnd(w->builder, w->suspend);
    LLVMValueRef arguments[] = {w->handle, LLVMConstInt(w->i1, 0, 0), LLVMConstNull(w->token)};
    igi_simt_call_intrinsic(w->builder, "llvm.coro.end", NULL, 0, arguments, 3);
    LLVMBuildRet(w->builder, w->handle);
}

static void finish_returns(weaver *w, const igi_simt_values *returns) {
    for (size_t i = 0; i < returns->count; i++) {
        LLVMPositionBuilderBefore(w->builder, returns->items[i]);
        STORE(w, wait, IGI_WAIT_DONE);
        LLVMBuildBr(w->builder, w->suspend);
        LLVMInstructionEraseFromParent(returns->items[i]);
    }
}

static void add_resume(igi_simt_module *m) {
    LLVMTypeRef pointer = LLVMPointerTypeInContext(m->context, 0);
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(m->context), &pointer, 1, 0);
    LLVMValueRef function = LLVMAddFunction(m->module, "ig.resume", type);
    igi_simt_add_attribute(function, "nounwind");
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(m->context);
    LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(m->context, function, "entry"));
    LLVMValueRef frame = LLVMGetParam(function, 0);
    igi_simt_call_intrinsic(builder, "llvm.coro.resume", NULL, 0, &frame, 1);
    LLVMBuildRetVoid(builder);
    LLVMDisposeBuilder(builder);
}

ig_status igi_simt_make_coroutine(igi_simt_module *m, const igi_simt_sites *sites) {
    igi_simt_values returns;
    if (!igi_simt_collect(m->thread, is_return, &returns)) return igi_error_no_memory(m->error);
    weaver w = {.m = m,
                .builder = LLVMCreateBuilderInContext(m->context),
                .i1 = LLVMInt1TypeInContext(m->context),
                .i8 = LLVMInt8TypeInContext(m->context),
                .i32 = LLVMInt32TypeInContext(m->context),
                .i64 = LLVMInt64TypeInContext(m->context),
                .pointer = LLVMPointerTypeInContext(m->context, 0),
                .token = LLVMTokenTypeInContext(m->context),
                .lane = LLVMGetParam(m->thread, 4)};
    w.suspend = LLVMAppendBasicBlockInContext(m->context, m->thread, "suspend");
    finish_returns(&w, &returns);
    for (size_t i = 0; i < sites->count; i++) suspend_at(&w, &sites->items[i], (uint32_t)i);
    build_prologue(&w);
    build_suspend(&w);
    LLVMSetValueName2(m->thread, "ig.start", 8);
    LLVMSetLinkage(m->thread, LLVMExternalLinkage);
    igi_simt_add_attribute(m->thread, "presplitcoroutine");
    add_resume(m);
    LLVMDisposeBuilder(w.builder);
    igi_simt_values_free(&returns);
    return IG_STATUS_OK;
}
