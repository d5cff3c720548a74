// SPDX-License-Identifier: Apache-2.0
// Products of simdgroup matrices, which are in rows (rows.c).
//
// Column k of the left matrix, spread over the rows of the result, times row k of the right one, the same for all rows.
// Rows are loaded; so are the elements of columns, where a register holds one row or less, or they are spread by a
// shuffle. Neighbouring products with the same left matrix, as every blocked matrix product has them, are computed
// together: they share its columns.
#include <assert.h>
#include <string.h>

#include "simt/ir.h"
#include "simt/target.h"
#include "simt/widen.h"

enum {
    LANES = IGI_SIMD_WIDTH,
    SIZE = 8,
    HALVES = 2,
    QUAD = 4,
    MOST_TOGETHER = 4,
    REGISTERS = SIZE * SIZE / 4,
    BLOCK = 4
};

// Products with one left matrix.
typedef struct strip {
    LLVMValueRef low[MOST_TOGETHER], high[MOST_TOGETHER];  // calls
    uint32_t count;
} strip;

// ---- Registers ----

// How many one register really holds: a value that fills two cannot be hidden in one, and half of it would be lost.
static uint32_t register_lanes(void) {
    bool is_wide = igi_simt_is_for_x86() && strstr(igi_simt_features(), "+avx");
    return is_wide ? igi_simt_register_lanes() : 4;
}

// Four registers for each product leave some for factors. x86-64 has 16 of them without AVX-512, other machines have 32.
static uint32_t most_together(void) {
    return igi_simt_is_for_x86() && igi_simt_register_lanes() < 16 ? 2 : 4;
}

// ---- Hiding values from LLVM ----

// memory(inaccessiblemem: readwrite): no load has to be repeated because of it, but it is not hoisted either.
static LLVMAttributeRef hidden_memory_only(LLVMContextRef context) {
    return LLVMCreateEnumAttribute(context, LLVMGetEnumAttributeKindForName("memory", 6), 3 << 2);
}

static LLVMValueRef pass_through(igi_simt_widener *w, LLVMValueRef value, const char *constraints) {
    LLVMTypeRef type = LLVMTypeOf(value), function = LLVMFunctionType(type, &type, 1, 0);
    LLVMValueRef nothing =
        LLVMGetInlineAsm(function, "", 0, constraints, strlen(constraints), 1, 0, LLVMInlineAsmDialectATT, 0);
    LLVMValueRef same = LLVMBuildCall2(w->builder, function, nothing, &value, 1, "");
    LLVMAddCallSiteAttribute(same, LLVMAttributeFunctionIndex, hidden_memory_only(w->m->context));
    return same;
}

// The same register, hidden from LLVM, which would otherwise keep its spread columns for the next products, in
// memory, because there are not enough registers; spreading again is cheaper than loading.
static LLVMValueRef hidden(igi_simt_widener *w, LLVMValueRef value) {
    return igi_simt_is_for_x86() ? pass_through(w, value, "=v,0") : value;
}

// The same address, hidden from LLVM.
static LLVMValueRef hidden_place(igi_simt_widener *w, LLVMValueRef memory) {
    return igi_simt_is_for_x86() ? pass_through(w, memory, "=r,0") : memory;
}

// ---- Matrices in memory ----

// Whether the stored value is still there: in the current block, between the same barriers.
static bool is_kept(const igi_simt_widener *w, LLVMValueRef store) {
    if (!store || LLVMGetInstructionParent(store) != LLVMGetInsertBlock(w->builder)) return false;
    for (LLVMValueRef i = store; i; i = LLVMGetNextInstruction(i))
        if (igi_simt_calls(i, "__ig_barrier")) return false;
    return true;
}

// Memory that holds a half. Written once for several products.
static LLVMValueRef in_memory(igi_simt_widener *w, LLVMValueRef half) {
    uint32_t number = 0;
    bool numbered = igi_map_get(&w->s.index, half, &number);
    if (numbered && is_kept(w, w->stored[number])) return LLVMGetOperand(w->stored[number], 1);
    LLVMValueRef value = igi_simt_widen_matrix(w, half);
    LLVMValueRef memory = LLVMBuildAlloca(w->slots, LLVMTypeOf(value), IGI_TEMPORARY);
    LLVMValueRef store = LLVMBuildStore(w->builder, value, memory);
    if (numbered) w->stored[number] = store;
    return memory;
}

