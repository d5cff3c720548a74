// SPDX-License-Identifier: Apache-2.0
// Cuts a widened function at its barriers.
//
// A value that is needed after a barrier gets a variable: it is stored where it is computed, loaded where it is used,
// copied to the context before each barrier that it outlives, unless it is there already, and from the context after it.
// LLVM then turns the variables into registers again.
#include "simt/regions.h"

#include <string.h>

#include "core/memory.h"
#include "simt/coroutine.h"
#include "simt/ir.h"
#include "simt/regions-kept.h"

enum { CONTEXT_ALIGNMENT = 64, CHEAP = 12, TOO_DEAR = 1000, MAX_OPERANDS = 8 };

typedef igi_simt_cut cut;
typedef igi_simt_crossing crossing;
typedef igi_simt_splitter splitter;

// ---- Cutting ----

static bool cut_at_barriers(splitter *s, const igi_simt_sites *sites) {
    s->cuts = igi_calloc(sites->count, sizeof *s->cuts);
    if (!s->cuts) return false;
    for (size_t i = 0; i < sites->count; i++) {
        LLVMValueRef barrier = sites->items[i].instruction;
        cut *c = &s->cuts[s->cut_count++];
        c->after = LLVMGetInstructionParent(barrier);
        c->before = igi_simt_split_before(barrier);
        LLVMPositionBuilderAtEnd(s->builder, c->before);
        LLVMBuildBr(s->builder, c->after);
        c->barrier = barrier;
    }
    // A later barrier of the same block has moved what came before it.
    for (uint32_t i = 0; i < s->cut_count; i++) s->cuts[i].after = LLVMGetInstructionParent(s->cuts[i].barrier);
    return true;
}

// ---- Who outlives a barrier ----

static void need_at(splitter *s, uint32_t block, uint32_t *depth) {
    if (s->live[block]) return;
    s->live[block] = true;
    s->stack[(*depth)++] = block;
}

void igi_simt_mark_live(splitter *s, LLVMValueRef value) {
    uint32_t depth = 0, home = igi_simt_cfg_index(&s->cfg, LLVMGetInstructionParent(value));
    memset(s->live, 0, s->cfg.count);
    for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (!LLVMIsAPHINode(user)) {
            uint32_t block = igi_simt_cfg_index(&s->cfg, LLVMGetInstructionParent(user));
            if (block != home && block != IGI_NONE) need_at(s, block, &depth);
            continue;
        }
        for (unsigned k = 0; k < LLVMCountIncoming(user); k++) {
            uint32_t block = igi_simt_cfg_index(&s->cfg, LLVMGetIncomingBlock(user, k));
            if (LLVMGetIncomingValue(user, k) == value && block != home && block != IGI_NONE) need_at(s, block, &depth);
        }
    }
    while (depth) {
        const igi_simt_block *block = &s->cfg.blocks[s->stack[--depth]];
        for (uint32_t k = 0; k < block->predecessor_count; k++)
            if (block->predecessors[k] != home) need_at(s, block->predecessors[k], &depth);
    }
}

bool igi_simt_lives_at(const splitter *s, const cut *c) {
    uint32_t block = igi_simt_cfg_index(&s->cfg, c->after);
    return block != IGI_NONE && s->live[block];
}

static bool is_before_cut(const splitter *s, uint32_t block) {
    for (uint32_t i = 0; i < s->cut_count; i++)
        if (s->cuts[i].before == s->cfg.blocks[block].block) return true;
    return false;
}

void igi_simt_mark_until_cuts(splitter *s, LLVMValueRef value) {
    uint32_t depth = 0, home = igi_simt_cfg_index(&s->cfg, LLVMGetInstructionParent(value));
    memset(s->live, 0, s->cfg.count);
    if (home != IGI_NONE) need_at(s, home, &depth);
    while (depth) {
        uint32_t at = s->stack[--depth];
        for (uint32_t k = 0; k < s->cfg.blocks[at].successor_count && !is_before_cut(s, at); k++)
            need_at(s, s->cfg.blocks[at].successors[k], &depth);
    }
}

