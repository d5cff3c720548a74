// SPDX-License-Identifier: Apache-2.0
// A counter changes by a constant in every iteration, and a comparison with a constant ends the loop. From a known
// start the iterations are simply counted, as the machine would, so that wrapping needs no special treatment.
#include "simt/trips.h"

typedef struct counter {
    LLVMValueRef phi, next;  // next: the phi's value in the next iteration
    LLVMValueRef start;
    LLVMOpcode step;  // next is phi step by
    uint64_t by;
    unsigned bits;
} counter;

typedef struct condition {
    LLVMIntPredicate stay;  // in the loop while counter stay bound
    uint64_t bound;
    bool after;  // compares the next value rather than the current one
} condition;

// ---- Reading the loop ----

// The only block that branches back to the header; IGI_NONE if there are several.
static uint32_t find_latch(const igi_simt_cfg *cfg, uint32_t loop) {
    const igi_simt_block *header = &cfg->blocks[cfg->loops[loop].header];
    uint32_t latch = IGI_NONE, count = 0;
    for (uint32_t i = 0; i < header->predecessor_count; i++) {
        if (!igi_simt_cfg_in_loop(cfg, header->predecessors[i], loop)) continue;
        latch = header->predecessors[i];
        count++;
    }
    return count == 1 ? latch : IGI_NONE;
}

static bool read_counter(const igi_simt_cfg *cfg, LLVMValueRef phi, uint32_t loop, uint32_t latch, counter *c) {
    if (!LLVMIsAPHINode(phi) || LLVMGetInstructionParent(phi) != cfg->blocks[cfg->loops[loop].header].block)
        return false;
    LLVMTypeRef type = LLVMTypeOf(phi);
    if (LLVMCountIncoming(phi) != 2 || LLVMGetTypeKind(type) != LLVMIntegerTypeKind || LLVMGetIntTypeWidth(type) > 64)
        return false;
    unsigned inside = LLVMGetIncomingBlock(phi, 0) == cfg->blocks[latch].block ? 0 : 1;
    LLVMValueRef next = LLVMGetIncomingValue(phi, inside);
    if (LLVMGetIncomingBlock(phi, inside) != cfg->blocks[latch].block || !LLVMIsABinaryOperator(next)) return false;
    LLVMValueRef by = LLVMGetOperand(next, 1);
    if (LLVMGetOperand(next, 0) != phi || !LLVMIsAConstantInt(by)) return false;
    *c = (counter){.phi = phi,
                   .next = next,
                   .start = LLVMGetIncomingValue(phi, 1 - inside),
                   .step = LLVMGetInstructionOpcode(next),
                   .by = LLVMConstIntGetZExtValue(by),
                   .bits = LLVMGetIntTypeWidth(type)};
    return c->step == LLVMAdd || c->step == LLVMMul || (c->step == LLVMShl && c->by < c->bits) ||
           (c->step == LLVMLShr && c->by < c->bits);
}

static LLVMIntPredicate opposite(LLVMIntPredicate p) {
    switch (p) {
        case LLVMIntEQ: return LLVMIntNE;
        case LLVMIntNE: return LLVMIntEQ;
        case LLVMIntUGT: return LLVMIntULE;
        case LLVMIntUGE: return LLVMIntULT;
        case LLVMIntULT: return LLVMIntUGE;
        case LLVMIntULE: return LLVMIntUGT;
        case LLVMIntSGT: return LLVMIntSLE;
        case LLVMIntSGE: return LLVMIntSLT;
        case LLVMIntSLT: return LLVMIntSGE;
        default: return LLVMIntSGT;
    }
}

