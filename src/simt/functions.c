// SPDX-License-Identifier: Apache-2.0
// Pointers to functions are numbers: 1 and up for those that are linked, in their order, and then for others whose
// address is taken; 0 is none. A call through a pointer is a call of a function that switches over all that have the
// right type, so that everything is inlined and runs wide, whichever functions the threads of a vector call.
#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "simt/ir.h"
#include "simt/passes.h"

typedef struct numbered {
    igi_simt_module *m;
    igi_simt_values functions;  // by number, from 1
    LLVMBuilderRef builder;
    LLVMTypeRef i64;
} numbered;

static bool is_direct_call(LLVMValueRef user, LLVMValueRef function) {
    return LLVMIsACallInst(user) && LLVMGetCalledValue(user) == function;
}

// Whether something refers to the function other than to call it.
static bool is_address_taken(LLVMValueRef function) {
    for (LLVMUseRef use = LLVMGetFirstUse(function); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (!is_direct_call(user, function)) return true;
        for (unsigned i = 0; i < LLVMGetNumArgOperands(user); i++)
            if (LLVMGetOperand(user, i) == function) return true;
    }
    return false;
}

static bool is_pointer_call(LLVMValueRef instruction) {
    if (!LLVMIsACallInst(instruction)) return false;
    LLVMValueRef callee = LLVMGetCalledValue(instruction);
    return !LLVMIsAFunction(callee) && !LLVMIsAInlineAsm(callee);
}

// ---- Numbers ----

static bool number_functions(numbered *n) {
    bool ok = true;
    for (size_t i = 0; i < n->m->request->linked_count && ok; i++) {
        char name[IGI_LINKED_NAME];
        igi_simt_linked_name(n->m->request, i, name);
        ok = igi_simt_values_add(&n->functions, LLVMGetNamedFunction(n->m->module, name));
    }
    for (LLVMValueRef f = LLVMGetFirstFunction(n->m->module); f && ok; f = LLVMGetNextFunction(f)) {
        bool linked = strncmp(LLVMGetValueName(f), IGI_LINKED_PREFIX, sizeof IGI_LINKED_PREFIX - 1) == 0;
        if (!linked && !LLVMIsDeclaration(f) && is_address_taken(f)) ok = igi_simt_values_add(&n->functions, f);
    }
    return ok;
}

// Its address becomes its number; calls keep calling it.
static ig_status replace_address(numbered *n, LLVMValueRef function, uint64_t number) {
    igi_simt_values calls = {0};
    bool ok = true;
    for (LLVMUseRef use = LLVMGetFirstUse(function); use && ok; use = LLVMGetNextUse(use))
        if (is_direct_call(LLVMGetUser(use), function)) ok = igi_simt_values_add(&calls, LLVMGetUser(use));
    if (ok) {
        LLVMValueRef value = LLVMConstIntToPtr(LLVMConstInt(n->i64, number, 0), LLVMTypeOf(function));
        LLVMReplaceAllUsesWith(function, value);
        for (size_t i = 0; i < calls.count; i++)
            LLVMSetOperand(calls.items[i], (unsigned)LLVMGetNumOperands(calls.items[i]) - 1, function);
    }
    igi_simt_values_free(&calls);
    return ok ? IG_STATUS_OK : igi_error_no_memory(n->m->error);
}

// ---- Dispatchers ----

enum { MOST_PARAMETERS = 64 };

static LLVMValueRef declare_dispatcher(numbered *n, LLVMTypeRef type, LLVMTypeRef *dispatcher_type) {
    LLVMTypeRef parameters[MOST_PARAMETERS + 1];
    unsigned count = LLVMCountParamTypes(type);
    LLVMGetParamTypes(type, parameters);
    parameters[count] = LLVMPointerTypeInContext(n->m->context, 0);
    *dispatcher_type = LLVMFunctionType(LLVMGetReturnType(type), parameters, count + 1, 0);
    LLVMValueRef dispatcher = LLVMAddFunction(n->m->module, IGI_CALL_OF_POINTER, *dispatcher_type);
    LLVMSetLinkage(dispatcher, LLVMInternalLinkage);
    igi_simt_add_attribute(dispatcher, "alwaysinline");
    igi_simt_add_attribute(dispatcher, "nounwind");
    return dispatcher;
}

static void build_return(LLVMBuilderRef builder, LLVMTypeRef type, LLVMValueRef value) {
    if (LLVMGetTypeKind(type) == LLVMVoidTypeKind)
        LLVMBuildRetVoid(builder);
    else
        LLVMBuildRet(builder, value ? value : LLVMConstNull(type));
}

