// SPDX-License-Identifier: Apache-2.0
// simdgroup matrices. AIR has <64 x T>, of which a thread owns elements 0 and 1; here a thread has a <2 x T>. Values
// that lead from one matrix operation to another become pairs, one by one, with everything they are made of.
#include <stdio.h>
#include <string.h>

#include "air/translator.h"
#include "core/pointer-map.h"

enum { WHOLE = 64, OWN = 2 };

typedef struct matrices {
    air_translator *t;
    igi_pointer_map seen;  // whole values: their places in pairs
    LLVMValueRef *pairs;
    size_t count, capacity;
    LLVMValueRef *old;  // instructions to be removed
    size_t old_count, old_capacity;
    LLVMValueRef *open;  // whole phis whose pairs have no values yet
    size_t open_count, open_capacity;
} matrices;

static bool is_whole(LLVMTypeRef type) {
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind && LLVMGetVectorSize(type) == WHOLE;
}

static LLVMTypeRef pair_of(LLVMTypeRef whole) {
    return LLVMVectorType(LLVMGetElementType(whole), OWN);
}

static LLVMValueRef index_of(const matrices *m, unsigned index) {
    return LLVMConstInt(m->t->i32, index, 0);
}

static bool remember(matrices *m, LLVMValueRef whole, LLVMValueRef pair) {
    if (!igi_grow((void **)&m->pairs, &m->capacity, m->count + 1, sizeof *m->pairs) ||
        !igi_map_set(&m->seen, whole, (uint32_t)m->count))
        return igi_air_fail_memory(m->t);
    m->pairs[m->count++] = pair;
    return true;
}

static bool discard(matrices *m, LLVMValueRef instruction) {
    if (!igi_grow((void **)&m->old, &m->old_capacity, m->old_count + 1, sizeof *m->old))
        return igi_air_fail_memory(m->t);
    m->old[m->old_count++] = instruction;
    return true;
}

static LLVMValueRef narrow(matrices *m, LLVMValueRef whole);

// ---- Operations ----

static const char *suffix_of(LLVMTypeRef pair) {
    switch (LLVMGetTypeKind(LLVMGetElementType(pair))) {
        case LLVMHalfTypeKind: return "f16";
        case LLVMBFloatTypeKind: return "bf16";
        case LLVMFloatTypeKind: return "f32";
        default: return "unknown";
    }
}

static bool is_small(LLVMTypeRef pair) {
    return LLVMGetTypeKind(LLVMGetElementType(pair)) != LLVMFloatTypeKind;
}

// Functions of the runtime pass two elements of 16 bits as one i32.
static LLVMTypeRef passed_type(const matrices *m, LLVMTypeRef pair) {
    return is_small(pair) ? m->t->i32 : pair;
}

static LLVMValueRef call_pairs(matrices *m, const char *what, LLVMTypeRef pair, LLVMTypeRef result,
                               LLVMValueRef *arguments, unsigned count) {
    char symbol[64];
    snprintf(symbol, sizeof symbol, "air_pair_%s_%s", what, suffix_of(pair));
    return igi_air_call_runtime(m->t, symbol, result, arguments, count);
}

// The operands of a load or store, beginning with `first`. Until AIR 2.6: pointer, elements per row, origin, whether transposed. Since
// 2.8: pointer, extents, strides, origin; the stride that is not 1 is that of rows, or of columns if transposed.
static bool memory_operands(matrices *m, LLVMValueRef call, unsigned first, LLVMValueRef out[5]) {
    LLVMBuilderRef b = m->t->builder;
    if (LLVMGetNumArgOperands(call) != first + 4) return false;
    LLVMValueRef in[4];
    for (unsigned i = 0; i < 4; i++) in[i] = LLVMGetOperand(call, first + i);
    LLVMTypeRef two = LLVMVectorType(m->t->i64, 2);
    bool strided = LLVMTypeOf(in[1]) == two;
    LLVMValueRef origin = strided ? in[3] : in[2];
    if (LLVMTypeOf(origin) != two || (strided && LLVMTypeOf(in[2]) != two)) return false;
    out[0] = in[0], out[1] = in[1], out[4] = in[3];
    if (strided) {
        LLVMValueRef inner = LLVMBuildExtractElement(b, in[2], index_of(m, 0), "");
        LLVMValueRef outer = LLVMBuildExtractElement(b, in[2], index_of(m, 1), "");
        out[4] = LLVMBuildICmp(b, LLVMIntNE, inner, LLVMConstInt(m->t->i64, 1, 0), "transposed");
        out[1] = LLVMBuildSelect(b, out[4], inner, outer, "stride");
    }
    out[2] = LLVMBuildExtractElement(b, origin, index_of(m, 0), "");
    out[3] = LLVMBuildExtractElement(b, origin, index_of(m, 1), "");
    return true;
}

