// SPDX-License-Identifier: Apache-2.0
// AIR's intrinsics, by the grammar of their names: air.[fast_]OPERATION.TYPE..., where a TYPE is f32, f16, bf16 or iN,
// after v and a number if it is a vector, and after s. or u. if an integer's sign matters.
//
// Operations on scalars are functions of runtime.metal under the same name with other dots. Those on vectors are done
// element by element, conversions by LLVM's instructions.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "air/translator.h"

enum { MOST_OPERANDS = 8, LONGEST_NAME = 200 };

static bool is_vector(LLVMValueRef value) {
    return LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMVectorTypeKind;
}

static LLVMTypeRef scalar_of(LLVMTypeRef type) {
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetElementType(type) : type;
}

static LLVMValueRef element(air_translator *t, LLVMValueRef vector, unsigned index) {
    return LLVMBuildExtractElement(t->builder, vector, LLVMConstInt(t->i32, index, 0), "");
}

// ---- Names ----

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

// air.exp.v4f32 becomes air_exp_f32. Returns false if it is too long.
static bool scalar_symbol(const char *name, char symbol[LONGEST_NAME]) {
    size_t length = 0;
    for (const char *at = name; *at; at++) {
        if (length + 1 == LONGEST_NAME) return false;
        symbol[length++] = *at == '.' ? '_' : *at;
        if (at[0] != '.' || at[1] != 'v' || !is_digit(at[2])) continue;
        at += 2;
        while (is_digit(at[1])) at++;
    }
    symbol[length] = 0;
    return true;
}

// ---- Conversions: air.convert.KIND.TYPE.KIND.TYPE, to and from ----

typedef struct conversion {
    char to, from;  // f, s or u
} conversion;

static const char *after_type(const char *at) {
    while (*at && *at != '.') at++;
    return *at ? at + 1 : at;
}

// The types are those of the call; the name has their signs.
static bool read_conversion(const char *name, conversion *c) {
    if (!igi_skip(&name, "air.convert.") || !name[0] || name[1] != '.') return false;
    c->to = name[0];
    name = after_type(name + 2);
    if (!name[0] || name[1] != '.') return false;
    c->from = name[0];
    return strchr("fsu", c->to) && strchr("fsu", c->from) && !strchr(name + 2, '.');
}

static unsigned float_bits(LLVMTypeRef type) {
    switch (LLVMGetTypeKind(scalar_of(type))) {
        case LLVMHalfTypeKind:
        case LLVMBFloatTypeKind: return 16;
        case LLVMFloatTypeKind: return 32;
        default: return 0;
    }
}

static bool is_bool(LLVMTypeRef type) {
    LLVMTypeRef scalar = scalar_of(type);
    return LLVMGetTypeKind(scalar) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(scalar) == 1;
}

static LLVMTypeRef float_like(air_translator *t, LLVMTypeRef type) {
    LLVMTypeRef f32 = LLVMFloatTypeInContext(t->context);
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMVectorType(f32, LLVMGetVectorSize(type)) : f32;
}

// Between half and bfloat by way of float, which holds both.
static LLVMValueRef convert_float(air_translator *t, LLVMValueRef value, LLVMTypeRef to) {
    LLVMTypeRef from = LLVMTypeOf(value);
    if (from == to) return value;
    if (float_bits(from) == 16 && float_bits(to) == 16)
        value = LLVMBuildFPExt(t->builder, value, float_like(t, from), "");
    return float_bits(LLVMTypeOf(value)) < float_bits(to) ? LLVMBuildFPExt(t->builder, value, to, "")
                                                          : LLVMBuildFPTrunc(t->builder, value, to, "");
}

// What does not fit becomes the nearest number that does, and NaN 0: as on a GPU, and in a source compiled here.
static LLVMValueRef convert_to_integer(air_translator *t, LLVMValueRef value, LLVMTypeRef to, bool is_signed) {
    value = convert_float(t, value, float_like(t, LLVMTypeOf(value)));
    LLVMTypeRef types[] = {to, LLVMTypeOf(value)};
    return igi_air_call_intrinsic(t, is_signed ? "llvm.fptosi.sat" : "llvm.fptoui.sat", types, 2, &value, 1);
}

static bool is_integer(LLVMTypeRef type) {
    return LLVMGetTypeKind(scalar_of(type)) == LLVMIntegerTypeKind;
}

static bool has_kind(LLVMTypeRef type, char kind) {
    return kind == 'f' ? float_bits(type) != 0 : is_integer(type);
}

static unsigned elements_of(LLVMTypeRef type) {
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetVectorSize(type) : 0;
}

