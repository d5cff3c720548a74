// SPDX-License-Identifier: Apache-2.0
// Recursion. Everything is inlined here, so functions that call themselves, or each other, are copied: one copy for each
// depth of the calls, down to a depth that calls itself no more but faults. Programs for GPUs recurse a step or two,
// mostly to use one range of a function's arguments for another.
#include <llvm-c/Linker.h>
#include <stdio.h>
#include <string.h>

#include "air/translator.h"
#include "core/pointer-map.h"

enum { DEPTH = 3, MOST_FUNCTIONS = 64, MOST_CALLS = 4096 };

// ---- Which functions ----

typedef struct call {
    uint32_t from, to;
} call;

typedef struct graph {
    igi_pointer_map numbers;
    LLVMValueRef functions[MOST_FUNCTIONS];
    bool inside[MOST_FUNCTIONS];  // it may be part of a cycle
    size_t count;
    call calls[MOST_CALLS];
    size_t call_count;
    bool too_large;
} graph;

static void add_functions(graph *g, LLVMModuleRef module) {
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f && !g->too_large; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f)) continue;
        g->too_large = g->count == MOST_FUNCTIONS || !igi_map_set(&g->numbers, f, (uint32_t)g->count);
        if (!g->too_large) g->functions[g->count++] = f;
    }
}

static void add_calls(graph *g, uint32_t from) {
    LLVMValueRef f = g->functions[from];
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i && !g->too_large; i = LLVMGetNextInstruction(i)) {
            uint32_t to;
            if (!LLVMIsACallInst(i) || !igi_map_get(&g->numbers, LLVMGetCalledValue(i), &to)) continue;
            g->too_large = g->call_count == MOST_CALLS;
            if (!g->too_large) g->calls[g->call_count++] = (call){from, to};
        }
}

static bool stays(const graph *g, uint32_t function) {
    bool calls = false, is_called = false;
    for (size_t i = 0; i < g->call_count; i++) {
        const call *c = &g->calls[i];
        if (!g->inside[c->from] || !g->inside[c->to]) continue;
        calls |= c->from == function;
        is_called |= c->to == function;
    }
    return calls && is_called;
}

// What is left when functions that call none of the others, and those that none of them calls, are taken away: cycles,
// and what leads from one to another.
static bool find_cycles(graph *g) {
    bool changed = true, any = false;
    for (size_t i = 0; i < g->count; i++) g->inside[i] = true;
    while (changed) {
        changed = any = false;
        for (uint32_t i = 0; i < g->count; i++) {
            bool stay = g->inside[i] && stays(g, i);
            changed |= g->inside[i] && !stay;
            g->inside[i] = stay;
            any |= stay;
        }
    }
    return any;
}

// False if there is no recursion, or more than is looked at: it is refused later.
static bool read_graph(graph *g, LLVMModuleRef module) {
    add_functions(g, module);
    for (uint32_t i = 0; i < g->count && !g->too_large; i++) add_calls(g, i);
    igi_map_free(&g->numbers);
    return !g->too_large && find_cycles(g);
}

// ---- Copies ----

static void name_copy(char name[64], size_t function, int depth) {
    snprintf(name, 64, "air.recursive.%zu.%d", function, depth);
}

static LLVMValueRef declare_copy(LLVMModuleRef module, size_t function, int depth, LLVMTypeRef type) {
    char name[64];
    name_copy(name, function, depth);
    LLVMValueRef copy = LLVMGetNamedFunction(module, name);
    return copy ? copy : LLVMAddFunction(module, name, type);
}

// The number of a function in the graph of the module itself, or of a copy of it.
static bool find_number(const graph *g, LLVMValueRef function, size_t *number) {
    for (size_t i = 0; i < g->count; i++)
        if (g->inside[i] && g->functions[i] == function) return *number = i, true;
    return false;
}

// Calls inside of a cycle become those of the next depth.
static void go_deeper(const graph *g, LLVMModuleRef module, LLVMValueRef function, int depth) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            size_t number;
            if (!LLVMIsACallInst(i) || !find_number(g, LLVMGetCalledValue(i), &number)) continue;
            LLVMValueRef next = declare_copy(module, number, depth + 1, LLVMGetCalledFunctionType(i));
            LLVMSetOperand(i, (unsigned)LLVMGetNumOperands(i) - 1, next);
        }
}

static void go_deeper_everywhere(const graph *g, LLVMModuleRef module, int depth) {
    for (size_t i = 0; i < g->count; i++)
        if (g->inside[i]) go_deeper(g, module, g->functions[i], depth);
}

