// SPDX-License-Identifier: Apache-2.0
// Several rows of a threadgroup at once. Where a kernel's loops read values that do not depend on y (the columns of a
// matrix, a filter), threads that differ only in y share them: what depends on y is computed once for each row, and
// everything else once for all rows. This is register blocking, which GPU programmers leave to the hardware.
//
// pre: the size of the threadgroup is known. The rows must take the same branches: kernels whose branches depend on y are
// not changed, nor are those with lane operations, whose simdgroups are rows.
//
// Likewise several threadgroups, neighbours in x, where threads share nothing but what they read: a row of a matrix for
// each threadgroup, times the same vector. Then the threadgroup's position in the grid takes the role of y.
#include <stddef.h>
#include <string.h>

#include "core/memory.h"
#include "simt/cfg.h"
#include "simt/ir.h"
#include "simt/passes.h"

enum { MAX_ROWS = 8, MANY_ROWS = 8, FEW_ROWS = 4, FEW_SUMS = 2, MAX_COPIES = 400, MAX_GROUP_COPIES = 900 };

typedef struct coarsener {
    igi_simt_module *m;
    igi_simt_cfg cfg;
    LLVMBuilderRef builder;
    bool by_group;  // threadgroups rather than rows
    LLVMValueRef y[MAX_ROWS], x;
    igi_pointer_map index;  // instruction -> number
    bool *by_row;           // by number: depends on y, or must be done for each row anyway
    bool *by_lane;          // depends on x
    LLVMValueRef *copies;   // [number * MAX_ROWS + row]
    size_t count;
    uint32_t rows;
} coarsener;

// NOLINTBEGIN(bugprone-macro-parentheses): names of variables
#define EACH_INSTRUCTION(c, b, i)                 \
    for (uint32_t b = 0; b < (c)->cfg.count; b++) \
        for (LLVMValueRef i = LLVMGetFirstInstruction((c)->cfg.blocks[b].block); i; i = LLVMGetNextInstruction(i))
// NOLINTEND(bugprone-macro-parentheses)

// ---- What depends on what ----

static bool depends(const coarsener *c, LLVMValueRef value, const bool *set, LLVMValueRef argument) {
    uint32_t number;
    return value == argument || (LLVMIsAInstruction(value) && igi_map_get(&c->index, value, &number) && set[number]);
}

static bool any_operand(const coarsener *c, LLVMValueRef i, const bool *set, LLVMValueRef argument) {
    for (int k = 0; k < LLVMGetNumOperands(i); k++)
        if (depends(c, LLVMGetOperand(i, (unsigned)k), set, argument)) return true;
    return false;
}

// Whether this depends on the threadgroup, and by how much it differs between neighbours; 0: it does not depend on it.
static uint32_t step_of_place(const coarsener *c, LLVMValueRef i) {
    uint64_t offset;
    if (!c->by_group || !LLVMIsALoadInst(i) || !igi_simt_is_field(LLVMGetOperand(i, 0), &offset)) return 0;
    if (offset == offsetof(igi_simt_group, position)) return 1;
    return offset == offsetof(igi_simt_group, origin) ? c->m->request->group[0] : 0;
}

static bool must_repeat(LLVMValueRef i) {
    if (LLVMIsAAllocaInst(i) || LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i)) return true;
    bool access = LLVMIsALoadInst(i) || LLVMIsAStoreInst(i);
    return access && (LLVMGetVolatile(i) || LLVMGetOrdering(i) != LLVMAtomicOrderingNotAtomic);
}

static void find_dependent(coarsener *c, bool *set, LLVMValueRef argument, bool repeats) {
    for (bool changed = true; changed;) {
        changed = false;
        EACH_INSTRUCTION(c, b, i) {
            uint32_t number;
            igi_map_get(&c->index, i, &number);
            bool own = repeats && (must_repeat(i) || step_of_place(c, i));
            if (set[number] || !(own || any_operand(c, i, set, argument))) continue;
            set[number] = changed = true;
        }
    }
}

static bool is_number(const coarsener *c, LLVMValueRef i, const bool *set) {
    uint32_t number;
    return igi_map_get(&c->index, i, &number) && set[number];
}

// ---- Whether it pays ----

// Threads of several threadgroups do not wait for each other, and each threadgroup has its own memory.
static bool keeps_groups_apart(LLVMValueRef i, const char *name) {
    uint64_t offset;
    bool field = LLVMIsALoadInst(i) && igi_simt_is_field(LLVMGetOperand(i, 0), &offset);
    bool memory =
        field &&
        (offset == offsetof(igi_simt_group, threadgroup_memory) ||
         (offset >= offsetof(igi_simt_group, arguments[IGI_MAX_SLOTS]) && offset < offsetof(igi_simt_group, textures)));
    return memory || strstr(name, "barrier") || strncmp(name, "__ig_mma_", 9) == 0 ||
           strncmp(name, "__ig_matrix_", 12) == 0;
}

static bool is_possible(const coarsener *c) {
    EACH_INSTRUCTION(c, b, i) {
        if (LLVMIsATerminatorInst(i) && is_number(c, i, c->by_row)) return false;
        const char *name = igi_simt_callee_name(i);
        if (c->by_group && keeps_groups_apart(i, name)) return false;
        if (!c->by_group && strncmp(name, "__ig_", 5) == 0 && strcmp(name, "__ig_barrier") != 0) return false;
    }
    return true;
}

