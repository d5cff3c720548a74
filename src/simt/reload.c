// SPDX-License-Identifier: Apache-2.0
// Pieces of vectors that were loaded, cut out by shifts, become loads of their own. Where two loads overlap, LLVM's GVN
// computes the second from the first: sixteen bytes of a quantised block became a shift of 256 bits, eleven instructions
// instead of one.
//
// pre: memory is little-endian.
#include "core/memory.h"
#include "simt/ir.h"
#include "simt/passes.h"

enum { MOST_BITS_OF_REGISTER = 64 };

typedef struct piece {
    LLVMValueRef load, shift;  // NULL: the lowest bits
    uint64_t offset;           // in bytes
} piece;

static bool is_plain_vector_load(LLVMValueRef i) {
    return LLVMIsALoadInst(i) && !LLVMGetVolatile(i) && LLVMGetOrdering(i) == LLVMAtomicOrderingNotAtomic &&
           LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMVectorTypeKind;
}

// The bits of an integer that are a whole number of bytes; 0: they are not.
static uint64_t whole_bytes(LLVMTypeRef integer) {
    unsigned bits = LLVMGetIntTypeWidth(integer);
    return bits % 8 ? 0 : bits / 8;
}

static bool find_piece(LLVMValueRef trunc, piece *found) {
    LLVMValueRef from = LLVMGetOperand(trunc, 0);
    *found = (piece){0};
    if (LLVMGetTypeKind(LLVMTypeOf(trunc)) != LLVMIntegerTypeKind || !whole_bytes(LLVMTypeOf(trunc))) return false;
    if (LLVMGetIntTypeWidth(LLVMTypeOf(from)) <= MOST_BITS_OF_REGISTER) return false;
    if (LLVMIsAInstruction(from) && LLVMGetInstructionOpcode(from) == LLVMLShr) {
        LLVMValueRef distance = LLVMGetOperand(from, 1);
        if (!LLVMIsAConstantInt(distance) || LLVMConstIntGetZExtValue(distance) % 8) return false;
        *found = (piece){.shift = from, .offset = LLVMConstIntGetZExtValue(distance) / 8};
        from = LLVMGetOperand(from, 0);
    }
    if (!LLVMIsABitCastInst(from) || !is_plain_vector_load(LLVMGetOperand(from, 0))) return false;
    found->load = LLVMGetOperand(from, 0);
    return found->offset + whole_bytes(LLVMTypeOf(trunc)) <= whole_bytes(LLVMTypeOf(from));
}

static bool is_piece_of_load(LLVMValueRef i) {
    piece found;
    return LLVMIsATruncInst(i) && find_piece(i, &found);
}

static unsigned alignment_at(LLVMValueRef load, uint64_t offset) {
    unsigned alignment = LLVMGetAlignment(load);
    while (offset % alignment) alignment /= 2;
    return alignment;
}

static bool has_one_use(LLVMValueRef value) {
    LLVMUseRef use = LLVMGetFirstUse(value);
    return use && !LLVMGetNextUse(use);
}

static void erase_unused(LLVMValueRef i) {
    while (LLVMIsAInstruction(i) && !LLVMIsALoadInst(i) && !LLVMGetFirstUse(i)) {
        LLVMValueRef operand = LLVMGetOperand(i, 0);
        LLVMInstructionEraseFromParent(i);
        i = operand;
    }
}

// The memory is read where the wider load reads it, so that nothing has changed it in between.
static void reload(LLVMBuilderRef builder, LLVMValueRef trunc) {
    piece found;
    find_piece(trunc, &found);
    LLVMValueRef user = has_one_use(trunc) ? LLVMGetUser(LLVMGetFirstUse(trunc)) : NULL;
    LLVMValueRef wanted = user && LLVMIsABitCastInst(user) ? user : trunc;
    LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(trunc));
    LLVMTypeRef byte = LLVMInt8TypeInContext(context);
    LLVMValueRef offset = LLVMConstInt(LLVMInt64TypeInContext(context), found.offset, 0);
    LLVMPositionBuilderBefore(builder, LLVMGetNextInstruction(found.load));
    LLVMValueRef address = LLVMBuildGEP2(builder, byte, LLVMGetOperand(found.load, 0), &offset, 1, "");
    LLVMValueRef again = LLVMBuildLoad2(builder, LLVMTypeOf(wanted), address, "");
    LLVMSetAlignment(again, alignment_at(found.load, found.offset));
    LLVMReplaceAllUsesWith(wanted, again);
    erase_unused(wanted);
}

ig_status igi_simt_pass_reload(igi_simt_module *m) {
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(m->context);
    ig_status status = IG_STATUS_OK;
    for (LLVMValueRef f = LLVMGetFirstFunction(m->module); f && status == IG_STATUS_OK; f = LLVMGetNextFunction(f)) {
        igi_simt_values pieces;
        if (LLVMIsDeclaration(f)) continue;
        if (!igi_simt_collect(f, is_piece_of_load, &pieces)) {
            status = igi_error_no_memory(m->error);
            break;
        }
        for (size_t i = 0; i < pieces.count; i++) reload(builder, pieces.items[i]);
        igi_simt_values_free(&pieces);
    }
    LLVMDisposeBuilder(builder);
    return status;
}
