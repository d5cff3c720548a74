// SPDX-License-Identifier: Apache-2.0
// NaNs and infinities that a kernel writes into buffers, and where each came from: the instruction that made it of finite
// numbers, or the load that read it. Beside each value that reaches a store there is its origin, the number of a site
// plus 1; 0 means that the value is finite, or a constant.
#include <string.h>

#include "simt/checked/instrument.h"

// ---- What is finite ----

static bool is_real(LLVMTypeRef type) {
    LLVMTypeKind kind = LLVMGetTypeKind(igi_simt_element_type(type));
    return kind == LLVMFloatTypeKind || kind == LLVMHalfTypeKind || kind == LLVMBFloatTypeKind;
}

static uint64_t exponent_of(LLVMTypeRef element) {
    switch (LLVMGetTypeKind(element)) {
        case LLVMHalfTypeKind: return 0x7c00;
        case LLVMBFloatTypeKind: return 0x7f80;
        default: return 0x7f800000;
    }
}

static unsigned count_of(LLVMTypeRef type) {
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetVectorSize(type) : 0;
}

// By its bits, so that nothing about the mode of arithmetic matters. One bit for each element.
static LLVMValueRef not_finite(igi_simt_instrumenter *in, LLVMValueRef value) {
    LLVMTypeRef type = LLVMTypeOf(value), element = igi_simt_element_type(type);
    unsigned count = count_of(type);
    LLVMTypeRef bits = LLVMGetTypeKind(element) == LLVMFloatTypeKind ? in->i32 : LLVMInt16TypeInContext(in->m->context);
    if (count) bits = LLVMVectorType(bits, count);
    LLVMValueRef mask = igi_simt_splat(bits, exponent_of(element), false);
    LLVMValueRef exponent = LLVMBuildAnd(in->builder, LLVMBuildBitCast(in->builder, value, bits, ""), mask, "");
    return LLVMBuildICmp(in->builder, LLVMIntEQ, exponent, mask, "not_finite");
}

static LLVMValueRef is_nan(igi_simt_instrumenter *in, LLVMValueRef value) {
    return LLVMBuildFCmp(in->builder, LLVMRealUNO, value, value, "");
}

LLVMValueRef igi_simt_any_element(igi_simt_instrumenter *in, LLVMValueRef flags) {
    unsigned count = count_of(LLVMTypeOf(flags));
    if (!count) return flags;
    LLVMTypeRef bits = LLVMIntTypeInContext(in->m->context, count);
    return LLVMBuildICmp(in->builder, LLVMIntNE, LLVMBuildBitCast(in->builder, flags, bits, ""), LLVMConstNull(bits),
                         "");
}

// ---- Instructions ----

static bool is_arithmetic(LLVMValueRef i) {
    switch (LLVMGetInstructionOpcode(i)) {
        case LLVMFAdd:
        case LLVMFSub:
        case LLVMFMul:
        case LLVMFDiv:
        case LLVMFRem:
        case LLVMFNeg:
        case LLVMFPTrunc:
        case LLVMFPExt:
        case LLVMUIToFP:
        case LLVMSIToFP: return true;
        case LLVMCall: return strncmp(igi_simt_callee_name(i), "llvm.", 5) == 0;
        default: return false;
    }
}

static unsigned operand_count(LLVMValueRef i) {
    return LLVMIsACallInst(i) ? LLVMGetNumArgOperands(i) : (unsigned)LLVMGetNumOperands(i);
}

static bool is_same_shape(LLVMValueRef a, LLVMValueRef b) {
    return is_real(LLVMTypeOf(b)) && count_of(LLVMTypeOf(a)) == count_of(LLVMTypeOf(b));
}

// An infinity of finite operands, or a NaN of operands none of which is one.
static LLVMValueRef makes(igi_simt_instrumenter *in, LLVMValueRef i) {
    LLVMBuilderRef b = in->builder;
    LLVMValueRef infinite = not_finite(in, i), nan = is_nan(in, i);
    for (unsigned k = 0; k < operand_count(i); k++) {
        LLVMValueRef operand = LLVMGetOperand(i, k);
        if (!is_same_shape(i, operand)) continue;
        infinite = LLVMBuildAnd(b, infinite, LLVMBuildNot(b, not_finite(in, operand), ""), "");
        nan = LLVMBuildAnd(b, nan, LLVMBuildNot(b, is_nan(in, operand), ""), "");
    }
    return igi_simt_any_element(in, LLVMBuildOr(b, infinite, nan, "makes"));
}