static void mark_fresh(splitter *s, LLVMValueRef value, bool *fresh) {
    igi_simt_mark_until_cuts(s, value);
    for (uint32_t i = 0; i < s->cut_count; i++) {
        uint32_t before = igi_simt_cfg_index(&s->cfg, s->cuts[i].before);
        fresh[i] = before != IGI_NONE && s->live[before];
    }
}

// Whether a cut in a loop would save the value, which does not change in that loop, each time.
static bool is_made_before_loop(const splitter *s, const crossing *c) {
    uint32_t home = igi_simt_cfg_index(&s->cfg, LLVMGetInstructionParent(c->value));
    for (uint32_t i = 0; i < s->cut_count; i++) {
        uint32_t before = igi_simt_cfg_index(&s->cfg, s->cuts[i].before);
        uint32_t loop = before == IGI_NONE ? IGI_NONE : s->cfg.blocks[before].loop;
        if (c->at[i] && c->fresh[i] && loop != IGI_NONE && !igi_simt_cfg_in_loop(&s->cfg, home, loop)) return true;
    }
    return false;
}

static uint64_t take_bytes(const splitter *s, uint64_t *used, LLVMTypeRef type, uint64_t alignment) {
    if (alignment > CONTEXT_ALIGNMENT) alignment = CONTEXT_ALIGNMENT;
    uint64_t offset = igi_round_up(*used, alignment);
    *used = offset + LLVMABISizeOfType(s->layout, type);
    return offset;
}

uint64_t igi_simt_take_context(splitter *s, LLVMTypeRef type) {
    return take_bytes(s, &s->bytes, type, LLVMABIAlignmentOfType(s->layout, type));
}

static bool can_be_made_again(LLVMValueRef i) {
    if (LLVMGetNumOperands(i) > MAX_OPERANDS) return false;
    if (LLVMIsACastInst(i) || igi_simt_is_invariant_load(i)) return true;
    switch (LLVMGetInstructionOpcode(i)) {
        case LLVMAdd:
        case LLVMSub:
        case LLVMMul:
        case LLVMShl:
        case LLVMLShr:
        case LLVMAShr:
        case LLVMAnd:
        case LLVMOr:
        case LLVMXor:
        case LLVMGetElementPtr:
        case LLVMICmp:
        case LLVMSelect:
        case LLVMInsertElement:
        case LLVMExtractElement:
        case LLVMShuffleVector: return true;
        default: return false;
    }
}

// Memory that is written and read between the same two barriers. Every region has its own.
static bool is_temporary(LLVMValueRef value) {
    size_t length;
    return LLVMIsAAllocaInst(value) &&
           strncmp(LLVMGetValueName2(value, &length), IGI_TEMPORARY, sizeof IGI_TEMPORARY - 1) == 0;
}

static bool is_always_there(LLVMValueRef value) {
    return !LLVMIsAInstruction(value) || is_temporary(value);
}

// The number of instructions it takes to recompute the value from what is always available.
static unsigned cost_of(LLVMValueRef value, unsigned budget) {
    if (is_always_there(value)) return 0;
    if (!budget || !can_be_made_again(value)) return TOO_DEAR;
    unsigned cost = 1;
    for (int k = 0; k < LLVMGetNumOperands(value) && cost <= budget; k++)
        cost += cost_of(LLVMGetOperand(value, (unsigned)k), budget - cost);
    return cost;
}

