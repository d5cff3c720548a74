// SPDX-License-Identifier: Apache-2.0
// Code for the inside of a picture. Coordinates that are clamped at the edges are not linear in the lane, so every read
// would have to ask whether its lanes are contiguous. Here a kernel, or a loop of a kernel that waits, is copied: one copy
// for lanes of which no clamp changes a coordinate, in which the clamps are gone and everything is linear, and the
// original for the rest. Which one runs is decided once, before it begins.
#include <string.h>

#include "core/memory.h"
#include "simt/ir.h"
#include "simt/passes.h"
#include "simt/shape.h"

enum { MAX_INSTRUCTIONS = 1500, MAX_QUESTIONS = 64, MAX_DEPTH = 12 };

// A clamp that must not change its line, or a comparison that must give `expected`, for every lane.
typedef struct question {
    LLVMValueRef instruction, line;  // line: of a clamp, the operand that is not the limit
    bool expected;
} question;

typedef struct region {
    igi_simt_module *m;
    const igi_simt_shapes *s;
    uint32_t loop;  // IGI_NONE: the whole kernel
    uint32_t first;
    question questions[MAX_QUESTIONS];
    size_t count;
    LLVMBuilderRef builder;   // in front of the region
    igi_pointer_map copy_of;  // value or block -> index in copies
    igi_simt_values copies;
} region;

static bool has_block(const region *r, uint32_t block) {
    return r->loop == IGI_NONE || igi_simt_cfg_in_loop(&r->s->cfg, block, r->loop);
}

static bool is_in(const region *r, LLVMValueRef value) {
    if (!LLVMIsAInstruction(value)) return false;
    uint32_t block = igi_simt_cfg_index(&r->s->cfg, LLVMGetInstructionParent(value));
    return block != IGI_NONE && has_block(r, block);
}

// NOLINTBEGIN(bugprone-macro-parentheses): names of variables
#define EACH_INSTRUCTION(r, b, i)                                                          \
    for (uint32_t b = 0; b < (r)->s->cfg.count; b++)                                       \
        if (has_block(r, b))                                                               \
            for (LLVMValueRef i = LLVMGetFirstInstruction((r)->s->cfg.blocks[b].block); i; \
                 i = LLVMGetNextInstruction(i))
// NOLINTEND(bugprone-macro-parentheses)

// ---- What can be computed in front of the region ----

static bool is_arithmetic(LLVMValueRef i) {
    static const char *const calls[] = {"llvm.smin.", "llvm.smax.", "llvm.umin.", "llvm.umax."};
    switch (LLVMGetInstructionOpcode(i)) {
        case LLVMAdd:
        case LLVMSub:
        case LLVMMul:
        case LLVMShl:
        case LLVMLShr:
        case LLVMAnd:
        case LLVMOr:
        case LLVMXor:
        case LLVMZExt:
        case LLVMSExt:
        case LLVMTrunc:
        case LLVMICmp:
        case LLVMSelect:
        case LLVMFreeze:
        case LLVMGetElementPtr: return true;
        default: break;
    }
    for (size_t k = 0; k < sizeof calls / sizeof *calls; k++)
        if (strncmp(igi_simt_callee_name(i), calls[k], strlen(calls[k])) == 0) return true;
    return false;
}

// Whether every thread that enters the region gets there.
static bool is_certain_block(const region *r, LLVMBasicBlockRef block) {
    for (uint32_t b = r->first; b != IGI_NONE && has_block(r, b); b = r->s->post_dominator[b])
        if (r->s->cfg.blocks[b].block == block) return true;
    return false;
}

// Such a load happens anyway: its address is valid.
static bool is_certain_load(const region *r, LLVMValueRef i) {
    return igi_simt_is_invariant_load(i) && is_certain_block(r, LLVMGetInstructionParent(i));
}

static unsigned operand_count(LLVMValueRef i) {
    return LLVMIsACallInst(i) ? LLVMGetNumArgOperands(i) : (unsigned)LLVMGetNumOperands(i);
}

static bool is_early(const region *r, LLVMValueRef value, int depth) {
    if (!is_in(r, value)) return true;
    if (depth == 0 || !(is_arithmetic(value) || is_certain_load(r, value))) return false;
    for (unsigned k = 0; k < operand_count(value); k++)
        if (!is_early(r, LLVMGetOperand(value, k), depth - 1)) return false;
    return true;
}

