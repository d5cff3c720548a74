// SPDX-License-Identifier: Apache-2.0
// Accesses that turn out at run time to be neighbours. An index made by masks, shifts or remainders from the thread's
// position (i & (distance - 1), i / width, i % width) is not linear for every width, but mostly is for those that are
// used; looking is cheaper than gathering.
#include <llvm-c/Target.h>

#include "simt/ir.h"
#include "simt/widen.h"

enum { MAX_DEPTH = 8 };

// Computed from the lane's number by integer arithmetic alone. `arithmetic`: with something in it that bends the line.
static bool is_computed(const igi_widener *w, LLVMValueRef value, int depth, bool *bent) {
    if (igi_shape_of(&w->s, value).kind != IGI_SHAPE_VARYING) return true;
    if (depth == 0 || !LLVMIsAInstruction(value)) return false;
    switch (LLVMGetInstructionOpcode(value)) {
        case LLVMAnd:
        case LLVMOr:
        case LLVMXor:
        case LLVMLShr:
        case LLVMAShr:
        case LLVMUDiv:
        case LLVMURem:
        case LLVMSelect: *bent = true; break;
        case LLVMAdd:
        case LLVMSub:
        case LLVMMul:
        case LLVMShl:
        case LLVMZExt:
        case LLVMSExt:
        case LLVMTrunc:
        case LLVMGetElementPtr: break;
        default: return false;
    }
    for (int k = 0; k < LLVMGetNumOperands(value); k++)
        if (!is_computed(w, LLVMGetOperand(value, (unsigned)k), depth - 1, bent)) return false;
    return true;
}

bool igi_may_be_row(const igi_widener *w, LLVMValueRef address, LLVMTypeRef type) {
    bool bent = false;
    bool whole = LLVMGetTypeKind(type) != LLVMIntegerTypeKind || LLVMGetIntTypeWidth(type) % 8 == 0;
    return whole && igi_shape_of(&w->s, address).kind == IGI_SHAPE_VARYING &&
           is_computed(w, address, MAX_DEPTH, &bent) && bent;
}

// The value lane 0 has if the active lanes are `step` apart.
static LLVMValueRef first_value(igi_widener *w, LLVMValueRef values, uint64_t step) {
    if (!w->mask) return LLVMBuildExtractElement(w->builder, values, LLVMConstInt(w->i32, 0, 0), "");
    LLVMTypeRef bits = LLVMIntTypeInContext(w->m->context, w->width), type = LLVMGetElementType(LLVMTypeOf(values));
    LLVMValueRef arguments[] = {LLVMBuildBitCast(w->builder, w->mask, bits, ""), LLVMConstInt(w->i1, 0, 0)};
    LLVMValueRef lane = igi_call_intrinsic(w->builder, "llvm.cttz", &bits, 1, arguments, 2);
    LLVMValueRef one = LLVMBuildExtractElement(w->builder, values, lane, "");
    LLVMValueRef before = LLVMBuildIntCast2(w->builder, lane, type, 0, "");
    return LLVMBuildSub(w->builder, one, LLVMBuildMul(w->builder, before, LLVMConstInt(type, step, 0), ""), "");
}

static LLVMValueRef are_apart(igi_widener *w, LLVMValueRef values, LLVMValueRef first, uint64_t step) {
    LLVMBuilderRef b = w->builder;
    LLVMValueRef steps = igi_lane_numbers(w, LLVMTypeOf(first), 0, (int64_t)step);
    LLVMValueRef hit = LLVMBuildICmp(b, LLVMIntEQ, LLVMBuildSub(b, values, igi_splat_value(w, first), ""), steps, "");
    if (w->mask) hit = LLVMBuildOr(b, hit, LLVMBuildNot(b, w->mask, ""), "");
    return igi_all(w, hit);
}

