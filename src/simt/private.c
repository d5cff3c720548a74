// SPDX-License-Identifier: Apache-2.0
// Private arrays move off the machine's stack. A kernel may declare more than the host's threads have, and may index
// its arrays out of bounds: so nothing sensitive, such as a return address or a pointer, may be next to an array. What
// stays on the stack is accessed at constant offsets inside it, or by generated code only.
#include <llvm-c/Target.h>
#include <string.h>

#include "core/memory.h"
#include "simt/ir.h"
#include "simt/passes.h"

enum { STACK_ALLOWANCE = 8192, ALWAYS_ON_STACK = 128, DEPTH = 8, ALIGNMENT = 64 };

static bool is_alloca(LLVMValueRef instruction) {
    return LLVMIsAAllocaInst(instruction) != NULL;
}

// ---- Sizes ----

// Rounded up; UINT64_MAX if it is not known.
static uint64_t bytes_of(const igi_simt_module *m, LLVMValueRef variable) {
    uint64_t bytes = LLVMABISizeOfType(LLVMGetModuleDataLayout(m->module), LLVMGetAllocatedType(variable));
    LLVMValueRef count = LLVMGetOperand(variable, 0);
    if (!LLVMIsAConstantInt(count) || !igi_mul(bytes, LLVMConstIntGetZExtValue(count), &bytes)) return UINT64_MAX;
    return bytes > UINT64_MAX - ALIGNMENT ? UINT64_MAX : igi_round_up(bytes, ALIGNMENT);
}

static uint64_t bytes_of_all(const igi_simt_module *m, const igi_simt_values *variables) {
    uint64_t total = 0;
    for (size_t i = 0; i < variables->count; i++) total = igi_add_clamped(total, bytes_of(m, variables->items[i]));
    return total;
}

uint64_t igi_simt_private_bytes_of_thread(const igi_simt_module *m) {
    igi_simt_values variables;
    if (!igi_simt_collect(m->thread, is_alloca, &variables)) return UINT64_MAX;
    uint64_t bytes = bytes_of_all(m, &variables);
    igi_simt_values_free(&variables);
    return bytes;
}

ig_status igi_simt_refuse_private(igi_simt_module *m, uint64_t bytes) {
    if (bytes == UINT64_MAX)
        return igi_error_set(m->error, IG_STATUS_UNSUPPORTED,
                             "kernel '%s' has a private array whose length is not a constant; give it one",
                             m->request->name);
    return igi_error_set(m->error, IG_STATUS_UNSUPPORTED,
                         "kernel '%s' needs %llu bytes of private memory per thread; at most %d are supported",
                         m->request->name, (unsigned long long)bytes, IGI_MAX_PRIVATE);
}

// ---- What may stay ----

typedef struct place {
    const igi_simt_module *m;
    LLVMValueRef pointer;
    uint64_t left;  // bytes of the variable from here on
} place;

static bool fits(const place *p, LLVMTypeRef type) {
    return LLVMStoreSizeOfType(LLVMGetModuleDataLayout(p->m->module), type) <= p->left;
}

static bool fits_call(const place *p, LLVMValueRef call) {
    const char *name = igi_simt_callee_name(call);
    if (strncmp(name, "llvm.lifetime.", 14) == 0) return true;
    if (strncmp(name, "llvm.masked.load.", 17) == 0) return fits(p, LLVMTypeOf(call));
    if (strncmp(name, "llvm.masked.store.", 18) == 0)
        return LLVMGetOperand(call, 0) != p->pointer && fits(p, LLVMTypeOf(LLVMGetOperand(call, 0)));
    if (strncmp(name, "llvm.mem", 8) != 0) return false;
    LLVMValueRef length = LLVMGetOperand(call, 2);
    return LLVMIsAConstantInt(length) && LLVMConstIntGetZExtValue(length) <= p->left;
}

static bool stays_inside(const place *p, unsigned depth);

static bool fits_use(const place *p, LLVMValueRef user, unsigned depth) {
    uint64_t offset;
    switch (LLVMGetInstructionOpcode(user)) {
        case LLVMLoad: return fits(p, LLVMTypeOf(user));
        case LLVMStore: return LLVMGetOperand(user, 0) != p->pointer && fits(p, LLVMTypeOf(LLVMGetOperand(user, 0)));
        case LLVMGetElementPtr:
            return depth && igi_simt_constant_offset(user, &offset) && offset <= p->left &&
                   stays_inside(&(place){p->m, user, p->left - offset}, depth - 1);
        case LLVMCall: return fits_call(p, user);
        default: return false;
    }
}

static bool stays_inside(const place *p, unsigned depth) {
    for (LLVMUseRef use = LLVMGetFirstUse(p->pointer); use; use = LLVMGetNextUse(use))
        if (!fits_use(p, LLVMGetUser(use), depth)) return false;
    return true;
}

