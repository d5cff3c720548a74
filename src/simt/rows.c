// SPDX-License-Identifier: Apache-2.0
// Matrices as rows. A thread holds two elements of a row, so its operations on matrices are on pairs of values: those of
// the even and of the odd columns. Products are best computed from whole rows, which are also what memory holds. So the
// two values of a pair become the upper four rows of the matrix and the lower four, wherever nothing looks at the
// elements of single lanes: in products, their operands and results, in loads, conversions and loops between them.
// Elsewhere the pair is made of the rows again, or the rows of the pair.
#include <llvm-c/DebugInfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "simt/ir.h"
#include "simt/passes.h"
#include "simt/shape.h"

enum { LANES = IGI_SIMD_WIDTH, DEEPEST = 40, MOST_OPERANDS = 6 };

typedef struct pair {
    LLVMValueRef parts[2];  // even and odd columns
    LLVMValueRef halves[2];
    bool original;  // the parts go: their users take them from the halves
} pair;

typedef struct finder {
    igi_simt_module *m;
    igi_simt_shapes s;
    LLVMBuilderRef builder;
    igi_pointer_map number;  // even part -> its place in `pairs`
    pair *pairs;
    uint32_t count, capacity;
    bool no_memory;
} finder;

// ---- Pairs ----

static bool is_even_product(LLVMValueRef i) {
    return igi_simt_calls(i, "__ig_mma_even");
}

static bool has_prefix(LLVMValueRef i, const char *prefix) {
    return strncmp(igi_simt_callee_name(i), prefix, strlen(prefix)) == 0;
}

static bool same_operands(LLVMValueRef a, LLVMValueRef b) {
    if (LLVMGetNumOperands(a) != LLVMGetNumOperands(b)) return false;
    for (int k = 0; k < LLVMGetNumOperands(a) - 1; k++)  // the last one is the function
        if (LLVMGetOperand(a, (unsigned)k) != LLVMGetOperand(b, (unsigned)k)) return false;
    return true;
}

static bool is_matrix(const finder *f, LLVMValueRef value) {
    return igi_simt_shape_of(&f->s, value).kind == IGI_SHAPE_MATRIX;
}

static bool is_product(const LLVMValueRef parts[2]) {
    return is_even_product(parts[0]) && igi_simt_calls(parts[1], "__ig_mma_odd") && same_operands(parts[0], parts[1]);
}

static bool is_load(const finder *f, const LLVMValueRef parts[2]) {
    return has_prefix(parts[0], "__ig_matrix_even_") && has_prefix(parts[1], "__ig_matrix_odd_") &&
           same_operands(parts[0], parts[1]) && is_matrix(f, parts[0]);
}

static bool is_loop_value(const finder *f, const LLVMValueRef parts[2]) {
    return LLVMIsAPHINode(parts[0]) && LLVMIsAPHINode(parts[1]) && is_matrix(f, parts[0]) && is_matrix(f, parts[1]);
}

static bool is_conversion(const finder *f, const LLVMValueRef parts[2]) {
    for (unsigned k = 0; k < 2; k++) {
        if (!LLVMIsACastInst(parts[k]) || !is_matrix(f, parts[k])) return false;
        LLVMOpcode opcode = LLVMGetInstructionOpcode(parts[k]);
        if (opcode != LLVMFPExt && opcode != LLVMFPTrunc && opcode != LLVMBitCast) return false;
    }
    return LLVMGetInstructionOpcode(parts[0]) == LLVMGetInstructionOpcode(parts[1]) &&
           LLVMTypeOf(parts[0]) == LLVMTypeOf(parts[1]) &&
           LLVMTypeOf(LLVMGetOperand(parts[0], 0)) == LLVMTypeOf(LLVMGetOperand(parts[1], 0));
}

