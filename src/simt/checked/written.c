// SPDX-License-Identifier: Apache-2.0
// For a quick look: tracks values that may be uninitialised. Each has a shadow, bits that say so, which follows it through
// computations. Where the value is used, in a branch, an address or a store, the bits must be zero.
#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "core/pointer-map.h"
#include "simt/checked/instrument.h"

enum { MOST_DEPTH = 500 };

typedef struct shadows {
    igi_simt_instrumenter *in;
    igi_pointer_map index;   // value -> place in `made`
    igi_simt_values values;  // that may be unwritten
    igi_simt_values made;    // their shadows, or NULL so far
    bool failed;             // there is one that cannot be followed
} shadows;

void igi_simt_suspect_always(igi_simt_instrumenter *in) {
    LLVMPositionBuilderBefore(in->builder, LLVMGetNextInstruction(in->thread));
    igi_simt_suspect_unless(in, LLVMConstInt(in->i1, 0, 0));
}

void igi_simt_doubt(igi_simt_instrumenter *in, LLVMValueRef value, LLVMValueRef doubt) {
    in->failed |= !igi_simt_values_add(&in->doubtful, value) || !igi_simt_values_add(&in->doubts, doubt);
}

// ---- What may be unwritten ----

static bool has_bits(LLVMTypeRef type) {
    bool vector = LLVMGetTypeKind(type) == LLVMVectorTypeKind;
    return igi_simt_is_scalar(vector ? LLVMGetElementType(type) : type);
}

static void add(shadows *s, LLVMValueRef value, LLVMValueRef shadow) {
    uint32_t number;
    if (igi_map_get(&s->index, value, &number)) return;
    s->failed |= !has_bits(LLVMTypeOf(value));
    s->in->failed |= !igi_map_set(&s->index, value, (uint32_t)s->values.count) ||
                     !igi_simt_values_add(&s->values, value) || !igi_simt_values_add(&s->made, shadow);
}

static bool is_pure_call(LLVMValueRef i) {
    const char *name = igi_simt_callee_name(i);
    return strncmp(name, "llvm.", 5) == 0 && LLVMIsACallInst(i) && has_bits(LLVMTypeOf(i)) &&
           !igi_simt_is_memory_intrinsic(i);
}

// Whether the user computes another value from it.
static bool is_computation(LLVMValueRef user) {
    switch (LLVMGetInstructionOpcode(user)) {
        case LLVMPHI:
        case LLVMSelect:
        case LLVMInsertElement:
        case LLVMExtractElement:
        case LLVMShuffleVector:
        case LLVMFNeg:
        case LLVMICmp:
        case LLVMFCmp:
        case LLVMFreeze:
        case LLVMGetElementPtr: return true;
        case LLVMCall: return is_pure_call(user);
        default: return LLVMIsABinaryOperator(user) || LLVMIsACastInst(user);
    }
}

static void follow(shadows *s) {
    for (size_t i = 0; i < s->values.count && !s->in->failed; i++)
        for (LLVMUseRef use = LLVMGetFirstUse(s->values.items[i]); use; use = LLVMGetNextUse(use))
            if (is_computation(LLVMGetUser(use))) add(s, LLVMGetUser(use), NULL);
}

// ---- Shadows ----

static LLVMTypeRef shadow_type(const shadows *s, LLVMTypeRef type) {
    bool vector = LLVMGetTypeKind(type) == LLVMVectorTypeKind;
    return vector ? LLVMVectorType(s->in->i1, LLVMGetVectorSize(type)) : s->in->i1;
}

static LLVMValueRef any_of(shadows *s, LLVMValueRef shadow) {
    LLVMTypeRef type = LLVMTypeOf(shadow);
    if (type == s->in->i1) return shadow;
    LLVMValueRef any = LLVMConstNull(s->in->i1);
    for (unsigned i = 0; i < LLVMGetVectorSize(type); i++)
        any = LLVMBuildOr(s->in->builder, any,
                          LLVMBuildExtractElement(s->in->builder, shadow, igi_simt_number32(s->in, i), ""), "");
    return any;
}

static LLVMValueRef spread(shadows *s, LLVMValueRef bit, LLVMTypeRef type) {
    LLVMValueRef zeros, whole = LLVMGetPoison(type), first = igi_simt_number32(s->in, 0);
    if (type == s->in->i1) return bit;
    whole = LLVMBuildInsertElement(s->in->builder, whole, bit, first, "");
    zeros = LLVMConstNull(LLVMVectorType(s->in->i32, LLVMGetVectorSize(type)));
    return LLVMBuildShuffleVector(s->in->builder, whole, LLVMGetPoison(type), zeros, "");
}

