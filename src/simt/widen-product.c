// SPDX-License-Identifier: Apache-2.0
// Products of simdgroup matrices.
//
// Column k of the left matrix, spread over the rows of the result, times row k of the right one, the same for all rows.
// Rows are broadcast by loads, columns by shuffles, which on some machines use the unit that multiplies. So neighbouring
// products with the same left matrix, as every blocked matrix product has them, are computed together: they share its
// columns.
#include <assert.h>
#include <string.h>

#include "simt/ir.h"
#include "simt/target.h"
#include "simt/widen.h"

enum { LANES = IGI_SIMD_WIDTH, SIZE = 8, PAIRS = SIZE / 2, MOST_TOGETHER = 4, REGISTERS = LANES / 4 };

// Products with one left matrix.
typedef struct strip {
    LLVMValueRef even[MOST_TOGETHER], odd[MOST_TOGETHER];  // calls
    uint32_t count;
} strip;

// ---- Registers ----

// How many one register really holds: a value that fills two cannot be hidden in one, and half of it would be lost.
static uint32_t register_lanes(void) {
    bool is_wide = igi_simt_is_for_x86() && strstr(igi_simt_features(), "+avx");
    return is_wide ? igi_simt_register_lanes() : 4;
}

// Two registers of the even and two of the odd columns for each product leave some for factors. x86-64 has 16 of them without
// AVX-512, other machines have 32.
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

// The same register, hidden from LLVM, which would otherwise keep its broadcast columns for the next products, in
// memory, because there are not enough registers; broadcasting again is cheaper than loading.
static LLVMValueRef hidden(igi_simt_widener *w, LLVMValueRef value) {
    return igi_simt_is_for_x86() ? pass_through(w, value, "=v,0") : value;
}

// The same address, hidden from LLVM.
static LLVMValueRef hidden_place(igi_simt_widener *w, LLVMValueRef memory) {
    return igi_simt_is_for_x86() ? pass_through(w, memory, "=r,0") : memory;
}

// ---- The right matrix, in memory ----

// Whether the stored value is still there: in the current block, between the same barriers.
static bool is_kept(const igi_simt_widener *w, LLVMValueRef store) {
    if (!store || LLVMGetInstructionParent(store) != LLVMGetInsertBlock(w->builder)) return false;
    for (LLVMValueRef i = store; i; i = LLVMGetNextInstruction(i))
        if (igi_simt_calls(i, "__ig_barrier")) return false;
    return true;
}

// Memory that holds the even or odd columns. Written once for several products.
static LLVMValueRef in_memory(igi_simt_widener *w, LLVMValueRef columns) {
    uint32_t number = 0;
    bool numbered = igi_map_get(&w->s.index, columns, &number);
    if (numbered && is_kept(w, w->stored[number])) return LLVMGetOperand(w->stored[number], 1);
    LLVMValueRef value = igi_simt_widen_matrix(w, columns);
    LLVMValueRef memory = LLVMBuildAlloca(w->slots, LLVMTypeOf(value), IGI_TEMPORARY);
    LLVMValueRef store = LLVMBuildStore(w->builder, value, memory);
    if (numbered) w->stored[number] = store;
    return memory;
}

// Row k, even or odd columns, for the rows of the result that are in a register.
static LLVMValueRef spread_row(igi_simt_widener *w, LLVMValueRef memory, LLVMTypeRef element, uint32_t k) {
    uint32_t from[LANES], lanes = register_lanes();
    LLVMTypeRef type = LLVMVectorType(element, PAIRS);
    LLVMValueRef index = LLVMConstInt(w->i64, (uint64_t)k * PAIRS, 0);
    LLVMValueRef row = LLVMBuildLoad2(w->builder, type, LLVMBuildGEP2(w->builder, element, memory, &index, 1, ""), "");
    for (uint32_t s = 0; s < lanes; s++) from[s] = s % PAIRS;
    return igi_simt_shuffle(w, row, NULL, from, lanes);
}