static bool add_crossing(splitter *s, LLVMValueRef value) {
    bool variable = LLVMIsAAllocaInst(value) != NULL, any = variable;
    if (!variable) igi_simt_mark_live(s, value);
    for (uint32_t i = 0; i < s->cut_count && !variable; i++) any |= igi_simt_lives_at(s, &s->cuts[i]);
    if (!any) return true;
    if (!igi_grow((void **)&s->crossings, &s->capacity, s->count + 1, sizeof *s->crossings)) return false;
    crossing *c = &s->crossings[s->count];
    *c = (crossing){.value = value, .at = igi_calloc(s->cut_count, 1), .fresh = igi_calloc(s->cut_count, 1)};
    s->count++;
    if (!c->at || !c->fresh) return false;
    LLVMTypeRef type = variable ? LLVMGetAllocatedType(value) : LLVMTypeOf(value);
    if (variable) {
        // Any pointer into it may outlive the barrier, whether its own address does or not.
        c->offset = take_bytes(s, &s->array_bytes, type, LLVMGetAlignment(value));
        return true;
    }
    for (uint32_t i = 0; i < s->cut_count; i++) c->at[i] = igi_simt_lives_at(s, &s->cuts[i]);
    mark_fresh(s, value, c->fresh);
    if (cost_of(value, CHEAP) > CHEAP) c->offset = igi_simt_take_context(s, type);
    c->early = c->offset && is_made_before_loop(s, c);
    if (c->early) memset(c->fresh, 0, s->cut_count);
    return true;
}

static bool find_crossings(splitter *s) {
    for (uint32_t b = 0; b < s->cfg.count; b++)
        for (LLVMValueRef i = LLVMGetFirstInstruction(s->cfg.blocks[b].block); i; i = LLVMGetNextInstruction(i)) {
            bool skip = !LLVMGetFirstUse(i) || is_temporary(i);
            if (!skip && !add_crossing(s, i)) return false;
        }
    return true;
}

// ---- Keeping them ----

static LLVMValueRef in_context(splitter *s, uint64_t offset) {
    return igi_simt_field(s->builder, s->context, offset);
}

static void align_access(LLVMValueRef access, uint64_t offset) {
    unsigned alignment = CONTEXT_ALIGNMENT;
    while (offset % alignment) alignment /= 2;
    LLVMSetAlignment(access, alignment);
}

LLVMValueRef igi_simt_load_context(splitter *s, LLVMTypeRef type, uint64_t offset) {
    LLVMValueRef value = LLVMBuildLoad2(s->builder, type, in_context(s, offset), "");
    align_access(value, offset);
    return value;
}

void igi_simt_store_context(splitter *s, LLVMValueRef value, uint64_t offset) {
    align_access(LLVMBuildStore(s->builder, value, in_context(s, offset)), offset);
}

static LLVMValueRef make_again(splitter *s, LLVMValueRef value) {
    if (is_always_there(value)) return value;
    LLVMValueRef operands[MAX_OPERANDS];
    int count = LLVMGetNumOperands(value);
    for (int k = 0; k < count && k < MAX_OPERANDS; k++) operands[k] = make_again(s, LLVMGetOperand(value, (unsigned)k));
    LLVMValueRef copy = LLVMInstructionClone(value);
    for (int k = 0; k < count && k < MAX_OPERANDS; k++) LLVMSetOperand(copy, (unsigned)k, operands[k]);
    LLVMInsertIntoBuilder(s->builder, copy);
    return copy;
}

static void save(splitter *s, const crossing *c, uint32_t number) {
    LLVMTypeRef type = LLVMTypeOf(c->value);
    const cut *at = &s->cuts[number];
    if (c->offset && c->fresh[number]) {
        LLVMPositionBuilderBefore(s->builder, LLVMGetBasicBlockTerminator(at->before));
        LLVMValueRef now = LLVMBuildLoad2(s->builder, type, c->variable, "");
        igi_simt_store_context(s, now, c->offset);
    }
    LLVMPositionBuilderBefore(s->builder, at->barrier);
    LLVMValueRef back = c->offset ? igi_simt_load_context(s, type, c->offset) : make_again(s, c->value);
    LLVMBuildStore(s->builder, back, c->variable);
}

