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

// One or two bytes of every lane, extended to an index. What a texture gives is 0 where `present`, the same for all lanes,
// does not hold; NULL: always present.
typedef struct narrow_index {
    LLVMValueRef bytes, present;
} narrow_index;

static LLVMValueRef extended_from(const igi_simt_widener *w, LLVMValueRef value) {
    return LLVMIsAZExtInst(value) && is_here(w, value) ? LLVMGetOperand(value, 0) : NULL;
}

static bool is_optional(const igi_simt_widener *w, LLVMValueRef value) {
    return LLVMIsASelectInst(value) && is_here(w, value) && LLVMIsConstant(LLVMGetOperand(value, 2)) &&
           LLVMIsNull(LLVMGetOperand(value, 2)) &&
           igi_simt_shape_of(&w->s, LLVMGetOperand(value, 0)).kind == IGI_SHAPE_UNIFORM;
}

// These are extracted from 64 bits by shifts.
static bool read_narrow_index(const igi_simt_widener *w, LLVMValueRef value, narrow_index *index) {
    *index = (narrow_index){.bytes = value};
    if (LLVMGetIntTypeWidth(LLVMTypeOf(value)) != 64) return false;
    for (LLVMValueRef from = value; from; from = extended_from(w, index->bytes)) {
        index->bytes = from;
        if (index->present || !is_optional(w, from)) continue;
        index->present = LLVMGetOperand(from, 0);
        index->bytes = LLVMGetOperand(from, 1);
    }
    if (!is_varying(w, index->bytes)) return false;
    unsigned bits = LLVMGetIntTypeWidth(LLVMTypeOf(index->bytes));
    return (bits == 8 || bits == 16) && w->width * bits % 64 == 0;
}

static LLVMValueRef lane_of_index(igi_simt_widener *w, const narrow_index *index, uint32_t lane) {
    unsigned bits = LLVMGetIntTypeWidth(LLVMTypeOf(index->bytes)), per = 64 / bits;
    LLVMTypeRef words = LLVMVectorType(w->i64, w->width / per);
    LLVMValueRef all = LLVMBuildBitCast(w->builder, igi_simt_widen_vector(w, index->bytes), words, "");
    LLVMValueRef word = LLVMBuildExtractElement(w->builder, all, LLVMConstInt(w->i32, lane / per, 0), "");
    if (index->present)
        word = LLVMBuildSelect(w->builder, igi_simt_widen_scalar(w, index->present), word, LLVMConstNull(w->i64), "");
    word = LLVMBuildLShr(w->builder, word, LLVMConstInt(w->i64, (uint64_t)(lane % per) * bits, 0), "");
    return LLVMBuildAnd(w->builder, word, LLVMConstInt(w->i64, (1ull << bits) - 1, 0), "");
}

// Whether it is a varying index added to a pointer and other indices that are uniform.
static bool is_indexed(const igi_simt_widener *w, LLVMValueRef value, narrow_index *index) {
    if (!LLVMIsAGetElementPtrInst(value) || !is_here(w, value)) return false;
    unsigned last = (unsigned)LLVMGetNumOperands(value) - 1;
    for (unsigned k = 0; k < last; k++)
        if (igi_simt_shape_of(&w->s, LLVMGetOperand(value, k)).kind != IGI_SHAPE_UNIFORM) return false;
    return read_narrow_index(w, LLVMGetOperand(value, last), index);
}

LLVMValueRef igi_simt_widen_lane(igi_simt_widener *w, LLVMValueRef value, uint32_t lane) {
    if (LLVMIsConstant(value) || igi_simt_shape_of(&w->s, value).kind == IGI_SHAPE_UNIFORM)
        return igi_simt_widen_scalar(w, value);
    narrow_index index;
    if (!is_indexed(w, value, &index)) return extract(w, value, lane);
    unsigned last = (unsigned)LLVMGetNumOperands(value) - 1;
    LLVMValueRef address = LLVMInstructionClone(value);
    for (unsigned k = 0; k < last; k++) LLVMSetOperand(address, k, igi_simt_widen_scalar(w, LLVMGetOperand(value, k)));
    LLVMSetOperand(address, last, lane_of_index(w, &index, lane));
    LLVMInsertIntoBuilder(w->builder, address);
    return address;
}