static LLVMValueRef load_elements(igi_simt_widener *w, LLVMTypeRef type, const LLVMValueRef halves[HALVES],
                                  uint32_t element) {
    LLVMTypeRef scalar = igi_simt_element_type(type);
    LLVMValueRef index = LLVMConstInt(w->i64, element % LANES, 0);
    LLVMValueRef place = LLVMBuildGEP2(w->builder, scalar, halves[element / LANES], &index, 1, "");
    return LLVMBuildLoad2(w->builder, type, place, "");
}

// Of row k of the right matrix, what the elements of register r are multiplied by.
static LLVMValueRef spread_row(igi_simt_widener *w, const LLVMValueRef right[HALVES], LLVMTypeRef element, uint32_t k,
                               uint32_t r) {
    uint32_t from[LANES], lanes = register_lanes(), count = lanes < SIZE ? lanes : SIZE;
    LLVMValueRef row = load_elements(w, LLVMVectorType(element, count), right, k * SIZE + r * lanes % SIZE);
    for (uint32_t s = 0; s < lanes; s++) from[s] = s % SIZE;
    return count < lanes ? igi_simt_shuffle(w, row, NULL, from, lanes) : row;
}

// ---- Strips ----

static bool is_before(const igi_simt_widener *w, LLVMValueRef value, LLVMValueRef call) {
    uint32_t a, b;
    if (!LLVMIsAInstruction(value) || LLVMGetInstructionParent(value) != LLVMGetInstructionParent(call)) return true;
    return igi_map_get(&w->s.index, value, &a) && igi_map_get(&w->s.index, call, &b) && a < b;
}

static bool is_done(const igi_simt_widener *w, LLVMValueRef call) {
    uint32_t number;
    return igi_map_get(&w->s.index, call, &number) && w->known_in[number] == w->emission && w->wide[number];
}

// Whether the product can be computed where `first` is, from the same left matrix.
static bool can_join(const igi_simt_widener *w, LLVMValueRef first, LLVMValueRef product) {
    for (unsigned k = 0; k < 2; k++)
        if (LLVMGetOperand(product, k) != LLVMGetOperand(first, k)) return false;
    for (unsigned k = 2; k < 6; k++)
        if (!is_before(w, LLVMGetOperand(product, k), first)) return false;
    return !is_done(w, product);
}

static LLVMValueRef high_half(LLVMValueRef low) {
    LLVMValueRef high = LLVMGetNextInstruction(low);
    while (!igi_simt_calls(high, "__ig_mma_high")) high = LLVMGetNextInstruction(high);
    return high;
}

static strip find_strip(const igi_simt_widener *w, LLVMValueRef first) {
    strip s = {.count = 0};
    for (LLVMValueRef i = first; i && s.count < most_together(); i = LLVMGetNextInstruction(i)) {
        if (igi_simt_is_barrier(i)) break;
        if (!igi_simt_calls(i, "__ig_mma_low") || !can_join(w, first, i)) continue;
        s.low[s.count] = i;
        s.high[s.count++] = high_half(i);
    }
    return s;
}

// ---- Products ----

typedef struct factors {
    LLVMValueRef left[HALVES];                   // in registers, or in memory
    LLVMValueRef right[MOST_TOGETHER][HALVES];   // in memory
    LLVMValueRef result[MOST_TOGETHER][HALVES];  // so far
    LLVMValueRef parts[MOST_TOGETHER][REGISTERS];
    LLVMTypeRef type;  // of a register
} factors;

// Where loads spread an element over a register. ARM multiplies by an element of a register.
static bool loads_columns(void) {
    return igi_simt_is_for_x86() && register_lanes() <= SIZE;
}

static uint32_t register_count(void) {
    return SIZE * SIZE / register_lanes();
}

static LLVMValueRef register_of(igi_simt_widener *w, const LLVMValueRef halves[HALVES], uint32_t r) {
    uint32_t lanes = register_lanes(), each = LANES / lanes;
    return igi_simt_part(w, halves[r / each], r % each * lanes, lanes);
}

