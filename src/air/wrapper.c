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

static bool annotate_condition(air_translator *t, const air_argument *a, LLVMValueRef storage) {
    if (!a->condition) return true;
    char *condition = igi_format("ig.condition:%s", a->condition);
    if (!condition) return igi_air_fail_memory(t);
    igi_air_annotate(t, storage, condition, -1);
    free(condition);
    return true;
}

static bool fail_argument(air_translator *t, const air_argument *a) {
    char text[80];
    snprintf(text, sizeof text, "an argument of kind %.50s", a->kind);
    return igi_air_fail_unknown(t, text);
}

static LLVMValueRef add_variable(air_translator *t, LLVMTypeRef type, const char *name) {
    LLVMBasicBlockRef entry = LLVMGetInsertBlock(t->builder);
    LLVMValueRef first = LLVMGetFirstInstruction(entry);
    if (first) LLVMPositionBuilderBefore(t->builder, first);
    LLVMValueRef variable = LLVMBuildAlloca(t->builder, type, name);
    LLVMPositionBuilderAtEnd(t->builder, entry);
    return variable;
}

// Apple's compiler reads references before it tests the condition that they depend on: without a buffer, zeros are read.
static LLVMValueRef or_zeros(air_translator *t, const air_argument *a, LLVMValueRef pointer) {
    enum { LARGEST = 1 << 16 };
    if (!a->condition || !a->reference || a->size <= 0 || a->size > LARGEST) return pointer;
    LLVMTypeRef type = LLVMArrayType2(LLVMInt8TypeInContext(t->context), (uint64_t)a->size);
    LLVMValueRef zeros = LLVMAddGlobal(t->module, type, "");
    LLVMSetInitializer(zeros, LLVMConstNull(type));
    LLVMSetGlobalConstant(zeros, 1);
    LLVMSetLinkage(zeros, LLVMPrivateLinkage);
    LLVMSetAlignment(zeros, 16);
    LLVMValueRef missing = LLVMBuildIsNull(t->builder, pointer, "");
    return LLVMBuildSelect(t->builder, missing, zeros, pointer, "");
}

// A buffer is a parameter of the wrapper.
static bool bind_buffer(air_translator *t, const air_argument *a, LLVMValueRef parameter, unsigned number,
                        LLVMValueRef *value) {
    char text[40];
    LLVMValueRef storage = add_variable(t, t->pointer, a->name);
    LLVMBuildStore(t->builder, parameter, storage);
    snprintf(text, sizeof text, "ig.%s:%s", a->space == 3 ? "threadgroup" : "buffer", space_of(a));
    igi_air_annotate(t, storage, text, a->location);
    if (!annotate_condition(t, a, storage)) return false;
    if (a->reference && is_power_of_two(a->alignment)) {
        promise(t, number, "dereferenceable", a->size);
        promise(t, number, "align", a->alignment);
    }
    *value = or_zeros(t, a, LLVMBuildLoad2(t->builder, t->pointer, storage, ""));
    return true;
}

// One texture, or a sampler, whose state travels as an address.
static LLVMValueRef bind_object(air_translator *t, const air_argument *a, int64_t element) {
    bool sampler = igi_air_class_of(a) == AIR_SAMPLER;
    LLVMTypeRef type = sampler ? t->i64 : t->pointer;
    LLVMValueRef storage = add_variable(t, type, a->name);
    igi_air_annotate(t, storage, sampler ? "ig.sampler:" : "ig.texture:", a->location + element);
    if (!annotate_condition(t, a, storage)) return NULL;
    LLVMValueRef value = LLVMBuildLoad2(t->builder, type, storage, "");
    return sampler ? LLVMBuildIntToPtr(t->builder, value, t->pointer, "") : value;
}

// An array is passed by its address.
static bool bind_objects(air_translator *t, const air_argument *a, LLVMValueRef *value) {
    if (!igi_air_is_array(a)) return (*value = bind_object(t, a, 0)) != NULL;
    LLVMTypeRef type = LLVMArrayType2(t->pointer, (uint64_t)a->count);
    LLVMValueRef array = add_variable(t, type, a->name);
    for (int64_t i = 0; i < a->count; i++) {
        LLVMValueRef indices[] = {LLVMConstInt(t->i64, 0, 0), LLVMConstInt(t->i64, (uint64_t)i, 0)};
        LLVMValueRef object = bind_object(t, a, i);
        if (!object) return false;
        LLVMBuildStore(t->builder, object, LLVMBuildInBoundsGEP2(t->builder, type, array, indices, 2, ""));
    }
    *value = array;
    return true;
}

static bool bind_builtin(air_translator *t, const air_argument *a, LLVMTypeRef type, LLVMValueRef *value) {
    char text[80];
    const char *name = a->kind;
    if (!igi_skip(&name, "air.")) return fail_argument(t, a);
    LLVMValueRef storage = add_variable(t, type, a->name);
    snprintf(text, sizeof text, "ig.%s", name);
    igi_air_annotate(t, storage, text, -1);
    *value = LLVMBuildLoad2(t->builder, type, storage, "");
    return true;
}

static bool bind_argument(air_translator *t, const air_argument *a, LLVMTypeRef type, unsigned *parameters,
                          LLVMValueRef *value) {
    bool pointer = LLVMGetTypeKind(type) == LLVMPointerTypeKind;
    air_argument_class class = igi_air_class_of(a);
    bool by_value = class == AIR_BUILTIN || class == AIR_ATTRIBUTE;
    if (pointer == by_value || strlen(a->kind) > 60) return fail_argument(t, a);
    switch (class) {
        case AIR_BUFFER:
        case AIR_TABLE: {
            LLVMValueRef parameter = LLVMGetParam(t->wrapper, (*parameters)++);
            return bind_buffer(t, a, parameter, *parameters, value);
        }
        case AIR_TEXTURE:
        case AIR_SAMPLER: return bind_objects(t, a, value);
        case AIR_ATTRIBUTE: return true;  // fetched once all others are bound
        default: return bind_builtin(t, a, type, value);
    }
}

// What is inlined here may cut the block, and src/simt finds arguments in the first one.
static bool fetch_attributes(air_translator *t, const LLVMTypeRef *types, LLVMValueRef *values) {
    for (size_t i = 0; i < t->argument_count; i++) {
        const air_argument *a = &t->arguments[i];
        if (igi_air_class_of(a) != AIR_ATTRIBUTE) continue;
        values[i] = igi_air_fetch_attribute(t, a, types[i]);
        if (!values[i]) return fail_argument(t, a);
    }
    return true;
}

// Buffers are parameters of the wrapper; everything else is written into its variables by src/simt.
static void make_wrapper(air_translator *t) {
    LLVMTypeRef pointers[AIR_MAX_ARGUMENTS];
    unsigned count = 0;
    for (size_t i = 0; i < t->argument_count; i++)
        if (igi_air_class_of(&t->arguments[i]) <= AIR_TABLE) pointers[count++] = t->pointer;
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
    LLVMValueRef values[AIR_MAX_ARGUMENTS];
    unsigned parameters = 0;
    LLVMGetParamTypes(type, types);
    make_wrapper(t);
    for (size_t i = 0; i < t->argument_count; i++)
        if (!bind_argument(t, &t->arguments[i], types[i], &parameters, &values[i])) return false;
    if (!fetch_attributes(t, types, values)) return false;
    LLVMBuildCall2(t->builder, type, t->kernel, values, (unsigned)t->argument_count, "");
    LLVMBuildRetVoid(t->builder);
    return annotate_kernel(t);
}
