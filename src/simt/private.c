// SPDX-License-Identifier: Apache-2.0
// Large private arrays leave the machine's stack: a kernel may declare more than the host's threads have.
#include <llvm-c/Target.h>
#include <string.h>

#include "core/memory.h"
#include "simt/ir.h"
#include "simt/passes.h"

enum { STACK_ALLOWANCE = 8192, ALWAYS_ON_STACK = 128, MAX_PRIVATE = 64 << 20 };

static bool is_alloca(LLVMValueRef instruction) {
    return LLVMIsAAllocaInst(instruction) != NULL;
}

static uint64_t bytes_of(const igi_simt_module *m, LLVMValueRef variable) {
    uint64_t bytes = LLVMABISizeOfType(LLVMGetModuleDataLayout(m->module), LLVMGetAllocatedType(variable));
    LLVMValueRef count = LLVMGetOperand(variable, 0);
    return LLVMIsAConstantInt(count) ? bytes * LLVMConstIntGetZExtValue(count) : bytes;
}

static LLVMValueRef private_memory(igi_simt_module *m, LLVMBuilderRef builder) {
    LLVMTypeRef pointer = LLVMPointerTypeInContext(m->context, 0);
    LLVMTypeRef type = LLVMFunctionType(pointer, NULL, 0, 0);
    return LLVMBuildCall2(builder, type, igi_declare(m->module, "ig.private", type), NULL, 0, "");
}

// Moves what is large out of the function's frame; false when memory is short.
static bool move_out(igi_simt_module *m, LLVMValueRef function, const igi_values *variables) {
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(m->context);
    LLVMPositionBuilderBefore(builder, igi_first_after_allocas(function));
    LLVMValueRef memory = private_memory(m, builder);
    uint64_t used = 0;
    bool ok = true;
    for (size_t i = 0; i < variables->count && ok; i++) {
        LLVMValueRef variable = variables->items[i];
        uint64_t bytes = bytes_of(m, variable);
        if (bytes <= ALWAYS_ON_STACK) continue;
        ok = igi_drop_lifetimes(variable);
        LLVMReplaceAllUsesWith(variable, igi_field(builder, memory, used));
        LLVMInstructionEraseFromParent(variable);
        used += igi_round_up(bytes, 64);
    }
    LLVMDisposeBuilder(builder);
    if (used > m->info.private_bytes) m->info.private_bytes = (uint32_t)used;
    return ok;
}

static ig_status limit_frame(igi_simt_module *m, LLVMValueRef function) {
    igi_values variables;
    if (!igi_collect(function, is_alloca, &variables)) return igi_error_no_memory(m->error);
    uint64_t total = 0;
    for (size_t i = 0; i < variables.count; i++) total += igi_round_up(bytes_of(m, variables.items[i]), 64);
    ig_status status = IG_STATUS_OK;
    if (total > MAX_PRIVATE)
        status = igi_error_set(m->error, IG_STATUS_UNSUPPORTED,
                               "kernel '%s' needs %llu bytes of private memory per thread; at most %d are supported",
                               m->request->name, (unsigned long long)total, MAX_PRIVATE);
    else if (total > STACK_ALLOWANCE && !move_out(m, function, &variables))
        status = igi_error_no_memory(m->error);
    igi_values_free(&variables);
    return status;
}

ig_status igi_pass_private(igi_simt_module *m) {
    ig_status status = IG_STATUS_OK;
    for (LLVMValueRef f = LLVMGetFirstFunction(m->module); f && status == IG_STATUS_OK; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f)) status = limit_frame(m, f);
    return status;
}