static pair *remember(finder *f, const LLVMValueRef parts[2], bool original) {
    if (f->count == f->capacity) {
        uint32_t capacity = f->capacity ? 2 * f->capacity : 64;
        pair *larger = igi_realloc(f->pairs, capacity * sizeof *larger);
        if (!larger) {
            f->no_memory = true;
            return NULL;
        }
        f->pairs = larger;
        f->capacity = capacity;
    }
    if (!igi_map_set(&f->number, parts[0], f->count)) {
        f->no_memory = true;
        return NULL;
    }
    f->pairs[f->count] = (pair){{parts[0], parts[1]}, {NULL, NULL}, original};
    return &f->pairs[f->count++];
}

static pair *find(finder *f, const LLVMValueRef parts[2]) {
    uint32_t number;
    if (!igi_map_get(&f->number, parts[0], &number) || f->pairs[number].parts[1] != parts[1]) return NULL;
    return &f->pairs[number];
}

// ---- Pairs of 16-bit elements, which are packed into one integer and taken out of it again ----

static LLVMValueRef operand_if(LLVMValueRef value, LLVMOpcode opcode, unsigned k) {
    bool is = LLVMIsAInstruction(value) && LLVMGetInstructionOpcode(value) == opcode;
    return is ? LLVMGetOperand(value, k) : NULL;
}

static bool is_sixteen(LLVMValueRef value) {
    return value && LLVMIsAConstantInt(value) && LLVMConstIntGetZExtValue(value) == 16;
}

static LLVMValueRef extended_half_word(LLVMValueRef value) {
    LLVMValueRef narrow = operand_if(value, LLVMZExt, 0);
    return narrow && LLVMGetIntTypeWidth(LLVMTypeOf(narrow)) == 16 ? narrow : NULL;
}

// What the lower or upper half of (zext high << 16) | zext low is; other values are themselves.
static LLVMValueRef unpacked(LLVMValueRef value) {
    LLVMValueRef whole = operand_if(value, LLVMTrunc, 0);
    if (!whole || LLVMGetIntTypeWidth(LLVMTypeOf(value)) != 16) return value;
    bool upper = is_sixteen(operand_if(whole, LLVMLShr, 1));
    if (upper) whole = LLVMGetOperand(whole, 0);
    for (unsigned k = 0; operand_if(whole, LLVMOr, 0) && k < 2; k++) {
        LLVMValueRef shifted = LLVMGetOperand(whole, k), low = extended_half_word(LLVMGetOperand(whole, 1 - k));
        if (!low || !is_sixteen(operand_if(shifted, LLVMShl, 1))) continue;
        LLVMValueRef high = extended_half_word(LLVMGetOperand(shifted, 0));
        if (high) return upper ? high : low;
    }
    return value;
}

// ---- Code ----

static LLVMValueRef call(finder *f, const char *name, LLVMTypeRef type, LLVMValueRef *arguments, unsigned count) {
    LLVMTypeRef types[MOST_OPERANDS];
    for (unsigned k = 0; k < count; k++) types[k] = LLVMTypeOf(arguments[k]);
    LLVMTypeRef function = LLVMFunctionType(type, types, count, 0);
    LLVMValueRef callee = igi_simt_declare(f->m->module, name, function);
    igi_simt_add_attribute(callee, "convergent");
    return LLVMBuildCall2(f->builder, function, callee, arguments, count, "");
}

static void stand_before(finder *f, LLVMValueRef instruction) {
    LLVMPositionBuilderBefore(f->builder, instruction);
    LLVMSetCurrentDebugLocation2(f->builder, LLVMInstructionGetDebugLoc(instruction));
}

// Calls of one name have one type.
static const char *suffix_of(LLVMTypeRef type) {
    switch (LLVMGetTypeKind(type)) {
        case LLVMFloatTypeKind: return "f32";
        case LLVMHalfTypeKind: return "f16";
        case LLVMBFloatTypeKind: return "bf16";
        case LLVMIntegerTypeKind: return LLVMGetIntTypeWidth(type) == 16 ? "b16" : NULL;
        default: return NULL;
    }
}

