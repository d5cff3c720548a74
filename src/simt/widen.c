// SPDX-License-Identifier: Apache-2.0
// Values and instructions of a group of lanes.
#include "simt/widen.h"

#include <assert.h>
#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "core/memory.h"
#include "simt/ir.h"

void igi_simt_decline(igi_simt_widener *w, const char *why, LLVMValueRef where) {
    if (w->declined) return;
    w->declined = why;
    w->declined_at = where;
}

// ---- Vectors ----

LLVMTypeRef igi_simt_widen_type(const igi_simt_widener *w, LLVMTypeRef scalar) {
    return LLVMVectorType(scalar, w->width);
}

LLVMValueRef igi_simt_lane_numbers(const igi_simt_widener *w, LLVMTypeRef type, int64_t first, int64_t step) {
    LLVMValueRef items[IGI_MAX_WIDTH];
    for (uint32_t i = 0; i < w->width; i++) items[i] = LLVMConstInt(type, (uint64_t)(first + step * (int64_t)i), 1);
    return LLVMConstVector(items, w->width);
}

LLVMValueRef igi_simt_count_up(const igi_simt_widener *w, uint32_t count) {
    LLVMValueRef items[IGI_MAX_WIDTH];
    assert(count <= IGI_MAX_WIDTH);
    for (uint32_t i = 0; i < count; i++) items[i] = LLVMConstInt(w->i32, i, 0);
    return LLVMConstVector(items, count);
}

LLVMValueRef igi_simt_spread(igi_simt_widener *w, LLVMValueRef scalar, uint32_t lanes) {
    LLVMTypeRef type = LLVMVectorType(LLVMTypeOf(scalar), lanes);
    if (LLVMIsConstant(scalar)) {
        LLVMValueRef items[IGI_MAX_WIDTH];
        for (uint32_t i = 0; i < lanes; i++) items[i] = scalar;
        return LLVMConstVector(items, lanes);
    }
    LLVMValueRef one = LLVMBuildInsertElement(w->builder, LLVMGetPoison(type), scalar, LLVMConstInt(w->i32, 0, 0), "");
    LLVMValueRef zeros = LLVMConstNull(LLVMVectorType(w->i32, lanes));
    return LLVMBuildShuffleVector(w->builder, one, LLVMGetPoison(type), zeros, "");
}

LLVMValueRef igi_simt_splat_value(igi_simt_widener *w, LLVMValueRef scalar) {
    return igi_simt_spread(w, scalar, w->width);
}

LLVMValueRef igi_simt_shuffle_mask(const igi_simt_widener *w, const uint32_t *indices, uint32_t count) {
    LLVMValueRef items[2 * IGI_MAX_WIDTH];
    for (uint32_t i = 0; i < count; i++) items[i] = LLVMConstInt(w->i32, indices[i], 0);
    return LLVMConstVector(items, count);
}

LLVMValueRef igi_simt_shuffle(igi_simt_widener *w, LLVMValueRef a, LLVMValueRef b, const uint32_t *from,
                              uint32_t count) {
    if (!b) b = LLVMGetPoison(LLVMTypeOf(a));
    return LLVMBuildShuffleVector(w->builder, a, b, igi_simt_shuffle_mask(w, from, count), "");
}

LLVMValueRef igi_simt_active_mask(igi_simt_widener *w) {
    return w->mask ? w->mask : LLVMConstAllOnes(w->mask_type);
}

bool igi_simt_has_all_lanes(const igi_simt_widener *w) {
    return !w->mask || LLVMIsConstant(w->mask);
}

LLVMValueRef igi_simt_all(igi_simt_widener *w, LLVMValueRef mask) {
    LLVMTypeRef bits = LLVMIntTypeInContext(w->m->context, w->width);
    LLVMValueRef all = LLVMBuildBitCast(w->builder, mask, bits, "");
    return LLVMBuildICmp(w->builder, LLVMIntEQ, all, LLVMConstAllOnes(bits), "");
}

LLVMValueRef igi_simt_any(igi_simt_widener *w, LLVMValueRef mask) {
    LLVMTypeRef bits = LLVMIntTypeInContext(w->m->context, w->width);
    LLVMValueRef all = LLVMBuildBitCast(w->builder, mask, bits, "");
    return LLVMBuildICmp(w->builder, LLVMIntNE, all, LLVMConstNull(bits), "");
}

// ---- Slots of vectors ----

static bool is_bits(const igi_simt_widener *w, LLVMTypeRef type) {
    return !w->mask_registers && LLVMGetTypeKind(type) == LLVMVectorTypeKind && LLVMGetElementType(type) == w->i1;
}

LLVMValueRef igi_simt_make_slot(igi_simt_widener *w, LLVMTypeRef type) {
    return LLVMBuildAlloca(w->slots, is_bits(w, type) ? igi_simt_widen_type(w, w->i32) : type, "");
}

static uint32_t lanes_of(LLVMTypeRef type) {
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetVectorSize(type) : 1;
}