// A phi node takes one value per predecessor, however often that is listed.
static LLVMValueRef same_as_before(LLVMValueRef phi, unsigned operand, const crossing *c) {
    for (unsigned k = 0; k < operand; k++) {
        LLVMValueRef given = LLVMGetIncomingValue(phi, k);
        if (LLVMGetIncomingBlock(phi, k) != LLVMGetIncomingBlock(phi, operand) || !LLVMIsALoadInst(given)) continue;
        if (LLVMGetOperand(given, 0) == c->variable) return given;
    }
    return NULL;
}

static void rewrite_operand(splitter *s, const crossing *c, LLVMValueRef user, unsigned operand) {
    LLVMValueRef load = NULL;
    if (LLVMIsAPHINode(user)) {
        load = same_as_before(user, operand, c);
        LLVMPositionBuilderBefore(s->builder, LLVMGetBasicBlockTerminator(LLVMGetIncomingBlock(user, operand)));
    } else {
        LLVMPositionBuilderBefore(s->builder, user);
    }
    if (!load) load = LLVMBuildLoad2(s->builder, LLVMTypeOf(c->value), c->variable, "");
    LLVMSetOperand(user, operand, load);
}

static bool rewrite_uses(splitter *s, const crossing *c) {
    igi_simt_values users = {0};
    bool ok = true;
    for (LLVMUseRef use = LLVMGetFirstUse(c->value); use && ok; use = LLVMGetNextUse(use))
        ok = igi_simt_values_add(&users, LLVMGetUser(use));
    for (size_t i = 0; i < users.count && ok; i++)
        for (int k = 0; k < LLVMGetNumOperands(users.items[i]); k++)
            if (LLVMGetOperand(users.items[i], (unsigned)k) == c->value)
                rewrite_operand(s, c, users.items[i], (unsigned)k);
    igi_simt_values_free(&users);
    return ok;
}

static void store_when_made(splitter *s, const crossing *c) {
    LLVMValueRef next = LLVMGetNextInstruction(c->value);
    while (LLVMIsAPHINode(next)) next = LLVMGetNextInstruction(next);
    LLVMPositionBuilderBefore(s->builder, next);
    LLVMBuildStore(s->builder, c->value, c->variable);
    if (c->early) igi_simt_store_context(s, c->value, c->offset);
}

// Copies are made from the original values, before any use is rewritten.
static bool keep_values(splitter *s) {
    bool ok = true;
    for (size_t i = 0; i < s->count; i++) {
        crossing *c = &s->crossings[i];
        if (LLVMIsAAllocaInst(c->value)) continue;
        LLVMPositionBuilderBefore(s->builder, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(s->function)));
        c->variable = LLVMBuildAlloca(s->builder, LLVMTypeOf(c->value), "");
        for (uint32_t k = 0; k < s->cut_count; k++)
            if (c->at[k]) save(s, c, k);
    }
    for (size_t i = 0; i < s->count && ok; i++) {
        if (LLVMIsAAllocaInst(s->crossings[i].value)) continue;
        ok = rewrite_uses(s, &s->crossings[i]);
        if (ok) store_when_made(s, &s->crossings[i]);
    }
    return ok;
}

// ---- The way in and the ways out ----

static bool move_variables(splitter *s) {
    LLVMPositionBuilderBefore(s->builder, igi_simt_first_after_allocas(s->function));
    for (size_t i = 0; i < s->count; i++) {
        const crossing *c = &s->crossings[i];
        if (!LLVMIsAAllocaInst(c->value)) continue;
        if (!igi_simt_drop_lifetimes(c->value)) return false;
        LLVMReplaceAllUsesWith(c->value, igi_simt_field(s->builder, s->arrays, c->offset));
        LLVMInstructionEraseFromParent(c->value);
    }
    return true;
}