static LLVMValueRef shadow_of(shadows *s, LLVMValueRef value, unsigned depth);

static LLVMValueRef operand_shadow(shadows *s, LLVMValueRef i, unsigned k, unsigned depth) {
    return shadow_of(s, LLVMGetOperand(i, k), depth);
}

static LLVMValueRef either(shadows *s, LLVMValueRef a, LLVMValueRef b) {
    return LLVMBuildOr(s->in->builder, a, b, "");
}

// An element of the result may be uninitialised if one of the elements may be that it is computed from: those at the same
// place, or all of an operand with another number of elements.
static LLVMValueRef mixed_shadow(shadows *s, LLVMValueRef i, unsigned depth) {
    LLVMTypeRef type = shadow_type(s, LLVMTypeOf(i));
    LLVMValueRef result = LLVMConstNull(type), next = LLVMGetNextInstruction(i);  // all of it goes between the two
    int count = LLVMIsACallInst(i) ? (int)LLVMGetNumArgOperands(i) : LLVMGetNumOperands(i);
    for (int k = 0; k < count; k++) {
        LLVMValueRef operand = LLVMGetOperand(i, (unsigned)k);
        if (LLVMIsConstant(operand) || !has_bits(LLVMTypeOf(operand))) continue;
        LLVMValueRef shadow = shadow_of(s, operand, depth);
        LLVMPositionBuilderBefore(s->in->builder, next);
        if (LLVMTypeOf(shadow) != type) shadow = spread(s, any_of(s, shadow), type);
        result = either(s, result, shadow);
    }
    return result;
}

static LLVMValueRef select_shadow(shadows *s, LLVMValueRef i, unsigned depth) {
    LLVMValueRef condition = operand_shadow(s, i, 0, depth), a = operand_shadow(s, i, 1, depth);
    LLVMValueRef b = operand_shadow(s, i, 2, depth);
    LLVMPositionBuilderBefore(s->in->builder, LLVMGetNextInstruction(i));
    LLVMValueRef chosen = LLVMBuildSelect(s->in->builder, LLVMGetOperand(i, 0), a, b, "");
    if (LLVMTypeOf(condition) != LLVMTypeOf(chosen)) condition = spread(s, condition, LLVMTypeOf(chosen));
    return either(s, chosen, condition);
}

static LLVMValueRef make_shadow(shadows *s, LLVMValueRef i, unsigned depth) {
    LLVMBuilderRef b = s->in->builder;
    LLVMValueRef first, second;
    switch (LLVMGetInstructionOpcode(i)) {
        case LLVMSelect: return select_shadow(s, i, depth);
        case LLVMExtractElement:
            first = operand_shadow(s, i, 0, depth);
            LLVMPositionBuilderBefore(b, LLVMGetNextInstruction(i));
            return LLVMBuildExtractElement(b, first, LLVMGetOperand(i, 1), "");
        case LLVMInsertElement:
            first = operand_shadow(s, i, 0, depth), second = operand_shadow(s, i, 1, depth);
            LLVMPositionBuilderBefore(b, LLVMGetNextInstruction(i));
            return LLVMBuildInsertElement(b, first, second, LLVMGetOperand(i, 2), "");
        case LLVMShuffleVector: break;
        default: return mixed_shadow(s, i, depth);
    }
    LLVMValueRef order[64];
    unsigned count = LLVMGetNumMaskElements(i);
    s->failed |= count > 64;
    if (s->failed) return LLVMConstNull(shadow_type(s, LLVMTypeOf(i)));
    // Elements that are poison are never used.
    for (unsigned k = 0; k < count; k++) {
        int from = LLVMGetMaskValue(i, k);
        order[k] = from < 0 ? LLVMGetPoison(s->in->i32) : igi_simt_number32(s->in, (uint64_t)from);
    }
    first = operand_shadow(s, i, 0, depth), second = operand_shadow(s, i, 1, depth);
    LLVMPositionBuilderBefore(b, LLVMGetNextInstruction(i));
    return LLVMBuildFreeze(b, LLVMBuildShuffleVector(b, first, second, LLVMConstVector(order, count), ""), "");
}

