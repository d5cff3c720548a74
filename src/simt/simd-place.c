// SPDX-License-Identifier: Apache-2.0
// thread_index_in_simdgroup and simdgroup_index_in_threadgroup. If a group of 32 lanes is a simdgroup, the first is 0,
// 1, 2... and the second is the same for all (shape.c, widen-lanes.c); for single threads they are computed.
#include <string.h>

#include "simt/ir.h"
#include "simt/passes.h"

static bool is_place(LLVMValueRef instruction) {
    return strncmp(igi_simt_callee_name(instruction), "__ig_simd_", 10) == 0 &&
           (igi_simt_calls(instruction, "__ig_simd_lane") || igi_simt_calls(instruction, "__ig_simd_index"));
}

static void compute(LLVMBuilderRef builder, LLVMValueRef call) {
    LLVMValueRef index = LLVMGetOperand(call, 0);
    LLVMTypeRef i32 = LLVMTypeOf(index);
    LLVMValueRef value = igi_simt_calls(call, "__ig_simd_lane")
                             ? LLVMBuildAnd(builder, index, LLVMConstInt(i32, IGI_SIMD_WIDTH - 1, 0), "")
                             : LLVMBuildUDiv(builder, index, LLVMConstInt(i32, IGI_SIMD_WIDTH, 0), "");
    LLVMReplaceAllUsesWith(call, value);
    LLVMInstructionEraseFromParent(call);
}

ig_status igi_simt_lower_places(igi_simt_module *m) {
    return igi_simt_rewrite_instructions(m, is_place, compute);
}