// The vector with its upper lanes as they are in the slot.
static LLVMValueRef with_upper_lanes(igi_simt_widener *w, LLVMValueRef lower, LLVMValueRef slot) {
    LLVMTypeRef kept = LLVMGetAllocatedType(slot);
    uint32_t count = lanes_of(LLVMTypeOf(lower)), from[IGI_MAX_WIDTH];
    LLVMValueRef old = LLVMBuildLoad2(w->builder, kept, slot, "");
    LLVMValueRef parts[] = {lower, igi_simt_part(w, old, count, count)};
    for (uint32_t i = 0; i < 2 * count; i++) from[i] = i;
    return LLVMBuildShuffleVector(w->builder, parts[0], parts[1], igi_simt_shuffle_mask(w, from, 2 * count), "");
}

void igi_simt_store_slot(igi_simt_widener *w, LLVMValueRef value, LLVMValueRef slot) {
    LLVMTypeRef kept = LLVMGetAllocatedType(slot);
    uint32_t count = lanes_of(LLVMTypeOf(value));
    if (is_bits(w, LLVMTypeOf(value)))
        value = LLVMBuildSExt(w->builder, value, LLVMVectorType(LLVMGetElementType(kept), count), "");
    LLVMBuildStore(w->builder, count < lanes_of(kept) ? with_upper_lanes(w, value, slot) : value, slot);
}

LLVMValueRef igi_simt_load_slot(igi_simt_widener *w, LLVMTypeRef type, LLVMValueRef slot) {
    LLVMTypeRef kept = LLVMGetAllocatedType(slot);
    LLVMValueRef value = LLVMBuildLoad2(w->builder, kept, slot, "");
    if (lanes_of(type) < lanes_of(kept)) value = igi_simt_part(w, value, 0, lanes_of(type));
    return is_bits(w, type) ? LLVMBuildICmp(w->builder, LLVMIntSLT, value, LLVMConstNull(LLVMTypeOf(value)), "")
                            : value;
}

// ---- Where values are ----

static bool number_of(const igi_simt_widener *w, LLVMValueRef value, uint32_t *number) {
    return igi_map_get(&w->s.index, value, number);
}

// Code emitted elsewhere may not dominate the code emitted now.
static void forget_other_emissions(igi_simt_widener *w, uint32_t number) {
    if (w->known_in[number] == w->emission) return;
    w->known_in[number] = w->emission;
    w->scalar[number] = w->wide[number] = NULL;
}

static LLVMValueRef argument(igi_simt_widener *w, LLVMValueRef value) {
    for (unsigned i = 0; i < LLVMCountParams(w->from); i++)
        if (LLVMGetParam(w->from, i) == value) return LLVMGetParam(w->to, i);
    return value;
}

static LLVMValueRef load_scalar(igi_simt_widener *w, uint32_t number) {
    LLVMValueRef slot = w->slot[number];
    return LLVMBuildLoad2(w->builder, LLVMGetAllocatedType(slot), slot, "");
}

// It follows from the lane's number alone: what is made of it, such as the order of a shuffle, is constant too.
static LLVMValueRef known_first(LLVMValueRef value, igi_simt_shape shape) {
    return LLVMConstInt(LLVMTypeOf(value), (uint64_t)shape.first, 1);
}

LLVMValueRef igi_simt_widen_scalar(igi_simt_widener *w, LLVMValueRef value) {
    uint32_t number;
    if (LLVMIsAArgument(value)) return argument(w, value);
    if (!LLVMIsAInstruction(value) || !number_of(w, value, &number)) return value;
    igi_simt_shape shape = igi_simt_shape_of(&w->s, value);
    if (shape.known) return known_first(value, shape);
    forget_other_emissions(w, number);
    if (!w->scalar[number] && w->slot[number]) w->scalar[number] = load_scalar(w, number);
    if (!w->scalar[number]) {
        igi_simt_decline(w, "a value is not where it is needed", value);
        return LLVMGetPoison(LLVMTypeOf(value));
    }
    return w->scalar[number];
}

static LLVMValueRef lane_offsets(const igi_simt_widener *w, LLVMTypeRef type, igi_simt_shape shape) {
    LLVMValueRef items[IGI_MAX_WIDTH];
    for (uint32_t i = 0; i < w->width; i++)
        items[i] = LLVMConstInt(type, (uint64_t)igi_simt_lane_offset(&w->s, shape, i), 1);
    return LLVMConstVector(items, w->width);
}

// first lane's value + the lane's distance from it
static LLVMValueRef expand(igi_simt_widener *w, LLVMValueRef scalar, igi_simt_shape shape) {
    LLVMTypeRef type = LLVMTypeOf(scalar);
    if (shape.kind == IGI_SHAPE_UNIFORM) return igi_simt_splat_value(w, scalar);
    if (LLVMGetTypeKind(type) == LLVMPointerTypeKind) {
        LLVMValueRef offsets = lane_offsets(w, w->i64, shape);
        return LLVMBuildGEP2(w->builder, w->i8, scalar, &offsets, 1, "");
    }
    return LLVMBuildAdd(w->builder, igi_simt_splat_value(w, scalar), lane_offsets(w, type, shape), "");
}

static bool is_vector_shape(igi_simt_shape shape) {
    return shape.kind == IGI_SHAPE_VARYING || shape.kind == IGI_SHAPE_MATRIX;
}

