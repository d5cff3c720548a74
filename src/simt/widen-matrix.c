// SPDX-License-Identifier: Apache-2.0
// simdgroup matrices, in registers.
//
// A thread holds two neighbouring elements of a row. Metal distributes the pairs over the lanes in its own order; here,
// values that come from matrix operations are kept in *matrix order* (IGI_SHAPE_MATRIX): element s of a vector holds
// row s / 4, and columns 2 * (s % 4) of the even vector and one more of the odd vector. Element-wise work is the same
// in any order, so only values that go to ordinary lanes, or come from them, are permuted.
#include <string.h>

#include "simt/ir.h"
#include "simt/widen.h"

enum { LANES = IGI_SIMD_WIDTH, SIZE = 8, PAIRS = SIZE / 2 };

// ---- Order ----

static uint32_t place_of_lane(uint32_t lane) {
    uint32_t row = lane / 16 * 4 + lane / 2 % 4, column = lane / 8 % 2 * 4 + lane % 2 * 2;
    return row * PAIRS + column / 2;
}

static LLVMValueRef shuffle(igi_simt_widener *w, LLVMValueRef a, LLVMValueRef b, const uint32_t *from, uint32_t count) {
    if (!b) b = LLVMGetPoison(LLVMTypeOf(a));
    return LLVMBuildShuffleVector(w->builder, a, b, igi_simt_shuffle_mask(w, from, count), "");
}

static LLVMValueRef join(igi_simt_widener *w, LLVMValueRef a, LLVMValueRef b) {
    uint32_t from[LANES], count = 2 * LLVMGetVectorSize(LLVMTypeOf(a));
    for (uint32_t i = 0; i < count; i++) from[i] = i;
    return shuffle(w, a, b, from, count);
}

static LLVMValueRef join_four(igi_simt_widener *w, LLVMValueRef parts[4]) {
    return join(w, join(w, parts[0], parts[1]), join(w, parts[2], parts[3]));
}

LLVMValueRef igi_simt_matrix_to_lanes(igi_simt_widener *w, LLVMValueRef matrix) {
    uint32_t from[LANES];
    for (uint32_t lane = 0; lane < LANES; lane++) from[lane] = place_of_lane(lane);
    return shuffle(w, matrix, NULL, from, LANES);
}

static LLVMValueRef lanes_to_matrix(igi_simt_widener *w, LLVMValueRef lanes) {
    uint32_t from[LANES];
    for (uint32_t lane = 0; lane < LANES; lane++) from[place_of_lane(lane)] = lane;
    return shuffle(w, lanes, NULL, from, LANES);
}

LLVMValueRef igi_simt_widen_matrix(igi_simt_widener *w, LLVMValueRef value) {
    igi_simt_shape_kind kind = igi_simt_shape_of(&w->s, value).kind;
    bool order = w->matrix_order;
    w->matrix_order = true;
    LLVMValueRef wide = igi_simt_widen_vector(w, value);
    w->matrix_order = order;
    return kind == IGI_SHAPE_MATRIX || kind == IGI_SHAPE_UNIFORM ? wide : lanes_to_matrix(w, wide);
}

// ---- Memory ----

typedef struct area {
    LLVMTypeRef type;  // of an element
    LLVMValueRef base, stride;
    uint64_t bytes;
    bool transposed;
} area;

static LLVMValueRef element_address(igi_simt_widener *w, const area *a, uint32_t row, uint32_t column) {
    LLVMValueRef skip = LLVMBuildMul(w->builder, a->stride, LLVMConstInt(w->i64, row, 0), "");
    LLVMValueRef index = LLVMBuildAdd(w->builder, skip, LLVMConstInt(w->i64, column, 0), "");
    return LLVMBuildGEP2(w->builder, a->type, a->base, &index, 1, "");
}

static LLVMValueRef load_part(igi_simt_widener *w, const area *a, uint32_t row, uint32_t column, uint32_t count) {
    LLVMValueRef part =
        LLVMBuildLoad2(w->builder, LLVMVectorType(a->type, count), element_address(w, a, row, column), "");
    LLVMSetAlignment(part, (unsigned)a->bytes);
    return part;
}

// Rows 4 * half and the three after it; 16 elements of the even or odd vector.
static LLVMValueRef load_half(igi_simt_widener *w, const area *a, uint32_t half, uint32_t odd) {
    LLVMValueRef parts[4];
    uint32_t from[LANES / 2];
    for (uint32_t k = 0; k < 4; k++)
        parts[k] = a->transposed ? load_part(w, a, 2 * k + odd, 4 * half, 4) : load_part(w, a, 4 * half + k, 0, SIZE);
    if (a->transposed) {
        for (uint32_t s = 0; s < LANES / 2; s++) from[s] = s % PAIRS * 4 + s / PAIRS;
        return shuffle(w, join_four(w, parts), NULL, from, LANES / 2);
    }
    for (uint32_t s = 0; s < LANES / 2; s++) from[s] = s / PAIRS * SIZE + s % PAIRS * 2 + odd;
    return shuffle(w, join(w, parts[0], parts[1]), join(w, parts[2], parts[3]), from, LANES / 2);
}