static void call_both(finder *f, const char *const kinds[2], LLVMTypeRef type, LLVMValueRef *arguments, unsigned count,
                      LLVMValueRef results[2]) {
    for (unsigned k = 0; k < 2; k++) {
        char name[40];
        snprintf(name, sizeof name, "%s%s", kinds[k], suffix_of(type));
        results[k] = call(f, name, type, arguments, count);
    }
}

// ---- Halves of matrices ----

static bool halves_of(finder *f, const LLVMValueRef packed[2], LLVMValueRef user, LLVMValueRef halves[2], int depth);

static bool is_before(LLVMValueRef a, LLVMValueRef b) {
    for (LLVMValueRef i = a; i; i = LLVMGetNextInstruction(i))
        if (i == b) return true;
    return false;
}

// Where both parts are known: after the later one, if they are in one block; NULL: not known.
static LLVMValueRef place_after(const LLVMValueRef parts[2]) {
    if (!LLVMIsAInstruction(parts[0]) || !LLVMIsAInstruction(parts[1])) return NULL;
    if (LLVMGetInstructionParent(parts[0]) != LLVMGetInstructionParent(parts[1])) return NULL;
    LLVMValueRef at = LLVMGetNextInstruction(is_before(parts[0], parts[1]) ? parts[1] : parts[0]);
    while (LLVMIsAPHINode(at)) at = LLVMGetNextInstruction(at);
    return at;
}

static bool join_parts(finder *f, const LLVMValueRef parts[2], LLVMValueRef user, LLVMValueRef halves[2]) {
    static const char *const kinds[2] = {"__ig_rows_low_", "__ig_rows_high_"};
    LLVMTypeRef type = LLVMTypeOf(parts[0]);
    LLVMValueRef at = place_after(parts), arguments[] = {parts[0], parts[1]};
    stand_before(f, at ? at : user);
    call_both(f, kinds, type, arguments, 2, halves);
    pair *known = at ? remember(f, parts, false) : NULL;
    if (known) memcpy(known->halves, halves, sizeof known->halves);
    return true;
}

static void load_halves(finder *f, const LLVMValueRef parts[2], LLVMValueRef halves[2]) {
    static const char *const kinds[2] = {"__ig_matrix_low_", "__ig_matrix_high_"};
    LLVMValueRef arguments[5];
    for (unsigned k = 0; k < 5; k++) arguments[k] = LLVMGetOperand(parts[0], k);
    stand_before(f, parts[0]);
    call_both(f, kinds, LLVMTypeOf(parts[0]), arguments, 5, halves);
}

static bool convert_halves(finder *f, const LLVMValueRef parts[2], LLVMValueRef halves[2], int depth) {
    LLVMValueRef at = place_after(parts), from[2];
    LLVMValueRef operands[] = {LLVMGetOperand(parts[0], 0), LLVMGetOperand(parts[1], 0)};
    if (!at || !halves_of(f, operands, at, from, depth)) return false;
    stand_before(f, at);
    for (unsigned k = 0; k < 2; k++)
        halves[k] = LLVMBuildCast(f->builder, LLVMGetInstructionOpcode(parts[k]), from[k], LLVMTypeOf(parts[k]), "");
    return true;
}

static LLVMValueRef value_from(LLVMValueRef phi, LLVMBasicBlockRef block) {
    for (unsigned k = 0; k < LLVMCountIncoming(phi); k++)
        if (LLVMGetIncomingBlock(phi, k) == block) return LLVMGetIncomingValue(phi, k);
    return NULL;
}

