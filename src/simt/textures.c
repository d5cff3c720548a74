// SPDX-License-Identifier: Apache-2.0
// Formats of textures, and whether reads outside of them must be left out. Kernels read formats from the texture, unless
// code is made for those that are bound: then everything that depends on them folds.
#include "simt/ir.h"
#include "simt/passes.h"

static const char hook[] = "__ig_texture_layout", question[] = "__ig_is_checked";

static bool asks_for_layout(LLVMValueRef instruction) {
    return igi_simt_calls(instruction, hook);
}

// The format of the texture that a load of igi_simt_group.textures[index] gives, or 0.
static uint64_t known_layout(const igi_simt_module *m, LLVMValueRef texture) {
    const uint64_t first = offsetof(igi_simt_group, textures);
    uint64_t offset;
    if (!LLVMIsALoadInst(texture) || !igi_simt_is_field(LLVMGetOperand(texture, 0), &offset) || offset < first)
        return 0;
    uint64_t index = (offset - first) / sizeof(void *);
    return index < IGI_KNOWN_LAYOUTS ? m->request->layouts[index] : 0;
}

static bool asks_for_checks(LLVMValueRef instruction) {
    return igi_simt_calls(instruction, question);
}

static ig_status say_whether_checked(igi_simt_module *m) {
    igi_simt_values calls;
    if (!LLVMGetNamedFunction(m->module, question)) return IG_STATUS_OK;
    if (!igi_simt_collect(m->thread, asks_for_checks, &calls)) return igi_error_no_memory(m->error);
    for (size_t i = 0; i < calls.count; i++) {
        LLVMValueRef call = calls.items[i];
        LLVMReplaceAllUsesWith(call, LLVMConstInt(LLVMTypeOf(call), m->request->check != 0, 0));
        LLVMInstructionEraseFromParent(call);
    }
    igi_simt_values_free(&calls);
    return IG_STATUS_OK;
}

ig_status igi_simt_fix_layouts(igi_simt_module *m) {
    ig_status status = say_whether_checked(m);
    if (status != IG_STATUS_OK || !LLVMGetNamedFunction(m->module, hook)) return status;
    status = igi_simt_run_passes(m, "function(sroa)");
    if (status != IG_STATUS_OK) return status;
    igi_simt_values calls;
    if (!igi_simt_collect(m->thread, asks_for_layout, &calls)) return igi_error_no_memory(m->error);
    for (size_t i = 0; i < calls.count; i++) {
        LLVMValueRef call = calls.items[i];
        uint64_t layout = known_layout(m, LLVMGetOperand(call, 0));
        LLVMValueRef value = layout ? LLVMConstInt(LLVMTypeOf(call), layout, 0) : LLVMGetOperand(call, 1);
        LLVMReplaceAllUsesWith(call, value);
        LLVMInstructionEraseFromParent(call);
    }
    igi_simt_values_free(&calls);
    return IG_STATUS_OK;
}