static void open_ways(splitter *s) {
    LLVMTypeRef i32 = LLVMInt32TypeInContext(s->m->context);
    for (uint32_t i = 0; i < s->cut_count; i++) {
        LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(s->cuts[i].before));
        LLVMPositionBuilderAtEnd(s->builder, s->cuts[i].before);
        LLVMBuildRet(s->builder, LLVMConstInt(i32, i + 1, 0));
        LLVMInstructionEraseFromParent(s->cuts[i].barrier);
    }
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(s->function);
    LLVMValueRef straight = LLVMGetBasicBlockTerminator(entry);
    LLVMBasicBlockRef begin = LLVMGetSuccessor(straight, 0);
    LLVMInstructionEraseFromParent(straight);
    LLVMPositionBuilderAtEnd(s->builder, entry);
    LLVMValueRef choice = LLVMBuildSwitch(s->builder, LLVMGetParam(s->function, 5), begin, s->cut_count);
    for (uint32_t i = 0; i < s->cut_count; i++) LLVMAddCase(choice, LLVMConstInt(i32, i + 1, 0), s->cuts[i].after);
}

// The entry block keeps all variables, and continues at any region.
static void part_allocas(splitter *s) {
    LLVMBasicBlockRef all = LLVMGetEntryBasicBlock(s->function);
    for (LLVMValueRef i = LLVMGetFirstInstruction(all), next; i; i = next) {
        next = LLVMGetNextInstruction(i);
        if (!LLVMIsAAllocaInst(i)) continue;
        bool temporary = is_temporary(i);  // inserting drops the name
        LLVMInstructionRemoveFromParent(i);
        LLVMPositionBuilder(s->builder, all, LLVMGetFirstInstruction(all));
        LLVMInsertIntoBuilderWithName(s->builder, i, temporary ? IGI_TEMPORARY : "");
    }
    LLVMValueRef first = igi_simt_first_after_allocas(s->function);
    LLVMBasicBlockRef body = LLVMGetInstructionParent(first), entry = igi_simt_split_before(first);
    LLVMPositionBuilderAtEnd(s->builder, entry);
    LLVMBuildBr(s->builder, body);
}

static bool split(splitter *s, const igi_simt_sites *sites) {
    part_allocas(s);
    if (!cut_at_barriers(s, sites) || !igi_simt_cfg_build(s->function, &s->cfg)) return false;
    s->live = igi_calloc(s->cfg.count, 1);
    s->stack = igi_calloc(s->cfg.count, sizeof *s->stack);
    if (!s->live || !s->stack || !igi_simt_keep_accumulators(s) || !find_crossings(s) || !keep_values(s) ||
        !move_variables(s))
        return false;
    open_ways(s);
    return true;
}

static void free_splitter(splitter *s) {
    for (size_t i = 0; i < s->count; i++) free(s->crossings[i].at), free(s->crossings[i].fresh);
    free(s->crossings), free(s->cuts), free(s->live), free(s->stack);
    igi_simt_cfg_free(&s->cfg);
    LLVMDisposeBuilder(s->builder);
}

ig_status igi_simt_split_regions(igi_simt_module *m, LLVMValueRef function, igi_simt_regions *regions) {
    igi_simt_sites sites;
    *regions = (igi_simt_regions){0};
    ig_status status = igi_simt_find_sites(m, function, &sites);
    if (status != IG_STATUS_OK || !sites.count) return status;
    splitter s = {.m = m,
                  .function = function,
                  .context = LLVMGetParam(function, 4),
                  .arrays = LLVMGetParam(function, 6),
                  .builder = LLVMCreateBuilderInContext(m->context),
                  .layout = LLVMGetModuleDataLayout(m->module),
                  .bytes = sizeof(uint32_t)};  // the number of the region comes first
    if (split(&s, &sites))
        *regions = (igi_simt_regions){s.cut_count, igi_round_up(s.bytes, CONTEXT_ALIGNMENT),
                                      igi_round_up(s.array_bytes, CONTEXT_ALIGNMENT)};
    else
        status = igi_error_no_memory(m->error);
    free_splitter(&s);
    igi_simt_sites_free(&sites);
    return status;
}
