// SPDX-License-Identifier: Apache-2.0
// "ig.run": the threads of a threadgroup in three nested loops, once for each region between barriers.
#include "simt/ir.h"
#include "simt/regions.h"

typedef struct runner {
    igi_simt_module *m;
    const igi_simt_regions *regions;
    LLVMBuilderRef builder;
    LLVMTypeRef i8, i32, i64, pointer;
    LLVMValueRef function, group, contexts, arrays;
    LLVMValueRef sizes[3], counters[3];
    // Variables: offsets of this group's context and arrays from the first group's, and the region to run after this
    // one.
    LLVMValueRef offset, array_offset, next;
    // Simdgroups may wait at different barriers, as where each has its own copy of a loop: a barrier lets all of them
    // pass, like those of GPUs, which count. What is kept of a simdgroup and in `next` has LATER set in every other phase,
    // and `phase` is LATER in those; NULL: the earliest barrier lets pass only those that wait there.
    LLVMValueRef phase;
    uint32_t region;
} runner;

#define LATER (1u << 31)

static LLVMBasicBlockRef new_block(runner *r, const char *name) {
    return LLVMAppendBasicBlockInContext(r->m->context, r->function, name);
}

static LLVMValueRef number(const runner *r, uint32_t value) {
    return LLVMConstInt(r->i32, value, 0);
}

static void call_thread(runner *r) {
    LLVMValueRef arguments[] = {r->group, r->counters[0], r->counters[1], r->counters[2],
                                LLVMConstPointerNull(r->pointer)};
    LLVMBuildCall2(r->builder, LLVMGlobalGetValueType(r->m->thread), r->m->thread, arguments, 5, "");
}

// ---- One group of lanes ----

// What is kept of a group of lanes between regions.
typedef struct kept {
    LLVMValueRef context, arrays;
} kept;

static LLVMValueRef call_wide(runner *r, int full, kept k) {
    LLVMValueRef function = r->m->wide[full];
    LLVMValueRef arguments[] = {r->group,  r->counters[0],       r->counters[1], r->counters[2],
                                k.context, number(r, r->region), k.arrays};
    return LLVMBuildCall2(r->builder, LLVMGlobalGetValueType(function), function, arguments, 7, "");
}

// Full groups of lanes need no mask; the end of a row needs one.
static LLVMValueRef call_lanes(runner *r, kept k) {
    if (!r->m->wide[1] || !r->m->wide[0]) return call_wide(r, r->m->wide[1] != NULL, k);
    LLVMBasicBlockRef ways[] = {new_block(r, "tail"), new_block(r, "full")}, after = new_block(r, "ran");
    LLVMValueRef left = LLVMBuildSub(r->builder, r->sizes[0], r->counters[0], ""), answers[2];
    LLVMValueRef fits = LLVMBuildICmp(r->builder, LLVMIntUGE, left, number(r, r->m->info.width), "");
    LLVMBuildCondBr(r->builder, fits, ways[1], ways[0]);
    for (int i = 0; i < 2; i++) {
        LLVMPositionBuilderAtEnd(r->builder, ways[i]);
        answers[i] = call_wide(r, i, k);
        LLVMBuildBr(r->builder, after);
    }
    LLVMPositionBuilderAtEnd(r->builder, after);
    LLVMValueRef answer = LLVMBuildPhi(r->builder, r->i32, "");
    LLVMAddIncoming(answer, answers, ways, 2);
    return answer;
}

static LLVMValueRef current_phase(runner *r) {
    return LLVMBuildLoad2(r->builder, r->i32, r->phase, "phase");
}

// As it is kept while the lanes wait for the next phase; IGI_REGION_DONE stays what it is.
static LLVMValueRef in_next_phase(runner *r, LLVMValueRef stop) {
    if (!r->phase) return stop;
    LLVMValueRef later = LLVMBuildXor(r->builder, current_phase(r), number(r, LATER), "");
    return LLVMBuildOr(r->builder, stop, later, "");
}

// The earliest barrier at which lanes wait in this phase, or else in the next one, is next.
static void note_next(runner *r, LLVMValueRef at) {
    if (r->phase) {
        LLVMValueRef done = LLVMBuildICmp(r->builder, LLVMIntEQ, at, number(r, IGI_REGION_DONE), "");
        LLVMValueRef key = LLVMBuildXor(r->builder, at, current_phase(r), "");
        at = LLVMBuildSelect(r->builder, done, at, key, "");
    }
    LLVMValueRef pair[] = {LLVMBuildLoad2(r->builder, r->i32, r->next, ""), at};
    LLVMBuildStore(r->builder, igi_simt_call_intrinsic(r->builder, "llvm.umin", &r->i32, 1, pair, 2), r->next);
}

