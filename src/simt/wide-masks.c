// SPDX-License-Identifier: Apache-2.0
// Without mask registers, a comparison gives a mask as wide as what it compares, and that is what blends and masked
// accesses take. LLVM's code generator narrows masks that are combined, or used in another block, to bytes, and widens
// them again for every use. Here they stay integers of 32 bits, 0 or -1, of which the top bit counts.
#include <string.h>

#include "core/memory.h"
#include "core/pointer-map.h"
#include "simt/ir.h"
#include "simt/passes.h"
#include "simt/target.h"

enum { FEWEST_LANES = 8 };

typedef struct masks {
    igi_simt_module *m;
    LLVMBuilderRef builder;
    LLVMTypeRef i32;
    igi_simt_values found;  // vectors of bits
    LLVMValueRef *wide;     // of each; NULL: it stays
    bool *stays;
    igi_pointer_map index;
} masks;

// ---- Which ----

static bool is_mask_type(LLVMTypeRef type) {
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind && LLVMGetVectorSize(type) >= FEWEST_LANES &&
           LLVMGetTypeKind(LLVMGetElementType(type)) == LLVMIntegerTypeKind &&
           LLVMGetIntTypeWidth(LLVMGetElementType(type)) == 1;
}

static bool is_logic(LLVMValueRef i) {
    switch (LLVMGetInstructionOpcode(i)) {
        case LLVMAnd:
        case LLVMOr:
        case LLVMXor:
        case LLVMFreeze:
        case LLVMPHI: return true;
        case LLVMSelect: return !is_mask_type(LLVMTypeOf(LLVMGetOperand(i, 0)));
        default: return false;
    }
}

static bool compares_words(LLVMValueRef i) {
    if (!LLVMIsACmpInst(i)) return false;
    LLVMTypeRef element = LLVMGetElementType(LLVMTypeOf(LLVMGetOperand(i, 0)));
    LLVMTypeKind kind = LLVMGetTypeKind(element);
    return kind == LLVMFloatTypeKind || (kind == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(element) == 32);
}

static bool is_candidate(LLVMValueRef i) {
    return is_mask_type(LLVMTypeOf(i)) && (is_logic(i) || compares_words(i));
}

static bool find(const masks *s, LLVMValueRef value, uint32_t *number) {
    return LLVMIsAInstruction(value) && igi_map_get(&s->index, value, number) && !s->stays[*number];
}

static bool has_wide_operands(const masks *s, LLVMValueRef i) {
    uint32_t number;
    if (LLVMIsACmpInst(i)) return true;
    for (int k = LLVMIsASelectInst(i) ? 1 : 0; k < LLVMGetNumOperands(i); k++) {
        LLVMValueRef operand = LLVMGetOperand(i, (unsigned)k);
        bool constant = LLVMIsAConstantVector(operand) || LLVMIsAConstantDataVector(operand) ||
                        LLVMIsAConstantAggregateZero(operand) || LLVMIsUndef(operand);
        if (!constant && !find(s, operand, &number)) return false;
    }
    return true;
}

// What is compared and used at once needs no help.
static bool is_worthwhile(const masks *s, LLVMValueRef i) {
    uint32_t number;
    if (!LLVMIsACmpInst(i)) return true;
    for (LLVMUseRef use = LLVMGetFirstUse(i); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (LLVMGetInstructionParent(user) != LLVMGetInstructionParent(i) || find(s, user, &number)) return true;
    }
    return false;
}

static void choose(masks *s) {
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t k = 0; k < s->found.count; k++)
            if (!s->stays[k] && !has_wide_operands(s, s->found.items[k])) s->stays[k] = changed = true;
    }
    for (uint32_t k = 0; k < s->found.count; k++)
        if (!s->stays[k] && !is_worthwhile(s, s->found.items[k])) s->stays[k] = true;
}

// ---- Making them wide ----

static LLVMTypeRef words_like(const masks *s, LLVMTypeRef type) {
    return LLVMVectorType(s->i32, LLVMGetVectorSize(type));
}

static LLVMValueRef wide_constant(const masks *s, LLVMValueRef value) {
    LLVMTypeRef type = words_like(s, LLVMTypeOf(value));
    LLVMValueRef items[IGI_MAX_WIDTH];
    if (LLVMIsUndef(value)) return LLVMGetUndef(type);
    for (unsigned k = 0; k < LLVMGetVectorSize(type); k++) {
        LLVMValueRef bit = LLVMGetAggregateElement(value, k);
        bool set = bit && LLVMIsAConstantInt(bit) && LLVMConstIntGetZExtValue(bit);
        items[k] = set ? LLVMConstAllOnes(s->i32) : LLVMConstNull(s->i32);
    }
    return LLVMConstVector(items, LLVMGetVectorSize(type));
}

static LLVMValueRef wide_of(const masks *s, LLVMValueRef value) {
    uint32_t number;
    return find(s, value, &number) ? s->wide[number] : wide_constant(s, value);
}