static bool merge_halves(finder *f, const LLVMValueRef parts[2], LLVMValueRef halves[2], int depth) {
    for (unsigned k = 0; k < 2; k++) {
        stand_before(f, parts[0]);
        halves[k] = LLVMBuildPhi(f->builder, LLVMTypeOf(parts[0]), "");
    }
    pair *known = remember(f, parts, true);
    if (!known) return false;
    memcpy(known->halves, halves, sizeof known->halves);
    for (unsigned b = 0; b < LLVMCountIncoming(parts[0]); b++) {
        LLVMBasicBlockRef block = LLVMGetIncomingBlock(parts[0], b);
        LLVMValueRef values[] = {LLVMGetIncomingValue(parts[0], b), value_from(parts[1], block)}, from[2];
        if (!halves_of(f, values, LLVMGetBasicBlockTerminator(block), from, depth)) return false;
        for (unsigned k = 0; k < 2; k++) LLVMAddIncoming(halves[k], &from[k], &block, 1);
    }
    return true;
}

// Before `user`, or where the parts are. Returns false when memory is short, or for a type that matrices do not have.
static bool halves_of(finder *f, const LLVMValueRef packed[2], LLVMValueRef user, LLVMValueRef halves[2], int depth) {
    const LLVMValueRef parts[2] = {unpacked(packed[0]), unpacked(packed[1])};
    pair *known = find(f, parts);
    if (!suffix_of(LLVMTypeOf(parts[0]))) return false;
    if (known) {
        memcpy(halves, known->halves, sizeof known->halves);
        return true;
    }
    if (parts[0] == parts[1] && !LLVMIsAInstruction(parts[0])) {
        halves[0] = halves[1] = parts[0];
        return true;
    }
    bool deep = depth == 0, one_block = place_after(parts) != NULL;
    if (!deep && one_block && is_loop_value(f, parts)) return merge_halves(f, parts, halves, depth - 1);
    if (!deep && one_block && is_load(f, parts))
        load_halves(f, parts, halves);
    else if (deep || !is_conversion(f, parts) || !convert_halves(f, parts, halves, depth - 1))
        return join_parts(f, parts, user, halves);
    known = remember(f, parts, true);
    if (known) memcpy(known->halves, halves, sizeof known->halves);
    return known != NULL;
}

// ---- Products ----

static void multiply_halves(finder *f, LLVMValueRef even) {
    static const char *const names[2] = {"__ig_mma_low", "__ig_mma_high"};
    LLVMValueRef odd = LLVMGetNextInstruction(even), arguments[MOST_OPERANDS];
    while (odd && !igi_simt_calls(odd, "__ig_mma_odd")) odd = LLVMGetNextInstruction(odd);
    const LLVMValueRef parts[2] = {even, odd};
    if (!odd || !is_product(parts)) return;
    pair *known = remember(f, parts, true);
    for (unsigned k = 0; k < MOST_OPERANDS; k++) arguments[k] = LLVMGetPoison(LLVMTypeOf(even));
    stand_before(f, even);
    for (unsigned k = 0; known && k < 2; k++)
        known->halves[k] = call(f, names[k], LLVMTypeOf(even), arguments, MOST_OPERANDS);
}

static void set_operands(finder *f, LLVMValueRef even) {
    uint32_t number;
    if (!igi_map_get(&f->number, even, &number)) return;
    LLVMValueRef products[2];
    memcpy(products, f->pairs[number].halves, sizeof products);
    for (unsigned k = 0; k < MOST_OPERANDS; k += 2) {
        LLVMValueRef parts[] = {LLVMGetOperand(even, k), LLVMGetOperand(even, k + 1)}, halves[2];
        if (!halves_of(f, parts, products[0], halves, DEEPEST)) return;
        for (unsigned p = 0; p < 2; p++)
            for (unsigned h = 0; h < 2; h++) LLVMSetOperand(products[p], k + h, halves[h]);
    }
}

// ---- Loops that products leave ----

