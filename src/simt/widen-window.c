// SPDX-License-Identifier: Apache-2.0
// Accesses that turn out at run time to stay within a small window: the lanes of a register have increasing addresses
// within two registers of memory (every second element; pairs of a sorting network; a row with a gap in it).
// The window is read or written as a whole, except for elements of no active lane, and permuted in registers.
//
// AVX-512 only (such machines have BMI2 too), and elements of four bytes: it takes permutations by variable indices,
// and for writing their inverse, which is to spread a register's elements over the bits of a mask.
#include <string.h>

#include "simt/compile.h"
#include "simt/ir.h"
#include "simt/widen.h"

enum { LANES = IGI_WINDOW_LANES, WINDOW = 2 * LANES };

bool igi_simt_may_be_window(const igi_simt_widener *w, LLVMValueRef address, LLVMTypeRef type) {
    return w->mask_registers && w->width % LANES == 0 && w->width / LANES <= IGI_MAX_CHUNKS &&
           LLVMABISizeOfType(w->s.layout, type) == 4 && igi_simt_is_indexed(w, address, 4);
}

// ---- Pieces of vectors ----

static LLVMTypeRef words(const igi_simt_widener *w) {
    return LLVMVectorType(w->i32, LANES);
}

LLVMValueRef igi_simt_part(igi_simt_widener *w, LLVMValueRef vector, uint32_t first, uint32_t lanes) {
    uint32_t from[IGI_MAX_WIDTH];
    for (uint32_t i = 0; i < lanes; i++) from[i] = first + i;
    return LLVMBuildShuffleVector(w->builder, vector, LLVMGetPoison(LLVMTypeOf(vector)),
                                  igi_simt_shuffle_mask(w, from, lanes), "");
}

LLVMValueRef igi_simt_join(igi_simt_widener *w, LLVMValueRef *parts, uint32_t count, uint32_t lanes) {
    if (count == 1) return parts[0];
    LLVMValueRef low = igi_simt_join(w, parts, count / 2, lanes),
                 high = igi_simt_join(w, parts + count / 2, count / 2, lanes);
    uint32_t from[IGI_MAX_WIDTH];
    for (uint32_t i = 0; i < count * lanes; i++) from[i] = i;
    return LLVMBuildShuffleVector(w->builder, low, high, igi_simt_shuffle_mask(w, from, count * lanes), "");
}

static LLVMValueRef part(igi_simt_widener *w, LLVMValueRef vector, uint32_t first) {
    return igi_simt_part(w, vector, first, LANES);
}

static LLVMValueRef spread(igi_simt_widener *w, LLVMValueRef scalar) {
    return igi_simt_spread(w, scalar, LANES);
}

// ---- Whether it is one ----

// Each lane after the previous one, and the last within the window.
static LLVMValueRef goes_up(igi_simt_widener *w, LLVMValueRef offsets) {
    LLVMBuilderRef b = w->builder;
    uint32_t from[LANES];
    for (uint32_t i = 0; i < LANES; i++) from[i] = i ? i - 1 : LANES;
    LLVMValueRef below = LLVMConstAllOnes(words(w));
    LLVMValueRef before = LLVMBuildShuffleVector(b, offsets, below, igi_simt_shuffle_mask(w, from, LANES), "");
    LLVMValueRef up = LLVMBuildICmp(b, LLVMIntSGT, offsets, before, "");
    LLVMValueRef near = LLVMBuildICmp(b, LLVMIntULT, offsets, igi_simt_splat(words(w), WINDOW, false), "");
    LLVMTypeRef bits = LLVMIntTypeInContext(w->m->context, LANES);
    LLVMValueRef all = LLVMBuildBitCast(b, LLVMBuildAnd(b, up, near, ""), bits, "");
    return LLVMBuildICmp(b, LLVMIntEQ, all, LLVMConstAllOnes(bits), "");
}

// A bit for each element of the window that a lane accesses.
static LLVMValueRef places(igi_simt_widener *w, LLVMValueRef offsets) {
    LLVMTypeRef type = words(w);
    LLVMValueRef bits = LLVMBuildShl(w->builder, igi_simt_splat(type, 1, false), offsets, "");
    return igi_simt_call_intrinsic(w->builder, "llvm.vector.reduce.or", &type, 1, &bits, 1);
}

LLVMValueRef igi_simt_find_window(igi_simt_widener *w, LLVMValueRef indices, igi_simt_window *window) {
    LLVMValueRef yes = LLVMConstInt(w->i1, 1, 0);
    for (uint32_t c = 0; c < w->width / LANES; c++) {
        LLVMValueRef start =
            LLVMBuildExtractElement(w->builder, indices, LLVMConstInt(w->i32, (uint64_t)c * LANES, 0), "");
        window->offsets[c] = LLVMBuildSub(w->builder, part(w, indices, c * LANES), spread(w, start), "");
        window->bits[c] = places(w, window->offsets[c]);
        yes = LLVMBuildAnd(w->builder, yes, goes_up(w, window->offsets[c]), "");
    }
    return yes;
}

