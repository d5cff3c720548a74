// SPDX-License-Identifier: Apache-2.0
// Reads that turn out at run time to stay within a register of memory after the first lane, up to the last lane:
// neighbouring threads that sample a texture, which is enlarged, reduced to half, or moved. What is between the first
// and the last lane is read as a whole, and permuted in registers.
//
// AVX2 and AVX-512, and elements of four bytes. The lanes must all be active: memory between two addresses that a kernel
// reads can be read, but an inactive lane may have any address.
#include <string.h>

#include "simt/ir.h"
#include "simt/target.h"
#include "simt/widen.h"

uint32_t igi_simt_near_lanes(const igi_simt_widener *w) {
    if (igi_simt_is_for_arm()) return 4;
    return w->mask_registers ? 16 : 8;
}

bool igi_simt_may_be_near(const igi_simt_widener *w, LLVMValueRef address, LLVMTypeRef type) {
    uint32_t lanes = igi_simt_near_lanes(w);
    return !w->mask && strstr(igi_simt_features(), "+avx2") && w->width % lanes == 0 &&
           w->width / lanes <= IGI_MAX_CHUNKS && LLVMABISizeOfType(w->s.layout, type) == 4 &&
           igi_simt_is_indexed(w, address, 4) && igi_simt_is_coordinate(w, address);
}

static LLVMTypeRef words(const igi_simt_widener *w) {
    return LLVMVectorType(w->i32, igi_simt_near_lanes(w));
}

static LLVMValueRef lane_of_all(igi_simt_widener *w, LLVMValueRef vector, uint32_t lane) {
    uint32_t from[IGI_MAX_WIDTH], lanes = igi_simt_near_lanes(w);
    for (uint32_t i = 0; i < lanes; i++) from[i] = lane;
    return LLVMBuildShuffleVector(w->builder, vector, LLVMGetPoison(LLVMTypeOf(vector)),
                                  igi_simt_shuffle_mask(w, from, lanes), "");
}

// No lane is beyond the last one, and that is within a register of the first. bits[] are the last lane's offset.
LLVMValueRef igi_simt_find_near(igi_simt_widener *w, LLVMValueRef indices, igi_simt_window *window) {
    LLVMBuilderRef b = w->builder;
    uint32_t lanes = igi_simt_near_lanes(w);
    LLVMTypeRef type = words(w), bits = LLVMIntTypeInContext(w->m->context, lanes);
    LLVMValueRef yes = LLVMConstInt(w->i1, 1, 0);
    for (uint32_t c = 0; c < w->width / lanes; c++) {
        LLVMValueRef mine = igi_simt_part(w, indices, c * lanes, lanes);
        window->offsets[c] = LLVMBuildSub(b, mine, lane_of_all(w, mine, 0), "");
        window->bits[c] = lane_of_all(w, window->offsets[c], lanes - 1);
        LLVMValueRef both[] = {window->bits[c], igi_simt_splat(type, lanes - 1, false)};
        LLVMValueRef limit = igi_simt_call_intrinsic(b, "llvm.umin", &type, 1, both, 2);
        LLVMValueRef near = LLVMBuildICmp(b, LLVMIntULE, window->offsets[c], limit, "");
        LLVMValueRef all = LLVMBuildBitCast(b, near, bits, "");
        yes = LLVMBuildAnd(b, yes, LLVMBuildICmp(b, LLVMIntEQ, all, LLVMConstAllOnes(bits), ""), "");
    }
    return yes;
}

LLVMValueRef igi_simt_load_near(igi_simt_widener *w, const igi_simt_window *window, LLVMTypeRef wide,
                                unsigned alignment) {
    const char *permute = w->mask_registers ? "llvm.x86.avx512.permvar.si.512" : "llvm.x86.avx2.permd";
    LLVMValueRef parts[IGI_MAX_CHUNKS];
    uint32_t lanes = igi_simt_near_lanes(w);
    for (uint32_t c = 0; c < w->width / lanes; c++) {
        LLVMValueRef wanted = LLVMBuildICmp(w->builder, LLVMIntSLE, igi_simt_count_up(w, lanes), window->bits[c], "");
        LLVMValueRef memory = igi_simt_load_masked(w, words(w), window->first[c], alignment, wanted);
        LLVMValueRef arguments[] = {memory, window->offsets[c]};
        parts[c] = igi_simt_call_intrinsic(w->builder, permute, NULL, 0, arguments, 2);
    }
    return LLVMBuildBitCast(w->builder, igi_simt_join(w, parts, w->width / lanes, lanes), wide, "");
}