// Phi nodes first, which others may need and which get their values last.
static void make_phi(masks *s, uint32_t number) {
    LLVMValueRef i = s->found.items[number];
    LLVMPositionBuilderBefore(s->builder, i);
    s->wide[number] = LLVMBuildPhi(s->builder, words_like(s, LLVMTypeOf(i)), "mask");
}

static void fill_phi(const masks *s, uint32_t number) {
    LLVMValueRef i = s->found.items[number];
    for (unsigned k = 0; k < LLVMCountIncoming(i); k++) {
        LLVMValueRef value = wide_of(s, LLVMGetIncomingValue(i, k));
        LLVMBasicBlockRef from = LLVMGetIncomingBlock(i, k);
        LLVMAddIncoming(s->wide[number], &value, &from, 1);
    }
}

static LLVMValueRef build(masks *s, LLVMValueRef i) {
    LLVMBuilderRef b = s->builder;
    if (LLVMIsACmpInst(i)) return LLVMBuildSExt(b, i, words_like(s, LLVMTypeOf(i)), "mask");
    LLVMValueRef first = wide_of(s, LLVMGetOperand(i, LLVMIsASelectInst(i) ? 1 : 0));
    if (LLVMIsAFreezeInst(i)) return LLVMBuildFreeze(b, first, "mask");
    if (LLVMIsASelectInst(i))
        return LLVMBuildSelect(b, LLVMGetOperand(i, 0), first, wide_of(s, LLVMGetOperand(i, 2)), "mask");
    return LLVMBuildBinOp(b, LLVMGetInstructionOpcode(i), first, wide_of(s, LLVMGetOperand(i, 1)), "mask");
}

// Operands before what uses them, in whatever order blocks are.
static void make_wide(masks *s, uint32_t number) {
    LLVMValueRef i = s->found.items[number];
    if (s->wide[number]) return;
    for (int k = LLVMIsASelectInst(i) ? 1 : 0; k < LLVMGetNumOperands(i) && !LLVMIsACmpInst(i); k++) {
        uint32_t operand;
        if (find(s, LLVMGetOperand(i, (unsigned)k), &operand)) make_wide(s, operand);
    }
    LLVMPositionBuilderBefore(s->builder, LLVMGetNextInstruction(i));
    s->wide[number] = build(s, i);
}

// ---- Using them ----

static LLVMValueRef narrow(masks *s, LLVMValueRef wide) {
    return LLVMBuildICmp(s->builder, LLVMIntSLT, wide, LLVMConstNull(LLVMTypeOf(wide)), "");
}

static LLVMValueRef half_of(masks *s, LLVMValueRef wide, unsigned first, unsigned count) {
    LLVMValueRef from[IGI_MAX_WIDTH];
    for (unsigned k = 0; k < count; k++) from[k] = LLVMConstInt(s->i32, first + k, 0);
    return LLVMBuildShuffleVector(s->builder, wide, LLVMGetPoison(LLVMTypeOf(wide)), LLVMConstVector(from, count), "");
}

// Whether bits are compared with none or all of a mask.
static bool tests_bits(LLVMValueRef test, LLVMValueRef bits, bool *all) {
    if (!LLVMIsAICmpInst(test) || LLVMGetOperand(test, 0) != bits) return false;
    LLVMIntPredicate predicate = LLVMGetICmpPredicate(test);
    LLVMValueRef with = LLVMGetOperand(test, 1);
    *all = LLVMIsAConstantInt(with) && LLVMConstIntGetSExtValue(with) == -1;
    return (predicate == LLVMIntEQ || predicate == LLVMIntNE) && LLVMIsAConstantInt(with) &&
           (*all || LLVMConstIntGetZExtValue(with) == 0);
}

// Of one register, since others would only be combined again.
static void test_register(masks *s, LLVMValueRef test, LLVMValueRef wide, bool all) {
    LLVMBuilderRef b = s->builder;
    LLVMPositionBuilderBefore(b, test);
    for (unsigned lanes = LLVMGetVectorSize(LLVMTypeOf(wide)); lanes > FEWEST_LANES; lanes /= 2) {
        LLVMValueRef low = half_of(s, wide, 0, lanes / 2), high = half_of(s, wide, lanes / 2, lanes / 2);
        wide = all ? LLVMBuildAnd(b, low, high, "") : LLVMBuildOr(b, low, high, "");
    }
    LLVMTypeRef bits = LLVMIntTypeInContext(s->m->context, FEWEST_LANES);
    LLVMValueRef left = LLVMBuildBitCast(b, narrow(s, wide), bits, "");
    LLVMValueRef right = all ? LLVMConstAllOnes(bits) : LLVMConstNull(bits);
    LLVMReplaceAllUsesWith(test, LLVMBuildICmp(b, LLVMGetICmpPredicate(test), left, right, ""));
    LLVMInstructionEraseFromParent(test);
}