// Lanes are written there one by one, with an index that we generated.
static bool is_ours(LLVMValueRef variable) {
    size_t length;
    return strncmp(LLVMGetValueName2(variable, &length), IGI_TEMPORARY, sizeof IGI_TEMPORARY - 1) == 0;
}

static bool may_stay(const igi_simt_module *m, LLVMValueRef variable) {
    uint64_t bytes = LLVMABISizeOfType(LLVMGetModuleDataLayout(m->module), LLVMGetAllocatedType(variable));
    return is_ours(variable) || stays_inside(&(place){m, variable, bytes}, DEPTH);
}

// ---- Moving ----

typedef LLVMValueRef (*memory_maker)(igi_simt_module *m, LLVMBuilderRef builder);

// Assigns the variables places in the memory, from *used on. Returns false when the host's memory is short.
static bool move_out(igi_simt_module *m, LLVMValueRef function, const igi_simt_values *leaving, memory_maker make,
                     uint64_t *used) {
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(m->context);
    LLVMPositionBuilderBefore(builder, igi_simt_first_after_allocas(function));
    LLVMValueRef memory = make(m, builder);
    bool ok = true;
    for (size_t i = 0; i < leaving->count && ok; i++) {
        LLVMValueRef variable = leaving->items[i];
        uint64_t bytes = bytes_of(m, variable);
        ok = igi_simt_drop_lifetimes(variable);
        LLVMValueRef home = igi_simt_field(builder, memory, *used);
        if (m->request->variables) igi_simt_follow_variable(m, builder, variable, home);
        LLVMReplaceAllUsesWith(variable, home);
        LLVMInstructionEraseFromParent(variable);
        *used += bytes;
    }
    LLVMDisposeBuilder(builder);
    return ok;
}

static bool find_leaving(const igi_simt_module *m, const igi_simt_values *variables, igi_simt_values *leaving) {
    bool large = bytes_of_all(m, variables) > STACK_ALLOWANCE, ok = true;
    *leaving = (igi_simt_values){0};
    for (size_t i = 0; i < variables->count && ok; i++) {
        LLVMValueRef variable = variables->items[i];
        if (may_stay(m, variable) && (!large || bytes_of(m, variable) <= ALWAYS_ON_STACK)) continue;
        ok = igi_simt_values_add(leaving, variable);
    }
    return ok;
}

// *used: bytes of the memory that are taken, before and after the call.
static ig_status empty_frame(igi_simt_module *m, LLVMValueRef function, memory_maker make, uint64_t *used) {
    igi_simt_values variables, leaving = {0};
    if (!igi_simt_collect(function, is_alloca, &variables)) return igi_error_no_memory(m->error);
    uint64_t total = bytes_of_all(m, &variables);
    ig_status status = total > IGI_MAX_PRIVATE ? igi_simt_refuse_private(m, total) : IG_STATUS_OK;
    if (status == IG_STATUS_OK) {
        bool ok = find_leaving(m, &variables, &leaving);
        if (ok && leaving.count) ok = move_out(m, function, &leaving, make, used);
        if (!ok) status = igi_error_no_memory(m->error);
    }
    igi_simt_values_free(&variables);
    igi_simt_values_free(&leaving);
    return status;
}

// ---- Threads that wait ----

static LLVMValueRef memory_of_lane(igi_simt_module *m, LLVMBuilderRef builder) {
    LLVMValueRef field = igi_simt_field(builder, LLVMGetParam(m->thread, 4), offsetof(igi_simt_lane, arrays));
    return LLVMBuildLoad2(builder, LLVMPointerTypeInContext(m->context, 0), field, "arrays");
}

ig_status igi_simt_move_arrays_to_lane(igi_simt_module *m) {
    uint64_t used = 0;
    ig_status status = empty_frame(m, m->thread, memory_of_lane, &used);
    m->info.array_bytes = (uint32_t)used;
    return status;
}

// ---- All of them ----

static LLVMValueRef memory_of_host_thread(igi_simt_module *m, LLVMBuilderRef builder) {
    LLVMTypeRef pointer = LLVMPointerTypeInContext(m->context, 0);
    LLVMTypeRef type = LLVMFunctionType(pointer, NULL, 0, 0);
    return LLVMBuildCall2(builder, type, igi_simt_declare(m->module, "ig.private", type), NULL, 0, "");
}

// Each function has its own memory: "ig.run" may have filled an array for all its calls of "ig.tail".
ig_status igi_simt_pass_private(igi_simt_module *m) {
    ig_status status = IG_STATUS_OK;
    uint64_t used = 0;
    for (LLVMValueRef f = LLVMGetFirstFunction(m->module); f && status == IG_STATUS_OK; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f)) continue;
        status = empty_frame(m, f, memory_of_host_thread, &used);
        igi_simt_trap_unreachable(f);
    }
    if (status == IG_STATUS_OK && used > UINT32_MAX) return igi_simt_refuse_private(m, used);
    m->info.private_bytes = (uint32_t)used;
    return status;
}