// As it is stored: in the order of lanes, or in matrix order.
static LLVMValueRef kept_vector(igi_simt_widener *w, LLVMValueRef value, igi_simt_shape shape, uint32_t number) {
    forget_other_emissions(w, number);
    if (w->wide[number]) return w->wide[number];
    if (!is_vector_shape(shape)) {
        w->wide[number] = expand(w, igi_simt_widen_scalar(w, value), shape);
    } else if (w->slot[number]) {
        w->wide[number] = igi_simt_load_slot(w, igi_simt_widen_type(w, LLVMTypeOf(value)), w->slot[number]);
    } else {
        igi_simt_decline(w, "a value is not where it is needed", value);
        return LLVMGetPoison(igi_simt_widen_type(w, LLVMTypeOf(value)));
    }
    return w->wide[number];
}

LLVMValueRef igi_simt_widen_vector(igi_simt_widener *w, LLVMValueRef value) {
    uint32_t number;
    igi_simt_shape shape = igi_simt_shape_of(&w->s, value);
    bool instruction = LLVMIsAInstruction(value) && number_of(w, value, &number);
    if (!instruction) return expand(w, igi_simt_widen_scalar(w, value), shape);
    LLVMValueRef kept = kept_vector(w, value, shape, number);
    return shape.kind == IGI_SHAPE_MATRIX && !w->matrix_order ? igi_simt_matrix_to_lanes(w, kept) : kept;
}

void igi_simt_widen_set(igi_simt_widener *w, LLVMValueRef value, LLVMValueRef scalar, LLVMValueRef wide) {
    uint32_t number;
    if (!number_of(w, value, &number)) return;
    forget_other_emissions(w, number);
    w->scalar[number] = scalar;
    w->wide[number] = wide;
    igi_simt_name_like(scalar, value);
    igi_simt_name_like(wide, value);
    if (w->slot[number]) igi_simt_store_slot(w, scalar ? scalar : wide, w->slot[number]);
}

// ---- Scalars ----

// What held for each thread may not hold for the first lane, which may be inactive.
static void drop_promises(LLVMValueRef i) {
    switch (LLVMGetInstructionOpcode(i)) {
        case LLVMAdd:
        case LLVMSub:
        case LLVMMul:
        case LLVMShl:
            LLVMSetNUW(i, 0);
            LLVMSetNSW(i, 0);
            break;
        case LLVMGetElementPtr: LLVMSetIsInBounds(i, 0); break;
        case LLVMZExt: LLVMSetNNeg(i, 0); break;
        case LLVMLShr:
        case LLVMAShr:
        case LLVMUDiv:
        case LLVMSDiv: LLVMSetExact(i, 0); break;
        default: break;
    }
}

// A disjoint `or` is an add; lane 0 may be inactive, and its operands may overlap.
static bool add_disjoint(igi_simt_widener *w, LLVMValueRef i) {
    if (LLVMGetInstructionOpcode(i) != LLVMOr || !LLVMGetIsDisjoint(i)) return false;
    LLVMValueRef a = igi_simt_widen_scalar(w, LLVMGetOperand(i, 0)), b = igi_simt_widen_scalar(w, LLVMGetOperand(i, 1));
    igi_simt_widen_set(w, i, LLVMBuildAdd(w->builder, a, b, ""), NULL);
    return true;
}

static void clone_scalar(igi_simt_widener *w, LLVMValueRef i, bool is_linear) {
    if (is_linear && add_disjoint(w, i)) return;
    LLVMValueRef copy = LLVMInstructionClone(i);
    for (int k = 0; k < LLVMGetNumOperands(i); k++) {
        LLVMValueRef operand = LLVMGetOperand(i, (unsigned)k);
        if (LLVMIsAFunction(operand) || LLVMValueIsBasicBlock(operand)) continue;
        LLVMSetOperand(copy, (unsigned)k, igi_simt_widen_scalar(w, operand));
    }
    LLVMInsertIntoBuilder(w->builder, copy);
    if (is_linear) drop_promises(copy);
    if (LLVMGetTypeKind(LLVMTypeOf(i)) != LLVMVoidTypeKind) igi_simt_widen_set(w, i, copy, NULL);
}

// Unsigned values may wrap in the lower lanes, as in a[i - 1] with i == 0 in an inactive lane: the highest lane must be
// extended.
static void extend_highest(igi_simt_widener *w, LLVMValueRef i, igi_simt_shape shape) {
    LLVMValueRef operand = LLVMGetOperand(i, 0), narrow = igi_simt_widen_scalar(w, operand);
    LLVMTypeRef from = LLVMTypeOf(operand), to = LLVMTypeOf(i);
    int64_t reach = 0;
    for (uint32_t lane = 0; lane < w->width; lane++) {
        int64_t offset = igi_simt_lane_offset(&w->s, shape, lane);
        if (offset > reach) reach = offset;
    }
    LLVMValueRef highest = LLVMBuildAdd(w->builder, narrow, LLVMConstInt(from, (uint64_t)reach, 1), "");
    LLVMValueRef wide = LLVMBuildZExt(w->builder, highest, to, "");
    igi_simt_widen_set(w, i, LLVMBuildSub(w->builder, wide, LLVMConstInt(to, (uint64_t)reach, 1), ""), NULL);
}

// ---- Vectors ----

static void copy_fast_math(LLVMValueRef from, LLVMValueRef to) {
    if (LLVMIsAInstruction(to) && LLVMCanValueUseFastMathFlags(from) && LLVMCanValueUseFastMathFlags(to))
        LLVMSetFastMathFlags(to, LLVMGetFastMathFlags(from));
}

