// SPDX-License-Identifier: Apache-2.0
// Matrices that are loaded from, or stored to, rows of memory at a uniform distance, as simdgroup_load does it: whole
// rows, instead of two elements for each lane.
#include <stdio.h>

#include "simt/ir.h"
#include "simt/widen.h"

enum { LANES = IGI_SIMD_WIDTH, SIZE = 8, PAIRS = SIZE / 2 };

typedef struct area {
    LLVMTypeRef type;  // of an element
    LLVMValueRef base, stride;
    uint64_t bytes;
    bool transposed;
    bool by_rows;  // the two vectors are of four rows each, not of even and odd columns
} area;

// ---- All lanes ----

static LLVMValueRef join(igi_simt_widener *w, LLVMValueRef a, LLVMValueRef b) {
    uint32_t from[LANES], count = 2 * LLVMGetVectorSize(LLVMTypeOf(a));
    for (uint32_t i = 0; i < count; i++) from[i] = i;
    return igi_simt_shuffle(w, a, b, from, count);
}

static LLVMValueRef join_four(igi_simt_widener *w, LLVMValueRef parts[4]) {
    return join(w, join(w, parts[0], parts[1]), join(w, parts[2], parts[3]));
}

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
        return igi_simt_shuffle(w, join_four(w, parts), NULL, from, LANES / 2);
    }
    for (uint32_t s = 0; s < LANES / 2; s++) from[s] = s / PAIRS * SIZE + s % PAIRS * 2 + odd;
    return igi_simt_shuffle(w, join(w, parts[0], parts[1]), join(w, parts[2], parts[3]), from, LANES / 2);
}

static LLVMValueRef load_columns(igi_simt_widener *w, const area *a, uint32_t odd) {
    return join(w, load_half(w, a, 0, odd), load_half(w, a, 1, odd));
}

// Rows 4 * half and the three after it.
static LLVMValueRef load_rows(igi_simt_widener *w, const area *a, uint32_t half) {
    LLVMValueRef parts[SIZE];
    uint32_t from[LANES];
    for (uint32_t k = 0; k < (a->transposed ? SIZE : 4); k++)
        parts[k] = a->transposed ? load_part(w, a, k, 4 * half, 4) : load_part(w, a, 4 * half + k, 0, SIZE);
    if (!a->transposed) return join_four(w, parts);
    for (uint32_t i = 0; i < LANES; i++) from[i] = i % SIZE * 4 + i / SIZE;
    return igi_simt_shuffle(w, join(w, join_four(w, parts), join_four(w, parts + 4)), NULL, from, LANES);
}

static LLVMValueRef load_vector(igi_simt_widener *w, const area *a, uint32_t which) {
    return a->by_rows ? load_rows(w, a, which) : load_columns(w, a, which);
}

static void store_columns(igi_simt_widener *w, const area *a, LLVMValueRef even, LLVMValueRef odd) {
    for (uint32_t r = 0; r < SIZE; r++) {
        uint32_t from[SIZE];
        for (uint32_t i = 0; i < SIZE; i++) {
            uint32_t row = a->transposed ? i : r, column = a->transposed ? r : i;
            from[i] = row * PAIRS + column / 2 + (column % 2 ? LANES : 0);
        }
        LLVMValueRef line = igi_simt_shuffle(w, even, odd, from, SIZE);
        LLVMSetAlignment(LLVMBuildStore(w->builder, line, element_address(w, a, r, 0)), (unsigned)a->bytes);
    }
}

// ---- Quick code: a function for areas of the same kind ----

// The function finds out whether all lanes are active; if not, it goes through those that are. Quick code has no copy of a
// block for the first case.
enum { BASE, STRIDE, ACTIVE, COLUMNS, ARGUMENTS = COLUMNS + 2 };

LLVMValueRef igi_simt_place_of_half(igi_simt_widener *w, unsigned half) {
    LLVMTypeRef floats = LLVMVectorType(LLVMFloatTypeInContext(w->m->context), LANES);
    if (!w->halves[half]) w->halves[half] = LLVMBuildAlloca(w->slots, floats, IGI_TEMPORARY);
    return w->halves[half];
}

static LLVMValueRef bits_of(igi_simt_widener *w, LLVMValueRef value, uint32_t first, uint32_t count) {
    LLVMValueRef shifted = LLVMBuildLShr(w->builder, value, LLVMConstInt(w->i64, first, 0), "");
    return LLVMBuildAnd(w->builder, shifted, LLVMConstInt(w->i64, (1u << count) - 1, 0), "");
}