static LLVMValueRef load_matrix(matrices *m, LLVMValueRef call, LLVMTypeRef pair) {
    LLVMValueRef operands[5];
    if (!memory_operands(m, call, 0, operands)) return NULL;
    LLVMValueRef loaded = call_pairs(m, "load", pair, passed_type(m, pair), operands, 5);
    return loaded ? LLVMBuildBitCast(m->t->builder, loaded, pair, "") : NULL;
}

static LLVMValueRef store_matrix(matrices *m, LLVMValueRef call, LLVMValueRef pair) {
    LLVMValueRef operands[6];
    LLVMTypeRef type = LLVMTypeOf(pair);
    if (!memory_operands(m, call, 1, operands + 1)) return NULL;
    operands[0] = LLVMBuildBitCast(m->t->builder, pair, passed_type(m, type), "");
    return call_pairs(m, "store", type, LLVMVoidTypeInContext(m->t->context), operands, 6);
}

static LLVMValueRef fill(matrices *m, LLVMValueRef value, LLVMTypeRef pair) {
    if (LLVMTypeOf(value) != LLVMGetElementType(pair)) return NULL;
    LLVMValueRef made = LLVMGetPoison(pair);
    for (unsigned i = 0; i < OWN; i++) made = LLVMBuildInsertElement(m->t->builder, made, value, index_of(m, i), "");
    return made;
}

static LLVMValueRef diagonal(matrices *m, LLVMValueRef value, LLVMTypeRef pair) {
    LLVMValueRef made = call_pairs(m, "diagonal", pair, passed_type(m, pair), &value, 1);
    return made ? LLVMBuildBitCast(m->t->builder, made, pair, "") : NULL;
}

static LLVMValueRef declare_product(matrices *m, LLVMTypeRef type) {
    static const char name[] = "__ig_mma_f32", convergent[] = "convergent";
    LLVMValueRef function = LLVMGetNamedFunction(m->t->module, name);
    if (function) return function;
    function = LLVMAddFunction(m->t->module, name, type);
    unsigned kind = LLVMGetEnumAttributeKindForName(convergent, strlen(convergent));
    LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            LLVMCreateEnumAttribute(m->t->context, kind, 0));
    return function;
}

// Factors and sums of any type are computed as float.
static LLVMValueRef multiply(matrices *m, LLVMValueRef call, LLVMTypeRef pair) {
    LLVMTypeRef floats = LLVMVectorType(LLVMFloatTypeInContext(m->t->context), OWN);
    LLVMTypeRef types[] = {floats, floats, floats}, type = LLVMFunctionType(floats, types, 3, 0);
    LLVMValueRef factors[3] = {0};
    unsigned count = LLVMGetNumArgOperands(call);
    if (count != 3 && count != 2) return NULL;
    for (unsigned i = 0; i < count; i++) {
        if (!is_whole(LLVMTypeOf(LLVMGetOperand(call, i)))) return NULL;
        factors[i] = narrow(m, LLVMGetOperand(call, i));
        if (!factors[i]) return NULL;
    }
    LLVMPositionBuilderBefore(m->t->builder, call);
    for (unsigned i = 0; i < count; i++)
        if (is_small(LLVMTypeOf(factors[i]))) factors[i] = LLVMBuildFPExt(m->t->builder, factors[i], floats, "");
    if (!factors[2]) factors[2] = LLVMConstNull(floats);
    LLVMValueRef made = LLVMBuildCall2(m->t->builder, type, declare_product(m, type), factors, 3, "");
    return is_small(pair) ? LLVMBuildFPTrunc(m->t->builder, made, pair, "") : made;
}

