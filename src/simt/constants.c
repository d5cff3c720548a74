// SPDX-License-Identifier: Apache-2.0
// Function constants: the symbols ig.fc.ID.TYPE.NAME get their values, and constants derived from them are computed by
// the kernel itself, where they fold.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "msl/constant-symbol.h"
#include "msl/initialisers.h"
#include "simt/ir.h"
#include "simt/passes.h"

static const char prefix[] = "ig.fc.";

// ---- Values ----

static LLVMValueRef scalar_constant(LLVMTypeRef type, ig_type from, const void *bytes) {
    uint64_t raw = 0;
    memcpy(&raw, bytes, ig_type_size(from));
    if (from == IG_TYPE_BOOL) raw = raw != 0;
    if (LLVMGetTypeKind(type) == LLVMIntegerTypeKind) return LLVMConstInt(type, raw, 0);
    LLVMTypeRef integer = LLVMIntTypeInContext(LLVMGetTypeContext(type), ig_type_size(from) * 8);
    return LLVMConstBitCast(LLVMConstInt(integer, raw, 0), type);
}

static LLVMValueRef vector_constant(LLVMTypeRef type, const ig_function_constant *given) {
    LLVMValueRef items[4];
    unsigned count = LLVMGetVectorSize(type);
    assert(count <= 4);
    uint32_t size = ig_type_size(given->type);
    for (unsigned i = 0; i < count; i++)
        items[i] =
            scalar_constant(LLVMGetElementType(type), given->type, (const char *)given->value + (size_t)i * size);
    return LLVMConstVector(items, count);
}

static LLVMValueRef make_constant(LLVMTypeRef type, const ig_function_constant *given) {
    switch (LLVMGetTypeKind(type)) {
        case LLVMStructTypeKind: {
            LLVMValueRef inner = make_constant(LLVMStructGetTypeAtIndex(type, 0), given);
            return LLVMConstNamedStruct(type, &inner, 1);
        }
        case LLVMVectorTypeKind: return vector_constant(type, given);
        default: return scalar_constant(type, given->type, given->value);
    }
}

static bool is_of_scalar(LLVMTypeRef type, ig_type wanted) {
    unsigned bits = ig_type_size(wanted) * 8;
    switch (LLVMGetTypeKind(type)) {
        case LLVMIntegerTypeKind: return wanted < IG_TYPE_F16 && LLVMGetIntTypeWidth(type) == bits;
        case LLVMHalfTypeKind: return wanted == IG_TYPE_F16;
        case LLVMBFloatTypeKind: return wanted == IG_TYPE_BF16;
        case LLVMFloatTypeKind: return wanted == IG_TYPE_F32;
        default: return false;
    }
}

static bool fits(LLVMTypeRef type, const ig_function_constant *given) {
    uint32_t components = given->components ? given->components : 1;
    switch (LLVMGetTypeKind(type)) {
        case LLVMStructTypeKind: return fits(LLVMStructGetTypeAtIndex(type, 0), given);
        case LLVMVectorTypeKind:
            return LLVMGetVectorSize(type) == components && is_of_scalar(LLVMGetElementType(type), given->type);
        default: return components == 1 && is_of_scalar(type, given->type);
    }
}

// Constants of different kernels may share a number: the value is for those of its type.
static const ig_function_constant *find_given(const igi_simt_request *request, LLVMValueRef global) {
    igi_msl_constant_symbol constant;
    size_t length;
    if (!igi_msl_constant_symbol_read(LLVMGetValueName2(global, &length), &constant)) return NULL;
    for (size_t i = 0; i < request->constant_count; i++) {
        const ig_function_constant *given = &request->constants[i];
        bool meant = given->name ? strcmp(given->name, constant.name) == 0 : given->id == constant.id;
        if (meant && fits(LLVMGlobalGetValueType(global), given)) return given;
    }
    return NULL;
}

static bool is_function_constant(LLVMValueRef global) {
    size_t length;
    return strncmp(LLVMGetValueName2(global, &length), prefix, strlen(prefix)) == 0;
}

static void set_values(igi_simt_module *m) {
    for (LLVMValueRef g = LLVMGetFirstGlobal(m->module); g; g = LLVMGetNextGlobal(g)) {
        if (!is_function_constant(g)) continue;
        const ig_function_constant *given = find_given(m->request, g);
        if (!given && !m->request->unset_constants_are_zero) continue;
        LLVMTypeRef type = LLVMGlobalGetValueType(g);
        LLVMSetInitializer(g, given ? make_constant(type, given) : LLVMConstNull(type));
        LLVMSetGlobalConstant(g, 1);
        LLVMSetLinkage(g, LLVMInternalLinkage);
    }
}

// is_function_constant_defined(x)
static void answer_defined(igi_simt_module *m) {
    LLVMValueRef query = LLVMGetNamedFunction(m->module, "__ig_constant_defined");
    LLVMUseRef use = query ? LLVMGetFirstUse(query) : NULL;
    while (use) {
        LLVMValueRef call = LLVMGetUser(use);
        use = LLVMGetNextUse(use);
        LLVMValueRef global = LLVMIsACallInst(call) ? LLVMGetOperand(call, 0) : NULL;
        bool defined =
            global && LLVMIsAGlobalVariable(global) && is_function_constant(global) && find_given(m->request, global);
        if (!global) continue;
        LLVMReplaceAllUsesWith(call, LLVMConstInt(LLVMTypeOf(call), defined, 0));
        LLVMInstructionEraseFromParent(call);
    }
}