// The same functions of a copy of the module: they are in the same order.
static void find_in_copy(graph *g, LLVMModuleRef copy) {
    size_t i = 0;
    for (LLVMValueRef f = LLVMGetFirstFunction(copy); f && i < g->count; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f)) g->functions[i++] = f;
}

// Variables stay those of the module, and lists are not repeated.
static void share_variables(LLVMModuleRef copy) {
    for (LLVMValueRef v = LLVMGetFirstGlobal(copy), next; v; v = next) {
        next = LLVMGetNextGlobal(v);
        if (strncmp(igi_air_symbol(v), "llvm.", 5) == 0) {
            LLVMDeleteGlobal(v);
        } else if (!LLVMIsDeclaration(v)) {
            LLVMSetInitializer(v, NULL);
            LLVMSetLinkage(v, LLVMExternalLinkage);
        }
    }
}

static bool add_depth(air_translator *t, const graph *all, LLVMModuleRef original, int depth) {
    graph g = *all;
    LLVMModuleRef copy = LLVMCloneModule(original);
    find_in_copy(&g, copy);
    share_variables(copy);
    go_deeper_everywhere(&g, copy, depth);
    for (size_t i = 0; i < g.count; i++) {
        char name[64];
        if (!g.inside[i]) continue;
        name_copy(name, i, depth);
        LLVMSetValueName2(g.functions[i], name, strlen(name));
        LLVMSetLinkage(g.functions[i], LLVMExternalLinkage);
    }
    if (!LLVMLinkModules2(t->module, copy)) return true;
    return igi_air_fail(t, IG_STATUS_INTERNAL, "kernel '%.200s' cannot be linked", t->name);
}

// Deeper calls write to an address where nothing is: a fault, which names the kernel.
static void end_at(air_translator *t, LLVMValueRef function) {
    enum { NOWHERE = 64 };
    LLVMPositionBuilderAtEnd(t->builder, LLVMAppendBasicBlockInContext(t->context, function, "too_deep"));
    LLVMValueRef nowhere = LLVMConstIntToPtr(LLVMConstInt(t->i64, NOWHERE, 0), t->pointer);
    LLVMBuildStore(t->builder, LLVMConstInt(t->i32, 0, 0), nowhere);
    LLVMTypeRef result = LLVMGetReturnType(LLVMGlobalGetValueType(function));
    if (LLVMGetTypeKind(result) == LLVMVoidTypeKind)
        LLVMBuildRetVoid(t->builder);
    else
        LLVMBuildRet(t->builder, LLVMConstNull(result));
}

static void finish_copy(air_translator *t, LLVMValueRef function) {
    static const char always[] = "alwaysinline";
    unsigned kind = LLVMGetEnumAttributeKindForName(always, strlen(always));
    if (LLVMIsDeclaration(function)) end_at(t, function);
    LLVMSetLinkage(function, LLVMInternalLinkage);
    LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            LLVMCreateEnumAttribute(t->context, kind, 0));
}

// ---- The whole ----

static void set_variables(air_translator *t, LLVMLinkage from, LLVMLinkage to) {
    for (LLVMValueRef v = LLVMGetFirstGlobal(t->module); v; v = LLVMGetNextGlobal(v))
        if (!LLVMIsDeclaration(v) && LLVMGetLinkage(v) == from) LLVMSetLinkage(v, to);
}

static bool unroll(air_translator *t, graph *g) {
    LLVMModuleRef original = LLVMCloneModule(t->module);
    bool ok = true;
    set_variables(t, LLVMInternalLinkage, LLVMExternalLinkage);
    go_deeper_everywhere(g, t->module, 0);
    for (int depth = 1; depth <= DEPTH && ok; depth++) ok = add_depth(t, g, original, depth);
    LLVMDisposeModule(original);
    set_variables(t, LLVMExternalLinkage, LLVMInternalLinkage);
    for (LLVMValueRef f = LLVMGetFirstFunction(t->module); f && ok; f = LLVMGetNextFunction(f))
        if (strncmp(igi_air_symbol(f), "air.recursive.", 14) == 0) finish_copy(t, f);
    return ok;
}

bool igi_air_unroll_recursion(air_translator *t) {
    graph *g = igi_calloc(1, sizeof *g);
    if (!g) return igi_air_fail_memory(t);
    bool ok = !read_graph(g, t->module) || unroll(t, g);
    free(g);
    return ok;
}
