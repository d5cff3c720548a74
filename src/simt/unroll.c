// SPDX-License-Identifier: Apache-2.0
// Loops that count to a small constant: marked here, unrolled by LLVM. Afterwards the arrays they index become
// registers and their accesses are adjacent. LLVM alone would stop at a few hundred instructions, which
// suits machines where a loop costs little; a widened loop body works on all lanes each time.
#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "core/memory.h"
#include "simt/cfg.h"
#include "simt/ir.h"
#include "simt/passes.h"

enum { MAX_TRIPS = 64, MAX_INSTRUCTIONS = 2000, MAX_WAITING_TRIPS = 16 };
// Large bodies gain little, unless arrays become registers: then a kernel should stay small enough for LLVM's optimiser.
enum { LARGE_BODY = 40, SMALL_KERNEL = IGI_LARGE_KERNEL / 2 };

// A counter: phi [start, next], where next adds a constant to it or shifts it by one, compared with a constant at the end
// of each iteration.
typedef struct counter {
    LLVMOpcode operation;
    uint64_t start, step, bound, mask;
    LLVMIntPredicate predicate;
    bool compares_next;  // compares the next value rather than the phi
    bool leaves;         // when the comparison holds
} counter;

static bool constant(LLVMValueRef value, uint64_t *number) {
    if (!LLVMIsAConstantInt(value) || LLVMGetIntTypeWidth(LLVMTypeOf(value)) > 64) return false;
    *number = (uint64_t)LLVMConstIntGetSExtValue(value);
    return true;
}

static bool counts(LLVMValueRef next) {
    if (!LLVMIsABinaryOperator(next)) return false;
    LLVMOpcode operation = LLVMGetInstructionOpcode(next);
    return operation == LLVMAdd || operation == LLVMLShr || operation == LLVMShl;
}

// phi: a constant from outside the loop, and the phi changed by a constant from the latch.
static bool read_phi(LLVMValueRef phi, LLVMBasicBlockRef latch, counter *c, LLVMValueRef *next) {
    if (!LLVMIsAPHINode(phi) || LLVMCountIncoming(phi) != 2) return false;
    unsigned back = LLVMGetIncomingBlock(phi, 0) == latch ? 0 : 1;
    *next = LLVMGetIncomingValue(phi, back);
    if (!counts(*next)) return false;
    c->operation = LLVMGetInstructionOpcode(*next);
    return LLVMGetOperand(*next, 0) == phi && constant(LLVMGetOperand(*next, 1), &c->step) &&
           (c->operation == LLVMAdd || c->step == 1) && constant(LLVMGetIncomingValue(phi, 1 - back), &c->start);
}

static bool read_comparison(LLVMValueRef condition, LLVMBasicBlockRef latch, counter *c) {
    LLVMValueRef next;
    if (!LLVMIsAICmpInst(condition) || !constant(LLVMGetOperand(condition, 1), &c->bound)) return false;
    c->predicate = LLVMGetICmpPredicate(condition);
    LLVMValueRef compared = LLVMGetOperand(condition, 0);
    unsigned width = LLVMGetIntTypeWidth(LLVMTypeOf(compared));
    c->mask = width == 64 ? UINT64_MAX : (1ull << width) - 1;
    if (read_phi(compared, latch, c, &next)) return true;
    c->compares_next = true;
    return counts(compared) && read_phi(LLVMGetOperand(compared, 0), latch, c, &next) && next == compared;
}

// Whether the loop goes on if the condition at its end holds.
static bool ends_with_condition(LLVMBasicBlockRef latch, LLVMBasicBlockRef header) {
    LLVMValueRef branch = LLVMGetBasicBlockTerminator(latch);
    return LLVMIsABranchInst(branch) && LLVMIsConditional(branch) && LLVMGetSuccessor(branch, 0) == header;
}