// ---- Constants derived from them ----

static void mark_derived(igi_simt_module *m) {
    for (LLVMValueRef g = LLVMGetFirstGlobal(m->module); g; g = LLVMGetNextGlobal(g))
        if (!LLVMIsDeclaration(g) && !LLVMIsGlobalConstant(g) && igi_msl_is_derived(g)) LLVMSetSection(g, "ig.derived");
}

static void call_initialisers(igi_simt_module *m) {
    LLVMValueRef table = LLVMGetNamedGlobal(m->module, "llvm.global_ctors");
    LLVMValueRef entries = table ? LLVMGetInitializer(table) : NULL;
    if (!entries) return;
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(m->context);
    LLVMPositionBuilderBefore(builder, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(m->kernel)));
    LLVMSetCurrentDebugLocation2(builder, igi_simt_kernel_place(m));
    for (int i = 0; i < LLVMGetNumOperands(entries); i++) {
        LLVMValueRef function = LLVMGetOperand(LLVMGetOperand(entries, (unsigned)i), 1);
        if (LLVMIsAFunction(function)) LLVMBuildCall2(builder, LLVMGlobalGetValueType(function), function, NULL, 0, "");
    }
    LLVMDisposeBuilder(builder);
    LLVMDeleteGlobal(table);
}

ig_status igi_simt_pass_constants(igi_simt_module *m) {
    set_values(m);
    answer_defined(m);
    mark_derived(m);
    call_initialisers(m);
    return IG_STATUS_OK;
}

// ---- After inlining: derived constants become variables of the thread, which fold away ----

// The same address computed by instructions instead of a constant expression over a global. NULL: it is nested too
// deeply.
static LLVMValueRef materialise(LLVMBuilderRef builder, LLVMValueRef value, LLVMValueRef global, LLVMValueRef slot) {
    if (value == global) return slot;
    if (!LLVMIsAConstantExpr(value) || LLVMGetConstOpcode(value) != LLVMGetElementPtr) return value;
    LLVMValueRef base = LLVMGetOperand(value, 0), moved = materialise(builder, base, global, slot);
    if (!moved || moved == base) return moved ? value : NULL;
    LLVMValueRef indices[IGI_MAX_INDICES];
    int count = LLVMGetNumOperands(value) - 1;
    if (count > IGI_MAX_INDICES) return NULL;
    for (int i = 0; i < count; i++) indices[i] = LLVMGetOperand(value, (unsigned)i + 1);
    return LLVMBuildGEP2(builder, LLVMGetGEPSourceElementType(value), moved, indices, (unsigned)count, "");
}

static bool replace_in(LLVMValueRef instruction, LLVMValueRef global, LLVMValueRef slot, LLVMBuilderRef builder) {
    LLVMPositionBuilderBefore(builder, instruction);
    for (int i = 0; i < LLVMGetNumOperands(instruction); i++) {
        LLVMValueRef operand = LLVMGetOperand(instruction, (unsigned)i);
        LLVMValueRef moved = materialise(builder, operand, global, slot);
        if (!moved) return false;
        if (moved != operand) LLVMSetOperand(instruction, (unsigned)i, moved);
    }
    return true;
}

static bool any(LLVMValueRef instruction) {
    return !LLVMIsAPHINode(instruction);
}

static ig_status localise(igi_simt_module *m, LLVMValueRef global, const igi_simt_values *instructions) {
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(m->context);
    LLVMPositionBuilderBefore(builder, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(m->thread)));
    LLVMValueRef slot = LLVMBuildAlloca(builder, LLVMGlobalGetValueType(global), "");
    LLVMSetAlignment(slot, LLVMGetAlignment(global) ? LLVMGetAlignment(global) : 16);
    LLVMPositionBuilderBefore(builder, igi_simt_first_after_allocas(m->thread));
    LLVMBuildStore(builder, LLVMGetInitializer(global), slot);
    bool ok = true;
    for (size_t i = 0; ok && i < instructions->count; i++)
        ok = replace_in(instructions->items[i], global, slot, builder);
    LLVMDisposeBuilder(builder);
    if (ok) return IG_STATUS_OK;
    return igi_error_set(m->error, IG_STATUS_UNSUPPORTED, "kernel '%s' uses a constant nested more than %d deep",
                         m->request->name, IGI_MAX_INDICES);
}

ig_status igi_simt_localise_derived(igi_simt_module *m) {
    igi_simt_values instructions = {0};
    ig_status status = IG_STATUS_OK;
    for (LLVMValueRef g = LLVMGetFirstGlobal(m->module); g && status == IG_STATUS_OK; g = LLVMGetNextGlobal(g)) {
        const char *section = LLVMGetSection(g);
        if (!section || strcmp(section, "ig.derived") != 0) continue;
        if (!instructions.items && !igi_simt_collect(m->thread, any, &instructions)) return IG_STATUS_OUT_OF_MEMORY;
        status = localise(m, g, &instructions);
    }
    igi_simt_values_free(&instructions);
    return status;
}