static LLVMValueRef times_plus(igi_simt_widener *w, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
    return LLVMBuildAdd(w->builder, LLVMBuildMul(w->builder, a, b, ""), c, "");
}

// Copies the two elements of a lane: from the area to the columns, or back. Row and column are as in place_of_lane.
static void copy_elements(igi_simt_widener *w, const area *a, LLVMValueRef function, LLVMValueRef lane, bool loads) {
    LLVMBuilderRef b = w->builder;
    LLVMValueRef four = LLVMConstInt(w->i64, PAIRS, 0), two = LLVMConstInt(w->i64, 2, 0);
    LLVMValueRef row = times_plus(w, bits_of(w, lane, 4, 1), four, bits_of(w, lane, 1, 2));
    LLVMValueRef pair = times_plus(w, bits_of(w, lane, 3, 1), two, bits_of(w, lane, 0, 1));
    LLVMValueRef place = times_plus(w, row, four, pair), in_half = bits_of(w, lane, 1, 2),
                 lower = bits_of(w, lane, 4, 1);
    LLVMValueRef halves[] = {LLVMGetParam(function, COLUMNS), LLVMGetParam(function, COLUMNS + 1)};
    for (unsigned odd = 0; odd < 2; odd++) {
        LLVMValueRef column = times_plus(w, pair, two, LLVMConstInt(w->i64, odd, 0));
        LLVMValueRef vector = halves[odd];
        if (a->by_rows) {
            vector = LLVMBuildSelect(b, LLVMBuildTrunc(b, lower, w->i1, ""), halves[1], halves[0], "");
            place = times_plus(w, in_half, LLVMConstInt(w->i64, SIZE, 0), column);
        }
        LLVMValueRef index =
            a->transposed ? times_plus(w, column, a->stride, row) : times_plus(w, row, a->stride, column);
        LLVMValueRef in_area = LLVMBuildGEP2(b, a->type, a->base, &index, 1, "");
        LLVMValueRef in_columns = LLVMBuildGEP2(b, a->type, vector, &place, 1, "");
        LLVMValueRef element = LLVMBuildLoad2(b, a->type, loads ? in_area : in_columns, "");
        LLVMBuildStore(b, element, loads ? in_columns : in_area);
    }
}

static void copy_active(igi_simt_widener *w, const area *a, LLVMValueRef function, bool loads) {
    igi_simt_lane_rounds rounds;
    LLVMValueRef lane = igi_simt_begin_lanes(w, LLVMGetParam(function, ACTIVE), &rounds);
    copy_elements(w, a, function, lane, loads);
    igi_simt_end_lanes(w, &rounds);
}

static void copy_whole(igi_simt_widener *w, const area *a, LLVMValueRef function, bool loads) {
    LLVMValueRef columns[2];
    LLVMTypeRef type = LLVMVectorType(a->type, LANES);
    for (unsigned odd = 0; odd < 2; odd++) {
        LLVMValueRef place = LLVMGetParam(function, COLUMNS + odd);
        if (loads)
            LLVMBuildStore(w->builder, load_vector(w, a, odd), place);
        else
            columns[odd] = LLVMBuildLoad2(w->builder, type, place, "");
    }
    if (!loads) store_columns(w, a, columns[0], columns[1]);
}

static LLVMValueRef make_function(igi_simt_widener *w, const char *name, LLVMTypeRef type, area a, bool loads) {
    igi_simt_shared outer;
    LLVMValueRef function = igi_simt_begin_shared(w, name, type, &outer);
    LLVMBuilderRef b = w->builder;
    LLVMBasicBlockRef whole = LLVMAppendBasicBlockInContext(w->m->context, function, "whole"),
                      some = LLVMAppendBasicBlockInContext(w->m->context, function, "some"),
                      end = LLVMAppendBasicBlockInContext(w->m->context, function, "end");
    a.base = LLVMGetParam(function, BASE);
    a.stride = LLVMGetParam(function, STRIDE);
    LLVMValueRef all = LLVMConstInt(w->i64, UINT32_MAX, 0);
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, LLVMGetParam(function, ACTIVE), all, "all"), whole, some);
    LLVMPositionBuilderAtEnd(b, whole);
    copy_whole(w, &a, function, loads);
    LLVMBuildBr(b, end);
    LLVMPositionBuilderAtEnd(b, some);
    copy_active(w, &a, function, loads);
    LLVMBuildBr(b, end);
    LLVMPositionBuilderAtEnd(b, end);
    igi_simt_end_shared(w, &outer);
    return function;
}