static LLVMValueRef other_phi(LLVMValueRef phi, LLVMValueRef value, LLVMValueRef other) {
    LLVMBasicBlockRef from = NULL;
    for (unsigned k = 0; k < LLVMCountIncoming(phi); k++)
        if (LLVMGetIncomingValue(phi, k) == value) from = LLVMGetIncomingBlock(phi, k);
    LLVMValueRef i = LLVMGetFirstInstruction(LLVMGetInstructionParent(phi));
    for (; i && LLVMIsAPHINode(i); i = LLVMGetNextInstruction(i))
        if (value_from(i, from) == other) return i;
    return NULL;
}

static LLVMValueRef next_phi(const finder *f, uint32_t number, LLVMValueRef parts[2]) {
    const pair *p = &f->pairs[number];
    uint32_t known;
    for (LLVMUseRef use = LLVMGetFirstUse(p->parts[0]); use; use = LLVMGetNextUse(use)) {
        parts[0] = LLVMGetUser(use);
        if (!LLVMIsAPHINode(parts[0]) || igi_map_get(&f->number, parts[0], &known)) continue;
        parts[1] = other_phi(parts[0], p->parts[0], p->parts[1]);
        if (parts[1] && parts[1] != parts[0] && is_loop_value(f, parts)) return parts[0];
    }
    return NULL;
}

static void follow_phis(finder *f) {
    for (uint32_t number = 0; number < f->count && !f->no_memory; number++) {
        LLVMValueRef parts[2], halves[2];
        while (f->pairs[number].original && next_phi(f, number, parts))
            if (!merge_halves(f, parts, halves, DEEPEST)) return;
    }
}

// ---- What used the parts ----

static void take_parts(finder *f, const pair *p) {
    static const char *const kinds[2] = {"__ig_rows_even_", "__ig_rows_odd_"};
    LLVMValueRef arguments[] = {p->halves[0], p->halves[1]}, parts[2];
    stand_before(f, place_after(p->parts));
    call_both(f, kinds, LLVMTypeOf(p->parts[0]), arguments, 2, parts);
    for (unsigned k = 0; k < 2; k++) LLVMReplaceAllUsesWith(p->parts[k], parts[k]);
}

static bool is_taken_part(LLVMValueRef i) {
    return has_prefix(i, "__ig_rows_") && !LLVMGetFirstUse(i);
}

static void erase(LLVMBuilderRef builder, LLVMValueRef instruction) {
    (void)builder;
    LLVMInstructionEraseFromParent(instruction);
}

static ig_status replace_parts(finder *f) {
    for (uint32_t k = 0; k < f->count; k++)
        if (f->pairs[k].original) take_parts(f, &f->pairs[k]);
    for (uint32_t k = 0; k < f->count; k++)
        for (unsigned part = 0; part < 2 && f->pairs[k].original; part++)
            LLVMInstructionEraseFromParent(f->pairs[k].parts[part]);
    return igi_simt_rewrite_instructions(f->m, is_taken_part, erase);
}

static ig_status rewrite(finder *f, const igi_simt_values *products) {
    for (size_t k = 0; k < products->count; k++) multiply_halves(f, products->items[k]);
    for (size_t k = 0; k < products->count && !f->no_memory; k++) set_operands(f, products->items[k]);
    follow_phis(f);
    return f->no_memory ? igi_error_no_memory(f->m->error) : replace_parts(f);
}

ig_status igi_simt_find_rows(igi_simt_module *m) {
    igi_simt_values products;
    finder f = {.m = m};
    if (!igi_simt_collect(m->thread, is_even_product, &products)) return igi_error_no_memory(m->error);
    ig_status status = IG_STATUS_OK;
    if (products.count && !igi_simt_shapes_build(m->thread, LLVMGetParam(m->thread, 1), LANES, &f.s))
        status = igi_error_no_memory(m->error);
    if (products.count && status == IG_STATUS_OK) {
        f.builder = LLVMCreateBuilderInContext(m->context);
        status = rewrite(&f, &products);
        LLVMDisposeBuilder(f.builder);
        igi_simt_shapes_free(&f.s);
    }
    igi_simt_values_free(&products);
    igi_map_free(&f.number);
    free(f.pairs);
    return status;
}