static LLVMValueRef convert(air_translator *t, conversion c, LLVMValueRef value, LLVMTypeRef to) {
    LLVMTypeRef from = LLVMTypeOf(value);
    LLVMBuilderRef b = t->builder;
    if (!has_kind(from, c.from) || !has_kind(to, c.to) || elements_of(from) != elements_of(to)) return NULL;
    if (c.from == 'f' && c.to == 'f') return convert_float(t, value, to);
    if (c.from == 'f' && is_bool(to)) return LLVMBuildFCmp(b, LLVMRealUNE, value, LLVMConstNull(from), "");
    if (c.from == 'f') return convert_to_integer(t, value, to, c.to == 's');
    if (c.to == 'f' && c.from == 's' && !is_bool(from)) return LLVMBuildSIToFP(b, value, to, "");
    if (c.to == 'f') return LLVMBuildUIToFP(b, value, to, "");
    if (is_bool(to)) return LLVMBuildICmp(b, LLVMIntNE, value, LLVMConstNull(from), "");
    return LLVMBuildIntCast2(b, value, to, c.from == 's' && !is_bool(from), "");
}

// ---- Vectors ----

static LLVMValueRef all_or_any(air_translator *t, LLVMValueRef vector, bool all) {
    LLVMValueRef result = element(t, vector, 0);
    for (unsigned i = 1; i < LLVMGetVectorSize(LLVMTypeOf(vector)); i++) {
        LLVMValueRef next = element(t, vector, i);
        result = all ? LLVMBuildAnd(t->builder, result, next, "") : LLVMBuildOr(t->builder, result, next, "");
    }
    return result;
}

// air.dot.v4f32 is air_dot4_f32 of the elements.
static LLVMValueRef dot(air_translator *t, const char *name, LLVMValueRef call) {
    LLVMValueRef left = LLVMGetOperand(call, 0), right = LLVMGetOperand(call, 1), parts[MOST_OPERANDS];
    unsigned count = LLVMGetVectorSize(LLVMTypeOf(left));
    if (count > MOST_OPERANDS / 2 || LLVMTypeOf(left) != LLVMTypeOf(right)) return NULL;
    for (unsigned i = 0; i < count; i++) {
        parts[i] = element(t, left, i);
        parts[count + i] = element(t, right, i);
    }
    char symbol[LONGEST_NAME];
    bool fast = strncmp(name, "air.fast_", 9) == 0, half = float_bits(LLVMTypeOf(call)) == 16;
    snprintf(symbol, sizeof symbol, "air_%sdot%u_%s", fast ? "fast_" : "", count, half ? "f16" : "f32");
    return igi_air_call_runtime(t, symbol, LLVMTypeOf(call), parts, 2 * count);
}

// Element i of what a function writes beside its result: exponents are ints, everything else is as the result.
static LLVMValueRef pointer_to_element(air_translator *t, const char *symbol, LLVMValueRef call, LLVMValueRef pointer,
                                       unsigned i) {
    LLVMTypeRef type = strstr(symbol, "frexp") ? t->i32 : LLVMGetElementType(LLVMTypeOf(call));
    LLVMValueRef index = LLVMConstInt(t->i32, i, 0);
    return LLVMBuildGEP2(t->builder, type, pointer, &index, 1, "");
}

static LLVMValueRef by_element(air_translator *t, const char *symbol, LLVMValueRef call, unsigned count) {
    LLVMTypeRef type = LLVMTypeOf(call);
    unsigned operands = LLVMGetNumArgOperands(call);
    if (elements_of(type) != count) return NULL;
    LLVMValueRef result = LLVMGetPoison(type);
    for (unsigned i = 0; i < count; i++) {
        LLVMValueRef parts[MOST_OPERANDS];
        for (unsigned k = 0; k < operands; k++) {
            parts[k] = LLVMGetOperand(call, k);
            if (LLVMGetTypeKind(LLVMTypeOf(parts[k])) == LLVMPointerTypeKind)
                parts[k] = pointer_to_element(t, symbol, call, parts[k], i);
            if (is_vector(parts[k]) && elements_of(LLVMTypeOf(parts[k])) != count) return NULL;
            if (is_vector(parts[k])) parts[k] = element(t, parts[k], i);
        }
        LLVMValueRef part = igi_air_call_runtime(t, symbol, LLVMGetElementType(type), parts, operands);
        if (!part) return NULL;
        result = LLVMBuildInsertElement(t->builder, result, part, LLVMConstInt(t->i32, i, 0), "");
    }
    return result;
}

static unsigned vector_size(LLVMValueRef call) {
    for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++)
        if (is_vector(LLVMGetOperand(call, i))) return LLVMGetVectorSize(LLVMTypeOf(LLVMGetOperand(call, i)));
    return 0;
}

// ---- Indirect command buffers ----

// air.OPERATION_compute_command, and a type that does not matter: the spaces of pointers are one.
static bool is_command_call(const char *name, char symbol[LONGEST_NAME]) {
    static const char end[] = "_compute_command";
    const char *found = strstr(name, end);
    size_t length = found ? (size_t)(found - name) + sizeof end - 1 : 0;
    if (!found || length >= LONGEST_NAME || (name[length] && name[length] != '.')) return false;
    snprintf(symbol, LONGEST_NAME, "air_%.*s", (int)(length - 4), name + 4);
    return true;
}