// How many rows to combine: more when each has fewer accumulators.
static uint32_t choose_rows(const coarsener *c) {
    uint32_t shared = 0, sums = 0, copies = 0, size = c->m->request->group[1];
    EACH_INSTRUCTION(c, b, i) {
        bool in_loop = c->cfg.blocks[b].loop != IGI_NONE, by_row = is_number(c, i, c->by_row);
        copies += by_row;
        sums += in_loop && by_row && LLVMIsAPHINode(i) && LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMFloatTypeKind;
        shared += in_loop && !by_row && LLVMIsALoadInst(i) && is_number(c, i, c->by_lane);
    }
    if (!shared || !sums) return 1;
    if (c->by_group) return copies * FEW_ROWS <= MAX_GROUP_COPIES ? FEW_ROWS : 1;
    bool many = sums <= FEW_SUMS && !igi_simt_has_few_registers();
    if (many && size % MANY_ROWS == 0 && copies * MANY_ROWS <= MAX_COPIES) return MANY_ROWS;
    return size % FEW_ROWS == 0 && copies * FEW_ROWS <= MAX_COPIES ? FEW_ROWS : 1;
}

// ---- Copies ----

static LLVMValueRef of_row(const coarsener *c, LLVMValueRef value, uint32_t row) {
    uint32_t number;
    if (value == c->y[0] && !c->by_group) return c->y[row];
    bool copied = LLVMIsAInstruction(value) && igi_map_get(&c->index, value, &number) && c->by_row[number];
    return copied && row ? c->copies[(size_t)number * MAX_ROWS + row] : value;
}

static void copy_instruction(coarsener *c, LLVMValueRef i, uint32_t number) {
    LLVMValueRef next = LLVMGetNextInstruction(i);
    for (uint32_t row = 1; row < c->rows; row++) {
        LLVMPositionBuilderBefore(c->builder, next);
        LLVMValueRef *copy = &c->copies[(size_t)number * MAX_ROWS + row];
        uint32_t step = step_of_place(c, i);
        if (step) {
            *copy = LLVMBuildAdd(c->builder, i, LLVMConstInt(LLVMTypeOf(i), (uint64_t)step * row, 0), "");
            continue;
        }
        if (LLVMIsAPHINode(i)) {
            *copy = LLVMBuildPhi(c->builder, LLVMTypeOf(i), "");
            continue;
        }
        *copy = LLVMInstructionClone(i);
        for (int k = 0; k < LLVMGetNumOperands(i); k++)
            LLVMSetOperand(*copy, (unsigned)k, of_row(c, LLVMGetOperand(i, (unsigned)k), row));
        LLVMInsertIntoBuilder(c->builder, *copy);
    }
}

static void fill_phi(coarsener *c, LLVMValueRef phi, uint32_t number) {
    for (uint32_t row = 1; row < c->rows; row++)
        for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
            LLVMValueRef value = of_row(c, LLVMGetIncomingValue(phi, k), row);
            LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, k);
            LLVMAddIncoming(c->copies[(size_t)number * MAX_ROWS + row], &value, &from, 1);
        }
}

static void copy_rows(coarsener *c) {
    LLVMPositionBuilderBefore(c->builder, igi_simt_first_after_allocas(c->m->thread));
    for (uint32_t row = 1; row < c->rows && !c->by_group; row++)
        c->y[row] = LLVMBuildAdd(c->builder, c->y[0], LLVMConstInt(LLVMTypeOf(c->y[0]), row, 0), "");
    for (uint32_t b = 0; b < c->cfg.count; b++) {
        LLVMValueRef next;
        for (LLVMValueRef i = LLVMGetFirstInstruction(c->cfg.blocks[b].block); i; i = next) {
            uint32_t number;
            next = LLVMGetNextInstruction(i);
            if (igi_map_get(&c->index, i, &number) && c->by_row[number]) copy_instruction(c, i, number);
        }
    }
    EACH_INSTRUCTION(c, b, i) {
        uint32_t number;
        if (LLVMIsAPHINode(i) && igi_map_get(&c->index, i, &number) && c->by_row[number]) fill_phi(c, i, number);
    }
}

// ---- All of it ----

static bool number_instructions(coarsener *c) {
    EACH_INSTRUCTION(c, b, i)
    if (!igi_map_set(&c->index, i, (uint32_t)c->count++)) return false;
    c->by_row = igi_calloc(c->count, 1);
    c->by_lane = igi_calloc(c->count, 1);
    c->copies = igi_calloc(c->count * MAX_ROWS, sizeof *c->copies);
    return c->by_row && c->by_lane && c->copies;
}

static bool coarsen(igi_simt_module *m, bool by_group, uint32_t *rows) {
    coarsener c = {.m = m,
                   .by_group = by_group,
                   .builder = LLVMCreateBuilderInContext(m->context),
                   .x = LLVMGetParam(m->thread, 1),
                   .y = {LLVMGetParam(m->thread, 2)}};
    bool ok = igi_simt_cfg_build(m->thread, &c.cfg) && number_instructions(&c);
    if (ok) {
        find_dependent(&c, c.by_row, by_group ? NULL : c.y[0], true);
        find_dependent(&c, c.by_lane, c.x, false);
        c.rows = is_possible(&c) ? choose_rows(&c) : 1;
        if (c.rows > 1) copy_rows(&c);
        *rows = c.rows;
    }
    free(c.by_row), free(c.by_lane), free(c.copies);
    igi_map_free(&c.index);
    igi_simt_cfg_free(&c.cfg);
    LLVMDisposeBuilder(c.builder);
    return ok;
}

ig_status igi_simt_pass_coarsen(igi_simt_module *m) {
    bool ok = true;
    m->rows = 1;
    m->info.batch = 1;
    if (m->request->width == 1 || m->request->check) return IG_STATUS_OK;
    if (m->request->group[1] >= FEW_ROWS) ok = coarsen(m, false, &m->rows);
    if (ok && m->rows == 1 && m->request->batches) ok = coarsen(m, true, &m->info.batch);
    return ok ? IG_STATUS_OK : igi_error_no_memory(m->error);
}