// What columns are spread from: registers of the left matrix, or where it is in memory. Registers of two rows hold the
// first or the last four elements of each row twice, so that the shuffles for single columns stay in 128 bits, as cheap
// ones do.
static void open_left(igi_simt_widener *w, const factors *f, uint32_t first, uint32_t k, LLVMValueRef left[BLOCK]) {
    uint32_t from[LANES], lanes = register_lanes();
    for (uint32_t s = 0; s < lanes; s++) from[s] = s / SIZE * SIZE + k / QUAD * QUAD + s % QUAD;
    for (uint32_t r = 0; r < BLOCK; r++)
        if (loads_columns())
            left[r] = r < HALVES ? hidden_place(w, f->left[r]) : NULL;
        else if (lanes > SIZE)
            left[r] = hidden(w, igi_simt_shuffle(w, hidden(w, register_of(w, f->left, first + r)), NULL, from, lanes));
        else
            left[r] = hidden(w, register_of(w, f->left, first + r));
}

// Column k of the left matrix, spread over the rows of the result that register `first` + r holds.
static LLVMValueRef spread_column(igi_simt_widener *w, const factors *f, const LLVMValueRef left[], uint32_t first,
                                  uint32_t r, uint32_t k) {
    uint32_t from[LANES], lanes = register_lanes(), row = (first + r) * lanes / SIZE;
    if (loads_columns()) {
        LLVMValueRef element = load_elements(w, LLVMGetElementType(f->type), left, row * SIZE + k);
        return igi_simt_spread(w, element, lanes);
    }
    uint32_t at = (row * SIZE + k) / lanes - first;
    for (uint32_t s = 0; s < lanes; s++) from[s] = (s / QUAD * QUAD + k % QUAD) % lanes;
    return igi_simt_shuffle(w, left[at], NULL, from, lanes);
}

// Registers `first` and those after it of all results.
static void multiply_block(igi_simt_widener *w, factors *f, uint32_t products, uint32_t first) {
    uint32_t lanes = register_lanes(), in_row = lanes < SIZE ? SIZE / lanes : 1;
    LLVMTypeRef element = LLVMGetElementType(f->type);
    LLVMValueRef left[BLOCK], right[MOST_TOGETHER][HALVES];
    for (uint32_t p = 0; p < products; p++) {
        for (uint32_t h = 0; h < HALVES; h++) right[p][h] = hidden_place(w, f->right[p][h]);
        for (uint32_t r = first; r < first + BLOCK; r++) f->parts[p][r] = register_of(w, f->result[p], r);
    }
    for (uint32_t k = 0; k < SIZE; k++) {
        LLVMValueRef columns[BLOCK], rows[BLOCK];
        if (k % QUAD == 0 && (k == 0 || lanes > SIZE)) open_left(w, f, first, k, left);
        for (uint32_t r = 0; r < BLOCK; r++)
            columns[r] = r % in_row ? columns[r - 1] : spread_column(w, f, left, first, r, k);
        for (uint32_t p = 0; p < products; p++)
            for (uint32_t r = 0; r < BLOCK; r++) {
                rows[r] = r < in_row ? spread_row(w, right[p], element, k, r) : rows[r % in_row];
                LLVMValueRef *sum = &f->parts[p][first + r], arguments[] = {columns[r], rows[r], *sum};
                *sum = igi_simt_call_intrinsic(w->builder, "llvm.fma", &f->type, 1, arguments, 3);
            }
    }
    // LLVM would otherwise put the last steps off to where results are used, and keep their factors in memory.
    for (uint32_t p = 0; p < products; p++)
        for (uint32_t r = first; r < first + BLOCK; r++) f->parts[p][r] = hidden(w, f->parts[p][r]);
}

static void multiply(igi_simt_widener *w, factors *f, uint32_t products) {
    for (uint32_t first = 0; first < register_count(); first += BLOCK) multiply_block(w, f, products, first);
}

static LLVMValueRef product_of(igi_simt_widener *w, factors *f, uint32_t product, uint32_t half) {
    uint32_t each = register_count() / HALVES;
    return igi_simt_join(w, f->parts[product] + (size_t)half * each, each, register_lanes());
}