static LLVMValueRef narrow_call(matrices *m, LLVMValueRef call, LLVMTypeRef pair) {
    const char *name = igi_air_symbol(LLVMGetCalledValue(call));
    LLVMValueRef first = LLVMGetNumArgOperands(call) ? LLVMGetOperand(call, 0) : NULL;
    if (!first || !igi_skip(&name, "air.simdgroup_matrix_8x8_")) return NULL;
    if (!discard(m, call)) return NULL;
    if (igi_skip(&name, "multiply_accumulate.") || igi_skip(&name, "multiply.")) return multiply(m, call, pair);
    if (igi_skip(&name, "init_filled.")) return fill(m, first, pair);
    if (igi_skip(&name, "init_diag.")) return diagonal(m, first, pair);
    return igi_skip(&name, "load.") ? load_matrix(m, call, pair) : NULL;
}

// ---- Instructions that move matrices ----

// Element `at` of the two vectors that a shuffle takes, `size` elements each, among those that are left of them.
static LLVMValueRef place_in_pairs(const matrices *m, int at, int size) {
    bool second = at >= size;
    int own = second ? at - size : at;
    if (at < 0 || own >= OWN) return LLVMGetPoison(m->t->i32);
    return index_of(m, (unsigned)(second ? own + OWN : own));
}

static LLVMValueRef narrow_shuffle(matrices *m, LLVMValueRef shuffle) {
    LLVMValueRef left = LLVMGetOperand(shuffle, 0), right = LLVMGetOperand(shuffle, 1), places[OWN];
    int size = (int)LLVMGetVectorSize(LLVMTypeOf(left));
    if (size == WHOLE) {
        left = narrow(m, left);
        right = narrow(m, right);
    }
    if (!left || !right || (size != WHOLE && size != OWN)) return NULL;
    for (unsigned i = 0; i < OWN; i++) places[i] = place_in_pairs(m, LLVMGetMaskValue(shuffle, i), size);
    LLVMPositionBuilderBefore(m->t->builder, shuffle);
    return LLVMBuildShuffleVector(m->t->builder, left, right, LLVMConstVector(places, OWN), "");
}

// Its values come last: one of them may be made of the phi itself.
static LLVMValueRef narrow_phi(matrices *m, LLVMValueRef phi) {
    if (!igi_grow((void **)&m->open, &m->open_capacity, m->open_count + 1, sizeof *m->open)) {
        igi_air_fail_memory(m->t);
        return NULL;
    }
    m->open[m->open_count++] = phi;
    return LLVMBuildPhi(m->t->builder, pair_of(LLVMTypeOf(phi)), "");
}

static bool fill_phi(matrices *m, LLVMValueRef phi) {
    LLVMValueRef made = narrow(m, phi);
    for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
        LLVMValueRef value = narrow(m, LLVMGetIncomingValue(phi, i));
        LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, i);
        if (!value) return false;
        LLVMAddIncoming(made, &value, &from, 1);
    }
    return true;
}

// Each may lead to others.
static bool fill_phis(matrices *m) {
    bool ok = true;
    for (size_t i = 0; i < m->open_count && ok; i++) ok = fill_phi(m, m->open[i]);
    return ok;
}

static LLVMValueRef narrow_select(matrices *m, LLVMValueRef select) {
    LLVMValueRef condition = LLVMGetOperand(select, 0);
    LLVMValueRef yes = narrow(m, LLVMGetOperand(select, 1)), no = narrow(m, LLVMGetOperand(select, 2));
    if (!yes || !no || LLVMGetTypeKind(LLVMTypeOf(condition)) == LLVMVectorTypeKind) return NULL;
    LLVMPositionBuilderBefore(m->t->builder, select);
    return LLVMBuildSelect(m->t->builder, condition, yes, no, "");
}