static LLVMValueRef operand(igi_simt_widener *w, LLVMValueRef i, unsigned k) {
    return igi_simt_widen_vector(w, LLVMGetOperand(i, k));
}

// One bit is enough to choose between all lanes of two vectors.
static LLVMValueRef choice(igi_simt_widener *w, LLVMValueRef select) {
    LLVMValueRef condition = LLVMGetOperand(select, 0);
    bool one = igi_simt_shape_of(&w->s, condition).kind == IGI_SHAPE_UNIFORM && LLVMTypeOf(select) != w->i1;
    return one ? igi_simt_widen_scalar(w, condition) : igi_simt_widen_vector(w, condition);
}

static LLVMValueRef wide_address(igi_simt_widener *w, LLVMValueRef gep) {
    LLVMValueRef base = LLVMGetOperand(gep, 0), indices[IGI_MAX_INDICES];
    bool scalar_base = igi_simt_shape_of(&w->s, base).kind == IGI_SHAPE_UNIFORM;
    int count = LLVMGetNumOperands(gep) - 1;
    if (count > IGI_MAX_INDICES) {
        igi_simt_decline(w, "an address with more than 64 indices", gep);
        return LLVMGetUndef(igi_simt_widen_type(w, LLVMTypeOf(gep)));
    }
    for (int k = 0; k < count; k++) {
        LLVMValueRef index = LLVMGetOperand(gep, (unsigned)k + 1);
        bool constant = LLVMIsAConstantInt(index) != NULL;
        indices[k] = constant ? index : igi_simt_widen_vector(w, index);
    }
    LLVMValueRef from = scalar_base ? igi_simt_widen_scalar(w, base) : igi_simt_widen_vector(w, base);
    LLVMValueRef address =
        LLVMBuildGEP2(w->builder, LLVMGetGEPSourceElementType(gep), from, indices, (unsigned)count, "");
    bool vector = LLVMGetTypeKind(LLVMTypeOf(address)) == LLVMVectorTypeKind;
    return vector ? address : igi_simt_splat_value(w, address);
}

// Intrinsics that mean the same for vectors: overloaded on the result, or on result and first operand.
static const struct {
    const char *prefix;
    int overloads;
} vector_intrinsics[] = {
    {"llvm.fma.", 1},
    {"llvm.fmuladd.", 1},
    {"llvm.sqrt.", 1},
    {"llvm.fabs.", 1},
    {"llvm.floor.", 1},
    {"llvm.ceil.", 1},
    {"llvm.trunc.", 1},
    {"llvm.rint.", 1},
    {"llvm.nearbyint.", 1},
    {"llvm.round.", 1},
    {"llvm.roundeven.", 1},
    {"llvm.minnum.", 1},
    {"llvm.maxnum.", 1},
    {"llvm.minimum.", 1},
    {"llvm.maximum.", 1},
    {"llvm.copysign.", 1},
    {"llvm.ctpop.", 1},
    {"llvm.ctlz.", 1},
    {"llvm.cttz.", 1},
    {"llvm.bswap.", 1},
    {"llvm.bitreverse.", 1},
    {"llvm.abs.", 1},
    {"llvm.smax.", 1},
    {"llvm.smin.", 1},
    {"llvm.umax.", 1},
    {"llvm.umin.", 1},
    {"llvm.fshl.", 1},
    {"llvm.fshr.", 1},
    {"llvm.sadd.sat.", 1},
    {"llvm.uadd.sat.", 1},
    {"llvm.ssub.sat.", 1},
    {"llvm.usub.sat.", 1},
    {"llvm.fptosi.sat.", 2},
    {"llvm.fptoui.sat.", 2},
    {"llvm.canonicalize.", 1},
    {"llvm.is.fpclass.", 3},
    {"llvm.arithmetic.fence.", 1},
};

enum { MOST_ARGUMENTS = 4 };  // of those above

static LLVMValueRef wide_intrinsic(igi_simt_widener *w, LLVMValueRef call, int overloads) {
    LLVMValueRef callee = LLVMGetCalledValue(call), arguments[MOST_ARGUMENTS];
    unsigned count = LLVMGetNumArgOperands(call);
    assert(count <= MOST_ARGUMENTS);
    for (unsigned k = 0; k < count; k++) {
        LLVMValueRef given = LLVMGetOperand(call, k);
        // Flags of ctlz, abs and is.fpclass are not lanes.
        LLVMTypeRef type = LLVMTypeOf(given);
        bool flag = LLVMIsAConstantInt(given) && type != LLVMTypeOf(LLVMGetOperand(call, 0)) && k > 0;
        arguments[k] = flag ? given : igi_simt_widen_vector(w, given);
    }
    LLVMTypeRef result = igi_simt_widen_type(w, LLVMTypeOf(call));
    LLVMTypeRef first = igi_simt_widen_type(w, LLVMTypeOf(LLVMGetOperand(call, 0)));
    LLVMTypeRef types[2] = {overloads == 3 ? first : result, first};
    LLVMValueRef function =
        LLVMGetIntrinsicDeclaration(w->m->module, LLVMGetIntrinsicID(callee), types, overloads == 2 ? 2 : 1);
    return LLVMBuildCall2(w->builder, LLVMGlobalGetValueType(function), function, arguments, count, "");
}