static void multiply_strip(igi_simt_widener *w, const strip *s) {
    factors f = {.type = LLVMVectorType(LLVMTypeOf(s->low[0]), register_lanes())};
    for (unsigned h = 0; h < HALVES; h++) {
        LLVMValueRef left = LLVMGetOperand(s->low[0], h);
        f.left[h] = loads_columns() ? in_memory(w, left) : igi_simt_widen_matrix(w, left);
        for (uint32_t p = 0; p < s->count; p++) {
            f.right[p][h] = in_memory(w, LLVMGetOperand(s->low[p], 2 + h));
            f.result[p][h] = igi_simt_widen_matrix(w, LLVMGetOperand(s->low[p], 4 + h));
        }
    }
    multiply(w, &f, s->count);
    for (uint32_t p = 0; p < s->count; p++) {
        igi_simt_widen_set(w, s->low[p], NULL, product_of(w, &f, p, 0));
        igi_simt_widen_set(w, s->high[p], NULL, product_of(w, &f, p, 1));
    }
}

// ---- Quick code: one function for all products ----

// Its arguments are the places of the halves of the left matrix, of the right one, and of the sum, which it changes.
enum { PLACES = 6, FIRST_SUM = 4 };

static LLVMValueRef make_function(igi_simt_widener *w, const char *name, LLVMTypeRef type, LLVMTypeRef element) {
    igi_simt_shared outer;
    LLVMValueRef function = igi_simt_begin_shared(w, name, type, &outer);
    LLVMTypeRef matrix = LLVMVectorType(element, LANES);
    factors f = {.type = LLVMVectorType(element, register_lanes())};
    for (unsigned h = 0; h < HALVES; h++) {
        LLVMValueRef left = LLVMGetParam(function, h);
        f.left[h] = loads_columns() ? left : LLVMBuildLoad2(w->builder, matrix, left, "left");
        f.right[0][h] = LLVMGetParam(function, 2 + h);
        f.result[0][h] = LLVMBuildLoad2(w->builder, matrix, LLVMGetParam(function, FIRST_SUM + h), "sum");
    }
    multiply(w, &f, 1);
    for (unsigned h = 0; h < HALVES; h++)
        LLVMBuildStore(w->builder, product_of(w, &f, 0, h), LLVMGetParam(function, FIRST_SUM + h));
    igi_simt_end_shared(w, &outer);
    return function;
}

static void call_product(igi_simt_widener *w, LLVMValueRef low, LLVMValueRef high) {
    static const char name[] = "ig.product";
    LLVMTypeRef element = LLVMTypeOf(low), matrix = LLVMVectorType(element, LANES), types[PLACES];
    for (unsigned i = 0; i < PLACES; i++) types[i] = w->pointer;
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(w->m->context), types, PLACES, 0);
    LLVMValueRef places[PLACES], function = LLVMGetNamedFunction(w->m->module, name);
    if (!function) function = make_function(w, name, type, element);
    for (unsigned i = 0; i < FIRST_SUM; i++) places[i] = in_memory(w, LLVMGetOperand(low, i));
    for (unsigned i = 0; i < HALVES; i++) {
        LLVMValueRef sum = igi_simt_widen_matrix(w, LLVMGetOperand(low, FIRST_SUM + i));
        places[FIRST_SUM + i] = igi_simt_place_of_half(w, i);
        LLVMBuildStore(w->builder, sum, places[FIRST_SUM + i]);
    }
    LLVMBuildCall2(w->builder, type, function, places, PLACES, "");
    igi_simt_widen_set(w, low, NULL, LLVMBuildLoad2(w->builder, matrix, places[FIRST_SUM], "product"));
    igi_simt_widen_set(w, high, NULL, LLVMBuildLoad2(w->builder, matrix, places[FIRST_SUM + 1], "product"));
}

// ---- Either ----

void igi_simt_widen_product(igi_simt_widener *w, LLVMValueRef call) {
    if (is_done(w, call)) return;
    if (w->m->request->first_tier) return call_product(w, call, high_half(call));
    strip s = find_strip(w, call);
    assert(s.count && s.low[0] == call);  // the high half is computed with the low one
    multiply_strip(w, &s);
}