static LLVMValueRef narrow_insert(matrices *m, LLVMValueRef insert) {
    LLVMValueRef into = narrow(m, LLVMGetOperand(insert, 0)), at = LLVMGetOperand(insert, 2);
    if (!into) return NULL;
    LLVMPositionBuilderBefore(m->t->builder, insert);
    if (LLVMIsAConstantInt(at) && LLVMConstIntGetZExtValue(at) >= OWN) return into;
    return LLVMBuildInsertElement(m->t->builder, into, LLVMGetOperand(insert, 1), at, "");
}

static LLVMValueRef narrow_cast(matrices *m, LLVMValueRef cast, LLVMTypeRef pair) {
    LLVMValueRef from = LLVMGetOperand(cast, 0);
    if (!is_whole(LLVMTypeOf(from))) return NULL;
    from = narrow(m, from);
    if (!from) return NULL;
    LLVMPositionBuilderBefore(m->t->builder, cast);
    return LLVMBuildCast(m->t->builder, LLVMGetInstructionOpcode(cast), from, pair, "");
}

static LLVMValueRef narrow_load(matrices *m, LLVMValueRef load, LLVMTypeRef pair) {
    LLVMValueRef made = LLVMBuildLoad2(m->t->builder, pair, LLVMGetOperand(load, 0), "");
    LLVMSetAlignment(made, is_small(pair) ? 2 : 4);
    return made;
}

static LLVMValueRef narrow_constant(LLVMValueRef whole, LLVMTypeRef pair) {
    if (LLVMIsPoison(whole)) return LLVMGetPoison(pair);
    if (LLVMIsUndef(whole)) return LLVMGetUndef(pair);
    LLVMValueRef own[OWN] = {LLVMGetAggregateElement(whole, 0), LLVMGetAggregateElement(whole, 1)};
    return own[0] && own[1] ? LLVMConstVector(own, OWN) : NULL;
}

static LLVMValueRef narrow_instruction(matrices *m, LLVMValueRef whole) {
    LLVMTypeRef pair = pair_of(LLVMTypeOf(whole));
    LLVMPositionBuilderBefore(m->t->builder, whole);
    switch (LLVMGetInstructionOpcode(whole)) {
        case LLVMPHI: return narrow_phi(m, whole);
        case LLVMSelect: return narrow_select(m, whole);
        case LLVMShuffleVector: return narrow_shuffle(m, whole);
        case LLVMInsertElement: return narrow_insert(m, whole);
        case LLVMBitCast:
        case LLVMFPExt:
        case LLVMFPTrunc: return narrow_cast(m, whole, pair);
        case LLVMLoad: return narrow_load(m, whole, pair);
        case LLVMCall: return narrow_call(m, whole, pair);
        default: return NULL;
    }
}

// The thread's own elements of a matrix; NULL when that failed.
static LLVMValueRef narrow(matrices *m, LLVMValueRef whole) {
    uint32_t place;
    if (igi_map_get(&m->seen, whole, &place)) return m->pairs[place];
    LLVMValueRef made = LLVMIsAConstant(whole)      ? narrow_constant(whole, pair_of(LLVMTypeOf(whole)))
                        : LLVMIsAInstruction(whole) ? narrow_instruction(m, whole)
                                                    : NULL;
    if (!made) {
        bool call = LLVMIsACallInst(whole) && LLVMIsAFunction(LLVMGetCalledValue(whole));
        igi_air_fail_unknown(m->t, call ? igi_air_symbol(LLVMGetCalledValue(whole)) : "a simdgroup matrix in this way");
        return NULL;
    }
    return remember(m, whole, made) ? made : NULL;
}

// ---- Instructions that take a matrix and give something else ----

