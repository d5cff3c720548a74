// SPDX-License-Identifier: Apache-2.0
// Loops in which every thread of a row starts at its own position and advances by the same large step, so that together
// they read memory sequentially:
//
//   for (uint k = thread_position; k < n; k += threads) ...
//
// If one group of lanes after the other ran such a loop to its end, each would jump through memory. Instead, a whole
// row of threads runs the loop together.
#include "simt/cfg.h"
#include "simt/ir.h"
#include "simt/passes.h"

enum { LEAST_STEP = 32, MAX_DEPTH = 8 };

static bool depends_on(LLVMValueRef value, LLVMValueRef argument, int depth) {
    if (value == argument) return true;
    if (depth == 0 || !LLVMIsAInstruction(value) || LLVMIsAPHINode(value) || LLVMIsALoadInst(value)) return false;
    for (int k = 0; k < LLVMGetNumOperands(value); k++)
        if (depends_on(LLVMGetOperand(value, (unsigned)k), argument, depth - 1)) return true;
    return false;
}

static bool is_long(LLVMValueRef step, LLVMValueRef x) {
    if (LLVMIsAConstantInt(step)) {
        int64_t value = LLVMConstIntGetSExtValue(step);
        return value >= LEAST_STEP || value <= -LEAST_STEP;
    }
    return !depends_on(step, x, MAX_DEPTH);
}

// phi: its initial value depends on the thread, and each iteration adds the same value to it.
static bool is_striding_counter(const igi_simt_cfg *cfg, uint32_t loop, LLVMValueRef phi, LLVMValueRef x) {
    if (LLVMGetTypeKind(LLVMTypeOf(phi)) != LLVMIntegerTypeKind || LLVMCountIncoming(phi) != 2) return false;
    uint32_t from = igi_simt_cfg_index(cfg, LLVMGetIncomingBlock(phi, 0));
    unsigned back = from != IGI_NONE && igi_simt_cfg_in_loop(cfg, from, loop) ? 0 : 1;
    LLVMValueRef next = LLVMGetIncomingValue(phi, back), start = LLVMGetIncomingValue(phi, 1 - back);
    if (!LLVMIsAInstruction(next) || LLVMGetInstructionOpcode(next) != LLVMAdd) return false;
    unsigned other = LLVMGetOperand(next, 0) == phi;
    return LLVMGetOperand(next, 1 - other) == phi && is_long(LLVMGetOperand(next, other), x) &&
           depends_on(start, x, MAX_DEPTH);
}

static bool has_inner_loop(const igi_simt_cfg *cfg, uint32_t loop) {
    for (uint32_t i = 0; i < cfg->loop_count; i++)
        if (cfg->loops[i].parent == loop) return true;
    return false;
}

bool igi_simt_is_striding(const igi_simt_module *m, const igi_simt_cfg *cfg, uint32_t loop) {
    LLVMValueRef x = LLVMGetParam(m->thread, 1);
    LLVMValueRef i = LLVMGetFirstInstruction(cfg->blocks[cfg->loops[loop].header].block);
    if (has_inner_loop(cfg, loop)) return false;
    for (; i && LLVMIsAPHINode(i); i = LLVMGetNextInstruction(i))
        if (is_striding_counter(cfg, loop, i, x)) return true;
    return false;
}

bool igi_simt_has_striding_loop(const igi_simt_module *m) {
    igi_simt_cfg cfg;
    if (!igi_simt_cfg_build(m->thread, &cfg)) return false;
    bool found = false;
    for (uint32_t i = 0; i < cfg.loop_count && !found; i++) found = igi_simt_is_striding(m, &cfg, i);
    igi_simt_cfg_free(&cfg);
    return found;
}

// ---- Lines ----

// Where lanes change memory one after the other, as in a histogram, values need no vector registers, so that a group of
// lanes can be as long as a cache line. Shorter ones read a part of a line in each round, and come back for the rest.

bool igi_simt_is_one_by_one(LLVMValueRef instruction) {
    return LLVMIsAAtomicRMWInst(instruction) || LLVMIsAAtomicCmpXchgInst(instruction);
}

// The bytes of the largest value that each thread of a row loads from an address of its own; 0: none.
static uint64_t bytes_loaded(const igi_simt_module *m, LLVMBasicBlockRef block) {
    LLVMValueRef x = LLVMGetParam(m->thread, 1);
    uint64_t most = 0;
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
        if (!LLVMIsALoadInst(i) || !depends_on(LLVMGetOperand(i, 0), x, MAX_DEPTH)) continue;
        uint64_t bytes = LLVMStoreSizeOfType(LLVMGetModuleDataLayout(m->module), LLVMTypeOf(i));
        if (bytes > most) most = bytes;
    }
    return most;
}

static bool has_one_by_one(LLVMBasicBlockRef block) {
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
        if (igi_simt_is_one_by_one(i)) return true;
    return false;
}

uint32_t igi_simt_lanes_of_line(const igi_simt_module *m) {
    enum { CACHE_LINE = 64, LARGEST = 2 };
    igi_simt_cfg cfg;
    uint64_t bytes = 0;
    if (!igi_simt_cfg_build(m->thread, &cfg)) return 0;
    for (uint32_t b = 0; b < cfg.count && !bytes; b++) {
        const igi_simt_block *block = &cfg.blocks[b];
        if (block->loop != IGI_NONE && !has_inner_loop(&cfg, block->loop) && has_one_by_one(block->block))
            bytes = bytes_loaded(m, block->block);
    }
    igi_simt_cfg_free(&cfg);
    return bytes && bytes <= LARGEST ? CACHE_LINE / (uint32_t)bytes : 0;
}