static bool means_nothing(const char *name) {
    return strncmp(name, "llvm.assume", 11) == 0 || strncmp(name, "llvm.lifetime.", 14) == 0 ||
           strncmp(name, "llvm.experimental.noalias", 25) == 0 || strncmp(name, "llvm.dbg.", 9) == 0 ||
           strncmp(name, "llvm.invariant.", 15) == 0;
}

static void widen_call(igi_simt_widener *w, LLVMValueRef call) {
    const char *name = igi_simt_callee_name(call);
    for (size_t i = 0; i < sizeof vector_intrinsics / sizeof *vector_intrinsics; i++) {
        if (strncmp(name, vector_intrinsics[i].prefix, strlen(vector_intrinsics[i].prefix)) != 0) continue;
        LLVMValueRef wide = wide_intrinsic(w, call, vector_intrinsics[i].overloads);
        copy_fast_math(call, wide);
        igi_simt_widen_set(w, call, NULL, wide);
        return;
    }
    igi_simt_widen_one_by_one(w, call);
}

static bool is_division(LLVMOpcode opcode) {
    return opcode == LLVMUDiv || opcode == LLVMSDiv || opcode == LLVMURem || opcode == LLVMSRem;
}

// Inactive lanes execute the division too, and may hold any value: dividing by zero is slow even there.
static LLVMValueRef safe_divisor(igi_simt_widener *w, LLVMValueRef division) {
    LLVMValueRef divisor = operand(w, division, 1);
    if (!w->mask || LLVMIsConstant(divisor)) return divisor;
    return LLVMBuildSelect(w->builder, w->mask, divisor, igi_simt_splat(LLVMTypeOf(divisor), 1, false), "");
}

static LLVMValueRef wide_value(igi_simt_widener *w, LLVMValueRef i) {
    LLVMOpcode opcode = LLVMGetInstructionOpcode(i);
    LLVMBuilderRef b = w->builder;
    switch (opcode) {
        case LLVMFNeg: return LLVMBuildFNeg(b, operand(w, i, 0), "");
        case LLVMICmp: return LLVMBuildICmp(b, LLVMGetICmpPredicate(i), operand(w, i, 0), operand(w, i, 1), "");
        case LLVMFCmp: return LLVMBuildFCmp(b, LLVMGetFCmpPredicate(i), operand(w, i, 0), operand(w, i, 1), "");
        case LLVMSelect: return LLVMBuildSelect(b, choice(w, i), operand(w, i, 1), operand(w, i, 2), "");
        case LLVMFreeze: return LLVMBuildFreeze(b, operand(w, i, 0), "");
        case LLVMGetElementPtr: return wide_address(w, i);
        default: break;
    }
    if (is_division(opcode)) return LLVMBuildBinOp(b, opcode, operand(w, i, 0), safe_divisor(w, i), "");
    if (LLVMIsABinaryOperator(i)) return LLVMBuildBinOp(b, opcode, operand(w, i, 0), operand(w, i, 1), "");
    if (LLVMIsACastInst(i))
        return LLVMBuildCast(b, opcode, operand(w, i, 0), igi_simt_widen_type(w, LLVMTypeOf(i)), "");
    return NULL;
}

static bool all_lanes_fit(LLVMValueRef i) {
    if (!igi_simt_is_scalar(LLVMTypeOf(i))) return false;
    for (int k = 0; k < LLVMGetNumOperands(i); k++)
        if (!igi_simt_is_scalar(LLVMTypeOf(LLVMGetOperand(i, (unsigned)k)))) return false;
    return true;
}

static void widen_varying(igi_simt_widener *w, LLVMValueRef i) {
    LLVMValueRef wide = all_lanes_fit(i) ? wide_value(w, i) : NULL;
    if (wide) {
        copy_fast_math(i, wide);
        igi_simt_widen_set(w, i, NULL, wide);
    } else if (LLVMIsACallInst(i)) {
        widen_call(w, i);
    } else {
        igi_simt_widen_one_by_one(w, i);
    }
}

// One copy for each lane, contiguous or interleaved.
static void widen_alloca(igi_simt_widener *w, LLVMValueRef i) {
    uint64_t bytes = igi_simt_private_bytes(&w->s, i) * w->width;
    LLVMValueRef memory = LLVMBuildAlloca(w->slots, LLVMArrayType2(w->i8, bytes), "");
    LLVMSetAlignment(memory, 64);
    igi_simt_widen_set(w, i, memory, NULL);
    igi_simt_note(w, IGI_REMARK_PRIVATE_ARRAY, i);
}

void igi_simt_widen_instruction(igi_simt_widener *w, LLVMValueRef i) {
    igi_simt_shape shape = igi_simt_shape_of(&w->s, i);
    bool is_line = shape.kind == IGI_SHAPE_LINEAR || shape.kind == IGI_SHAPE_PATTERN;
    LLVMOpcode opcode = LLVMGetInstructionOpcode(i);
    if (shape.known) return;  // a constant wherever it is used
    if (opcode == LLVMAlloca) {
        widen_alloca(w, i);
    } else if (opcode == LLVMCall && (means_nothing(igi_simt_callee_name(i)) || igi_simt_widen_lane_operation(w, i) ||
                                      igi_simt_widen_check(w, i))) {
        return;
    } else if (opcode == LLVMLoad) {
        igi_simt_widen_load(w, i);
    } else if (opcode == LLVMStore) {
        igi_simt_widen_store(w, i);
    } else if (opcode == LLVMZExt && is_line) {
        extend_highest(w, i, shape);
    } else if (shape.kind == IGI_SHAPE_UNIFORM || is_line) {
        clone_scalar(w, i, is_line);
    } else if (is_vector_shape(shape)) {
        w->matrix_order = shape.kind == IGI_SHAPE_MATRIX;
        widen_varying(w, i);
        w->matrix_order = false;
    } else {
        igi_simt_decline(w, "an unreachable instruction", i);
    }
}

