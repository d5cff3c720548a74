// SPDX-License-Identifier: Apache-2.0
// Products of simdgroup matrices, which are in rows (rows.c).
//
// Column k of the left matrix, spread over the rows of the result, times row k of the right one, the same for all rows.
// Rows are loaded; so are the elements of columns, where a register holds one row or less, or they are spread by a
// shuffle. Neighbouring products with the same left matrix, as every blocked matrix product has them, are computed
// together: they share its columns. Products that add to their sums follow at once (chains.c): sums stay in registers.
#include <assert.h>
#include <string.h>

#include "simt/ir.h"
#include "simt/target.h"
#include "simt/transpose.h"
#include "simt/widen.h"

enum {
    LANES = IGI_SIMD_WIDTH,
    SIZE = 8,
    HALVES = 2,
    QUAD = 4,
    MOST_TOGETHER = 4,
    LONGEST_CHAIN = 8,
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
uint32_t igi_simt_products_together(void) {
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

// Where a matrix is: two halves of four rows each, in registers (`stride` NULL) or in memory, rows at a distance.
typedef struct matrix {
    LLVMValueRef halves[HALVES];
    LLVMValueRef stride;
} matrix;

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

// Whether it is loaded from threadgroup memory, before the product and with nothing written in between. Rows of buffers
// may be so far apart that they displace each other from the cache: what is needed several times is better copied.
static bool is_in_place(LLVMValueRef low, LLVMValueRef product) {
    if (!LLVMIsAInstruction(low) || strncmp(igi_simt_callee_name(low), "__ig_matrix_low_", 16) != 0) return false;
    if (igi_simt_owner_of(LLVMGetOperand(low, 2)) != IGI_OWNER_THREADGROUP) return false;
    LLVMValueRef i = low;
    while (i && i != product && !igi_simt_may_write_between_products(i)) i = LLVMGetNextInstruction(i);
    return i == product;
}

static bool find_in_place(igi_simt_widener *w, LLVMValueRef low, LLVMValueRef product, matrix *m) {
    if (!is_in_place(low, product) || !igi_simt_find_area(w, low, &m->halves[0], &m->stride)) return false;
    LLVMValueRef lower = LLVMBuildMul(w->builder, m->stride, LLVMConstInt(w->i64, QUAD, 0), "");
    m->halves[1] = LLVMBuildGEP2(w->builder, LLVMTypeOf(low), m->halves[0], &lower, 1, "");
    return true;
}

static matrix place_matrix(igi_simt_widener *w, LLVMValueRef product, unsigned operand, LLVMValueRef first) {
    matrix m = {.stride = NULL};
    if (find_in_place(w, LLVMGetOperand(product, operand), first, &m)) return m;
    m.stride = LLVMConstInt(w->i64, SIZE, 0);
    for (unsigned h = 0; h < HALVES; h++) m.halves[h] = in_memory(w, LLVMGetOperand(product, operand + h));
    return m;
}

static LLVMValueRef load_elements(igi_simt_widener *w, LLVMTypeRef type, const matrix *m, uint32_t element) {
    LLVMTypeRef scalar = igi_simt_element_type(type);
    uint32_t row = element % LANES / SIZE, column = element % SIZE;
    LLVMValueRef skip = LLVMBuildMul(w->builder, m->stride, LLVMConstInt(w->i64, row, 0), "");
    LLVMValueRef index = LLVMBuildAdd(w->builder, skip, LLVMConstInt(w->i64, column, 0), "");
    LLVMValueRef place = LLVMBuildGEP2(w->builder, scalar, m->halves[element / LANES], &index, 1, "");
    LLVMValueRef elements = LLVMBuildLoad2(w->builder, type, place, "");
    LLVMSetAlignment(elements, (unsigned)LLVMABISizeOfType(w->s.layout, scalar));
    return elements;
}

// Of row k of the right matrix, what the elements of register r are multiplied by.
static LLVMValueRef spread_row(igi_simt_widener *w, const matrix *right, LLVMTypeRef element, uint32_t k, uint32_t r) {
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
    for (LLVMValueRef i = first; i && s.count < igi_simt_products_together(); i = LLVMGetNextInstruction(i)) {
        if (igi_simt_is_barrier(i)) break;
        if (!igi_simt_calls(i, "__ig_mma_low") || !can_join(w, first, i)) continue;
        s.low[s.count] = i;
        s.high[s.count++] = high_half(i);
    }
    return s;
}

static bool has_only_user(LLVMValueRef half, LLVMValueRef low, LLVMValueRef high) {
    for (LLVMUseRef use = LLVMGetFirstUse(half); use; use = LLVMGetNextUse(use))
        if (LLVMGetUser(use) != low && LLVMGetUser(use) != high) return false;
    return true;
}

static bool is_behind_barrier(LLVMValueRef next, LLVMValueRef low) {
    while (low && low != next && !igi_simt_is_barrier(low)) low = LLVMGetNextInstruction(low);
    return low != next;
}

// The product that adds to this one, if nothing else needs the sum and its factors are known where `first` is.
static LLVMValueRef next_in_chain(const igi_simt_widener *w, LLVMValueRef first, LLVMValueRef low, LLVMValueRef high) {
    LLVMValueRef next = igi_simt_product_of_sum(low, high);
    if (!next || is_behind_barrier(next, low) || !has_only_user(low, next, high_half(next)) ||
        !has_only_user(high, next, high_half(next)))
        return NULL;
    for (unsigned k = 0; k < 4; k++)
        if (!is_before(w, LLVMGetOperand(next, k), first)) return NULL;
    return is_done(w, next) ? NULL : next;
}

// Products that add to those of the strip, with one left matrix again.
static bool find_next_strip(const igi_simt_widener *w, LLVMValueRef first, const strip *s, strip *next) {
    *next = (strip){.count = s->count};
    for (uint32_t p = 0; p < s->count; p++) {
        next->low[p] = next_in_chain(w, first, s->low[p], s->high[p]);
        if (!next->low[p] || LLVMGetOperand(next->low[p], 0) != LLVMGetOperand(next->low[0], 0)) return false;
        next->high[p] = high_half(next->low[p]);
    }
    return true;
}

// ---- Products ----

typedef struct factors {
    matrix left;
    matrix right[MOST_TOGETHER];  // in memory
} factors;

typedef struct sums {
    LLVMValueRef halves[MOST_TOGETHER][HALVES];  // before
    LLVMValueRef parts[MOST_TOGETHER][REGISTERS];
    uint32_t count;
    LLVMTypeRef type;  // of a register
} sums;

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

static LLVMValueRef left_register(igi_simt_widener *w, const matrix *left, LLVMTypeRef type, uint32_t r) {
    if (!left->stride) return register_of(w, left->halves, r);
    uint32_t lanes = register_lanes(), count = lanes < SIZE ? lanes : SIZE;
    LLVMTypeRef row = LLVMVectorType(LLVMGetElementType(type), count);
    LLVMValueRef rows[LANES / SIZE] = {0};
    for (uint32_t k = 0; k < lanes / count; k++) rows[k] = load_elements(w, row, left, r * lanes + k * count);
    return igi_simt_concatenate(w, rows, lanes / count);
}

// What columns are spread from: registers of the left matrix, or where it is in memory. Registers of two rows hold the
// first or the last four elements of each row twice, so that the shuffles for single columns stay in 128 bits, as cheap
// ones do.
static void open_left(igi_simt_widener *w, const matrix *m, LLVMTypeRef type, uint32_t first, uint32_t k,
                      LLVMValueRef left[BLOCK]) {
    uint32_t from[LANES], lanes = register_lanes();
    for (uint32_t s = 0; s < lanes; s++) from[s] = s / SIZE * SIZE + k / QUAD * QUAD + s % QUAD;
    for (uint32_t r = 0; r < BLOCK; r++) {
        left[r] = hidden(w, left_register(w, m, type, first + r));
        if (lanes > SIZE) left[r] = hidden(w, igi_simt_shuffle(w, left[r], NULL, from, lanes));
    }
}

// Column k of the left matrix, spread over the rows of the result that register `first` + r holds.
static LLVMValueRef spread_column(igi_simt_widener *w, const LLVMValueRef left[], uint32_t first, uint32_t r,
                                  uint32_t k) {
    uint32_t from[LANES], lanes = register_lanes(), row = (first + r) * lanes / SIZE;
    uint32_t at = (row * SIZE + k) / lanes - first;
    for (uint32_t s = 0; s < lanes; s++) from[s] = (s / QUAD * QUAD + k % QUAD) % lanes;
    return igi_simt_shuffle(w, left[at], NULL, from, lanes);
}

static LLVMValueRef load_column(igi_simt_widener *w, const matrix *left, LLVMTypeRef type, uint32_t row, uint32_t k) {
    LLVMValueRef element = load_elements(w, LLVMGetElementType(type), left, row * SIZE + k);
    return igi_simt_spread(w, element, register_lanes());
}

static matrix hidden_matrix(igi_simt_widener *w, const matrix *m) {
    matrix same = *m;
    for (uint32_t h = 0; m->stride && h < HALVES; h++) same.halves[h] = hidden_place(w, m->halves[h]);
    return same;
}

// Adds the products to registers `first` and those after it of all sums.
static void add_block(igi_simt_widener *w, const factors *f, sums *s, uint32_t first) {
    uint32_t lanes = register_lanes(), in_row = lanes < SIZE ? SIZE / lanes : 1;
    LLVMTypeRef element = LLVMGetElementType(s->type);
    LLVMValueRef opened[BLOCK];
    matrix left = hidden_matrix(w, &f->left), right[MOST_TOGETHER];
    for (uint32_t p = 0; p < s->count; p++) right[p] = hidden_matrix(w, &f->right[p]);
    for (uint32_t k = 0; k < SIZE; k++) {
        LLVMValueRef columns[BLOCK], rows[BLOCK];
        if (!loads_columns() && k % QUAD == 0 && (k == 0 || lanes > SIZE))
            open_left(w, &left, s->type, first, k, opened);
        for (uint32_t r = 0; r < BLOCK; r++)
            columns[r] = r % in_row        ? columns[r - 1]
                         : loads_columns() ? load_column(w, &left, s->type, (first + r) * lanes / SIZE, k)
                                           : spread_column(w, opened, first, r, k);
        for (uint32_t p = 0; p < s->count; p++)
            for (uint32_t r = 0; r < BLOCK; r++) {
                rows[r] = r < in_row ? spread_row(w, &right[p], element, k, r) : rows[r % in_row];
                LLVMValueRef *sum = &s->parts[p][first + r], arguments[] = {columns[r], rows[r], *sum};
                *sum = igi_simt_call_intrinsic(w->builder, "llvm.fma", &s->type, 1, arguments, 3);
            }
    }
}

static void multiply(igi_simt_widener *w, const factors *f, uint32_t links, sums *s) {
    for (uint32_t first = 0; first < register_count(); first += BLOCK) {
        for (uint32_t p = 0; p < s->count; p++)
            for (uint32_t r = first; r < first + BLOCK; r++) s->parts[p][r] = register_of(w, s->halves[p], r);
        for (uint32_t k = 0; k < links; k++) add_block(w, &f[k], s, first);
        // LLVM would otherwise put the last steps off to where results are used, and keep their factors in memory.
        for (uint32_t p = 0; p < s->count; p++)
            for (uint32_t r = first; r < first + BLOCK; r++) s->parts[p][r] = hidden(w, s->parts[p][r]);
    }
}

static LLVMValueRef product_of(igi_simt_widener *w, sums *s, uint32_t product, uint32_t half) {
    uint32_t each = register_count() / HALVES;
    return igi_simt_join(w, s->parts[product] + (size_t)half * each, each, register_lanes());
}

// Where loads spread elements, the left matrix is in memory too.
static matrix place_left(igi_simt_widener *w, LLVMValueRef product, LLVMValueRef first) {
    matrix left = {.stride = NULL};
    if (loads_columns()) return place_matrix(w, product, 0, first);
    if (find_in_place(w, LLVMGetOperand(product, 0), first, &left)) return left;
    for (unsigned h = 0; h < HALVES; h++) left.halves[h] = igi_simt_widen_matrix(w, LLVMGetOperand(product, h));
    return left;
}

static factors factors_of(igi_simt_widener *w, const strip *s, LLVMValueRef first) {
    factors f = {.left = place_left(w, s->low[0], first)};
    for (uint32_t p = 0; p < s->count; p++) f.right[p] = place_matrix(w, s->low[p], 2, first);
    return f;
}

// What nobody needs but the next product of the chain.
static void skip_products(igi_simt_widener *w, const strip *s) {
    for (uint32_t p = 0; p < s->count; p++) {
        LLVMValueRef nothing = LLVMGetPoison(LLVMVectorType(LLVMTypeOf(s->low[p]), LANES));
        igi_simt_widen_set(w, s->low[p], NULL, nothing);
        igi_simt_widen_set(w, s->high[p], NULL, nothing);
    }
}

static void multiply_strip(igi_simt_widener *w, strip s) {
    factors chain[LONGEST_CHAIN];
    sums total = {.count = s.count, .type = LLVMVectorType(LLVMTypeOf(s.low[0]), register_lanes())};
    LLVMValueRef first = s.low[0];
    uint32_t links = 0;
    for (uint32_t p = 0; p < s.count; p++)
        for (unsigned h = 0; h < HALVES; h++)
            total.halves[p][h] = igi_simt_widen_matrix(w, LLVMGetOperand(s.low[p], 4 + h));
    chain[links++] = factors_of(w, &s, first);
    for (strip next; links < LONGEST_CHAIN && find_next_strip(w, first, &s, &next); s = next) {
        chain[links++] = factors_of(w, &next, first);
        skip_products(w, &s);
    }
    multiply(w, chain, links, &total);
    for (uint32_t p = 0; p < s.count; p++) {
        igi_simt_widen_set(w, s.low[p], NULL, product_of(w, &total, p, 0));
        igi_simt_widen_set(w, s.high[p], NULL, product_of(w, &total, p, 1));
    }
}

// ---- Quick code: one function for all products ----

// Its arguments are the places of the halves of the left matrix, of the right one, and of the sum, which it changes.
enum { PLACES = 6, FIRST_SUM = 4 };

static LLVMValueRef make_function(igi_simt_widener *w, const char *name, LLVMTypeRef type, LLVMTypeRef element) {
    igi_simt_shared outer;
    LLVMValueRef function = igi_simt_begin_shared(w, name, type, &outer);
    LLVMTypeRef whole = LLVMVectorType(element, LANES);
    sums total = {.count = 1, .type = LLVMVectorType(element, register_lanes())};
    factors f = {.left.stride = LLVMConstInt(w->i64, SIZE, 0), .right[0].stride = LLVMConstInt(w->i64, SIZE, 0)};
    for (unsigned h = 0; h < HALVES; h++) {
        f.left.halves[h] = LLVMGetParam(function, h);
        f.right[0].halves[h] = LLVMGetParam(function, 2 + h);
        total.halves[0][h] = LLVMBuildLoad2(w->builder, whole, LLVMGetParam(function, FIRST_SUM + h), "sum");
    }
    multiply(w, &f, 1, &total);
    for (unsigned h = 0; h < HALVES; h++)
        LLVMBuildStore(w->builder, product_of(w, &total, 0, h), LLVMGetParam(function, FIRST_SUM + h));
    igi_simt_end_shared(w, &outer);
    return function;
}

static void call_product(igi_simt_widener *w, LLVMValueRef low, LLVMValueRef high) {
    static const char name[] = "ig.product";
    LLVMTypeRef element = LLVMTypeOf(low), whole = LLVMVectorType(element, LANES), types[PLACES];
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
    igi_simt_widen_set(w, low, NULL, LLVMBuildLoad2(w->builder, whole, places[FIRST_SUM], "product"));
    igi_simt_widen_set(w, high, NULL, LLVMBuildLoad2(w->builder, whole, places[FIRST_SUM + 1], "product"));
}

// ---- Either ----

void igi_simt_widen_product(igi_simt_widener *w, LLVMValueRef call) {
    if (is_done(w, call)) return;
    if (w->m->request->first_tier) return call_product(w, call, high_half(call));
    strip s = find_strip(w, call);
    assert(s.count && s.low[0] == call);  // the high half is computed with the low one
    multiply_strip(w, s);
}