static LLVMValueRef leave_by_shuffle(matrices *m, LLVMValueRef shuffle, LLVMValueRef pair) {
    unsigned count = LLVMGetVectorSize(LLVMTypeOf(shuffle));
    LLVMValueRef places[OWN];
    if (count != OWN) return NULL;
    for (unsigned i = 0; i < OWN; i++) {
        int at = LLVMGetMaskValue(shuffle, i);
        places[i] = at < 0 || at >= OWN ? LLVMGetPoison(m->t->i32) : index_of(m, (unsigned)at);
    }
    return LLVMBuildShuffleVector(m->t->builder, pair, LLVMGetPoison(LLVMTypeOf(pair)), LLVMConstVector(places, OWN),
                                  "");
}

static LLVMValueRef leave(matrices *m, LLVMValueRef user, LLVMValueRef pair) {
    LLVMBuilderRef b = m->t->builder;
    switch (LLVMGetInstructionOpcode(user)) {
        case LLVMShuffleVector: return leave_by_shuffle(m, user, pair);
        case LLVMExtractElement: return LLVMBuildExtractElement(b, pair, LLVMGetOperand(user, 1), "");
        case LLVMStore: {
            LLVMValueRef store = LLVMBuildStore(b, pair, LLVMGetOperand(user, 1));
            LLVMSetAlignment(store, is_small(LLVMTypeOf(pair)) ? 2 : 4);
            return store;
        }
        case LLVMCall: {
            const char *name = igi_air_symbol(LLVMGetCalledValue(user));
            bool stores = strncmp(name, "air.simdgroup_matrix_8x8_store.", 31) == 0;
            return stores ? store_matrix(m, user, pair) : NULL;
        }
        default: return NULL;
    }
}

static bool lower_user(matrices *m, LLVMValueRef user) {
    LLVMValueRef pair = narrow(m, LLVMGetOperand(user, 0));
    if (!pair) return false;
    LLVMPositionBuilderBefore(m->t->builder, user);
    LLVMValueRef made = leave(m, user, pair);
    if (!made) {
        bool call = LLVMIsACallInst(user) && LLVMIsAFunction(LLVMGetCalledValue(user));
        return igi_air_fail_unknown(m->t,
                                    call ? igi_air_symbol(LLVMGetCalledValue(user)) : "a simdgroup matrix in this way");
    }
    if (LLVMGetTypeKind(LLVMTypeOf(user)) != LLVMVoidTypeKind) LLVMReplaceAllUsesWith(user, made);
    return discard(m, user);
}

static bool takes_whole(LLVMValueRef instruction) {
    LLVMValueRef first = LLVMGetNumOperands(instruction) ? LLVMGetOperand(instruction, 0) : NULL;
    return first && !LLVMIsABasicBlock(first) && !LLVMValueIsBasicBlock(first) && is_whole(LLVMTypeOf(first));
}

// Operations have effects on other threads: they stay even if nothing uses their result.
static bool lower_instruction(matrices *m, LLVMValueRef instruction) {
    bool gives = is_whole(LLVMTypeOf(instruction));
    if (gives && LLVMIsACallInst(instruction)) return narrow(m, instruction) != NULL;
    return gives || !takes_whole(instruction) || lower_user(m, instruction);
}

static void remove_old(matrices *m) {
    for (size_t i = 0; i < m->old_count; i++) {
        LLVMTypeRef type = LLVMTypeOf(m->old[i]);
        if (LLVMGetTypeKind(type) != LLVMVoidTypeKind) LLVMReplaceAllUsesWith(m->old[i], LLVMGetPoison(type));
        LLVMInstructionEraseFromParent(m->old[i]);
    }
}

bool igi_air_lower_matrices(air_translator *t, LLVMValueRef function) {
    matrices m = {.t = t};
    bool ok = true;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b && ok; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i && ok; i = LLVMGetNextInstruction(i))
            ok = lower_instruction(&m, i);
    ok = ok && fill_phis(&m);
    if (ok) remove_old(&m);
    igi_map_free(&m.seen);
    free(m.pairs), free(m.old), free(m.open);
    return ok;
}
