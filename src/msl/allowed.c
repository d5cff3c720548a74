// SPDX-License-Identifier: Apache-2.0
// The list of allowed functions, and how a function is compared with it.
#include "msl/allowed.h"

#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "msl/hooks.h"

static const struct {
    const char *name, *type;
} hooks[] = {
#define HOOK(name, type) {"__ig_" #name, type},
    IGI_HOOK_LIST(HOOK)
#undef HOOK
};

// Intrinsics are compared by identity, so that overloads match and longer names do not. None of these needs a runtime
// library, reads or writes a special register, or leaves the function.
static const char *const intrinsics[] = {
    // produced by clang from MSL and from our headers
    "llvm.var.annotation",
    "llvm.ptr.annotation",
    "llvm.lifetime.start",
    "llvm.lifetime.end",
    "llvm.invariant.start",
    "llvm.invariant.end",
    "llvm.memcpy",
    "llvm.memmove",
    "llvm.memset",
    "llvm.prefetch",
    "llvm.dbg.declare",
    "llvm.dbg.value",
    "llvm.dbg.label",
    "llvm.assume",
    "llvm.expect",
    "llvm.expect.with.probability",
    "llvm.is.constant",
    "llvm.objectsize",
    "llvm.experimental.noalias.scope.decl",
    // floating point
    "llvm.fabs",
    "llvm.copysign",
    "llvm.floor",
    "llvm.ceil",
    "llvm.trunc",
    "llvm.rint",
    "llvm.nearbyint",
    "llvm.round",
    "llvm.roundeven",
    "llvm.sqrt",
    "llvm.fma",
    "llvm.fmuladd",
    "llvm.minnum",
    "llvm.maxnum",
    "llvm.minimum",
    "llvm.maximum",
    "llvm.is.fpclass",
    "llvm.fptosi.sat",
    "llvm.fptoui.sat",
    "llvm.arithmetic.fence",
    // integers
    "llvm.abs",
    "llvm.smax",
    "llvm.smin",
    "llvm.umax",
    "llvm.umin",
    "llvm.scmp",
    "llvm.ucmp",
    "llvm.bitreverse",
    "llvm.bswap",
    "llvm.ctlz",
    "llvm.cttz",
    "llvm.ctpop",
    "llvm.fshl",
    "llvm.fshr",
    "llvm.sadd.sat",
    "llvm.uadd.sat",
    "llvm.ssub.sat",
    "llvm.usub.sat",
    "llvm.sshl.sat",
    "llvm.ushl.sat",
    "llvm.sadd.with.overflow",
    "llvm.uadd.with.overflow",
    "llvm.ssub.with.overflow",
    "llvm.usub.with.overflow",
    "llvm.smul.with.overflow",
    "llvm.umul.with.overflow",
};
enum { HOOK_COUNT = sizeof hooks / sizeof *hooks, INTRINSIC_COUNT = sizeof intrinsics / sizeof *intrinsics };

static unsigned identities[INTRINSIC_COUNT];
static pthread_once_t identities_once = PTHREAD_ONCE_INIT;

static void find_identities(void) {
    for (size_t i = 0; i < INTRINSIC_COUNT; i++) {
        identities[i] = LLVMLookupIntrinsicID(intrinsics[i], strlen(intrinsics[i]));
        assert(identities[i] && "this LLVM does not know an intrinsic of the list");
    }
}

static bool allows_intrinsic(unsigned identity) {
    pthread_once(&identities_once, find_identities);
    for (size_t i = 0; i < INTRINSIC_COUNT; i++)
        if (identities[i] == identity) return true;
    return false;
}

// ---- Hooks ----

static const char *hook_type(LLVMValueRef function) {
    size_t length;
    const char *name = LLVMGetValueName2(function, &length);
    if (strncmp(name, "__ig_", 5) != 0) return NULL;
    for (size_t i = 0; i < HOOK_COUNT; i++)
        if (strcmp(hooks[i].name, name) == 0) return hooks[i].type;
    return NULL;
}

static bool is_integer(LLVMTypeRef type, unsigned bits) {
    return LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) == bits;
}

static bool is_float_pair(LLVMTypeRef type) {
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind && LLVMGetVectorSize(type) == 2 &&
           LLVMGetTypeKind(LLVMGetElementType(type)) == LLVMFloatTypeKind;
}

static bool has_type(LLVMTypeRef type, char code) {
    switch (code) {
        case 'v': return LLVMGetTypeKind(type) == LLVMVoidTypeKind;
        case 'b': return is_integer(type, 1);
        case 'i':
        case 'w': return is_integer(type, 32);
        case 'l': return is_integer(type, 64);
        case 'f': return LLVMGetTypeKind(type) == LLVMFloatTypeKind;
        case 'g': return is_float_pair(type);
        case 'p': return LLVMGetTypeKind(type) == LLVMPointerTypeKind;
        default: return false;
    }
}

static bool has_signature(LLVMTypeRef function, const char *type) {
    enum { MOST = 8 };
    LLVMTypeRef parameters[MOST];
    size_t count = strlen(type) - 2;
    assert(count <= MOST && type[1] == ':');
    if (LLVMIsFunctionVarArg(function) || LLVMCountParamTypes(function) != count) return false;
    LLVMGetParamTypes(function, parameters);
    bool same = has_type(LLVMGetReturnType(function), type[0]);
    for (size_t i = 0; i < count; i++) same = same && has_type(parameters[i], type[i + 2]);
    return same;
}

static bool is_width(LLVMValueRef value) {
    if (!LLVMIsAConstantInt(value)) return false;
    uint64_t width = LLVMConstIntGetZExtValue(value);
    return width == 32 || width == 4;
}

// ---- Both ----

bool igi_msl_allows(LLVMValueRef function) {
    unsigned identity = LLVMGetIntrinsicID(function);
    if (identity) return allows_intrinsic(identity);
    const char *type = hook_type(function);
    return type && has_signature(LLVMGlobalGetValueType(function), type);
}

bool igi_msl_allows_operands(LLVMValueRef call) {
    LLVMValueRef function = LLVMGetCalledValue(call);
    if (LLVMGetCalledFunctionType(call) != LLVMGlobalGetValueType(function)) return false;
    const char *type = hook_type(function);
    for (size_t i = 2; type && type[i]; i++)
        if (type[i] == 'w' && !is_width(LLVMGetOperand(call, (unsigned)i - 2))) return false;
    return true;
}

bool igi_msl_is_of_headers(const char *symbol) {
    return strncmp(symbol, "_ZN5metal", 9) == 0 || strncmp(symbol, "_ZNK5metal", 10) == 0;
}

bool igi_msl_is_reserved(const char *symbol) {
    return strncmp(symbol, "__ig_", 5) == 0 || strncmp(symbol, "ig.", 3) == 0 || strncmp(symbol, "llvm.", 5) == 0;
}