static bool is_power_of_two(unsigned lanes) {
    return (lanes & (lanes - 1)) == 0;
}

// Returns true if nothing uses the bits any more.
static bool test_wide(masks *s, LLVMValueRef bits, LLVMValueRef wide) {
    bool all;
    if (!LLVMIsABitCastInst(bits) || !is_power_of_two(LLVMGetVectorSize(LLVMTypeOf(wide)))) return false;
    for (LLVMUseRef use = LLVMGetFirstUse(bits), next; use; use = next) {
        LLVMValueRef user = LLVMGetUser(use);
        next = LLVMGetNextUse(use);
        if (tests_bits(user, bits, &all)) test_register(s, user, wide, all);
    }
    if (LLVMGetFirstUse(bits)) return false;
    LLVMInstructionEraseFromParent(bits);
    return true;
}

static void use_wide(masks *s, LLVMValueRef user, LLVMValueRef value, LLVMValueRef wide) {
    if (LLVMIsASExtInst(user) && LLVMTypeOf(user) == LLVMTypeOf(wide)) {
        if (user != wide) LLVMReplaceAllUsesWith(user, wide);
        return;
    }
    if (test_wide(s, user, wide)) return;
    for (int k = 0; k < LLVMGetNumOperands(user); k++) {
        if (LLVMGetOperand(user, (unsigned)k) != value) continue;
        LLVMPositionBuilderBefore(s->builder, LLVMIsAPHINode(user)
                                                  ? LLVMGetBasicBlockTerminator(LLVMGetIncomingBlock(user, (unsigned)k))
                                                  : user);
        LLVMSetOperand(user, (unsigned)k, narrow(s, wide));
    }
}

static bool replace_uses(masks *s, uint32_t number) {
    LLVMValueRef value = s->found.items[number];
    igi_simt_values users = {0};
    bool ok = true;
    uint32_t other;
    for (LLVMUseRef use = LLVMGetFirstUse(value); use && ok; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        bool again = users.count && users.items[users.count - 1] == user;
        if (!again && user != s->wide[number] && !find(s, user, &other)) ok = igi_simt_values_add(&users, user);
    }
    for (size_t k = 0; k < users.count && ok; k++) use_wide(s, users.items[k], value, s->wide[number]);
    igi_simt_values_free(&users);
    return ok;
}

// Those that were replaced use each other, in circles where there are loops.
static void remove_replaced(masks *s) {
    for (uint32_t k = 0; k < s->found.count; k++)
        if (!s->stays[k] && !LLVMIsACmpInst(s->found.items[k]))
            LLVMReplaceAllUsesWith(s->found.items[k], LLVMGetPoison(LLVMTypeOf(s->found.items[k])));
    for (uint32_t k = 0; k < s->found.count; k++)
        if (!s->stays[k] && !LLVMIsACmpInst(s->found.items[k])) LLVMInstructionEraseFromParent(s->found.items[k]);
}

static bool widen_masks(masks *s) {
    bool ok = true;
    choose(s);
    for (uint32_t k = 0; k < s->found.count; k++)
        if (!s->stays[k] && LLVMIsAPHINode(s->found.items[k])) make_phi(s, k);
    for (uint32_t k = 0; k < s->found.count; k++)
        if (!s->stays[k]) make_wide(s, k);
    for (uint32_t k = 0; k < s->found.count; k++)
        if (!s->stays[k] && LLVMIsAPHINode(s->found.items[k])) fill_phi(s, k);
    for (uint32_t k = 0; k < s->found.count && ok; k++)
        if (!s->stays[k]) ok = replace_uses(s, k);
    if (ok) remove_replaced(s);
    return ok;
}

static bool widen_in(igi_simt_module *m, LLVMValueRef function) {
    masks s = {.m = m, .builder = LLVMCreateBuilderInContext(m->context), .i32 = LLVMInt32TypeInContext(m->context)};
    bool ok = igi_simt_collect(function, is_candidate, &s.found);
    if (ok && s.found.count) {
        s.wide = igi_calloc(s.found.count, sizeof *s.wide);
        s.stays = igi_calloc(s.found.count, sizeof *s.stays);
        ok = s.wide && s.stays;
        for (uint32_t k = 0; k < s.found.count && ok; k++) ok = igi_map_set(&s.index, s.found.items[k], k);
        ok = ok && widen_masks(&s);
    }
    free(s.wide), free(s.stays);
    igi_map_free(&s.index);
    igi_simt_values_free(&s.found);
    LLVMDisposeBuilder(s.builder);
    return ok;
}

ig_status igi_simt_pass_wide_masks(igi_simt_module *m) {
    if (!igi_simt_has_few_registers() || !strstr(igi_simt_features(), "+avx2") || m->request->first_tier)
        return IG_STATUS_OK;
    for (LLVMValueRef f = LLVMGetFirstFunction(m->module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f) && !widen_in(m, f)) return igi_error_no_memory(m->error);
    return IG_STATUS_OK;
}
