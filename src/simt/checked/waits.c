// SPDX-License-Identifier: Apache-2.0
// Where threads wait for each other: the runtime is told the location first.
#include <string.h>

#include "simt/checked/instrument.h"
#include "simt/coroutine.h"

static bool waits(LLVMValueRef i) {
    return strncmp(igi_simt_callee_name(i), "__ig_", 5) == 0 && !igi_simt_calls(i, "__ig_simd_lane") &&
           !igi_simt_calls(i, "__ig_simd_index") && !igi_simt_calls(i, "__ig_constant_defined") && !igi_simt_is_part(i);
}

static bool is_fence(LLVMValueRef i) {
    return LLVMIsAFenceInst(i) != NULL;
}

static void announce_wait(igi_simt_instrumenter *in, LLVMValueRef i) {
    bool barrier = igi_simt_calls(i, "__ig_barrier"), simd_barrier = igi_simt_calls(i, "__ig_simd_barrier");
    LLVMPositionBuilderBefore(in->builder, i);
    LLVMValueRef flags = barrier || simd_barrier ? LLVMGetOperand(i, 0) : igi_simt_number32(in, 0);
    uint32_t site = igi_simt_add_site(in, i, barrier ? IGI_ACT_BARRIER : IGI_ACT_LANES, NULL, 0, 0);
    LLVMValueRef arguments[] = {in->check, in->thread, igi_simt_number32(in, site), flags};
    igi_simt_call_hook(in, "wait", in->void_type, arguments, 4);
}

static void announce_fence(igi_simt_instrumenter *in, LLVMValueRef i) {
    LLVMPositionBuilderBefore(in->builder, i);
    LLVMValueRef arguments[] = {in->check, in->thread};
    igi_simt_call_hook(in, "fence", in->void_type, arguments, 2);
}

void igi_simt_instrument_waits(igi_simt_instrumenter *in) {
    if (in->checks & (IG_CHECK_RACES | IG_CHECK_SYNC)) igi_simt_instrument_all(in, waits, announce_wait);
    if (in->checks & IG_CHECK_RACES) igi_simt_instrument_all(in, is_fence, announce_fence);
}