static void add_case(numbered *n, LLVMValueRef dispatcher, LLVMValueRef choice, LLVMTypeRef type, size_t index) {
    LLVMValueRef arguments[MOST_PARAMETERS], function = n->functions.items[index];
    unsigned count = LLVMCountParamTypes(type);
    for (unsigned i = 0; i < count; i++) arguments[i] = LLVMGetParam(dispatcher, i);
    LLVMBasicBlockRef block = LLVMAppendBasicBlockInContext(n->m->context, dispatcher, "function");
    LLVMAddCase(choice, LLVMConstInt(n->i64, index + 1, 0), block);
    LLVMPositionBuilderAtEnd(n->builder, block);
    build_return(n->builder, LLVMGetReturnType(type), LLVMBuildCall2(n->builder, type, function, arguments, count, ""));
}

// A number that is no function, or one of another type, does nothing and returns zeros.
static LLVMValueRef make_dispatcher(numbered *n, LLVMTypeRef type, LLVMTypeRef *dispatcher_type) {
    LLVMValueRef dispatcher = declare_dispatcher(n, type, dispatcher_type);
    LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(n->m->context, dispatcher, "entry");
    LLVMBasicBlockRef none = LLVMAppendBasicBlockInContext(n->m->context, dispatcher, "no_function");
    LLVMPositionBuilderAtEnd(n->builder, none);
    build_return(n->builder, LLVMGetReturnType(type), NULL);
    LLVMPositionBuilderAtEnd(n->builder, entry);
    LLVMValueRef pointer = LLVMGetParam(dispatcher, LLVMCountParamTypes(type));
    LLVMValueRef number = LLVMBuildPtrToInt(n->builder, pointer, n->i64, "function_number");
    LLVMValueRef choice = LLVMBuildSwitch(n->builder, number, none, (unsigned)n->functions.count);
    for (size_t i = 0; i < n->functions.count; i++)
        if (LLVMGlobalGetValueType(n->functions.items[i]) == type) add_case(n, dispatcher, choice, type, i);
    return dispatcher;
}

static ig_status replace_call(numbered *n, LLVMValueRef call) {
    LLVMTypeRef type = LLVMGetCalledFunctionType(call), dispatcher_type;
    LLVMValueRef arguments[MOST_PARAMETERS + 1];
    unsigned count = LLVMGetNumArgOperands(call);
    if (count > MOST_PARAMETERS || LLVMIsFunctionVarArg(type))
        return igi_error_set(n->m->error, IG_STATUS_UNSUPPORTED,
                             "kernel '%s' calls a function of more than 64 parameters through a pointer",
                             n->m->request->name);
    LLVMSetCurrentDebugLocation2(n->builder, NULL);
    LLVMValueRef dispatcher = make_dispatcher(n, type, &dispatcher_type);
    for (unsigned i = 0; i < count; i++) arguments[i] = LLVMGetOperand(call, i);
    arguments[count] = LLVMGetCalledValue(call);
    LLVMPositionBuilderBefore(n->builder, call);
    LLVMValueRef made = LLVMBuildCall2(n->builder, dispatcher_type, dispatcher, arguments, count + 1, "");
    LLVMInstructionSetDebugLoc(made, LLVMInstructionGetDebugLoc(call));
    if (LLVMGetTypeKind(LLVMTypeOf(call)) != LLVMVoidTypeKind) LLVMReplaceAllUsesWith(call, made);
    LLVMInstructionEraseFromParent(call);
    return IG_STATUS_OK;
}

static ig_status replace_calls(numbered *n) {
    igi_simt_values calls = {0};
    ig_status status = IG_STATUS_OK;
    for (LLVMValueRef f = LLVMGetFirstFunction(n->m->module); f && status == IG_STATUS_OK; f = LLVMGetNextFunction(f)) {
        if (!igi_simt_collect(f, is_pointer_call, &calls)) return igi_error_no_memory(n->m->error);
        for (size_t i = 0; i < calls.count && status == IG_STATUS_OK; i++) status = replace_call(n, calls.items[i]);
        igi_simt_values_free(&calls);
    }
    return status;
}

ig_status igi_simt_pass_functions(igi_simt_module *m) {
    numbered n = {.m = m, .builder = LLVMCreateBuilderInContext(m->context), .i64 = LLVMInt64TypeInContext(m->context)};
    ig_status status = number_functions(&n) ? IG_STATUS_OK : igi_error_no_memory(m->error);
    for (size_t i = 0; i < n.functions.count && status == IG_STATUS_OK; i++)
        status = replace_address(&n, n.functions.items[i], i + 1);
    if (status == IG_STATUS_OK) status = replace_calls(&n);
    LLVMDisposeBuilder(n.builder);
    igi_simt_values_free(&n.functions);
    return status;
}
