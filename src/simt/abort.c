// SPDX-License-Identifier: Apache-2.0
// Loops check the abort flag at their back edge, unless provably little can happen before the next check.
#include "core/memory.h"
#include "simt/cfg.h"
#include "simt/ir.h"
#include "simt/passes.h"
#include "simt/trips.h"

// The number of iterations, over all nested loops, and of instructions that a thread may execute before it must check:
// with the largest threadgroup that takes about a tenth of a second.
enum { SMALL_TRIP_COUNT = 4096, SMALL_WORK = 1 << 18 };
enum { BARRIER_WORK = 64, BYTES_PER_INSTRUCTION = 32 };

// ---- How much a loop does ----

typedef struct effort {
    uint64_t round;         // instructions of one iteration, including inner loops
    uint64_t total, trips;  // until the flag is checked next
    bool checked;
} effort;

static uint64_t multiply(uint64_t a, uint64_t b) {
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

// Copying or filling memory is one instruction here, but takes any number of them when it runs.
static uint64_t work_of(LLVMValueRef instruction) {
    if (igi_simt_calls(instruction, "__ig_barrier")) return BARRIER_WORK;
    if (!igi_simt_is_memory_intrinsic(instruction)) return 1;
    LLVMValueRef length = LLVMGetOperand(instruction, 2);
    return LLVMIsAConstantInt(length) ? 1 + LLVMConstIntGetZExtValue(length) / BYTES_PER_INSTRUCTION : UINT64_MAX;
}

static uint64_t block_work(LLVMBasicBlockRef block) {
    uint64_t work = 0;
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
        work = igi_add_clamped(work, work_of(i));
    return work;
}

static void estimate_effort(const igi_simt_cfg *cfg, uint32_t loop, effort *efforts) {
    effort *e = &efforts[loop];
    uint64_t trips = igi_simt_trips(cfg, loop, SMALL_TRIP_COUNT), inner = 0;
    for (uint32_t i = 0; i < cfg->count; i++)
        if (cfg->blocks[i].loop == loop) e->round = igi_add_clamped(e->round, block_work(cfg->blocks[i].block));
    for (uint32_t k = 0; k < cfg->loop_count; k++) {
        if (cfg->loops[k].parent != loop) continue;
        e->round = igi_add_clamped(e->round, efforts[k].total);
        inner = igi_add_clamped(inner, efforts[k].trips);
    }
    e->trips = multiply(trips, inner ? inner : 1);
    e->total = multiply(trips, e->round);
    e->checked = !trips || e->trips > SMALL_TRIP_COUNT || e->total > SMALL_WORK;
    if (e->checked) e->trips = 0, e->total = e->round;
}

// The effort of every loop, inner ones first. NULL when memory is short.
static effort *judge_loops(const igi_simt_cfg *cfg) {
    uint32_t deepest = 0;
    effort *efforts = igi_calloc(cfg->loop_count + 1, sizeof *efforts);
    for (uint32_t i = 0; i < cfg->loop_count; i++)
        if (cfg->loops[i].depth > deepest) deepest = cfg->loops[i].depth;
    for (uint32_t depth = deepest; efforts && depth > 0; depth--)
        for (uint32_t i = 0; i < cfg->loop_count; i++)
            if (cfg->loops[i].depth == depth) estimate_effort(cfg, i, efforts);
    return efforts;
}

// ---- Looking at the flag ----

static void check_before(igi_simt_module *m, LLVMBuilderRef builder, LLVMValueRef terminator, LLVMBasicBlockRef leave) {
    LLVMBasicBlockRef rest = LLVMGetInstructionParent(terminator);
    LLVMBasicBlockRef head = igi_simt_split_before(terminator);
    LLVMTypeRef i32 = LLVMInt32TypeInContext(m->context), pointer = LLVMPointerTypeInContext(m->context, 0);
    LLVMPositionBuilderAtEnd(builder, head);
    LLVMValueRef field = igi_simt_field(builder, LLVMGetParam(m->thread, 0), offsetof(igi_simt_group, abort));
    LLVMValueRef flag = LLVMBuildLoad2(builder, i32, LLVMBuildLoad2(builder, pointer, field, ""), "");
    LLVMSetVolatile(flag, 1);
    LLVMValueRef set = LLVMBuildICmp(builder, LLVMIntNE, flag, LLVMConstInt(i32, 0, 0), "");
    LLVMBuildCondBr(builder, set, leave, rest);
}

// The loop with that header around the block; IGI_NONE: it can be entered other than through the header.
static uint32_t loop_of(const igi_simt_cfg *cfg, uint32_t block, uint32_t header) {
    uint32_t loop = cfg->blocks[block].loop;
    while (loop != IGI_NONE && cfg->loops[loop].header != header) loop = cfg->loops[loop].parent;
    return loop;
}

// Blocks are in reverse post-order: every cycle has an edge to a block that does not come later.
static bool must_look(const igi_simt_cfg *cfg, const effort *efforts, uint32_t block) {
    for (uint32_t k = 0; k < cfg->blocks[block].successor_count; k++) {
        uint32_t to = cfg->blocks[block].successors[k], loop = to <= block ? loop_of(cfg, block, to) : IGI_NONE;
        if (to <= block && (loop == IGI_NONE || cfg->irreducible || efforts[loop].checked)) return true;
    }
    return false;
}

ig_status igi_simt_pass_abort(igi_simt_module *m) {
    igi_simt_cfg cfg;
    if (!m->request->abortable) return IG_STATUS_OK;
    if (!igi_simt_cfg_build(m->thread, &cfg)) return igi_error_no_memory(m->error);
    effort *efforts = judge_loops(&cfg);
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(m->context);
    LLVMBasicBlockRef leave = NULL;
    for (uint32_t i = 0; i < cfg.count && efforts; i++) {
        if (!must_look(&cfg, efforts, i)) continue;
        if (!leave) {
            leave = LLVMAppendBasicBlockInContext(m->context, m->thread, "aborted");
            LLVMPositionBuilderAtEnd(builder, leave);
            LLVMBuildRet(builder, LLVMConstPointerNull(LLVMPointerTypeInContext(m->context, 0)));
        }
        check_before(m, builder, LLVMGetBasicBlockTerminator(cfg.blocks[i].block), leave);
    }
    LLVMDisposeBuilder(builder);
    igi_simt_cfg_free(&cfg);
    ig_status status = efforts ? IG_STATUS_OK : igi_error_no_memory(m->error);
    free(efforts);
    return status;
}