// ---- Slots ----

static bool used_in_block(LLVMValueRef value, LLVMUseRef use, LLVMBasicBlockRef block) {
    LLVMValueRef user = LLVMGetUser(use);
    if (!LLVMIsAPHINode(user)) return LLVMGetInstructionParent(user) == block;
    for (unsigned k = 0; k < LLVMCountIncoming(user); k++)
        if (LLVMGetIncomingValue(user, k) == value && LLVMGetIncomingBlock(user, k) != block) return false;
    return true;
}

static bool crosses_blocks(LLVMValueRef value) {
    LLVMBasicBlockRef block = LLVMGetInstructionParent(value);
    for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use))
        if (!used_in_block(value, use, block)) return true;
    return false;
}

// Whether it is part of an address that is checked in another block (widen-guess.c).
static bool leads_to_address(const igi_simt_widener *w, LLVMValueRef value, int depth) {
    for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        LLVMOpcode opcode = LLVMGetInstructionOpcode(user);
        if (opcode != LLVMGetElementPtr && opcode != LLVMZExt && opcode != LLVMSExt && opcode != LLVMAdd) continue;
        if (igi_simt_shape_of(&w->s, user).kind != IGI_SHAPE_VARYING) continue;
        if (opcode == LLVMGetElementPtr ? crosses_blocks(user) : depth && leads_to_address(w, user, depth - 1))
            return true;
    }
    return false;
}

static LLVMValueRef make_slot(igi_simt_widener *w, LLVMValueRef value) {
    LLVMTypeRef type = LLVMTypeOf(value);
    if (is_vector_shape(igi_simt_shape_of(&w->s, value))) {
        if (!igi_simt_is_scalar(type)) return NULL;
        type = igi_simt_widen_type(w, type);
    }
    LLVMValueRef slot = igi_simt_make_slot(w, type);
    igi_simt_name_like(slot, value);
    return slot;
}

static void make_slots(igi_simt_widener *w) {
    for (uint32_t b = 0; b < w->s.cfg.count; b++) {
        LLVMBasicBlockRef block = w->s.cfg.blocks[b].block;
        if (w->s.masked[b]) {
            w->mask_slot[b] = igi_simt_make_slot(w, w->mask_type);
            igi_simt_set_name(w->mask_slot[b], "mask");
            LLVMBuildStore(w->slots, LLVMConstNull(LLVMGetAllocatedType(w->mask_slot[b])), w->mask_slot[b]);
            igi_simt_make_known_slots(w, b);
        }
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
            uint32_t number;
            if (!number_of(w, i, &number)) continue;
            if (LLVMIsAPHINode(i)) w->incoming[number] = make_slot(w, i);
            if (LLVMIsAPHINode(i) && !w->incoming[number]) igi_simt_decline(w, "a phi node of an odd type", i);
            if (LLVMGetTypeKind(LLVMTypeOf(i)) != LLVMVoidTypeKind && (crosses_blocks(i) || leads_to_address(w, i, 2)))
                w->slot[number] = make_slot(w, i);
        }
    }
}

// ---- The function ----

static void widen_phi(igi_simt_widener *w, LLVMValueRef phi) {
    uint32_t number;
    if (!number_of(w, phi, &number) || !w->incoming[number]) return;
    LLVMValueRef slot = w->incoming[number];
    bool is_varying = is_vector_shape(igi_simt_shape_of(&w->s, phi));
    LLVMTypeRef type = LLVMTypeOf(phi);
    LLVMValueRef value = igi_simt_load_slot(w, is_varying ? igi_simt_widen_type(w, type) : type, slot);
    igi_simt_widen_set(w, phi, is_varying ? NULL : value, is_varying ? value : NULL);
}

// Emits the block once more, from its instructions to the branch: with the lanes of `mask`, NULL for all.
static void emit_block(igi_simt_widener *w, uint32_t block, LLVMValueRef mask) {
    LLVMBasicBlockRef old = w->s.cfg.blocks[block].block;
    w->mask = mask;
    w->emission++;
    for (LLVMValueRef i = LLVMGetFirstInstruction(old); i && !w->declined; i = LLVMGetNextInstruction(i)) {
        LLVMSetCurrentDebugLocation2(w->builder, LLVMInstructionGetDebugLoc(i));
        if (LLVMIsAPHINode(i))
            widen_phi(w, i);
        else if (!LLVMIsATerminatorInst(i))
            igi_simt_widen_instruction(w, i);
    }
    if (!w->declined) igi_simt_widen_terminator(w, block);
}

static bool has_barrier(LLVMBasicBlockRef block) {
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
        if (igi_simt_calls(i, "__ig_barrier")) return true;
    return false;
}

