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

enum { MAX_TRIPS = 64, MAX_INSTRUCTIONS = 2000 };
// Large bodies gain little, unless arrays become registers: then a kernel should stay small enough for LLVM's optimiser.
enum { LARGE_BODY = 40, SMALL_KERNEL = IGI_LARGE_KERNEL / 2 };

// A counter: phi [start, step * trips...], compared with a constant at the end of each iteration.
typedef struct counter {
    uint64_t start, step, bound, mask;
    LLVMIntPredicate predicate;
    bool compares_next;  // compares the next value rather than the phi
} counter;

static bool constant(LLVMValueRef value, uint64_t *number) {
    if (!LLVMIsAConstantInt(value) || LLVMGetIntTypeWidth(LLVMTypeOf(value)) > 64) return false;
    *number = (uint64_t)LLVMConstIntGetSExtValue(value);
    return true;
}

// phi: a constant from outside the loop, and the phi plus a constant from the latch.
static bool read_phi(LLVMValueRef phi, LLVMBasicBlockRef latch, counter *c, LLVMValueRef *next) {
    if (!LLVMIsAPHINode(phi) || LLVMCountIncoming(phi) != 2) return false;
    unsigned back = LLVMGetIncomingBlock(phi, 0) == latch ? 0 : 1;
    *next = LLVMGetIncomingValue(phi, back);
    bool sum = LLVMIsAInstruction(*next) && LLVMGetInstructionOpcode(*next) == LLVMAdd;
    return sum && LLVMGetOperand(*next, 0) == phi && constant(LLVMGetOperand(*next, 1), &c->step) &&
           constant(LLVMGetIncomingValue(phi, 1 - back), &c->start);
}

static bool read_counter(LLVMBasicBlockRef latch, LLVMBasicBlockRef header, counter *c) {
    LLVMValueRef branch = LLVMGetBasicBlockTerminator(latch), next;
    if (!LLVMIsABranchInst(branch) || !LLVMIsConditional(branch)) return false;
    LLVMValueRef condition = LLVMGetCondition(branch);
    if (!LLVMIsAICmpInst(condition) || !constant(LLVMGetOperand(condition, 1), &c->bound)) return false;
    c->predicate = LLVMGetICmpPredicate(condition);
    if (LLVMGetSuccessor(branch, 0) != header) return false;
    LLVMValueRef compared = LLVMGetOperand(condition, 0);
    unsigned width = LLVMGetIntTypeWidth(LLVMTypeOf(compared));
    c->mask = width == 64 ? UINT64_MAX : (1ull << width) - 1;
    if (read_phi(compared, latch, c, &next)) return true;
    c->compares_next = true;
    return LLVMIsAInstruction(compared) && LLVMGetInstructionOpcode(compared) == LLVMAdd &&
           read_phi(LLVMGetOperand(compared, 0), latch, c, &next) && next == compared;
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

// The number of iterations; 0 if it is not known or too large.
static unsigned trips(const counter *c) {
    uint64_t now = c->start;
    for (unsigned round = 1; round <= MAX_TRIPS; round++) {
        uint64_t next = now + c->step;
        if (!holds(c->predicate, c->compares_next ? next : now, c->bound, c->mask)) return round;
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

static unsigned size_of_block(LLVMBasicBlockRef block) {
    unsigned count = 0;
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) count++;
    return count;
}

// !llvm.loop !{itself, !{wish}}
static void mark(igi_simt_module *m, LLVMValueRef branch, const char *wish) {
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
    counter c = {0};
    LLVMBasicBlockRef header = cfg->blocks[cfg->loops[loop].header].block;
    if (latch == IGI_NONE || !read_counter(cfg->blocks[latch].block, header, &c)) return body;
    LLVMValueRef branch = LLVMGetBasicBlockTerminator(cfg->blocks[latch].block);
    if (m->request->group[0] && igi_simt_is_striding(m, cfg, loop)) {
        mark(m, branch, "llvm.loop.unroll.disable");
        return body;
    }
    unsigned rounds = trips(&c);
    uint64_t most = body >= LARGE_BODY && !has_arrays(m) ? SMALL_KERNEL : MAX_INSTRUCTIONS;
    if (!rounds || body * rounds > most) return body;
    mark(m, branch, "llvm.loop.unroll.full");
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

ig_status igi_simt_pass_unroll(igi_simt_module *m) {
    ig_status status = igi_simt_run_passes(m, "function(loop-simplify,lcssa,loop(loop-rotate))");
    if (status == IG_STATUS_OK && !mark_loops(m)) status = igi_error_no_memory(m->error);
    if (status != IG_STATUS_OK) return status;
    return igi_simt_run_passes(m,
                               "function(loop-unroll<O3;no-partial;no-runtime;no-peeling;no-upperbound>,"
                               "sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg,"
                               "lower-switch,fix-irreducible,loop-simplify,lcssa),globaldce");
}
