// SPDX-License-Identifier: Apache-2.0
// Names of variables, kept as metadata: moving an instruction with the LLVM-C API drops its name.
#include "simt/checked/instrument.h"

static unsigned kind_of(const igi_simt_instrumenter *in) {
    return LLVMGetMDKindIDInContext(in->m->context, "ig.name", 7);
}

static bool is_variable(LLVMValueRef i) {
    return LLVMIsAAllocaInst(i) || igi_simt_calls(i, "ig.object");
}

static void for_variables(igi_simt_instrumenter *in, void (*act)(igi_simt_instrumenter *in, LLVMValueRef variable)) {
    igi_simt_values all;
    if (!igi_simt_collect(in->m->thread, is_variable, &all)) {
        in->failed = true;
        return;
    }
    for (size_t i = 0; i < all.count; i++) act(in, all.items[i]);
    igi_simt_values_free(&all);
}

static void remember(igi_simt_instrumenter *in, LLVMValueRef variable) {
    size_t length;
    const char *name = LLVMGetValueName2(variable, &length);
    if (!length) return;
    LLVMMetadataRef text = LLVMMDStringInContext2(in->m->context, name, length);
    LLVMMetadataRef node = LLVMMDNodeInContext2(in->m->context, &text, 1);
    LLVMSetMetadata(variable, kind_of(in), LLVMMetadataAsValue(in->m->context, node));
}

void igi_simt_remember_names(igi_simt_instrumenter *in) {
    for_variables(in, remember);
}

const char *igi_simt_remembered_name(const igi_simt_instrumenter *in, LLVMValueRef value, unsigned *length) {
    LLVMValueRef node = LLVMIsAInstruction(value) ? LLVMGetMetadata(value, kind_of(in)) : NULL, text;
    *length = 0;
    if (!node || LLVMGetMDNodeNumOperands(node) != 1) return "";
    LLVMGetMDNodeOperands(node, &text);
    const char *name = LLVMGetMDString(text, length);
    return name ? name : "";
}

static void restore(igi_simt_instrumenter *in, LLVMValueRef variable) {
    unsigned length;
    const char *name = igi_simt_remembered_name(in, variable, &length);
    if (length) LLVMSetValueName2(variable, name, length);
    LLVMSetMetadata(variable, kind_of(in), NULL);
}

void igi_simt_restore_names(igi_simt_instrumenter *in) {
    for_variables(in, restore);
}