LLVMValueRef igi_simt_place_window(igi_simt_widener *w, LLVMValueRef address, LLVMValueRef indices, uint32_t lanes,
                                   igi_simt_window *window) {
    LLVMValueRef extension = LLVMGetOperand(address, 1), yes = LLVMConstInt(w->i1, 1, 0);
    LLVMValueRef base = igi_simt_widen_scalar(w, LLVMGetOperand(address, 0));
    for (uint32_t c = 0; c < w->width / lanes; c++) {
        LLVMValueRef first =
            LLVMBuildExtractElement(w->builder, indices, LLVMConstInt(w->i32, (uint64_t)c * lanes, 0), "");
        LLVMValueRef far = LLVMBuildCast(w->builder, LLVMGetInstructionOpcode(extension), first, w->i64, "");
        window->first[c] = LLVMBuildGEP2(w->builder, LLVMGetGEPSourceElementType(address), base, &far, 1, "");
        yes = LLVMBuildAnd(w->builder, yes, igi_simt_stays_straight(w, extension, first, WINDOW), "");
    }
    return yes;
}

// ---- Reading and writing it ----

// The bits whose lane is active: lanes are in the order of their bits.
static LLVMValueRef bits_that_are_on(igi_simt_widener *w, const igi_simt_window *window, uint32_t chunk) {
    if (!w->mask) return window->bits[chunk];
    LLVMValueRef on =
        LLVMBuildBitCast(w->builder, part(w, w->mask, chunk * LANES), LLVMIntTypeInContext(w->m->context, LANES), "");
    LLVMValueRef arguments[] = {LLVMBuildZExt(w->builder, on, w->i32, ""), window->bits[chunk]};
    return igi_simt_call_intrinsic(w->builder, "llvm.x86.bmi.pdep.32", NULL, 0, arguments, 2);
}

static LLVMValueRef half_of(igi_simt_widener *w, LLVMValueRef bits, uint32_t half) {
    LLVMValueRef all = LLVMBuildBitCast(w->builder, bits, LLVMVectorType(w->i1, WINDOW), "");
    return part(w, all, half * LANES);
}

static LLVMValueRef half_address(igi_simt_widener *w, LLVMValueRef first, uint32_t half) {
    LLVMValueRef distance = LLVMConstInt(w->i64, (uint64_t)half * LANES * 4, 0);
    return LLVMBuildGEP2(w->builder, w->i8, first, &distance, 1, "");
}

LLVMValueRef igi_simt_load_window(igi_simt_widener *w, const igi_simt_window *window, LLVMTypeRef wide,
                                  unsigned alignment) {
    LLVMValueRef parts[IGI_MAX_CHUNKS];
    for (uint32_t c = 0; c < w->width / LANES; c++) {
        LLVMValueRef wanted = bits_that_are_on(w, window, c), halves[2];
        for (uint32_t h = 0; h < 2; h++)
            halves[h] = igi_simt_load_masked(w, words(w), half_address(w, window->first[c], h), alignment,
                                             half_of(w, wanted, h));
        LLVMValueRef arguments[] = {halves[0], window->offsets[c], halves[1]};
        parts[c] = igi_simt_call_intrinsic(w->builder, "llvm.x86.avx512.vpermi2var.d.512", NULL, 0, arguments, 3);
    }
    return LLVMBuildBitCast(w->builder, igi_simt_join(w, parts, w->width / LANES, LANES), wide, "");
}

// The elements of a register, in order, at the places of a half that have a bit.
static LLVMValueRef spread_over(igi_simt_widener *w, LLVMValueRef value, LLVMValueRef taken) {
    LLVMTypeRef type = words(w);
    LLVMValueRef arguments[] = {value, LLVMConstNull(type), taken};
    return igi_simt_call_intrinsic(w->builder, "llvm.x86.avx512.mask.expand", &type, 1, arguments, 3);
}

// The elements after those that went to the first half.
static LLVMValueRef remaining(igi_simt_widener *w, LLVMValueRef value, LLVMValueRef bits) {
    LLVMValueRef low = LLVMBuildAnd(w->builder, bits, LLVMConstInt(w->i32, (1u << LANES) - 1, 0), "");
    LLVMValueRef gone = igi_simt_call_intrinsic(w->builder, "llvm.ctpop", &w->i32, 1, &low, 1);
    LLVMValueRef arguments[] = {value, LLVMBuildAdd(w->builder, igi_simt_count_up(w, LANES), spread(w, gone), "")};
    return igi_simt_call_intrinsic(w->builder, "llvm.x86.avx512.permvar.si.512", NULL, 0, arguments, 2);
}

void igi_simt_store_window(igi_simt_widener *w, const igi_simt_window *window, LLVMValueRef value, unsigned alignment) {
    LLVMValueRef all = LLVMBuildBitCast(w->builder, value, igi_simt_widen_type(w, w->i32), "");
    for (uint32_t c = 0; c < w->width / LANES; c++) {
        LLVMValueRef bits = window->bits[c], chunk = part(w, all, c * LANES);
        LLVMValueRef written = bits_that_are_on(w, window, c);
        for (uint32_t h = 0; h < 2; h++) {
            LLVMValueRef rest = h ? remaining(w, chunk, bits) : chunk;
            igi_simt_store_masked(w, spread_over(w, rest, half_of(w, bits, h)), half_address(w, window->first[c], h),
                                  alignment, half_of(w, written, h));
        }
    }
}