static LLVMValueRef at_offset(runner *r, LLVMValueRef base, LLVMValueRef variable) {
    LLVMValueRef offset = LLVMBuildLoad2(r->builder, r->i64, variable, "");
    return LLVMBuildInBoundsGEP2(r->builder, r->i8, base, &offset, 1, "");
}

static void advance(runner *r, LLVMValueRef variable, uint64_t bytes) {
    LLVMValueRef offset = LLVMBuildLoad2(r->builder, r->i64, variable, "");
    LLVMBuildStore(r->builder, LLVMBuildNUWAdd(r->builder, offset, LLVMConstInt(r->i64, bytes, 0), ""), variable);
}

// Runs the lanes if it is their turn, and records where they stopped.
static void run_lanes(runner *r) {
    if (!r->regions->count) {
        LLVMValueRef nothing = LLVMConstPointerNull(r->pointer);
        call_lanes(r, (kept){nothing, nothing});
        return;
    }
    LLVMValueRef context = at_offset(r, r->contexts, r->offset), arrays = at_offset(r, r->arrays, r->array_offset);
    LLVMBasicBlockRef after = NULL;
    if (r->region) {
        LLVMBasicBlockRef turn = new_block(r, "turn"), wait = new_block(r, "wait");
        after = new_block(r, "ran");
        LLVMValueRef at = LLVMBuildLoad2(r->builder, r->i32, context, ""), here = number(r, r->region);
        if (r->phase) here = LLVMBuildOr(r->builder, here, current_phase(r), "");
        LLVMBuildCondBr(r->builder, LLVMBuildICmp(r->builder, LLVMIntEQ, at, here, ""), turn, wait);
        LLVMPositionBuilderAtEnd(r->builder, wait);
        note_next(r, at);
        LLVMBuildBr(r->builder, after);
        LLVMPositionBuilderAtEnd(r->builder, turn);
    }
    LLVMValueRef stop = in_next_phase(r, call_lanes(r, (kept){context, arrays}));
    LLVMBuildStore(r->builder, stop, context);
    note_next(r, stop);
    if (after) {
        LLVMBuildBr(r->builder, after);
        LLVMPositionBuilderAtEnd(r->builder, after);
    }
    advance(r, r->offset, r->regions->context_bytes);
    if (r->regions->array_bytes) advance(r, r->array_offset, r->regions->array_bytes);
}

// ---- All of them ----

// Whether rows are the innermost loop, because lanes have more in common with those of the next row than with those
// beside them.
static bool runs_columns(const runner *r) {
    return r->m->info.columns && r->m->request->group[1] > 1;
}

// The dimension of a loop, where 0 is the innermost.
static int dimension_of(const runner *r, int loop) {
    return runs_columns(r) && loop < 2 ? 1 - loop : loop;
}

// What depends on y alone is then computed before the loop over x, once for each row.
static bool suits_unrolling(const runner *r) {
    enum { MAX_INSTRUCTIONS = 4096 };
    return runs_columns(r) && (uint64_t)r->m->info.instructions * r->m->request->group[1] <= MAX_INSTRUCTIONS;
}

// for (counter = 0; counter < size; counter += step), and inside it the inner loops.
static void build_loop(runner *r, int loop) {
    int dimension = dimension_of(r, loop);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(r->builder);
    static const char *const names[] = {"x", "y", "z"}, *const ends[] = {"x.end", "y.end", "z.end"};
    LLVMBasicBlockRef body = new_block(r, names[dimension]), after = new_block(r, ends[dimension]);
    LLVMBuildBr(r->builder, body);
    LLVMPositionBuilderAtEnd(r->builder, body);
    LLVMValueRef counter = LLVMBuildPhi(r->builder, r->i32, names[dimension]);
    r->counters[dimension] = counter;
    if (loop > 0)
        build_loop(r, loop - 1);
    else if (igi_simt_is_wide(r->m))
        run_lanes(r);
    else
        call_thread(r);
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(r->builder);
    uint32_t rows = r->m->rows > 1 ? r->m->rows : 1;
    LLVMValueRef step = number(r, dimension == 0 ? r->m->info.width : dimension == 1 ? rows : 1);
    LLVMValueRef next = LLVMBuildNUWAdd(r->builder, counter, step, "");
    LLVMValueRef more = LLVMBuildICmp(r->builder, LLVMIntULT, next, r->sizes[dimension], "");
    LLVMValueRef branch = LLVMBuildCondBr(r->builder, more, body, after);
    if (loop == 0 && suits_unrolling(r)) igi_simt_mark_loop(r->m, branch, "llvm.loop.unroll.full");
    LLVMValueRef values[] = {number(r, 0), next};
    LLVMBasicBlockRef blocks[] = {before, latch};
    LLVMAddIncoming(counter, values, blocks, 2);
    LLVMPositionBuilderAtEnd(r->builder, after);
}