// ---- Origins ----

static LLVMValueRef known_origin(const igi_simt_instrumenter *in, LLVMValueRef value) {
    for (size_t i = 0; i < in->origin_values.count; i++)
        if (in->origin_values.items[i] == value) return in->origins.items[i];
    return NULL;
}

static void remember(igi_simt_instrumenter *in, LLVMValueRef value, LLVMValueRef origin) {
    if (!igi_simt_values_add(&in->origin_values, value) || !igi_simt_values_add(&in->origins, origin))
        in->failed = true;
}

static LLVMValueRef origin_of(igi_simt_instrumenter *in, LLVMValueRef value);

static LLVMValueRef own_site(igi_simt_instrumenter *in, LLVMValueRef i) {
    igi_simt_checked_act act = LLVMIsALoadInst(i) ? IGI_ACT_READ : IGI_ACT_MAKE;
    igi_simt_provenance from = {0};
    if (LLVMIsALoadInst(i)) from = igi_simt_trace_pointer(in, LLVMGetOperand(i, 0));
    uint32_t bytes = (uint32_t)LLVMStoreSizeOfType(in->layout, LLVMTypeOf(i));
    return igi_simt_number32(in, igi_simt_add_site(in, i, act, &from, bytes, 0) + 1ull);
}

// What is built for a value lies directly after it, in order; so that of its operands is built first.
static void prepare_operands(igi_simt_instrumenter *in, LLVMValueRef i) {
    for (unsigned k = 0; k < operand_count(i); k++)
        if (is_real(LLVMTypeOf(LLVMGetOperand(i, k)))) origin_of(in, LLVMGetOperand(i, k));
    igi_simt_position_after(in, i);
}

// That of the first operand that is not finite.
static LLVMValueRef origin_of_operands(igi_simt_instrumenter *in, LLVMValueRef i) {
    LLVMValueRef origin = igi_simt_number32(in, 0);
    for (unsigned k = operand_count(i); k-- > 0;) {
        LLVMValueRef operand = LLVMGetOperand(i, k);
        if (!is_real(LLVMTypeOf(operand))) continue;
        LLVMValueRef wrong = igi_simt_any_element(in, not_finite(in, operand));
        origin = LLVMBuildSelect(in->builder, wrong, origin_of(in, operand), origin, "");
    }
    return origin;
}

static LLVMValueRef choose_origin(igi_simt_instrumenter *in, LLVMValueRef i) {
    switch (LLVMGetInstructionOpcode(i)) {
        case LLVMSelect:
            if (count_of(LLVMTypeOf(LLVMGetOperand(i, 0)))) return origin_of_operands(in, i);
            return LLVMBuildSelect(in->builder, LLVMGetOperand(i, 0), origin_of(in, LLVMGetOperand(i, 1)),
                                   origin_of(in, LLVMGetOperand(i, 2)), "");
        case LLVMExtractElement:
        case LLVMInsertElement:
        case LLVMShuffleVector:
        case LLVMFreeze: return origin_of_operands(in, i);
        default: break;
    }
    if (!is_arithmetic(i)) return own_site(in, i);
    LLVMValueRef made = makes(in, i);
    return LLVMBuildSelect(in->builder, made, own_site(in, i), origin_of_operands(in, i), "");
}

static LLVMValueRef origin_of_instruction(igi_simt_instrumenter *in, LLVMValueRef i) {
    prepare_operands(in, i);
    LLVMValueRef wrong = igi_simt_any_element(in, not_finite(in, i)), origin = choose_origin(in, i);
    return LLVMBuildSelect(in->builder, wrong, origin, igi_simt_number32(in, 0), "origin");
}