static LLVMValueRef lower_command(air_translator *t, const char *symbol, LLVMValueRef call) {
    LLVMValueRef operands[MOST_OPERANDS];
    unsigned count = 0;
    for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++) {
        LLVMValueRef operand = LLVMGetOperand(call, i);
        unsigned parts = is_vector(operand) ? LLVMGetVectorSize(LLVMTypeOf(operand)) : 1;
        if (count + parts > MOST_OPERANDS) return NULL;
        for (unsigned k = 0; k < parts; k++) operands[count++] = is_vector(operand) ? element(t, operand, k) : operand;
    }
    return igi_air_call_runtime(t, symbol, LLVMTypeOf(call), operands, count);
}

// ---- One call ----

static bool begins_with(const char *text, const char *start) {
    return strncmp(text, start, strlen(start)) == 0;
}

static LLVMValueRef lower_vector(air_translator *t, const char *name, const char *symbol, LLVMValueRef call,
                                 unsigned count) {
    bool boolean = is_vector(LLVMGetOperand(call, 0)) && is_bool(LLVMTypeOf(LLVMGetOperand(call, 0)));
    if (begins_with(name, "air.all.") || begins_with(name, "air.any."))
        return boolean ? all_or_any(t, LLVMGetOperand(call, 0), name[5] == 'l') : NULL;
    bool is_dot = begins_with(name, "air.dot.") || begins_with(name, "air.fast_dot.");
    if (is_dot)
        return LLVMGetNumArgOperands(call) == 2 && is_vector(LLVMGetOperand(call, 1)) ? dot(t, name, call) : NULL;
    return by_element(t, symbol, call, count);
}

// NULL: it is not known.
static LLVMValueRef lower(air_translator *t, const char *name, LLVMValueRef call) {
    char symbol[LONGEST_NAME];
    unsigned count = LLVMGetNumArgOperands(call), size = vector_size(call);
    LLVMValueRef operands[MOST_OPERANDS];
    conversion c;
    if (igi_air_is_texture_call(name)) return igi_air_lower_texture_call(t, name, call);
    if (is_command_call(name, symbol)) return lower_command(t, symbol, call);
    if (count > MOST_OPERANDS || !scalar_symbol(name, symbol)) return NULL;
    LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(call));
    if (strcmp(name, "air.get_read_sampler") == 0)  // nothing reads it
        return kind == LLVMPointerTypeKind ? LLVMConstNull(LLVMTypeOf(call)) : NULL;
    if (begins_with(name, "air.is_uniform."))
        return kind == LLVMIntegerTypeKind ? LLVMConstInt(LLVMTypeOf(call), 1, 0) : NULL;
    if (begins_with(name, "air.convert."))
        return count == 1 && read_conversion(name, &c) ? convert(t, c, LLVMGetOperand(call, 0), LLVMTypeOf(call))
                                                       : NULL;
    if (size) return lower_vector(t, name, symbol, call, size);
    for (unsigned i = 0; i < count; i++) operands[i] = LLVMGetOperand(call, i);
    return igi_air_call_runtime(t, symbol, LLVMTypeOf(call), operands, count);
}

// Code that is never reached may have a call whose operand is its own result.
static void replace(LLVMValueRef call, LLVMValueRef value) {
    if (value == call) value = LLVMGetPoison(LLVMTypeOf(call));
    if (LLVMGetTypeKind(LLVMTypeOf(call)) != LLVMVoidTypeKind) LLVMReplaceAllUsesWith(call, value);
    LLVMInstructionEraseFromParent(call);
}

static bool lower_call(air_translator *t, LLVMValueRef call, LLVMValueRef callee) {
    const char *name = igi_air_symbol(callee);
    LLVMPositionBuilderBefore(t->builder, call);
    if (begins_with(name, "llvm.assume")) {
        LLVMInstructionEraseFromParent(call);
    } else if (begins_with(name, AIR_VISIBLE_PREFIX)) {
        return true;                         // it is linked when a pipeline is made
    } else if (begins_with(name, "air.")) {  // all others but LLVM's are ours: igi_air_tidy has looked
        LLVMValueRef value = lower(t, name, call);
        if (!value) return igi_air_fail_unknown(t, name);
        replace(call, value);
    }
    return true;
}

bool igi_air_lower_calls(air_translator *t, LLVMValueRef function) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
            next = LLVMGetNextInstruction(i);
            if (!LLVMIsACallInst(i)) continue;
            LLVMValueRef callee = LLVMGetCalledValue(i);
            bool foreign = LLVMIsAFunction(callee) && LLVMIsDeclaration(callee);
            if (foreign && LLVMGetCalledFunctionType(i) != LLVMGlobalGetValueType(callee))
                return igi_air_fail_unknown(t, igi_air_symbol(callee));
            if (foreign && !lower_call(t, i, callee)) return false;
        }
    return true;
}