static bool read_counter(LLVMBasicBlockRef latch, LLVMBasicBlockRef header, counter *c) {
    return ends_with_condition(latch, header) &&
           read_comparison(LLVMGetCondition(LLVMGetBasicBlockTerminator(latch)), latch, c);
}

// The same, if the condition says whether the loop goes on or whether it ends.
static bool read_either_counter(LLVMBasicBlockRef latch, LLVMBasicBlockRef header, counter *c) {
    LLVMValueRef branch = LLVMGetBasicBlockTerminator(latch);
    if (!LLVMIsABranchInst(branch) || !LLVMIsConditional(branch)) return false;
    c->leaves = LLVMGetSuccessor(branch, 1) == header;
    return read_comparison(LLVMGetCondition(branch), latch, c);
}

static bool holds(LLVMIntPredicate predicate, uint64_t a, uint64_t b, uint64_t mask) {
    uint64_t top = (mask >> 1) + 1;
    int64_t sa = (int64_t)((a & mask) ^ top), sb = (int64_t)((b & mask) ^ top);  // order of signed numbers, shifted
    a &= mask, b &= mask;
    switch (predicate) {
        case LLVMIntNE: return a != b;
        case LLVMIntEQ: return a == b;
        case LLVMIntULT: return a < b;
        case LLVMIntULE: return a <= b;
        case LLVMIntUGT: return a > b;
        case LLVMIntUGE: return a >= b;
        case LLVMIntSLT: return (uint64_t)sa < (uint64_t)sb;
        case LLVMIntSLE: return (uint64_t)sa <= (uint64_t)sb;
        case LLVMIntSGT: return (uint64_t)sa > (uint64_t)sb;
        default: return (uint64_t)sa >= (uint64_t)sb;
    }
}

static uint64_t advance(const counter *c, uint64_t now) {
    switch (c->operation) {
        case LLVMLShr: return (now & c->mask) >> 1;
        case LLVMShl: return now << 1;
        default: return now + c->step;
    }
}

// The number of iterations; 0 if it is not known or too large.
static unsigned trips(const counter *c, unsigned most) {
    uint64_t now = c->start;
    for (unsigned round = 1; round <= most; round++) {
        uint64_t next = advance(c, now);
        if (holds(c->predicate, c->compares_next ? next : now, c->bound, c->mask) == c->leaves) return round;
        now = next;
    }
    return 0;
}

static uint32_t only_latch(const igi_simt_cfg *cfg, uint32_t loop) {
    const igi_simt_block *header = &cfg->blocks[cfg->loops[loop].header];
    uint32_t latch = IGI_NONE;
    for (uint32_t k = 0; k < header->predecessor_count; k++) {
        uint32_t from = header->predecessors[k];
        if (!igi_simt_cfg_is_back_edge(cfg, from, cfg->loops[loop].header)) continue;
        if (latch != IGI_NONE) return IGI_NONE;
        latch = from;
    }
    return latch;
}

// ---- Loops with another condition: for (row = 0; row < 4 && first + row < rows; row++) ----

// a && b
static bool read_both(LLVMValueRef condition, LLVMValueRef parts[2]) {
    if (LLVMIsASelectInst(condition)) {
        LLVMValueRef otherwise = LLVMGetOperand(condition, 2);
        if (!LLVMIsAConstantInt(otherwise) || LLVMConstIntGetZExtValue(otherwise)) return false;
    } else if (!LLVMIsABinaryOperator(condition) || LLVMGetInstructionOpcode(condition) != LLVMAnd) {
        return false;
    }
    parts[0] = LLVMGetOperand(condition, 0);
    parts[1] = LLVMGetOperand(condition, 1);
    return true;
}