// The value as the region will compute it, computed in front of it. LLVM merges what is computed twice.
static LLVMValueRef early(region *r, LLVMValueRef value) {
    if (!is_in(r, value)) return value;
    LLVMValueRef copy = LLVMInstructionClone(value);
    for (unsigned k = 0; k < operand_count(value); k++) LLVMSetOperand(copy, k, early(r, LLVMGetOperand(value, k)));
    LLVMInsertIntoBuilder(r->builder, copy);
    return copy;
}

// ---- Questions ----

static bool is_clamp(LLVMValueRef i) {
    return LLVMIsACallInst(i) && is_arithmetic(i);
}

static const question *question_of(const region *r, LLVMValueRef value) {
    for (size_t k = 0; k < r->count; k++)
        if (r->questions[k].instruction == value) return &r->questions[k];
    return NULL;
}

// The value as it is inside, where the clamps found so far do nothing.
static LLVMValueRef unclamped(const region *r, LLVMValueRef value) {
    const question *q;
    while ((q = question_of(r, value)) && q->line) value = q->line;
    return value;
}

static bool is_kind(const region *r, LLVMValueRef value, igi_simt_shape_kind kind) {
    return igi_simt_shape_of(r->s, value).kind == kind;
}

// The operand that is a line when its clamps are gone, if the other is the same for all lanes; or -1.
static int line_operand(const region *r, LLVMValueRef i) {
    for (unsigned k = 0; k < 2; k++)
        if (is_kind(r, unclamped(r, LLVMGetOperand(i, k)), IGI_SHAPE_LINEAR) &&
            is_kind(r, LLVMGetOperand(i, 1 - k), IGI_SHAPE_UNIFORM))
            return (int)k;
    return -1;
}

static void ask(region *r, question q) {
    if (r->count < MAX_QUESTIONS && is_early(r, q.instruction, MAX_DEPTH)) r->questions[r->count++] = q;
}

static void find_clamps(region *r) {
    EACH_INSTRUCTION(r, b, i) {
        int line = is_clamp(i) ? line_operand(r, i) : -1;
        if (line >= 0) ask(r, (question){i, LLVMGetOperand(i, (unsigned)line), true});
    }
}

static bool is_asked(const region *r, LLVMValueRef line) {
    for (size_t k = 0; k < r->count; k++)
        if (r->questions[k].line && unclamped(r, r->questions[k].instruction) == line) return true;
    return false;
}

// Of lines that are clamped too: whether they are less than a limit.
static void find_comparisons(region *r) {
    EACH_INSTRUCTION(r, b, i) {
        int line = LLVMIsAICmpInst(i) ? line_operand(r, i) : -1;
        if (line < 0 || !is_asked(r, unclamped(r, LLVMGetOperand(i, (unsigned)line)))) continue;
        LLVMIntPredicate p = LLVMGetICmpPredicate(i);
        if (p == LLVMIntEQ || p == LLVMIntNE) continue;
        bool less = p == LLVMIntULT || p == LLVMIntULE || p == LLVMIntSLT || p == LLVMIntSLE;
        ask(r, (question){i, NULL, less == (line == 0)});
    }
}

// Whether an address of memory that is read depends on it, by a few steps.
static bool leads_to_load(LLVMValueRef value, int depth) {
    for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (LLVMIsALoadInst(user)) return true;
        if (depth && LLVMIsAInstruction(user) && is_arithmetic(user) && leads_to_load(user, depth - 1)) return true;
    }
    return false;
}

static bool is_worth_it(const region *r) {
    enum { STEPS = 5 };
    for (size_t k = 0; k < r->count; k++)
        if (r->questions[k].line && leads_to_load(r->questions[k].instruction, STEPS)) return true;
    return false;
}

static LLVMValueRef answer(region *r, const question *q) {
    LLVMValueRef value = early(r, q->instruction);
    if (q->line) return LLVMBuildICmp(r->builder, LLVMIntEQ, value, early(r, q->line), "");
    return q->expected ? value : LLVMBuildNot(r->builder, value, "");
}

static LLVMValueRef all_answers(region *r) {
    LLVMTypeRef i1 = LLVMInt1TypeInContext(r->m->context);
    LLVMTypeRef type = LLVMFunctionType(i1, &i1, 1, 0);
    LLVMValueRef all = LLVMConstInt(i1, 1, 0);
    for (size_t k = 0; k < r->count; k++) all = LLVMBuildAnd(r->builder, all, answer(r, &r->questions[k]), "");
    return LLVMBuildCall2(r->builder, type, igi_simt_declare(r->m->module, IGI_INSIDE, type), &all, 1, "inside");
}

