// SPDX-License-Identifier: Apache-2.0
// Products that add to the sums of others come right after them.
//
// Kernels multiply all of their matrices before they take the next step along the rows and columns, so that every sum is
// stored after each step, and loaded again. Unrolled steps are done one after the other for the few sums that registers
// hold. Their factors are then loaded before the first of these products.
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/pointer-map.h"
#include "simt/ir.h"
#include "simt/passes.h"

enum { FACTORS = 4, SUM = FACTORS, MOST_TOGETHER = 8, MOST_VISITS = 512 };

typedef struct mover {
    LLVMBuilderRef builder;
    igi_pointer_map number;  // instruction of the block -> its position; of one that was moved, that of its neighbour
    igi_pointer_map done;    // products that are in a strip
    uint32_t *writes;        // by position: how many instructions before it may write
    uint32_t visits;
    bool no_memory;
} mover;

// Products with one left matrix.
typedef struct strip {
    LLVMValueRef low[MOST_TOGETHER];
    uint32_t count;
} strip;

static bool is_low(LLVMValueRef i) {
    return igi_simt_calls(i, "__ig_mma_low");
}

static LLVMValueRef high_half(LLVMValueRef low) {
    LLVMValueRef high = LLVMGetNextInstruction(low);
    while (high && !igi_simt_calls(high, "__ig_mma_high")) high = LLVMGetNextInstruction(high);
    return high;
}

LLVMValueRef igi_simt_product_of_sum(LLVMValueRef low, LLVMValueRef high) {
    for (LLVMUseRef use = LLVMGetFirstUse(low); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (LLVMGetInstructionParent(user) != LLVMGetInstructionParent(low) || !is_low(user)) continue;
        if (LLVMGetOperand(user, SUM) == low && LLVMGetOperand(user, SUM + 1) == high) return user;
    }
    return NULL;
}

// ---- Positions ----

static uint32_t number_of(const mover *m, LLVMValueRef value) {
    uint32_t number;
    return igi_map_get(&m->number, value, &number) ? number : 0;  // of another block: before all
}

static void set_number(mover *m, LLVMValueRef instruction, uint32_t number) {
    m->no_memory |= !igi_map_set(&m->number, instruction, number);
}

static bool number_block(mover *m, LLVMBasicBlockRef block) {
    uint32_t count = 1;
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) set_number(m, i, count++);
    m->writes = igi_calloc(count, sizeof *m->writes);
    if (!m->writes || m->no_memory) return false;
    uint32_t writes = 0;
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
        m->writes[number_of(m, i)] = writes;
        writes += igi_simt_may_write_between_products(i);
    }
    return true;
}

static bool have_same_memory(const mover *m, LLVMValueRef a, LLVMValueRef b) {
    return m->writes[number_of(m, a)] == m->writes[number_of(m, b)];
}

static bool is_done(const mover *m, LLVMValueRef product) {
    uint32_t yes;
    return igi_map_get(&m->done, product, &yes);
}

static void note_done(mover *m, const strip *s) {
    for (uint32_t p = 0; p < s->count; p++) m->no_memory |= !igi_map_set(&m->done, s->low[p], 1);
}

// ---- Factors ----

static bool is_matrix_load(LLVMValueRef i) {
    const char *name = igi_simt_callee_name(i);
    return strncmp(name, "__ig_matrix_low_", 16) == 0 || strncmp(name, "__ig_matrix_high_", 17) == 0;
}

static bool is_computed(LLVMValueRef i) {
    return LLVMIsABinaryOperator(i) || LLVMIsACastInst(i) || LLVMIsAGetElementPtrInst(i);
}

// Whether the value is available before `first`, or can be.
static bool can_rise(mover *m, LLVMValueRef value, LLVMValueRef first) {
    if (number_of(m, value) <= number_of(m, first)) return true;
    bool loads = is_matrix_load(value);
    if (++m->visits > MOST_VISITS || (!loads && !is_computed(value))) return false;
    if (loads && !have_same_memory(m, value, first)) return false;
    for (int k = 0; k < LLVMGetNumOperands(value); k++)
        if (!can_rise(m, LLVMGetOperand(value, (unsigned)k), first)) return false;
    return true;
}

