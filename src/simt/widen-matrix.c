// SPDX-License-Identifier: Apache-2.0
// simdgroup matrices, in registers.
//
// A thread holds two neighbouring elements of a row. Metal distributes the pairs over the lanes in its own order; here,
// values that come from matrix operations are kept in *matrix order* (IGI_SHAPE_MATRIX): element s of a vector holds
// row s / 4, and columns 2 * (s % 4) of the even vector and one more of the odd vector. Element-wise work is the same
// in any order, so only values that go to ordinary lanes, or come from them, are permuted.
//
// Around products a matrix is two vectors of four rows each instead (rows.c).
#include <string.h>

#include "simt/ir.h"
#include "simt/widen.h"

enum { LANES = IGI_SIMD_WIDTH, SIZE = 8, PAIRS = SIZE / 2, HALF = SIZE / 2 };

// ---- Order ----

static uint32_t place_of_lane(uint32_t lane) {
    uint32_t row = lane / 16 * 4 + lane / 2 % 4, column = lane / 8 % 2 * 4 + lane % 2 * 2;
    return row * PAIRS + column / 2;
}

LLVMValueRef igi_simt_matrix_to_lanes(igi_simt_widener *w, LLVMValueRef matrix) {
    uint32_t from[LANES];
    for (uint32_t lane = 0; lane < LANES; lane++) from[lane] = place_of_lane(lane);
    return igi_simt_shuffle(w, matrix, NULL, from, LANES);
}

static LLVMValueRef lanes_to_matrix(igi_simt_widener *w, LLVMValueRef lanes) {
    uint32_t from[LANES];
    for (uint32_t lane = 0; lane < LANES; lane++) from[place_of_lane(lane)] = lane;
    return igi_simt_shuffle(w, lanes, NULL, from, LANES);
}

LLVMValueRef igi_simt_widen_matrix(igi_simt_widener *w, LLVMValueRef value) {
    igi_simt_shape_kind kind = igi_simt_shape_of(&w->s, value).kind;
    bool order = w->matrix_order;
    w->matrix_order = true;
    LLVMValueRef wide = igi_simt_widen_vector(w, value);
    w->matrix_order = order;
    return kind == IGI_SHAPE_MATRIX || kind == IGI_SHAPE_UNIFORM ? wide : lanes_to_matrix(w, wide);
}

// ---- Rows ----

// The upper four rows, or the lower ones, of the matrix with these columns.
static LLVMValueRef rows_of(igi_simt_widener *w, const LLVMValueRef columns[2], uint32_t half) {
    uint32_t from[LANES];
    for (uint32_t i = 0; i < LANES; i++) {
        uint32_t row = HALF * half + i / SIZE, column = i % SIZE;
        from[i] = row * PAIRS + column / 2 + column % 2 * LANES;
    }
    return igi_simt_shuffle(w, columns[0], columns[1], from, LANES);
}

static void join_rows(igi_simt_widener *w, LLVMValueRef call, uint32_t half) {
    LLVMValueRef columns[2];
    for (unsigned odd = 0; odd < 2; odd++) columns[odd] = igi_simt_widen_matrix(w, LLVMGetOperand(call, odd));
    igi_simt_widen_set(w, call, NULL, rows_of(w, columns, half));
}

static void take_columns(igi_simt_widener *w, LLVMValueRef call, uint32_t odd) {
    uint32_t from[LANES];
    for (uint32_t s = 0; s < LANES; s++) from[s] = s / PAIRS * SIZE + s % PAIRS * 2 + odd;
    LLVMValueRef low = igi_simt_widen_matrix(w, LLVMGetOperand(call, 0)),
                 high = igi_simt_widen_matrix(w, LLVMGetOperand(call, 1));
    igi_simt_widen_set(w, call, NULL, igi_simt_shuffle(w, low, high, from, LANES));
}

// ---- Memory ----