static LLVMValueRef load_columns(igi_simt_widener *w, const area *a, uint32_t odd) {
    return join(w, load_half(w, a, 0, odd), load_half(w, a, 1, odd));
}

// Arguments of loads and stores, from `at` on: first, second, base, stride, transposed.
static bool open_area(igi_simt_widener *w, LLVMValueRef call, unsigned at, LLVMTypeRef type, area *a) {
    LLVMValueRef base = LLVMGetOperand(call, at + 2), stride = LLVMGetOperand(call, at + 3);
    LLVMValueRef transposed = LLVMGetOperand(call, at + 4);
    if (w->mask || !igi_simt_is_matrix_area(&w->s, call, at)) return false;
    *a = (area){.type = type,
                .base = igi_simt_widen_scalar(w, base),
                .stride = igi_simt_widen_scalar(w, stride),
                .bytes = LLVMABISizeOfType(w->s.layout, type),
                .transposed = LLVMConstIntGetZExtValue(transposed) != 0};
    return true;
}

static LLVMValueRef gather_elements(igi_simt_widener *w, LLVMValueRef address, LLVMTypeRef type) {
    LLVMTypeRef wide = igi_simt_widen_type(w, type);
    LLVMValueRef addresses = igi_simt_widen_vector(w, address);
    LLVMTypeRef types[] = {wide, LLVMTypeOf(addresses)};
    uint64_t bytes = LLVMABISizeOfType(w->s.layout, type);
    LLVMValueRef arguments[] = {addresses, LLVMConstInt(w->i32, bytes, 0), igi_simt_active_mask(w),
                                LLVMConstNull(wide)};
    return igi_simt_call_intrinsic(w->builder, "llvm.masked.gather", types, 2, arguments, 4);
}

static void load_matrix(igi_simt_widener *w, LLVMValueRef call) {
    area a;
    LLVMTypeRef type = LLVMTypeOf(call);
    LLVMValueRef columns[2];
    bool whole = open_area(w, call, 0, type, &a);
    for (uint32_t odd = 0; odd < 2; odd++) {
        columns[odd] = whole ? load_columns(w, &a, odd) : gather_elements(w, LLVMGetOperand(call, odd), type);
        bool ordered = igi_simt_shape_of(&w->s, call).kind == IGI_SHAPE_MATRIX;
        if (!whole && ordered) columns[odd] = lanes_to_matrix(w, columns[odd]);
    }
    igi_simt_widen_set(w, call, NULL, columns[0]);
    w->odd_columns = columns[1];
}

static void store_columns(igi_simt_widener *w, const area *a, LLVMValueRef even, LLVMValueRef odd) {
    for (uint32_t r = 0; r < SIZE; r++) {
        uint32_t from[SIZE];
        for (uint32_t i = 0; i < SIZE; i++) {
            uint32_t row = a->transposed ? i : r, column = a->transposed ? r : i;
            from[i] = row * PAIRS + column / 2 + (column % 2 ? LANES : 0);
        }
        LLVMValueRef line = shuffle(w, even, odd, from, SIZE);
        LLVMSetAlignment(LLVMBuildStore(w->builder, line, element_address(w, a, r, 0)), (unsigned)a->bytes);
    }
}

static void scatter_elements(igi_simt_widener *w, LLVMValueRef value, LLVMValueRef address) {
    LLVMValueRef lanes = igi_simt_widen_vector(w, value), addresses = igi_simt_widen_vector(w, address);
    LLVMTypeRef types[] = {LLVMTypeOf(lanes), LLVMTypeOf(addresses)};
    uint64_t bytes = LLVMABISizeOfType(w->s.layout, LLVMTypeOf(value));
    LLVMValueRef arguments[] = {lanes, addresses, LLVMConstInt(w->i32, bytes, 0), igi_simt_active_mask(w)};
    igi_simt_call_intrinsic(w->builder, "llvm.masked.scatter", types, 2, arguments, 4);
}

static void store_matrix(igi_simt_widener *w, LLVMValueRef call) {
    area a;
    if (open_area(w, call, 2, LLVMTypeOf(LLVMGetOperand(call, 0)), &a)) {
        LLVMValueRef even = igi_simt_widen_matrix(w, LLVMGetOperand(call, 0));
        store_columns(w, &a, even, igi_simt_widen_matrix(w, LLVMGetOperand(call, 1)));
        return;
    }
    for (unsigned odd = 0; odd < 2; odd++)
        scatter_elements(w, LLVMGetOperand(call, odd), LLVMGetOperand(call, 2 + odd));
}

// ---- Which is which ----

// The even columns are requested first; the odd ones are computed with them.
bool igi_simt_widen_matrix_operation(igi_simt_widener *w, LLVMValueRef call, const char *name) {
    if (strncmp(name, "mma_", 4) == 0)
        igi_simt_widen_product(w, call);
    else if (strncmp(name, "matrix_even_", 12) == 0)
        load_matrix(w, call);
    else if (strncmp(name, "matrix_odd_", 11) == 0)
        igi_simt_widen_set(w, call, NULL, w->odd_columns);
    else if (strncmp(name, "matrix_put_", 11) == 0)
        store_matrix(w, call);
    else
        return false;
    return true;
}