// Which part of the condition counts; 2: none.
static unsigned counting_part(LLVMBasicBlockRef latch, LLVMBasicBlockRef header, LLVMValueRef parts[2]) {
    if (!ends_with_condition(latch, header) || !read_both(LLVMGetCondition(LLVMGetBasicBlockTerminator(latch)), parts))
        return 2;
    for (unsigned k = 0; k < 2; k++) {
        counter c = {.operation = LLVMAdd, .predicate = LLVMIntEQ};
        if (read_comparison(parts[k], latch, &c) && c.operation == LLVMAdd && trips(&c, MAX_TRIPS)) return k;
    }
    return 2;
}

// The other condition gets an exit of its own before the end of the iteration. It may be poison where the counting one
// does not hold.
static void leave_early(igi_simt_module *m, LLVMBasicBlockRef latch, LLVMValueRef counting, LLVMValueRef other) {
    LLVMValueRef branch = LLVMGetBasicBlockTerminator(latch);
    LLVMBasicBlockRef before = igi_simt_split_before(branch), out = LLVMGetSuccessor(branch, 1);
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(m->context);
    LLVMPositionBuilderAtEnd(builder, before);
    LLVMBuildCondBr(builder, LLVMBuildFreeze(builder, other, ""), latch, out);
    LLVMDisposeBuilder(builder);
    LLVMSetCondition(branch, counting);
    for (LLVMValueRef i = LLVMGetFirstInstruction(out); i && LLVMIsAPHINode(i); i = LLVMGetNextInstruction(i))
        for (unsigned k = 0; k < LLVMCountIncoming(i); k++) {
            if (LLVMGetIncomingBlock(i, k) != latch) continue;
            LLVMValueRef value = LLVMGetIncomingValue(i, k);
            LLVMAddIncoming(i, &value, &before, 1);
            break;
        }
}

static bool separate_conditions(igi_simt_module *m) {
    igi_simt_cfg cfg;
    if (!igi_simt_cfg_build(m->thread, &cfg)) return false;
    for (uint32_t i = 0; i < cfg.loop_count; i++) {
        uint32_t latch = only_latch(&cfg, i);
        LLVMBasicBlockRef header = cfg.blocks[cfg.loops[i].header].block;
        LLVMValueRef parts[2];
        unsigned counts = latch == IGI_NONE ? 2 : counting_part(cfg.blocks[latch].block, header, parts);
        if (counts < 2) leave_early(m, cfg.blocks[latch].block, parts[counts], parts[1 - counts]);
    }
    igi_simt_cfg_free(&cfg);
    return true;
}

// ---- Marking ----

static unsigned size_of_block(LLVMBasicBlockRef block) {
    unsigned count = 0;
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) count++;
    return count;
}

// !llvm.loop !{itself, !{wish}}
void igi_simt_mark_loop(igi_simt_module *m, LLVMValueRef branch, const char *wish) {
    LLVMMetadataRef name = LLVMMDStringInContext2(m->context, wish, strlen(wish));
    LLVMMetadataRef self = LLVMTemporaryMDNode(m->context, NULL, 0);
    LLVMMetadataRef parts[] = {self, LLVMMDNodeInContext2(m->context, &name, 1)};
    LLVMMetadataRef node = LLVMMDNodeInContext2(m->context, parts, 2);
    LLVMMetadataReplaceAllUsesWith(self, node);
    unsigned kind = LLVMGetMDKindIDInContext(m->context, "llvm.loop", 9);
    LLVMSetMetadata(branch, kind, LLVMMetadataAsValue(m->context, node));
}

static bool has_arrays(const igi_simt_module *m) {
    return LLVMIsAAllocaInst(LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(m->thread))) != NULL;
}