static LLVMValueRef origin_of_phi(igi_simt_instrumenter *in, LLVMValueRef phi) {
    LLVMPositionBuilderBefore(in->builder, phi);
    LLVMValueRef made = LLVMBuildPhi(in->builder, in->i32, "origin");
    remember(in, phi, made);  // it may depend on itself
    for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
        LLVMValueRef origin = origin_of(in, LLVMGetIncomingValue(phi, k));
        LLVMBasicBlockRef block = LLVMGetIncomingBlock(phi, k);
        LLVMAddIncoming(made, &origin, &block, 1);
    }
    return made;
}

static LLVMValueRef origin_of(igi_simt_instrumenter *in, LLVMValueRef value) {
    if (!LLVMIsAInstruction(value)) return igi_simt_number32(in, 0);
    LLVMValueRef origin = known_origin(in, value);
    if (origin) return origin;
    if (LLVMIsAPHINode(value)) return origin_of_phi(in, value);
    origin = origin_of_instruction(in, value);
    remember(in, value, origin);
    return origin;
}

// ---- Stores ----

static bool stores_number(LLVMValueRef i) {
    return LLVMIsAStoreInst(i) && is_real(LLVMTypeOf(LLVMGetOperand(i, 0))) &&
           count_of(LLVMTypeOf(LLVMGetOperand(i, 0))) <= 16;
}

static bool is_output(const igi_simt_instrumenter *in, LLVMValueRef store) {
    igi_simt_provenance to = igi_simt_trace_pointer(in, LLVMGetOperand(store, 1));
    return to.known && (to.space == IGI_SPACE_BUFFER || to.space == IGI_SPACE_PART || to.space == IGI_SPACE_UNKNOWN);
}

static void follow(igi_simt_instrumenter *in, LLVMValueRef store) {
    if (!is_output(in, store)) return;
    LLVMValueRef value = LLVMGetOperand(store, 0), origin = origin_of(in, value);
    igi_simt_provenance to = igi_simt_trace_pointer(in, LLVMGetOperand(store, 1));
    uint32_t bytes = (uint32_t)LLVMStoreSizeOfType(in->layout, LLVMTypeOf(value));
    uint32_t site = igi_simt_add_site(in, store, IGI_ACT_WRITE, &to, bytes, 0);
    LLVMBasicBlockRef rest = LLVMGetInstructionParent(store), head = igi_simt_split_before(store);
    LLVMBasicBlockRef odd = LLVMAppendBasicBlockInContext(in->m->context, in->m->thread, "not_finite");
    LLVMPositionBuilderAtEnd(in->builder, head);
    LLVMBuildCondBr(in->builder, igi_simt_any_element(in, not_finite(in, value)), odd, rest);
    LLVMPositionBuilderAtEnd(in->builder, odd);
    LLVMValueRef address = LLVMBuildPtrToInt(in->builder, LLVMGetOperand(store, 1), in->i64, "");
    LLVMValueRef arguments[] = {in->check, in->thread, igi_simt_number32(in, site), address, origin};
    igi_simt_call_hook(in, "not_finite", in->void_type, arguments, 5);
    LLVMBuildBr(in->builder, rest);
}

void igi_simt_instrument_finite(igi_simt_instrumenter *in) {
    igi_simt_instrument_all(in, stores_number, follow);
}

static void suspect(igi_simt_instrumenter *in, LLVMValueRef store) {
    if (!is_output(in, store)) return;
    LLVMPositionBuilderBefore(in->builder, store);
    LLVMValueRef wrong = igi_simt_any_element(in, not_finite(in, LLVMGetOperand(store, 0)));
    igi_simt_suspect_unless(in, LLVMBuildNot(in->builder, wrong, ""));
}

void igi_simt_touch_finite(igi_simt_instrumenter *in) {
    igi_simt_instrument_all(in, stores_number, suspect);
}

// ---- Before ----

static bool may_promise(LLVMValueRef i) {
    return LLVMCanValueUseFastMathFlags(i);
}

// Fast arithmetic promises that there are no NaNs and infinities.
static void drop_promise(igi_simt_instrumenter *in, LLVMValueRef i) {
    (void)in;
    LLVMSetFastMathFlags(i, LLVMGetFastMathFlags(i) & ~(unsigned)(LLVMFastMathNoNaNs | LLVMFastMathNoInfs));
}

void igi_simt_allow_not_finite(igi_simt_instrumenter *in) {
    igi_simt_instrument_all(in, may_promise, drop_promise);
}