// Whether the block leaves the loop by comparing a counter with a constant.
static bool read_exit(const igi_simt_cfg *cfg, uint32_t loop, uint32_t block, uint32_t latch, counter *c,
                      condition *until) {
    LLVMValueRef branch = LLVMGetBasicBlockTerminator(cfg->blocks[block].block);
    if (!LLVMIsABranchInst(branch) || !LLVMIsConditional(branch)) return false;
    LLVMValueRef compare = LLVMGetCondition(branch);
    if (!LLVMIsAICmpInst(compare) || !LLVMIsAConstantInt(LLVMGetOperand(compare, 1))) return false;
    uint32_t taken = igi_simt_cfg_index(cfg, LLVMGetSuccessor(branch, 0)),
             other = igi_simt_cfg_index(cfg, LLVMGetSuccessor(branch, 1));
    bool stays = igi_simt_cfg_in_loop(cfg, taken, loop), stays_else = igi_simt_cfg_in_loop(cfg, other, loop);
    if (stays == stays_else) return false;
    LLVMValueRef value = LLVMGetOperand(compare, 0);
    until->after = !LLVMIsAPHINode(value);
    if (until->after && !LLVMIsABinaryOperator(value)) return false;
    LLVMValueRef phi = until->after ? LLVMGetOperand(value, 0) : value;
    if (!read_counter(cfg, phi, loop, latch, c) || (until->after && c->next != value)) return false;
    LLVMIntPredicate predicate = LLVMGetICmpPredicate(compare);
    until->stay = stays ? predicate : opposite(predicate);
    until->bound = LLVMConstIntGetZExtValue(LLVMGetOperand(compare, 1));
    return true;
}

// ---- Counting ----

static uint64_t mask_of(const counter *c) {
    return c->bits == 64 ? UINT64_MAX : ((uint64_t)1 << c->bits) - 1;
}

static int64_t as_signed(const counter *c, uint64_t value) {
    unsigned unused = 64 - c->bits;
    return (int64_t)(value << unused) >> unused;
}

static uint64_t next_of(const counter *c, uint64_t value) {
    switch (c->step) {
        case LLVMAdd: return (value + c->by) & mask_of(c);
        case LLVMMul: return (value * c->by) & mask_of(c);
        case LLVMShl: return (value << c->by) & mask_of(c);
        default: return value >> c->by;
    }
}

static bool stays_in_loop(const counter *c, const condition *until, uint64_t value) {
    uint64_t bound = until->bound;
    int64_t a = as_signed(c, value), b = as_signed(c, bound);
    switch (until->stay) {
        case LLVMIntEQ: return value == bound;
        case LLVMIntNE: return value != bound;
        case LLVMIntUGT: return value > bound;
        case LLVMIntUGE: return value >= bound;
        case LLVMIntULT: return value < bound;
        case LLVMIntULE: return value <= bound;
        case LLVMIntSGT: return a > b;
        case LLVMIntSGE: return a >= b;
        case LLVMIntSLT: return a < b;
        case LLVMIntSLE: return a <= b;
    }
    return true;
}

static uint64_t count_from(const counter *c, const condition *until, uint64_t value, uint64_t limit) {
    if (until->after) value = next_of(c, value);
    for (uint64_t rounds = 1; rounds <= limit; rounds++, value = next_of(c, value))
        if (!stays_in_loop(c, until, value)) return rounds;
    return 0;
}

// From any start: counting up to an unsigned bound that it cannot jump over, or halving down to zero.
static uint64_t count_from_anywhere(const counter *c, const condition *until, uint64_t limit) {
    uint64_t rounds = 0;
    bool below = until->stay == LLVMIntULT || until->stay == LLVMIntULE;
    if (c->step == LLVMLShr && c->by && !stays_in_loop(c, until, 0))
        rounds = c->bits / c->by + 2;
    else if (c->step == LLVMAdd && below && c->by && until->bound < mask_of(c) - c->by)
        rounds = until->bound / c->by + 2;
    return rounds <= limit ? rounds : 0;
}

uint64_t igi_simt_trips(const igi_simt_cfg *cfg, uint32_t loop, uint64_t limit) {
    counter c;
    condition until;
    uint32_t latch = find_latch(cfg, loop), header = cfg->loops[loop].header;
    if (latch == IGI_NONE) return 0;
    if (!read_exit(cfg, loop, latch, latch, &c, &until) && !read_exit(cfg, loop, header, latch, &c, &until)) return 0;
    if (!LLVMIsAConstantInt(c.start)) return count_from_anywhere(&c, &until, limit);
    return count_from(&c, &until, LLVMConstIntGetZExtValue(c.start), limit);
}
