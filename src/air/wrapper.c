// SPDX-License-Identifier: Apache-2.0
// The kernel as src/simt binds it: a function that keeps its arguments in annotated variables, as clang makes of our
// attributes, and calls Apple's.
#include <stdio.h>
#include <string.h>

#include "air/translator.h"

// ---- Annotations ----

static LLVMValueRef hidden(air_translator *t, LLVMValueRef value) {
    LLVMValueRef global = LLVMAddGlobal(t->module, LLVMTypeOf(value), "");
    LLVMSetInitializer(global, value);
    LLVMSetGlobalConstant(global, 1);
    LLVMSetLinkage(global, LLVMPrivateLinkage);
    LLVMSetSection(global, "llvm.metadata");
    return global;
}

static LLVMValueRef text_of(air_translator *t, const char *text) {
    return hidden(t, LLVMConstStringInContext2(t->context, text, strlen(text), 0));
}

static LLVMValueRef number_of(air_translator *t, int64_t number) {
    if (number < 0) return LLVMConstPointerNull(t->pointer);
    LLVMValueRef value = LLVMConstInt(t->i32, (uint64_t)number, 0);
    return hidden(t, LLVMConstStructInContext(t->context, &value, 1, 0));
}

void igi_air_annotate(air_translator *t, LLVMValueRef variable, const char *text, int64_t argument) {
    LLVMTypeRef types[] = {t->pointer, t->pointer};
    LLVMValueRef operands[] = {variable, text_of(t, text), text_of(t, "air"), LLVMConstInt(t->i32, 1, 0),
                               number_of(t, argument)};
    igi_air_call_intrinsic(t, "llvm.var.annotation", types, 2, operands, 5);
}

static LLVMValueRef annotation(air_translator *t, const char *text, int64_t argument) {
    LLVMValueRef parts[] = {t->wrapper, text_of(t, text), text_of(t, "air"), LLVMConstInt(t->i32, 1, 0),
                            number_of(t, argument)};
    return LLVMConstStructInContext(t->context, parts, 5, 0);
}

static bool annotate_kernel(air_translator *t) {
    char *host_name = igi_format("ig.host_name:%s", t->name);
    if (!host_name) return igi_air_fail_memory(t);
    LLVMValueRef list[3] = {annotation(t, "ig.kernel", -1), annotation(t, host_name, -1)};
    free(host_name);
    unsigned count = 2;
    if (t->max_threads) list[count++] = annotation(t, "ig.max_total_threads_per_threadgroup", t->max_threads);
    LLVMValueRef all = LLVMConstArray2(LLVMTypeOf(list[0]), list, count);
    LLVMValueRef global = LLVMAddGlobal(t->module, LLVMTypeOf(all), "llvm.global.annotations");
    LLVMSetInitializer(global, all);
    LLVMSetLinkage(global, LLVMAppendingLinkage);
    LLVMSetSection(global, "llvm.metadata");
    return true;
}

// ---- Arguments ----

static bool is_buffer(const air_argument *a) {
    return strcmp(a->kind, "air.buffer") == 0 || strcmp(a->kind, "air.indirect_buffer") == 0;
}

static const char *space_of(const air_argument *a) {
    return a->space == 3 ? "threadgroup" : a->space == 2 ? "constant" : "device";
}

// `dereferenceable`: what commands refuse to bind less than.
static void promise(air_translator *t, unsigned parameter, const char *name, int64_t value) {
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    if (value > 0)
        LLVMAddAttributeAtIndex(t->wrapper, parameter, LLVMCreateEnumAttribute(t->context, kind, (uint64_t)value));
}

static bool is_power_of_two(int64_t value) {
    return value > 0 && (value & (value - 1)) == 0;
}

static bool annotate_buffer(air_translator *t, const air_argument *a, LLVMValueRef storage, unsigned parameter) {
    char text[40];
    bool threadgroup = a->space == 3;
    snprintf(text, sizeof text, "ig.%s:%s", threadgroup ? "threadgroup" : "buffer", space_of(a));
    igi_air_annotate(t, storage, text, a->location);
    if (a->condition) {
        char *condition = igi_format("ig.condition:%s", a->condition);
        if (!condition) return igi_air_fail_memory(t);
        igi_air_annotate(t, storage, condition, -1);
        free(condition);
    }
    if (!a->reference || !is_power_of_two(a->alignment)) return true;
    promise(t, parameter, "dereferenceable", a->size);
    promise(t, parameter, "align", a->alignment);
    return true;
}

static bool annotate_argument(air_translator *t, const air_argument *a, LLVMValueRef storage, unsigned *parameter) {
    bool pointer = LLVMGetTypeKind(LLVMGetAllocatedType(storage)) == LLVMPointerTypeKind;
    if (is_buffer(a) && pointer && a->location >= 0) {
        LLVMBuildStore(t->builder, LLVMGetParam(t->wrapper, *parameter), storage);
        return annotate_buffer(t, a, storage, ++*parameter);
    }
    char text[80];
    if (pointer || is_buffer(a) || strlen(a->kind) > 60) {
        snprintf(text, sizeof text, "an argument of kind %.50s", a->kind);
        return igi_air_fail_unknown(t, text);
    }
    snprintf(text, sizeof text, "ig.%s", a->kind + strlen("air."));
    igi_air_annotate(t, storage, text, -1);
    return true;
}

// Buffers are parameters of the wrapper; built-in values are written into their variables by src/simt.
static void make_wrapper(air_translator *t, const LLVMTypeRef *types) {
    LLVMTypeRef pointers[AIR_MAX_ARGUMENTS];
    unsigned count = 0;
    for (size_t i = 0; i < t->argument_count; i++)
        if (LLVMGetTypeKind(types[i]) == LLVMPointerTypeKind) pointers[count++] = types[i];
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(t->context), pointers, count, 0);
    t->wrapper = LLVMAddFunction(t->module, AIR_WRAPPER, type);
    static const char *const attributes[] = {"nounwind", "null_pointer_is_valid"};
    for (size_t i = 0; i < 2; i++) {
        unsigned kind = LLVMGetEnumAttributeKindForName(attributes[i], strlen(attributes[i]));
        LLVMAddAttributeAtIndex(t->wrapper, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                LLVMCreateEnumAttribute(t->context, kind, 0));
    }
    LLVMPositionBuilderAtEnd(t->builder, LLVMAppendBasicBlockInContext(t->context, t->wrapper, "entry"));
}

bool igi_air_wrap(air_translator *t) {
    LLVMTypeRef type = LLVMGlobalGetValueType(t->kernel), types[AIR_MAX_ARGUMENTS];
    LLVMValueRef storage[AIR_MAX_ARGUMENTS], values[AIR_MAX_ARGUMENTS];
    unsigned parameter = 0;
    LLVMGetParamTypes(type, types);
    make_wrapper(t, types);
    for (size_t i = 0; i < t->argument_count; i++)
        storage[i] = LLVMBuildAlloca(t->builder, types[i], t->arguments[i].name);
    for (size_t i = 0; i < t->argument_count; i++)
        if (!annotate_argument(t, &t->arguments[i], storage[i], &parameter)) return false;
    for (size_t i = 0; i < t->argument_count; i++) values[i] = LLVMBuildLoad2(t->builder, types[i], storage[i], "");
    LLVMBuildCall2(t->builder, type, t->kernel, values, (unsigned)t->argument_count, "");
    LLVMBuildRetVoid(t->builder);
    return annotate_kernel(t);
}
