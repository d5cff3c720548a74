// SPDX-License-Identifier: Apache-2.0
// [[stage_in]]: Apple's compiler makes a parameter of each attribute. Its value is fetched as stdlib/__ingot_stage_input does
// it for a source, and what the pipeline says of it comes in the same function constants.
#include <stdio.h>
#include <string.h>

#include "air/translator.h"

enum { INDICES = 32 };  // of __ig_stage_buffer

typedef struct fetch {
    const char *symbol;  // of runtime.metal
    LLVMValueRef a, b;   // the words about the attribute
    LLVMValueRef buffer, indices, given;
} fetch;

static const struct {
    const char *type, *symbol;
} scalars[] = {
    {"float", "air_stage_in_f32"},  {"half", "air_stage_in_f16"}, {"bfloat", "air_stage_in_bf16"},
    {"int", "air_stage_in_s32"},    {"uint", "air_stage_in_u32"}, {"short", "air_stage_in_s16"},
    {"ushort", "air_stage_in_u16"}, {"char", "air_stage_in_s8"},  {"uchar", "air_stage_in_u8"},
};

// Of "ushort3"; NULL if no attribute has this type.
static const char *symbol_of(const char *type) {
    size_t length = strlen(type);
    if (length && type[length - 1] >= '2' && type[length - 1] <= '4') length--;
    for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++)
        if (strlen(scalars[i].type) == length && memcmp(scalars[i].type, type, length) == 0) return scalars[i].symbol;
    return NULL;
}

static LLVMValueRef number_of(air_translator *t, uint64_t number) {
    return LLVMConstInt(t->i32, number, 0);
}

// The constants that device/stage-input.c sets; NULL if there can be none.
static LLVMValueRef words(air_translator *t, int64_t attribute, char which) {
    enum { FIRST = 65600, SECOND = 65632 };
    char symbol[80];
    int number = (which == 'a' ? FIRST : SECOND) + (int)attribute;
    snprintf(symbol, sizeof symbol, "ig.fc.%d.uint4.__ig_stage_%d_%c", number, (int)attribute, which);
    LLVMTypeRef type = LLVMVectorType(t->i32, 4);
    LLVMValueRef global = LLVMGetNamedGlobal(t->module, symbol);
    if (!global) {
        global = LLVMAddGlobal(t->module, type, symbol);
        LLVMSetGlobalConstant(global, 1);
    }
    // The module may have something else of this name.
    bool ours = LLVMGlobalGetValueType(global) == type && LLVMIsDeclaration(global);
    return ours ? LLVMBuildLoad2(t->builder, type, global, "") : NULL;
}

static LLVMValueRef word(air_translator *t, LLVMValueRef vector, unsigned index) {
    return LLVMBuildExtractElement(t->builder, vector, number_of(t, index), "");
}

// A hook of <__ingot_intrinsics>, with a literal; NULL if the module has something else of this name.
static LLVMValueRef hook(air_translator *t, const char *name, LLVMTypeRef result, uint64_t argument) {
    LLVMTypeRef type = LLVMFunctionType(result, &t->i32, 1, 0);
    LLVMValueRef function = LLVMGetNamedFunction(t->module, name), number = number_of(t, argument);
    static const char *const attributes[] = {"memory", "nounwind", "willreturn"};  // no memory
    if (!function) function = LLVMAddFunction(t->module, name, type);
    if (LLVMGlobalGetValueType(function) != type || !LLVMIsDeclaration(function)) return NULL;
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
        unsigned kind = LLVMGetEnumAttributeKindForName(attributes[i], strlen(attributes[i]));
        LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                LLVMCreateEnumAttribute(t->context, kind, 0));
    }
    return LLVMBuildCall2(t->builder, type, function, &number, 1, "");
}

static LLVMValueRef component(air_translator *t, const fetch *f, LLVMTypeRef type, unsigned index) {
    LLVMValueRef arguments[] = {f->buffer,        f->indices,         f->given,         word(t, f->a, 0),
                                word(t, f->a, 1), word(t, f->a, 3),   word(t, f->b, 0), word(t, f->b, 1),
                                word(t, f->b, 3), number_of(t, index)};
    return igi_air_call_runtime(t, f->symbol, type, arguments, sizeof arguments / sizeof *arguments);
}

LLVMValueRef igi_air_fetch_attribute(air_translator *t, const air_argument *a, LLVMTypeRef type) {
    bool vector = LLVMGetTypeKind(type) == LLVMVectorTypeKind;
    uint64_t number = (uint64_t)a->location;
    fetch f = {.symbol = symbol_of(a->type)};
    if (!f.symbol || strcmp(a->kind, "air.stage_in") != 0 || (vector && LLVMGetVectorSize(type) > 4)) return NULL;
    f.a = words(t, a->location, 'a'), f.b = words(t, a->location, 'b');
    f.buffer = hook(t, "__ig_stage_buffer", t->pointer, number);
    f.indices = hook(t, "__ig_stage_buffer", t->pointer, INDICES + number);
    f.given = hook(t, "__ig_stage_stride", t->i32, number);
    if (!f.a || !f.b || !f.buffer || !f.indices || !f.given) return NULL;
    if (!vector) return component(t, &f, type, 0);
    LLVMValueRef value = LLVMGetUndef(type);
    for (unsigned i = 0; i < LLVMGetVectorSize(type) && value; i++) {
        LLVMValueRef part = component(t, &f, LLVMGetElementType(type), i);
        value = part ? LLVMBuildInsertElement(t->builder, value, part, number_of(t, i), "") : NULL;
    }
    return value;
}