// ---- The copy ----

static bool note_copy(region *r, const void *original, LLVMValueRef copy) {
    return igi_map_set(&r->copy_of, original, (uint32_t)r->copies.count) && igi_simt_values_add(&r->copies, copy);
}

static LLVMValueRef copied(const region *r, LLVMValueRef value) {
    uint32_t index;
    const void *key = LLVMValueIsBasicBlock(value) ? (const void *)LLVMValueAsBasicBlock(value) : value;
    return igi_map_get(&r->copy_of, key, &index) ? r->copies.items[index] : value;
}

static bool copy_blocks(region *r) {
    for (uint32_t b = 0; b < r->s->cfg.count; b++) {
        LLVMBasicBlockRef block = r->s->cfg.blocks[b].block;
        if (!has_block(r, b)) continue;
        LLVMBasicBlockRef copy = LLVMAppendBasicBlockInContext(r->m->context, r->m->thread, "edge");
        if (!note_copy(r, block, LLVMBasicBlockAsValue(copy))) return false;
    }
    return true;
}

// Remarks describe the other copy.
static void mark_edge(const region *r, LLVMValueRef i) {
    LLVMValueRef nothing = LLVMMetadataAsValue(r->m->context, LLVMMDNodeInContext2(r->m->context, NULL, 0));
    LLVMSetMetadata(i, LLVMGetMDKindIDInContext(r->m->context, IGI_EDGE, sizeof IGI_EDGE - 1), nothing);
}

static bool copy_instruction(region *r, LLVMBuilderRef builder, LLVMValueRef i) {
    if (LLVMIsAPHINode(i)) return note_copy(r, i, LLVMBuildPhi(builder, LLVMTypeOf(i), ""));
    LLVMValueRef copy = LLVMInstructionClone(i);
    for (int k = 0; k < LLVMGetNumOperands(i); k++)
        LLVMSetOperand(copy, (unsigned)k, copied(r, LLVMGetOperand(i, (unsigned)k)));
    LLVMInsertIntoBuilder(builder, copy);
    mark_edge(r, copy);
    return note_copy(r, i, copy);
}

static void add_incoming(const region *r, LLVMValueRef from, unsigned k, LLVMValueRef to) {
    LLVMValueRef value = copied(r, LLVMGetIncomingValue(from, k));
    LLVMBasicBlockRef block = LLVMValueAsBasicBlock(copied(r, LLVMBasicBlockAsValue(LLVMGetIncomingBlock(from, k))));
    LLVMAddIncoming(to, &value, &block, 1);
}

static bool copy_instructions(region *r) {
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(r->m->context);
    bool ok = true;
    EACH_INSTRUCTION(r, b, i) {
        LLVMValueRef block = copied(r, LLVMBasicBlockAsValue(r->s->cfg.blocks[b].block));
        LLVMPositionBuilderAtEnd(builder, LLVMValueAsBasicBlock(block));
        ok = ok && copy_instruction(r, builder, i);
    }
    LLVMDisposeBuilder(builder);
    if (!ok) return false;
    EACH_INSTRUCTION(r, b, i)
    for (unsigned k = 0; LLVMIsAPHINode(i) && k < LLVMCountIncoming(i); k++) add_incoming(r, i, k, copied(r, i));
    return true;
}

// What leaves a loop does so through phi nodes of the blocks that it branches to.
static void join_exits(region *r) {
    const igi_simt_cfg *cfg = &r->s->cfg;
    for (uint32_t b = 0; b < cfg->count; b++) {
        if (has_block(r, b)) continue;
        for (LLVMValueRef i = LLVMGetFirstInstruction(cfg->blocks[b].block); i && LLVMIsAPHINode(i);
             i = LLVMGetNextInstruction(i))
            for (unsigned k = 0, count = LLVMCountIncoming(i); k < count; k++) {
                uint32_t from = igi_simt_cfg_index(cfg, LLVMGetIncomingBlock(i, k));
                if (from != IGI_NONE && has_block(r, from)) add_incoming(r, i, k, i);
            }
    }
}