static LLVMValueRef gather_elements(igi_simt_widener *w, LLVMValueRef address, LLVMTypeRef type) {
    LLVMTypeRef wide = igi_simt_widen_type(w, type);
    LLVMValueRef addresses = igi_simt_widen_vector(w, address);
    LLVMTypeRef types[] = {wide, LLVMTypeOf(addresses)};
    uint64_t bytes = LLVMABISizeOfType(w->s.layout, type);
    LLVMValueRef arguments[] = {addresses, LLVMConstInt(w->i32, bytes, 0), igi_simt_active_mask(w),
                                LLVMConstNull(wide)};
    return igi_simt_call_intrinsic(w->builder, "llvm.masked.gather", types, 2, arguments, 4);
}

// In matrix order.
static void gather_columns(igi_simt_widener *w, LLVMValueRef call, LLVMValueRef columns[2]) {
    for (uint32_t odd = 0; odd < 2; odd++)
        columns[odd] = lanes_to_matrix(w, gather_elements(w, LLVMGetOperand(call, odd), LLVMTypeOf(call)));
}

static void gather_matrix(igi_simt_widener *w, LLVMValueRef call, LLVMValueRef columns[2]) {
    if (igi_simt_shape_of(&w->s, call).kind == IGI_SHAPE_MATRIX) {
        gather_columns(w, call, columns);
        return;
    }
    for (uint32_t odd = 0; odd < 2; odd++)
        columns[odd] = gather_elements(w, LLVMGetOperand(call, odd), LLVMTypeOf(call));
}

static void load_matrix(igi_simt_widener *w, LLVMValueRef call) {
    LLVMValueRef columns[2];
    if (!igi_simt_load_area(w, call, columns)) gather_matrix(w, call, columns);
    igi_simt_widen_set(w, call, NULL, columns[0]);
    w->other_part = columns[1];
}

// Where lanes may be inactive, elements are gathered.
static void load_rows(igi_simt_widener *w, LLVMValueRef call) {
    LLVMValueRef columns[2], halves[2];
    if (!igi_simt_load_area_rows(w, call, halves)) {
        gather_columns(w, call, columns);
        for (uint32_t half = 0; half < 2; half++) halves[half] = rows_of(w, columns, half);
    }
    igi_simt_widen_set(w, call, NULL, halves[0]);
    w->other_part = halves[1];
}

static void scatter_elements(igi_simt_widener *w, LLVMValueRef value, LLVMValueRef address) {
    LLVMValueRef lanes = igi_simt_widen_vector(w, value), addresses = igi_simt_widen_vector(w, address);
    LLVMTypeRef types[] = {LLVMTypeOf(lanes), LLVMTypeOf(addresses)};
    uint64_t bytes = LLVMABISizeOfType(w->s.layout, LLVMTypeOf(value));
    LLVMValueRef arguments[] = {lanes, addresses, LLVMConstInt(w->i32, bytes, 0), igi_simt_active_mask(w)};
    igi_simt_call_intrinsic(w->builder, "llvm.masked.scatter", types, 2, arguments, 4);
}

static void store_matrix(igi_simt_widener *w, LLVMValueRef call) {
    if (igi_simt_store_area(w, call)) return;
    for (unsigned odd = 0; odd < 2; odd++)
        scatter_elements(w, LLVMGetOperand(call, odd), LLVMGetOperand(call, 2 + odd));
}

// ---- Which is which ----

// The first part of a matrix is requested first; the second one is computed with it.
bool igi_simt_widen_matrix_operation(igi_simt_widener *w, LLVMValueRef call, const char *name) {
    if (strncmp(name, "mma_", 4) == 0)
        igi_simt_widen_product(w, call);
    else if (strncmp(name, "matrix_even_", 12) == 0)
        load_matrix(w, call);
    else if (strncmp(name, "matrix_low_", 11) == 0)
        load_rows(w, call);
    else if (strncmp(name, "matrix_odd_", 11) == 0 || strncmp(name, "matrix_high_", 12) == 0)
        igi_simt_widen_set(w, call, NULL, w->other_part);
    else if (strncmp(name, "matrix_put_", 11) == 0)
        store_matrix(w, call);
    else if (strncmp(name, "rows_low_", 9) == 0 || strncmp(name, "rows_high_", 10) == 0)
        join_rows(w, call, name[5] == 'h');
    else if (strncmp(name, "rows_even_", 10) == 0 || strncmp(name, "rows_odd_", 9) == 0)
        take_columns(w, call, name[5] == 'o');
    else
        return false;
    return true;
}