// Whether the block is much cheaper if all lanes are active.
static bool suffers_from_masks(const igi_simt_widener *w, uint32_t block) {
    LLVMBasicBlockRef old = w->s.cfg.blocks[block].block;
    bool suffers = false;
    for (LLVMValueRef i = LLVMGetFirstInstruction(old); i; i = LLVMGetNextInstruction(i)) {
        uint32_t number;
        bool bundled = igi_map_get(&w->s.index, i, &number) && w->bundle[number];
        suffers |= bundled || LLVMIsAAtomicRMWInst(i);
        // Masked stores are slow even where the machine has registers for masks.
        suffers |= (!w->mask_registers || w->agrees) && (LLVMIsAStoreInst(i) || LLVMIsALoadInst(i));
        suffers |= igi_simt_is_streamed(w, i);
    }
    return suffers;
}

// A copy of the block for when exactly the lowest lanes are active, which needs no masks. The builder is left where others
// are.
static void emit_for_lowest(igi_simt_widener *w, uint32_t block, LLVMValueRef mask) {
    uint32_t width = w->width;
    if (w->declined || !igi_simt_has_short_round(w, block)) return;
    LLVMBasicBlockRef few = igi_simt_new_block(w, "few"), rest = igi_simt_new_block(w, "rest");
    LLVMBuildCondBr(w->builder, igi_simt_exactly_lowest(w, mask), few, rest);
    LLVMPositionBuilderAtEnd(w->builder, few);
    igi_simt_set_lanes(w, IGI_SIMT_FEW_LANES);
    emit_block(w, block, LLVMConstAllOnes(w->mask_type));
    igi_simt_set_lanes(w, width);
    LLVMPositionBuilderAtEnd(w->builder, rest);
}

// A copy of the block for when none of the upper half of the lanes is active, and within it one for a quarter. The builder
// is left where upper lanes are.
static void emit_for_lower_half(igi_simt_widener *w, uint32_t block, LLVMValueRef mask) {
    if (w->declined) return;
    if (!igi_simt_has_half_rounds(w, block)) {
        emit_for_lowest(w, block, mask);
        return;
    }
    LLVMBasicBlockRef half = igi_simt_new_block(w, "half"), rest = igi_simt_new_block(w, "rest");
    LLVMBuildCondBr(w->builder, igi_simt_only_lower_half(w, mask), half, rest);
    LLVMPositionBuilderAtEnd(w->builder, half);
    igi_simt_set_lanes(w, w->width / 2);
    LLVMValueRef lower = igi_simt_part(w, mask, 0, w->width);
    emit_for_lower_half(w, block, lower);
    if (!w->declined) emit_block(w, block, lower);
    igi_simt_set_lanes(w, 2 * w->width);
    LLVMPositionBuilderAtEnd(w->builder, rest);
}

// Copies of the block for when all lanes are active, and for when only lower ones are. The builder is left where neither
// is so.
static void emit_special_cases(igi_simt_widener *w, uint32_t block, LLVMValueRef mask) {
    LLVMBasicBlockRef all = igi_simt_new_block(w, "all"), some = igi_simt_new_block(w, "some");
    igi_simt_branch_if_all(w, block, all);
    LLVMBuildCondBr(w->builder, igi_simt_all(w, mask), all, some);
    LLVMPositionBuilderAtEnd(w->builder, all);
    w->whole = all;
    emit_block(w, block, NULL);
    w->whole = NULL;
    LLVMPositionBuilderAtEnd(w->builder, some);
    if (suffers_from_masks(w, block)) emit_for_lower_half(w, block, mask);
}

// Not with a barrier: the regions of both copies of a kernel must be the same.
static bool may_run_whole(const igi_simt_widener *w, uint32_t block) {
    if (has_barrier(w->s.cfg.blocks[block].block)) return false;
    return suffers_from_masks(w, block) || igi_simt_has_whole_rounds(w, block) || igi_simt_may_agree(w, block);
}

static void widen_block(igi_simt_widener *w, uint32_t block) {
    w->block = block;
    igi_simt_widen_guard(w, block);
    LLVMPositionBuilderAtEnd(w->builder, w->body[block]);
    LLVMValueRef mask = w->entry_mask;
    if (w->mask_slot[block]) mask = igi_simt_load_slot(w, w->mask_type, w->mask_slot[block]);
    igi_simt_widen_reset_masks(w, block);
    igi_simt_find_bundles(w, w->s.cfg.blocks[block].block);
    if (w->full && w->mask_slot[block] && may_run_whole(w, block)) emit_special_cases(w, block, mask);
    if (!w->declined) emit_block(w, block, mask);
}

// Lanes that are threads: those before the end of the row.
static void make_entry_mask(igi_simt_widener *w) {
    if (w->full) return;
    LLVMValueRef group = LLVMGetParam(w->to, 0), x = LLVMGetParam(w->to, 1);
    LLVMValueRef size =
        LLVMBuildLoad2(w->slots, w->i32, igi_simt_field(w->slots, group, offsetof(igi_simt_group, size)), "");
    LLVMValueRef left = LLVMBuildSub(w->slots, size, x, "");
    LLVMBuilderRef outer = w->builder;
    w->builder = w->slots;
    LLVMValueRef limit = igi_simt_splat_value(w, left);
    w->builder = outer;
    w->entry_mask = LLVMBuildICmp(w->slots, LLVMIntULT, igi_simt_lane_numbers(w, w->i32, 0, 1), limit, "");
}