static void drop_clamps(region *r) {
    for (size_t k = 0; k < r->count; k++) {
        const question *q = &r->questions[k];
        LLVMTypeRef type = LLVMTypeOf(q->instruction);
        LLVMReplaceAllUsesWith(q->instruction, q->line ? unclamped(r, q->line) : LLVMConstInt(type, q->expected, 0));
    }
}

// ---- Regions ----

// The end of the block in front, which branches to the region only; NULL: there is none.
static LLVMBasicBlockRef open_front(const region *r) {
    if (r->loop == IGI_NONE) return igi_simt_split_before(igi_simt_first_after_allocas(r->m->thread));
    const igi_simt_block *header = &r->s->cfg.blocks[r->first];
    for (uint32_t k = 0; k < header->predecessor_count; k++) {
        uint32_t from = header->predecessors[k];
        if (has_block(r, from)) continue;
        LLVMBasicBlockRef front = r->s->cfg.blocks[from].block;
        LLVMValueRef branch = LLVMGetBasicBlockTerminator(front);
        if (!LLVMIsABranchInst(branch) || LLVMIsConditional(branch)) return NULL;
        LLVMInstructionEraseFromParent(branch);
        return front;
    }
    return NULL;
}

static bool divide(region *r) {
    LLVMBasicBlockRef front = open_front(r), first = r->s->cfg.blocks[r->first].block;
    if (!front) return true;
    r->builder = LLVMCreateBuilderInContext(r->m->context);
    LLVMPositionBuilderAtEnd(r->builder, front);
    bool ok = copy_blocks(r) && copy_instructions(r);
    if (ok) {
        LLVMValueRef inside = all_answers(r);
        LLVMBuildCondBr(r->builder, inside, first, LLVMValueAsBasicBlock(copied(r, LLVMBasicBlockAsValue(first))));
        if (r->loop != IGI_NONE) join_exits(r);
        drop_clamps(r);
    }
    LLVMDisposeBuilder(r->builder);
    return ok;
}

// Threads that wait for each other, or look at each other's values, must stay in one copy.
static bool is_independent(const region *r) {
    size_t count = 0;
    EACH_INSTRUCTION(r, b, i) {
        count++;
        if (LLVMIsAAllocaInst(i) && r->loop != IGI_NONE) return false;
        if (strncmp(igi_simt_callee_name(i), "__ig_", 5) == 0) return false;
    }
    return count <= MAX_INSTRUCTIONS;
}

static bool try_region(igi_simt_module *m, const igi_simt_shapes *s, uint32_t loop, bool *divided) {
    region r = {.m = m, .s = s, .loop = loop, .first = loop == IGI_NONE ? 0 : s->cfg.loops[loop].header};
    *divided = false;
    if (!is_independent(&r)) return true;
    find_clamps(&r);
    find_comparisons(&r);
    *divided = is_worth_it(&r);
    bool ok = !*divided || divide(&r);
    igi_map_free(&r.copy_of);
    igi_simt_values_free(&r.copies);
    return ok;
}

ig_status igi_simt_pass_inside(igi_simt_module *m, uint32_t width) {
    igi_simt_shapes s;
    igi_simt_values clamps;
    if (m->request->first_tier || m->request->check) return IG_STATUS_OK;
    if (!igi_simt_collect(m->thread, is_clamp, &clamps)) return igi_error_no_memory(m->error);
    bool none = clamps.count == 0;
    igi_simt_values_free(&clamps);
    if (none) return IG_STATUS_OK;
    if (!igi_simt_shapes_build(m->thread, LLVMGetParam(m->thread, 1), width, &s)) return igi_error_no_memory(m->error);
    bool whole = false, any = false, divided;
    bool ok = s.cfg.irreducible || try_region(m, &s, IGI_NONE, &whole);
    for (uint32_t k = 0; k < s.cfg.loop_count && ok && !whole && !s.cfg.irreducible; k++) {
        if (s.cfg.loops[k].depth != 1) continue;
        ok = try_region(m, &s, k, &divided);
        any |= divided;
    }
    igi_simt_shapes_free(&s);
    if (!ok) return igi_error_no_memory(m->error);
    if (!whole && !any) return IG_STATUS_OK;
    return igi_simt_run_passes(m,
                               "function(instsimplify,early-cse,dce,mergereturn,simplifycfg<no-sink-common-insts>,"
                               "mergereturn,loop-simplify,lcssa)");
}
