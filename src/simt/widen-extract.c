// SPDX-License-Identifier: Apache-2.0
// Single lanes of a varying value, for operations that are done lane by lane. Addresses are recomputed from the lane's
// index: elements of address vectors are eight bytes wide, those of indices often one, and eight of those are extracted
// together.
#include "simt/ir.h"
#include "simt/widen.h"

static bool is_varying(const igi_simt_widener *w, LLVMValueRef value) {
    return LLVMIsAInstruction(value) && igi_simt_shape_of(&w->s, value).kind == IGI_SHAPE_VARYING;
}

// Whether its operands are available here.
static bool is_here(const igi_simt_widener *w, LLVMValueRef value) {
    return LLVMGetInstructionParent(value) == w->s.cfg.blocks[w->block].block;
}

static LLVMValueRef extract(igi_simt_widener *w, LLVMValueRef value, uint32_t lane) {
    return LLVMBuildExtractElement(w->builder, igi_simt_widen_vector(w, value), LLVMConstInt(w->i32, lane, 0), "");
}

// Whether it is one or two bytes of every lane, extended: these are extracted from 64 bits by shifts.
static bool is_narrow_index(const igi_simt_widener *w, LLVMValueRef value) {
    if (!LLVMIsAZExtInst(value) || !is_here(w, value) || !is_varying(w, LLVMGetOperand(value, 0))) return false;
    unsigned bits = LLVMGetIntTypeWidth(LLVMTypeOf(LLVMGetOperand(value, 0)));
    return LLVMGetIntTypeWidth(LLVMTypeOf(value)) == 64 && (bits == 8 || bits == 16) && w->width * bits % 64 == 0;
}

static LLVMValueRef narrow_index(igi_simt_widener *w, LLVMValueRef value, uint32_t lane) {
    LLVMValueRef from = LLVMGetOperand(value, 0);
    unsigned bits = LLVMGetIntTypeWidth(LLVMTypeOf(from)), per = 64 / bits;
    LLVMTypeRef words = LLVMVectorType(w->i64, w->width / per);
    LLVMValueRef all = LLVMBuildBitCast(w->builder, igi_simt_widen_vector(w, from), words, "");
    LLVMValueRef word = LLVMBuildExtractElement(w->builder, all, LLVMConstInt(w->i32, lane / per, 0), "");
    word = LLVMBuildLShr(w->builder, word, LLVMConstInt(w->i64, (uint64_t)(lane % per) * bits, 0), "");
    return LLVMBuildAnd(w->builder, word, LLVMConstInt(w->i64, (1ull << bits) - 1, 0), "");
}

// Whether it is a varying index added to a pointer and other indices that are uniform.
static bool is_indexed(const igi_simt_widener *w, LLVMValueRef value) {
    if (!LLVMIsAGetElementPtrInst(value) || !is_here(w, value)) return false;
    unsigned last = (unsigned)LLVMGetNumOperands(value) - 1;
    for (unsigned k = 0; k < last; k++)
        if (igi_simt_shape_of(&w->s, LLVMGetOperand(value, k)).kind != IGI_SHAPE_UNIFORM) return false;
    return is_narrow_index(w, LLVMGetOperand(value, last));
}

LLVMValueRef igi_simt_widen_lane(igi_simt_widener *w, LLVMValueRef value, uint32_t lane) {
    if (LLVMIsConstant(value) || igi_simt_shape_of(&w->s, value).kind == IGI_SHAPE_UNIFORM)
        return igi_simt_widen_scalar(w, value);
    if (!is_indexed(w, value)) return extract(w, value, lane);
    unsigned last = (unsigned)LLVMGetNumOperands(value) - 1;
    LLVMValueRef address = LLVMInstructionClone(value);
    for (unsigned k = 0; k < last; k++) LLVMSetOperand(address, k, igi_simt_widen_scalar(w, LLVMGetOperand(value, k)));
    LLVMSetOperand(address, last, narrow_index(w, LLVMGetOperand(value, last), lane));
    LLVMInsertIntoBuilder(w->builder, address);
    return address;
}
