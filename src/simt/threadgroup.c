// SPDX-License-Identifier: Apache-2.0
// threadgroup variables: from annotated allocas to places in the threadgroup's memory.
#include <llvm-c/Target.h>
#include <string.h>

#include "core/memory.h"
#include "msl/annotations.h"
#include "simt/ir.h"
#include "simt/passes.h"

enum { MAX_ALIGNMENT = 64 };

static bool is_mark(LLVMValueRef instruction) {
    igi_msl_annotation annotation;
    LLVMValueRef variable;
    return igi_msl_variable_annotation(instruction, &annotation, &variable) &&
           igi_msl_is_threadgroup_storage(variable, &annotation);
}

// For igi_simt_pass_instrument: "ig.object"(place, bytes), named after the variable.
static LLVMValueRef name_object(igi_simt_module *m, LLVMBuilderRef builder, LLVMValueRef variable, LLVMValueRef at,
                                uint64_t bytes) {
    if (!m->request->check) return at;
    size_t length;
    LLVMTypeRef i64 = LLVMInt64TypeInContext(m->context), types[] = {LLVMTypeOf(at), i64};
    LLVMTypeRef type = LLVMFunctionType(types[0], types, 2, 0);
    LLVMValueRef arguments[] = {at, LLVMConstInt(i64, bytes, 0)};
    const char *name = igi_msl_storage_name(LLVMGetValueName2(variable, &length));
    return LLVMBuildCall2(builder, type, igi_simt_declare(m->module, "ig.object", type), arguments, 2, name);
}

static bool place(igi_simt_module *m, LLVMValueRef variable, LLVMBuilderRef builder, LLVMValueRef memory) {
    LLVMTargetDataRef layout = LLVMGetModuleDataLayout(m->module);
    uint64_t alignment = LLVMGetAlignment(variable);
    uint64_t offset = igi_round_up(m->info.threadgroup_bytes, alignment > 16 ? alignment : 16);
    uint64_t end = offset + LLVMABISizeOfType(layout, LLVMGetAllocatedType(variable));
    if (end > UINT32_MAX) return false;
    m->info.threadgroup_bytes = (uint32_t)end;
    LLVMValueRef at = igi_simt_field(builder, memory, offset);
    LLVMReplaceAllUsesWith(variable, name_object(m, builder, variable, at, end - offset));
    LLVMInstructionEraseFromParent(variable);
    return true;
}

static LLVMValueRef load_memory(igi_simt_module *m, LLVMBuilderRef builder) {
    LLVMPositionBuilderBefore(builder, igi_simt_first_after_allocas(m->thread));
    LLVMValueRef field =
        igi_simt_field(builder, LLVMGetParam(m->thread, 0), offsetof(igi_simt_group, threadgroup_memory));
    LLVMValueRef memory = LLVMBuildLoad2(builder, LLVMPointerTypeInContext(m->context, 0), field, "threadgroup");
    unsigned kind = LLVMGetMDKindIDInContext(m->context, "invariant.load", 14);
    LLVMSetMetadata(memory, kind, LLVMMetadataAsValue(m->context, LLVMMDNodeInContext2(m->context, NULL, 0)));
    return memory;
}

ig_status igi_simt_pass_threadgroup(igi_simt_module *m) {
    igi_simt_values marks;
    if (!igi_simt_collect(m->thread, is_mark, &marks)) return igi_error_no_memory(m->error);
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(m->context);
    bool ok = true;
    // Lifetimes belong to a thread, but the memory to all threads. They go before the builder could stand at one, and
    // the marks with them.
    for (size_t i = 0; i < marks.count && ok; i++) {
        marks.items[i] = LLVMGetOperand(marks.items[i], 0);
        ok = igi_simt_drop_lifetimes(marks.items[i]);
    }
    LLVMValueRef memory = marks.count && ok ? load_memory(m, builder) : NULL;
    for (size_t i = 0; i < marks.count && ok; i++) {
        ok = place(m, marks.items[i], builder, memory);
    }
    LLVMDisposeBuilder(builder);
    igi_simt_values_free(&marks);
    return ok ? IG_STATUS_OK : igi_error_no_memory(m->error);
}