static bool allocate(igi_simt_widener *w) {
    size_t blocks = w->s.cfg.count, values = w->s.count;
    w->entry = igi_calloc(blocks, sizeof *w->entry);
    w->body = igi_calloc(blocks, sizeof *w->body);
    w->mask_slot = igi_calloc(blocks, sizeof *w->mask_slot);
    w->came_slot = igi_calloc(blocks, sizeof *w->came_slot);
    w->all_slot = igi_calloc(blocks, sizeof *w->all_slot);
    w->pending = igi_calloc(blocks * blocks, 1);
    w->loop_pending = igi_calloc(w->s.cfg.loop_count * blocks, 1);
    w->position = igi_calloc(blocks, sizeof *w->position);
    w->slot = igi_calloc(values, sizeof *w->slot);
    w->incoming = igi_calloc(values, sizeof *w->incoming);
    w->scalar = igi_calloc(values, sizeof *w->scalar);
    w->wide = igi_calloc(values, sizeof *w->wide);
    w->known_in = igi_calloc(values, sizeof *w->known_in);
    w->stored = igi_calloc(values, sizeof *w->stored);
    w->bundle = igi_calloc(values, sizeof *w->bundle);
    return w->entry && w->body && w->mask_slot && w->came_slot && w->all_slot && w->pending && w->loop_pending &&
           w->position && w->slot && w->incoming && w->scalar && w->wide && w->known_in && w->stored && w->bundle;
}

static void free_widener(igi_simt_widener *w) {
    free(w->entry), free(w->body), free(w->mask_slot), free(w->came_slot), free(w->all_slot), free(w->pending),
        free(w->loop_pending), free(w->position);
    free(w->slot), free(w->incoming), free(w->scalar), free(w->wide), free(w->known_in), free(w->bundle);
    free(w->stored);
    igi_simt_free_bundles(w);
    if (w->builder) LLVMDisposeBuilder(w->builder);
    if (w->slots) LLVMDisposeBuilder(w->slots);
    igi_simt_shapes_free(&w->s);
}

static void open_function(igi_simt_widener *w, const char *name) {
    LLVMContextRef context = w->m->context;
    LLVMTypeRef parameters[] = {w->pointer, w->i32, w->i32, w->i32, w->pointer, w->i32, w->pointer};
    w->to = LLVMAddFunction(w->m->module, name, LLVMFunctionType(w->i32, parameters, 7, 0));
    igi_simt_add_attribute(w->to, "nounwind");
    for (unsigned i = 0; i < LLVMCountParams(w->from); i++)
        igi_simt_name_like(LLVMGetParam(w->to, i), LLVMGetParam(w->from, i));
    w->builder = LLVMCreateBuilderInContext(context);
    w->slots = LLVMCreateBuilderInContext(context);
    LLVMPositionBuilderAtEnd(w->slots, LLVMAppendBasicBlockInContext(context, w->to, "entry"));
    for (uint32_t n = 0; n < w->s.cfg.count; n++) {
        uint32_t b = w->s.cfg.order[n];
        w->position[b] = n;
        const char *block = LLVMGetBasicBlockName(w->s.cfg.blocks[b].block);
        w->entry[b] = LLVMAppendBasicBlockInContext(context, w->to, block);
        w->body[b] = LLVMAppendBasicBlockInContext(context, w->to, "body");
    }
}

ig_status igi_simt_widen(igi_simt_module *m, uint32_t width, bool full, const char *name, LLVMValueRef *widened,
                         const char **declined) {
    igi_simt_widener w = {.m = m,
                          .width = width,
                          .full = full,
                          .mask_registers = igi_simt_has_mask_registers(),
                          .agrees = igi_simt_should_agree(m, width),
                          .from = m->thread,
                          .i1 = LLVMInt1TypeInContext(m->context),
                          .i8 = LLVMInt8TypeInContext(m->context),
                          .i32 = LLVMInt32TypeInContext(m->context),
                          .i64 = LLVMInt64TypeInContext(m->context),
                          .pointer = LLVMPointerTypeInContext(m->context, 0)};
    w.mask_type = LLVMVectorType(w.i1, width);
    *declined = NULL;
    if (!igi_simt_shapes_build(m->thread, LLVMGetParam(m->thread, 1), width, &w.s) || !allocate(&w)) {
        free_widener(&w);
        return igi_error_no_memory(m->error);
    }
    if (w.s.cfg.irreducible) igi_simt_decline(&w, "irreducible control flow", NULL);
    if (!w.declined) {
        igi_simt_note_control(&w);
        open_function(&w, name);
        make_entry_mask(&w);
        make_slots(&w);
        igi_simt_find_exchanges(&w);
        for (uint32_t n = 0; n < w.s.cfg.count && !w.declined; n++) widen_block(&w, w.s.cfg.order[n]);
        LLVMBuildBr(w.slots, w.entry[0]);
    }
    *widened = w.to;
    *declined = w.declined;
    igi_simt_note_declined(&w);
    if (w.declined && w.to) {
        LLVMDeleteFunction(w.to);
        *widened = NULL;
    }
    free_widener(&w);
    return IG_STATUS_OK;
}