// Whether the block at hand can ask for the value: it is its own, or kept across blocks.
static bool is_at_hand(const igi_widener *w, LLVMValueRef value) {
    uint32_t number;
    if (!LLVMIsAInstruction(value)) return true;
    if (LLVMGetInstructionParent(value) == w->s.cfg.blocks[w->block].block) return true;
    return igi_map_get(&w->s.index, value, &number) && w->slot[number];
}

// A 32-bit index, extended, of elements as large as what is accessed, behind a pointer that is the same for all.
static bool is_small_index(const igi_widener *w, LLVMValueRef address, uint64_t bytes) {
    if (!LLVMIsAGetElementPtrInst(address) || LLVMGetNumOperands(address) != 2) return false;
    LLVMValueRef base = LLVMGetOperand(address, 0), index = LLVMGetOperand(address, 1);
    bool extended = LLVMIsAZExtInst(index) || LLVMIsASExtInst(index);
    if (!extended || !is_at_hand(w, base) || !is_at_hand(w, LLVMGetOperand(index, 0))) return false;
    return LLVMGetIntTypeWidth(LLVMTypeOf(LLVMGetOperand(index, 0))) == 32 &&
           LLVMABISizeOfType(w->s.layout, LLVMGetGEPSourceElementType(address)) == bytes &&
           igi_shape_of(&w->s, base).kind == IGI_SHAPE_UNIFORM &&
           igi_shape_of(&w->s, LLVMGetOperand(index, 0)).kind == IGI_SHAPE_VARYING;
}

// Vectors of indices are half as wide as such of addresses, if only they do not turn over between the lanes.
static LLVMValueRef guess_by_index(igi_widener *w, LLVMValueRef address, LLVMValueRef *first) {
    LLVMBuilderRef b = w->builder;
    LLVMValueRef extension = LLVMGetOperand(address, 1);
    LLVMValueRef indices = igi_widen_vector(w, LLVMGetOperand(extension, 0)), lowest = first_value(w, indices, 1);
    bool with_sign = LLVMIsASExtInst(extension) != NULL;
    LLVMValueRef limit = LLVMConstInt(w->i32, (with_sign ? INT32_MAX : UINT32_MAX) - w->width + 1, 0);
    LLVMValueRef straight = LLVMBuildICmp(b, with_sign ? LLVMIntSLE : LLVMIntULE, lowest, limit, "");
    LLVMValueRef index = LLVMBuildCast(b, LLVMGetInstructionOpcode(extension), lowest, w->i64, "");
    LLVMValueRef base = igi_widen_scalar(w, LLVMGetOperand(address, 0));
    *first = LLVMBuildGEP2(b, LLVMGetGEPSourceElementType(address), base, &index, 1, "");
    return LLVMBuildAnd(b, are_apart(w, indices, lowest, 1), straight, "");
}

static LLVMValueRef guess_by_address(igi_widener *w, LLVMValueRef address, uint64_t bytes, LLVMValueRef *first) {
    LLVMValueRef addresses = igi_widen_vector(w, address);
    LLVMValueRef numbers = LLVMBuildPtrToInt(w->builder, addresses, igi_widen_type(w, w->i64), "");
    LLVMValueRef lowest = first_value(w, numbers, bytes);
    *first = LLVMBuildIntToPtr(w->builder, lowest, w->pointer, "");
    return are_apart(w, numbers, lowest, bytes);
}

igi_guess igi_guess_row(igi_widener *w, LLVMValueRef address, uint64_t bytes) {
    igi_guess guess = {.row = LLVMAppendBasicBlockInContext(w->m->context, w->to, "row"),
                       .each = LLVMAppendBasicBlockInContext(w->m->context, w->to, "each"),
                       .after = LLVMAppendBasicBlockInContext(w->m->context, w->to, "")};
    LLVMValueRef hit = is_small_index(w, address, bytes) ? guess_by_index(w, address, &guess.first)
                                                         : guess_by_address(w, address, bytes, &guess.first);
    LLVMBuildCondBr(w->builder, hit, guess.row, guess.each);
    return guess;
}