static void call_function(igi_simt_widener *w, const area *a, bool loads) {
    LLVMTypeRef types[ARGUMENTS] = {w->pointer, w->i64, w->i64, w->pointer, w->pointer};
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(w->m->context), types, ARGUMENTS, 0);
    char name[40], *element = LLVMPrintTypeToString(a->type);
    snprintf(name, sizeof name, "ig.%s.%s%s%s", loads ? "load" : "store", element, a->by_rows ? ".rows" : "",
             a->transposed ? ".transposed" : "");
    LLVMDisposeMessage(element);
    LLVMValueRef function = LLVMGetNamedFunction(w->m->module, name);
    if (!function) function = make_function(w, name, type, *a, loads);
    LLVMValueRef arguments[ARGUMENTS] = {a->base, a->stride, igi_simt_active_lanes(w), igi_simt_place_of_half(w, 0),
                                         igi_simt_place_of_half(w, 1)};
    LLVMBuildCall2(w->builder, type, function, arguments, ARGUMENTS, "");
}

// Elements of lanes that are not active are zero.
static void load_by_call(igi_simt_widener *w, const area *a, LLVMValueRef columns[2]) {
    LLVMTypeRef type = LLVMVectorType(a->type, LANES);
    for (unsigned odd = 0; odd < 2; odd++)
        LLVMBuildStore(w->builder, LLVMConstNull(type), igi_simt_place_of_half(w, odd));
    call_function(w, a, true);
    for (unsigned odd = 0; odd < 2; odd++)
        columns[odd] = LLVMBuildLoad2(w->builder, type, igi_simt_place_of_half(w, odd), "columns");
}

static void store_by_call(igi_simt_widener *w, const area *a, LLVMValueRef columns[2]) {
    for (unsigned odd = 0; odd < 2; odd++) LLVMBuildStore(w->builder, columns[odd], igi_simt_place_of_half(w, odd));
    call_function(w, a, false);
}

// ---- Either ----

static bool is_quick(const igi_simt_widener *w) {
    return w->m->request->first_tier;
}

// Arguments of loads and stores, from `at` on: first, second, base, stride, transposed.
static bool open_area(igi_simt_widener *w, LLVMValueRef call, unsigned at, LLVMTypeRef type, area *a) {
    LLVMValueRef base = LLVMGetOperand(call, at + 2), stride = LLVMGetOperand(call, at + 3);
    LLVMValueRef transposed = LLVMGetOperand(call, at + 4);
    if ((w->mask && !is_quick(w)) || !igi_simt_is_matrix_area(&w->s, call, at)) return false;
    *a = (area){.type = type,
                .base = igi_simt_widen_scalar(w, base),
                .stride = igi_simt_widen_scalar(w, stride),
                .bytes = LLVMABISizeOfType(w->s.layout, type),
                .transposed = LLVMConstIntGetZExtValue(transposed) != 0};
    return true;
}

static bool load_area(igi_simt_widener *w, LLVMValueRef call, bool by_rows, LLVMValueRef vectors[2]) {
    area a;
    if (!open_area(w, call, 0, LLVMTypeOf(call), &a)) return false;
    a.by_rows = by_rows;
    if (is_quick(w))
        load_by_call(w, &a, vectors);
    else
        for (uint32_t k = 0; k < 2; k++) vectors[k] = load_vector(w, &a, k);
    return true;
}

bool igi_simt_load_area(igi_simt_widener *w, LLVMValueRef call, LLVMValueRef columns[2]) {
    return load_area(w, call, false, columns);
}

bool igi_simt_load_area_rows(igi_simt_widener *w, LLVMValueRef call, LLVMValueRef halves[2]) {
    return load_area(w, call, true, halves);
}

bool igi_simt_find_area(igi_simt_widener *w, LLVMValueRef call, LLVMValueRef *base, LLVMValueRef *stride) {
    area a;
    if (w->mask || !open_area(w, call, 0, LLVMTypeOf(call), &a) || a.transposed) return false;
    *base = a.base;
    *stride = a.stride;
    return true;
}

bool igi_simt_store_area(igi_simt_widener *w, LLVMValueRef call) {
    area a;
    if (!open_area(w, call, 2, LLVMTypeOf(LLVMGetOperand(call, 0)), &a)) return false;
    LLVMValueRef columns[2];
    for (unsigned odd = 0; odd < 2; odd++) columns[odd] = igi_simt_widen_matrix(w, LLVMGetOperand(call, odd));
    if (is_quick(w))
        store_by_call(w, &a, columns);
    else
        store_columns(w, &a, columns[0], columns[1]);
    return true;
}