static void build_region(runner *r) {
    LLVMBuildStore(r->builder, LLVMConstInt(r->i64, 0, 0), r->offset);
    LLVMBuildStore(r->builder, LLVMConstInt(r->i64, 0, 0), r->array_offset);
    LLVMBuildStore(r->builder, number(r, IGI_REGION_DONE), r->next);
    build_loop(r, 2);
}

// Region 0 first; then whichever is next, until all lanes are done.
static void build_regions(runner *r) {
    build_region(r);
    LLVMBasicBlockRef choose = new_block(r, "choose"), done = new_block(r, "done");
    LLVMBuildBr(r->builder, choose);
    LLVMPositionBuilderAtEnd(r->builder, choose);
    LLVMValueRef next = LLVMBuildLoad2(r->builder, r->i32, r->next, "");
    if (r->phase) {
        LLVMValueRef later = LLVMBuildAnd(r->builder, next, number(r, LATER), "");
        LLVMBuildStore(r->builder, LLVMBuildXor(r->builder, current_phase(r), later, ""), r->phase);
        next = LLVMBuildAnd(r->builder, next, number(r, LATER - 1), "");  // IGI_REGION_DONE is still no region
    }
    LLVMValueRef choice = LLVMBuildSwitch(r->builder, next, done, r->regions->count);
    for (r->region = 1; r->region <= r->regions->count; r->region++) {
        LLVMBasicBlockRef block = new_block(r, "region");
        LLVMAddCase(choice, number(r, r->region), block);
        LLVMPositionBuilderAtEnd(r->builder, block);
        build_region(r);
        LLVMBuildBr(r->builder, choose);
    }
    LLVMPositionBuilderAtEnd(r->builder, done);
    LLVMBuildRetVoid(r->builder);
}

static void hide(LLVMValueRef function, const char *attribute) {
    LLVMSetLinkage(function, LLVMInternalLinkage);
    igi_simt_add_attribute(function, attribute);
}

void igi_simt_build_run(igi_simt_module *m, const igi_simt_regions *regions) {
    LLVMTypeRef pointer = LLVMPointerTypeInContext(m->context, 0), parameters[] = {pointer, pointer, pointer};
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(m->context), parameters, 3, 0);
    runner r = {.m = m,
                .regions = regions,
                .builder = LLVMCreateBuilderInContext(m->context),
                .i8 = LLVMInt8TypeInContext(m->context),
                .i32 = LLVMInt32TypeInContext(m->context),
                .i64 = LLVMInt64TypeInContext(m->context),
                .pointer = pointer,
                .function = LLVMAddFunction(m->module, "ig.run", type)};
    igi_simt_add_attribute(r.function, "nounwind");
    r.group = LLVMGetParam(r.function, 0);
    r.contexts = LLVMGetParam(r.function, 1);
    r.arrays = LLVMGetParam(r.function, 2);
    igi_simt_set_name(r.group, "group");
    igi_simt_set_name(r.contexts, "contexts");
    igi_simt_set_name(r.arrays, "arrays");
    LLVMPositionBuilderAtEnd(r.builder, new_block(&r, "entry"));
    r.offset = LLVMBuildAlloca(r.builder, r.i64, "offset");
    r.array_offset = LLVMBuildAlloca(r.builder, r.i64, "array.offset");
    r.next = LLVMBuildAlloca(r.builder, r.i32, "next");
    // A smaller group of lanes is a part of a simdgroup, whose threads wait for each other where they meet again.
    if (m->info.simdgroups && m->info.width == IGI_SIMD_WIDTH && regions->count > 1) {
        r.phase = LLVMBuildAlloca(r.builder, r.i32, "phase");
        LLVMBuildStore(r.builder, number(&r, 0), r.phase);
    }
    for (int i = 0; i < 3; i++) {
        LLVMValueRef field = igi_simt_field(r.builder, r.group, offsetof(igi_simt_group, size) + 4 * (size_t)i);
        bool known = m->request->group[i] != 0;
        r.sizes[i] = known ? number(&r, m->request->group[i]) : LLVMBuildLoad2(r.builder, r.i32, field, "group.size");
    }
    build_regions(&r);
    LLVMDisposeBuilder(r.builder);
    hide(m->thread, "alwaysinline");
    // One copy of a tail, or of a large kernel, serves all regions.
    if (m->wide[0]) hide(m->wide[0], regions->count ? "noinline" : "alwaysinline");
    if (m->wide[1]) hide(m->wide[1], "alwaysinline");
}