// The number of instructions once the loop is unrolled, including inner loops; marks the loop if that is small enough.
static uint64_t size_and_mark(igi_simt_module *m, const igi_simt_cfg *cfg, uint32_t loop, uint64_t *weights) {
    uint64_t body = 0;
    for (uint32_t b = 0; b < cfg->count; b++)
        if (cfg->blocks[b].loop == loop) body += size_of_block(cfg->blocks[b].block);
    for (uint32_t inner = 0; inner < cfg->loop_count; inner++)
        if (cfg->loops[inner].parent == loop) body += weights[inner];
    uint32_t latch = only_latch(cfg, loop);
    counter c = {.operation = LLVMAdd, .predicate = LLVMIntEQ};
    LLVMBasicBlockRef header = cfg->blocks[cfg->loops[loop].header].block;
    if (latch == IGI_NONE || !read_counter(cfg->blocks[latch].block, header, &c)) return body;
    LLVMValueRef branch = LLVMGetBasicBlockTerminator(cfg->blocks[latch].block);
    if (m->request->group[0] && igi_simt_is_striding(m, cfg, loop)) {
        igi_simt_mark_loop(m, branch, "llvm.loop.unroll.disable");
        return body;
    }
    unsigned rounds = c.operation == LLVMAdd ? trips(&c, MAX_TRIPS) : 0;
    uint64_t most = body >= LARGE_BODY && !has_arrays(m) ? SMALL_KERNEL : MAX_INSTRUCTIONS;
    if (!rounds || body * rounds > most) return body;
    igi_simt_mark_loop(m, branch, "llvm.loop.unroll.full");
    return body * rounds;
}

static bool mark_loops(igi_simt_module *m) {
    igi_simt_cfg cfg;
    if (!igi_simt_cfg_build(m->thread, &cfg)) return false;
    uint32_t deepest = 0;
    for (uint32_t i = 0; i < cfg.loop_count; i++)
        if (cfg.loops[i].depth > deepest) deepest = cfg.loops[i].depth;
    uint64_t *weights = igi_calloc(cfg.loop_count, sizeof *weights);
    for (uint32_t depth = deepest; weights && depth > 0; depth--)
        for (uint32_t i = 0; i < cfg.loop_count; i++)
            if (cfg.loops[i].depth == depth) weights[i] = size_and_mark(m, &cfg, i, weights);
    free(weights);
    igi_simt_cfg_free(&cfg);
    return weights != NULL;
}

#define UNROLL "loop-unroll<O3;no-partial;no-runtime;no-peeling;no-upperbound>"

ig_status igi_simt_pass_unroll(igi_simt_module *m) {
    ig_status status = igi_simt_run_passes(m, "function(loop-simplify,lcssa,loop(loop-rotate),sccp)");
    if (status == IG_STATUS_OK && (!separate_conditions(m) || !mark_loops(m))) status = igi_error_no_memory(m->error);
    if (status != IG_STATUS_OK) return status;
    return igi_simt_run_passes(m, "function(" UNROLL
                                  ",sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,"
                                  "lower-switch,fix-irreducible,loop-simplify,lcssa),globaldce");
}

// ---- Loops in which a whole threadgroup waits ----

static void mark_if_it_waits(igi_simt_module *m, const igi_simt_cfg *cfg, uint32_t loop) {
    uint32_t latch = only_latch(cfg, loop);
    counter c = {.operation = LLVMAdd, .predicate = LLVMIntEQ};
    if (latch == IGI_NONE || !igi_simt_has_barrier(cfg, loop)) return;
    if (!read_either_counter(cfg->blocks[latch].block, cfg->blocks[cfg->loops[loop].header].block, &c)) return;
    if (trips(&c, MAX_WAITING_TRIPS))
        igi_simt_mark_loop(m, LLVMGetBasicBlockTerminator(cfg->blocks[latch].block), "llvm.loop.unroll.full");
}

ig_status igi_simt_unroll_waiting(igi_simt_module *m) {
    igi_simt_cfg cfg;
    if (!igi_simt_cfg_build(m->thread, &cfg)) return igi_error_no_memory(m->error);
    for (uint32_t i = 0; i < cfg.loop_count; i++) mark_if_it_waits(m, &cfg, i);
    igi_simt_cfg_free(&cfg);
    return igi_simt_run_passes(m, "function(" UNROLL ",instsimplify,simplifycfg,loop-simplify,lcssa)");
}