static LLVMValueRef shadow_of(shadows *s, LLVMValueRef value, unsigned depth) {
    uint32_t number;
    LLVMValueRef none = LLVMConstNull(shadow_type(s, LLVMTypeOf(value)));
    if (!igi_map_get(&s->index, value, &number)) return none;
    if (s->made.items[number]) return s->made.items[number];
    s->failed |= depth == 0;
    if (s->failed) return none;
    if (LLVMIsAPHINode(value)) {
        LLVMPositionBuilderBefore(s->in->builder, value);
        return s->made.items[number] = LLVMBuildPhi(s->in->builder, LLVMTypeOf(none), "");
    }
    LLVMValueRef made = make_shadow(s, value, depth - 1);
    return s->made.items[number] = made;
}

static void complete_phi(shadows *s, LLVMValueRef phi, LLVMValueRef shadow) {
    for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
        LLVMValueRef incoming = shadow_of(s, LLVMGetIncomingValue(phi, k), MOST_DEPTH);
        LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, k);
        LLVMAddIncoming(shadow, &incoming, &from, 1);
    }
}

// ---- Where they get out ----

// A vector of three is stored as four elements, of which the last is padding.
static LLVMValueRef meaningful_shadow(shadows *s, LLVMValueRef user, LLVMValueRef value) {
    if (LLVMIsAStoreInst(user) && LLVMIsAShuffleVectorInst(value)) {
        LLVMValueRef first = LLVMGetOperand(value, 0);
        unsigned count = LLVMGetNumMaskElements(value), whole = LLVMGetVectorSize(LLVMTypeOf(first));
        bool widened = count > whole;
        for (unsigned i = 0; i < count && widened; i++)
            widened = LLVMGetMaskValue(value, i) == (i < whole ? (int)i : LLVMGetUndefMaskElem());
        if (widened) value = first;
    }
    return shadow_of(s, value, MOST_DEPTH);
}

static bool matters(LLVMValueRef user) {
    const char *name = igi_simt_callee_name(user);
    return !is_computation(user) && strncmp(name, "llvm.lifetime.", 14) != 0 &&
           strncmp(name, IGI_CHECKED_PREFIX, sizeof IGI_CHECKED_PREFIX - 1) != 0;
}

static void guard_uses(shadows *s, LLVMValueRef value) {
    igi_simt_values users = {0};
    for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use))
        if (matters(LLVMGetUser(use))) s->in->failed |= !igi_simt_values_add(&users, LLVMGetUser(use));
    for (size_t i = 0; i < users.count && !s->failed; i++) {
        LLVMValueRef shadow = meaningful_shadow(s, users.items[i], value);
        LLVMPositionBuilderBefore(s->in->builder, users.items[i]);
        igi_simt_suspect_unless(s->in, LLVMBuildNot(s->in->builder, any_of(s, shadow), ""));
    }
    igi_simt_values_free(&users);
}

// ---- All of it ----

// Of a structure, its parts.
static void add_unwritten(shadows *s, LLVMValueRef value) {
    if (has_bits(LLVMTypeOf(value))) {
        add(s, value, LLVMConstAllOnes(shadow_type(s, LLVMTypeOf(value))));
        return;
    }
    for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (LLVMIsAExtractValueInst(user))
            add_unwritten(s, user);
        else
            s->failed = true;
    }
}

static void add_sources(shadows *s) {
    igi_simt_values all;
    for (size_t i = 0; i < s->in->doubtful.count; i++) add(s, s->in->doubtful.items[i], s->in->doubts.items[i]);
    if (!igi_simt_collect(s->in->m->thread, igi_simt_is_unwritten_call, &all)) {
        s->in->failed = true;
        return;
    }
    for (size_t i = 0; i < all.count; i++) add_unwritten(s, all.items[i]);
    igi_simt_values_free(&all);
}

void igi_simt_touch_unwritten(igi_simt_instrumenter *in) {
    shadows s = {.in = in};
    LLVMSetCurrentDebugLocation2(in->builder, NULL);
    add_sources(&s);
    if (!s.failed) follow(&s);
    for (size_t i = 0; i < s.values.count && !s.failed && !in->failed; i++)
        if (LLVMIsAPHINode(s.values.items[i])) shadow_of(&s, s.values.items[i], MOST_DEPTH);
    for (size_t i = 0; i < s.values.count && !s.failed && !in->failed; i++) guard_uses(&s, s.values.items[i]);
    for (size_t i = 0; i < s.values.count && !in->failed; i++)
        if (LLVMIsAPHINode(s.values.items[i]) && s.made.items[i]) complete_phi(&s, s.values.items[i], s.made.items[i]);
    if (s.failed) igi_simt_suspect_always(in);
    igi_map_free(&s.index);
    igi_simt_values_free(&s.values);
    igi_simt_values_free(&s.made);
}