// Column k, for the even or odd columns of the result that are in a register.
static LLVMValueRef spread_column(igi_simt_widener *w, LLVMValueRef left, uint32_t k) {
    uint32_t from[LANES], lanes = register_lanes();
    for (uint32_t s = 0; s < lanes; s++) from[s] = s / PAIRS * PAIRS + k / 2;
    return igi_simt_shuffle(w, left, NULL, from, lanes);
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

static LLVMValueRef odd_part(LLVMValueRef even) {
    LLVMValueRef odd = LLVMGetNextInstruction(even);
    while (!igi_simt_calls(odd, "__ig_mma_odd")) odd = LLVMGetNextInstruction(odd);
    return odd;
}

static strip find_strip(const igi_simt_widener *w, LLVMValueRef first) {
    strip s = {.count = 0};
    for (LLVMValueRef i = first; i && s.count < most_together(); i = LLVMGetNextInstruction(i)) {
        if (igi_simt_is_barrier(i)) break;
        if (!igi_simt_calls(i, "__ig_mma_even") || !can_join(w, first, i)) continue;
        s.even[s.count] = i;
        s.odd[s.count++] = odd_part(i);
    }
    return s;
}

// ---- Products ----

typedef struct factors {
    LLVMValueRef left[2];                   // even and odd columns
    LLVMValueRef right[MOST_TOGETHER][2];   // in memory
    LLVMValueRef result[MOST_TOGETHER][2];  // so far
    LLVMValueRef parts[MOST_TOGETHER][2][REGISTERS];
    LLVMTypeRef type;  // of a register
} factors;

// Registers `first` and the one after it of all results.
static void multiply_registers(igi_simt_widener *w, factors *f, uint32_t products, uint32_t first) {
    uint32_t lanes = register_lanes();
    LLVMValueRef left[2][2], right[MOST_TOGETHER][2];
    for (uint32_t at = 0; at < 2 * products; at++) right[at / 2][at % 2] = hidden_place(w, f->right[at / 2][at % 2]);
    for (uint32_t r = 0; r < 2; r++)
        for (uint32_t odd = 0; odd < 2; odd++) {
            left[r][odd] = hidden(w, igi_simt_part(w, f->left[odd], (first + r) * lanes, lanes));
            for (uint32_t p = 0; p < products; p++)
                f->parts[p][odd][first + r] = igi_simt_part(w, f->result[p][odd], (first + r) * lanes, lanes);
        }
    for (uint32_t k = 0; k < SIZE; k++) {
        LLVMValueRef columns[2];
        for (uint32_t r = 0; r < 2; r++) columns[r] = spread_column(w, left[r][k % 2], k);
        for (uint32_t at = 0; at < 2 * products; at++) {
            LLVMValueRef row = spread_row(w, right[at / 2][at % 2], LLVMGetElementType(f->type), k);
            for (uint32_t r = 0; r < 2; r++) {
                LLVMValueRef *sum = &f->parts[at / 2][at % 2][first + r], arguments[] = {columns[r], row, *sum};
                *sum = igi_simt_call_intrinsic(w->builder, "llvm.fma", &f->type, 1, arguments, 3);
            }
        }
    }
}

static void multiply(igi_simt_widener *w, factors *f, uint32_t products) {
    for (uint32_t first = 0; first < LANES / register_lanes(); first += 2) multiply_registers(w, f, products, first);
}

static LLVMValueRef product_of(igi_simt_widener *w, factors *f, uint32_t product, uint32_t odd) {
    return igi_simt_join(w, f->parts[product][odd], LANES / register_lanes(), register_lanes());
}

static void multiply_strip(igi_simt_widener *w, const strip *s) {
    factors f = {.type = LLVMVectorType(LLVMTypeOf(s->even[0]), register_lanes())};
    for (unsigned odd = 0; odd < 2; odd++) {
        f.left[odd] = igi_simt_widen_matrix(w, LLVMGetOperand(s->even[0], odd));
        for (uint32_t p = 0; p < s->count; p++) {
            f.right[p][odd] = in_memory(w, LLVMGetOperand(s->even[p], 2 + odd));
            f.result[p][odd] = igi_simt_widen_matrix(w, LLVMGetOperand(s->even[p], 4 + odd));
        }
    }
    multiply(w, &f, s->count);
    for (uint32_t p = 0; p < s->count; p++) {
        igi_simt_widen_set(w, s->even[p], NULL, product_of(w, &f, p, 0));
        igi_simt_widen_set(w, s->odd[p], NULL, product_of(w, &f, p, 1));
    }
}

// ---- Quick code: one function for all products ----

// Its arguments are the places of the even and the odd columns of the left matrix, of the right one, and of the sum, which
// it changes.
enum { PLACES = 6, FIRST_SUM = 4 };

static LLVMValueRef make_function(igi_simt_widener *w, const char *name, LLVMTypeRef type, LLVMTypeRef element) {
    igi_simt_shared outer;
    LLVMValueRef function = igi_simt_begin_shared(w, name, type, &outer);
    LLVMTypeRef matrix = LLVMVectorType(element, LANES);
    factors f = {.type = LLVMVectorType(element, register_lanes())};
    for (unsigned odd = 0; odd < 2; odd++) {
        f.left[odd] = LLVMBuildLoad2(w->builder, matrix, LLVMGetParam(function, odd), "left");
        f.right[0][odd] = LLVMGetParam(function, 2 + odd);
        f.result[0][odd] = LLVMBuildLoad2(w->builder, matrix, LLVMGetParam(function, FIRST_SUM + odd), "sum");
    }
    multiply(w, &f, 1);
    for (unsigned odd = 0; odd < 2; odd++)
        LLVMBuildStore(w->builder, product_of(w, &f, 0, odd), LLVMGetParam(function, FIRST_SUM + odd));
    igi_simt_end_shared(w, &outer);
    return function;
}

static void call_product(igi_simt_widener *w, LLVMValueRef even, LLVMValueRef odd) {
    static const char name[] = "ig.product";
    LLVMTypeRef element = LLVMTypeOf(even), matrix = LLVMVectorType(element, LANES), types[PLACES];
    for (unsigned i = 0; i < PLACES; i++) types[i] = w->pointer;
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(w->m->context), types, PLACES, 0);
    LLVMValueRef places[PLACES], function = LLVMGetNamedFunction(w->m->module, name);
    if (!function) function = make_function(w, name, type, element);
    for (unsigned i = 0; i < FIRST_SUM; i++) places[i] = in_memory(w, LLVMGetOperand(even, i));
    for (unsigned i = 0; i < 2; i++) {
        LLVMValueRef sum = igi_simt_widen_matrix(w, LLVMGetOperand(even, FIRST_SUM + i));
        places[FIRST_SUM + i] = igi_simt_place_of_columns(w, i);
        LLVMBuildStore(w->builder, sum, places[FIRST_SUM + i]);
    }
    LLVMBuildCall2(w->builder, type, function, places, PLACES, "");
    igi_simt_widen_set(w, even, NULL, LLVMBuildLoad2(w->builder, matrix, places[FIRST_SUM], "product"));
    igi_simt_widen_set(w, odd, NULL, LLVMBuildLoad2(w->builder, matrix, places[FIRST_SUM + 1], "product"));
}

// ---- Either ----

void igi_simt_widen_product(igi_simt_widener *w, LLVMValueRef call) {
    if (is_done(w, call)) return;
    if (w->m->request->first_tier) return call_product(w, call, odd_part(call));
    strip s = find_strip(w, call);
    assert(s.count && s.even[0] == call);  // the odd columns are computed with the even ones
    multiply_strip(w, &s);
}
