// SPDX-License-Identifier: Apache-2.0
// For a quick look: may a value be one that nobody has written?
#include "simt/checked/instrument.h"

static void suspect_always(igi_simt_instrumenter *in) {
    LLVMPositionBuilderBefore(in->builder, LLVMGetNextInstruction(in->thread));
    igi_simt_suspect_unless(in, LLVMConstInt(in->i1, 0, 0));
}

static bool is_alloca(LLVMValueRef i) {
    return LLVMIsAAllocaInst(i) != NULL;
}

void igi_simt_touch_variables(igi_simt_instrumenter *in) {
    igi_simt_values all;
    if (!igi_simt_collect(in->m->thread, is_alloca, &all)) {
        in->failed = true;
        return;
    }
    if (all.count) suspect_always(in);
    igi_simt_values_free(&all);
}

static bool is_used_unwritten(LLVMValueRef i) {
    return LLVMIsACallInst(i) && igi_simt_is_unwritten(i) && LLVMGetFirstUse(i);
}

void igi_simt_touch_unwritten(igi_simt_instrumenter *in) {
    igi_simt_values all;
    if (!igi_simt_collect(in->m->thread, is_used_unwritten, &all)) {
        in->failed = true;
        return;
    }
    if (all.count) suspect_always(in);
    igi_simt_values_free(&all);
}
