// SPDX-License-Identifier: Apache-2.0
// Left matrices of products are loaded when their turn comes.
//
// Loads of several matrices in a row would wait for memory together while nothing is multiplied. The right ones are
// needed for each left one, but the next left one can be loaded while products with the last one are computed.
#include <string.h>

#include "simt/ir.h"
#include "simt/passes.h"

enum { OPERANDS = 6 };

static bool has_prefix(LLVMValueRef i, const char *prefix) {
    return strncmp(igi_simt_callee_name(i), prefix, strlen(prefix)) == 0;
}

bool igi_simt_may_write_between_products(LLVMValueRef i) {
    if (igi_simt_calls(i, "__ig_simd_barrier") || has_prefix(i, "__ig_mma_") || has_prefix(i, "__ig_rows_"))
        return false;
    if (has_prefix(i, "__ig_matrix_")) return has_prefix(i, "__ig_matrix_put_");
    return LLVMIsAStoreInst(i) || LLVMIsACallInst(i) || LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i);
}

static bool is_written_between(LLVMValueRef from, LLVMValueRef to) {
    LLVMValueRef i = from;
    while (i && i != to && !igi_simt_may_write_between_products(i)) i = LLVMGetNextInstruction(i);
    return i != to;
}

static bool is_left_of(LLVMValueRef value, LLVMValueRef user) {
    if (!has_prefix(user, "__ig_mma_")) return false;
    for (unsigned k = 2; k < OPERANDS; k++)
        if (LLVMGetOperand(user, k) == value) return false;
    return true;
}

// Whether it is only the left matrix of products, apart from `next`, which is made of it.
static bool is_left_only(LLVMValueRef value, LLVMValueRef next) {
    for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use))
        if (LLVMGetUser(use) != next && !is_left_of(value, LLVMGetUser(use))) return false;
    return true;
}

enum { MOST_STEPS = 4 };

// The load of one half, and its conversions, last one first. Returns how many; 0: it is not one, or must stay.
static unsigned left_steps(LLVMValueRef product, unsigned half, LLVMValueRef steps[MOST_STEPS]) {
    LLVMValueRef value = LLVMGetOperand(product, half), next = NULL;
    unsigned count = 0;
    while (count < MOST_STEPS && LLVMIsAInstruction(value) && is_left_only(value, next) &&
           LLVMGetInstructionParent(value) == LLVMGetInstructionParent(product)) {
        steps[count++] = next = value;
        if (has_prefix(value, half ? "__ig_matrix_high_" : "__ig_matrix_low_"))
            return is_written_between(value, product) ? 0 : count;
        if (!LLVMIsACastInst(value)) return 0;
        value = LLVMGetOperand(value, 0);
    }
    return 0;
}

// The high half is loaded with the low one, right after it.
static void load_before(LLVMBuilderRef builder, LLVMValueRef product) {
    LLVMValueRef steps[2][MOST_STEPS];
    unsigned count = left_steps(product, 0, steps[0]);
    if (!count || left_steps(product, 1, steps[1]) != count) return;
    if (LLVMGetNextInstruction(steps[0][count - 1]) != steps[1][count - 1]) return;
    for (unsigned k = count; k-- > 0;)
        for (unsigned half = 0; half < 2; half++) {
            LLVMInstructionRemoveFromParent(steps[half][k]);
            LLVMPositionBuilderBefore(builder, product);
            igi_simt_insert_moved(builder, steps[half][k]);
        }
}

static bool is_low_product(LLVMValueRef i) {
    return igi_simt_calls(i, "__ig_mma_low");
}

static bool is_first_with(LLVMValueRef product) {
    for (LLVMValueRef i = LLVMGetPreviousInstruction(product); i; i = LLVMGetPreviousInstruction(i))
        if (has_prefix(i, "__ig_mma_") && LLVMGetOperand(i, 0) == LLVMGetOperand(product, 0)) return false;
    return true;
}

ig_status igi_simt_load_in_turn(igi_simt_module *m) {
    igi_simt_values products;
    if (!igi_simt_collect(m->thread, is_low_product, &products)) return igi_error_no_memory(m->error);
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(m->context);
    for (size_t k = 0; k < products.count; k++)
        if (is_first_with(products.items[k])) load_before(builder, products.items[k]);
    LLVMDisposeBuilder(builder);
    igi_simt_values_free(&products);
    return IG_STATUS_OK;
}