static void rise(mover *m, LLVMValueRef value, LLVMValueRef first) {
    if (number_of(m, value) <= number_of(m, first)) return;
    for (int k = 0; k < LLVMGetNumOperands(value); k++) rise(m, LLVMGetOperand(value, (unsigned)k), first);
    LLVMInstructionRemoveFromParent(value);
    LLVMPositionBuilderBefore(m->builder, first);
    igi_simt_insert_moved(m->builder, value);
    set_number(m, value, number_of(m, first));
}

// ---- Strips ----

static strip find_strip(const mover *m, LLVMValueRef first) {
    strip s = {.count = 0};
    uint32_t most = igi_simt_products_together();
    for (LLVMValueRef i = first; i && s.count < most && have_same_memory(m, first, i); i = LLVMGetNextInstruction(i))
        if (is_low(i) && LLVMGetOperand(i, 0) == LLVMGetOperand(first, 0) && !is_done(m, i)) s.low[s.count++] = i;
    return s;
}

static bool can_follow(mover *m, LLVMValueRef product, LLVMValueRef first) {
    m->visits = 0;
    for (unsigned k = 0; k < FACTORS; k++)
        if (!can_rise(m, LLVMGetOperand(product, k), first)) return false;
    return !is_done(m, product) && have_same_memory(m, product, first);
}

static bool find_next(mover *m, LLVMValueRef first, const strip *s, strip *next) {
    *next = (strip){.count = s->count};
    for (uint32_t p = 0; p < s->count; p++) {
        LLVMValueRef product = igi_simt_product_of_sum(s->low[p], high_half(s->low[p]));
        if (!product || !can_follow(m, product, first)) return false;
        next->low[p] = product;
        if (LLVMGetOperand(product, 0) != LLVMGetOperand(next->low[0], 0)) return false;
    }
    return true;
}

static LLVMValueRef move_after(mover *m, LLVMValueRef instruction, LLVMValueRef last) {
    uint32_t number = number_of(m, last);
    LLVMInstructionRemoveFromParent(instruction);
    LLVMPositionBuilderBefore(m->builder, LLVMGetNextInstruction(last));
    igi_simt_insert_moved(m->builder, instruction);
    set_number(m, instruction, number);
    return instruction;
}

static void follow_strip(mover *m, LLVMValueRef first) {
    strip s = find_strip(m, first), next;
    note_done(m, &s);
    for (; find_next(m, first, &s, &next) && !m->no_memory; s = next) {
        note_done(m, &next);
        LLVMValueRef last = high_half(s.low[s.count - 1]);
        for (uint32_t p = 0; p < next.count; p++) {
            LLVMValueRef high = high_half(next.low[p]);
            for (unsigned k = 0; k < FACTORS; k++) rise(m, LLVMGetOperand(next.low[p], k), first);
            last = move_after(m, high, move_after(m, next.low[p], last));
        }
    }
}

// ---- Blocks ----

static void follow_products(mover *m, LLVMBasicBlockRef block) {
    igi_simt_values products = {0};
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i && !m->no_memory; i = LLVMGetNextInstruction(i))
        if (is_low(i)) m->no_memory |= !igi_simt_values_add(&products, i);
    if (products.count > 1 && number_block(m, block))
        for (size_t k = 0; k < products.count && !m->no_memory; k++)
            if (!is_done(m, products.items[k])) follow_strip(m, products.items[k]);
    igi_simt_values_free(&products);
    igi_map_free(&m->number);
    igi_map_free(&m->done);
    free(m->writes);
    m->writes = NULL;
}

ig_status igi_simt_chain_products(igi_simt_module *m) {
    if (m->request->first_tier) return IG_STATUS_OK;  // there each product is a call
    mover moves = {.builder = LLVMCreateBuilderInContext(m->context)};
    LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(m->thread);
    for (; block && !moves.no_memory; block = LLVMGetNextBasicBlock(block)) follow_products(&moves, block);
    LLVMDisposeBuilder(moves.builder);
    return moves.no_memory ? igi_error_no_memory(m->error) : IG_STATUS_OK;
}
