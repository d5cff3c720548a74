// SPDX-License-Identifier: Apache-2.0
// Accesses that turn out at run time to be neighbours. An index made by masks, shifts or remainders from the thread's
// position (i & (distance - 1), i / width, i % width) is not linear for every width, but mostly is for those that are
// used; looking is cheaper than gathering.
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

// The address lane 0 has if the active lanes are neighbours.
static LLVMValueRef first_address(igi_widener *w, LLVMValueRef numbers, uint64_t bytes) {
    if (!w->mask) return LLVMBuildExtractElement(w->builder, numbers, LLVMConstInt(w->i32, 0, 0), "");
    LLVMTypeRef bits = LLVMIntTypeInContext(w->m->context, w->width);
    LLVMValueRef arguments[] = {LLVMBuildBitCast(w->builder, w->mask, bits, ""), LLVMConstInt(w->i1, 0, 0)};
    LLVMValueRef lane = igi_call_intrinsic(w->builder, "llvm.cttz", &bits, 1, arguments, 2);
    LLVMValueRef one = LLVMBuildExtractElement(w->builder, numbers, lane, "");
    LLVMValueRef before = LLVMBuildIntCast2(w->builder, lane, w->i64, 0, "");
    return LLVMBuildSub(w->builder, one, LLVMBuildMul(w->builder, before, LLVMConstInt(w->i64, bytes, 0), ""), "");
}

igi_guess igi_guess_row(igi_widener *w, LLVMValueRef addresses, uint64_t bytes) {
    LLVMBuilderRef b = w->builder;
    LLVMValueRef numbers = LLVMBuildPtrToInt(b, addresses, igi_widen_type(w, w->i64), "");
    LLVMValueRef first = first_address(w, numbers, bytes);
    LLVMValueRef steps = igi_lane_numbers(w, w->i64, 0, (int64_t)bytes);
    LLVMValueRef hit = LLVMBuildICmp(b, LLVMIntEQ, LLVMBuildSub(b, numbers, igi_splat_value(w, first), ""), steps, "");
    if (w->mask) hit = LLVMBuildOr(b, hit, LLVMBuildNot(b, w->mask, ""), "");
    igi_guess guess = {.row = LLVMAppendBasicBlockInContext(w->m->context, w->to, "row"),
                       .each = LLVMAppendBasicBlockInContext(w->m->context, w->to, "each"),
                       .after = LLVMAppendBasicBlockInContext(w->m->context, w->to, ""),
                       .first = LLVMBuildIntToPtr(b, first, w->pointer, "")};
    LLVMBuildCondBr(b, igi_all(w, hit), guess.row, guess.each);
    return guess;
}
