// SPDX-License-Identifier: Apache-2.0
// Rules about calls: no recursion.
#include <llvm-c/Comdat.h>
#include <llvm-c/Error.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <string.h>

#include "core/memory.h"
#include "msl/contents-internal.h"
#include "msl/places.h"

// Larger code is not inlined just to find out whether recursion is tail recursion.
enum { MAX_INLINED = 100000 };

// ---- Functions in the order of calls, and cycles ----

typedef struct visit {
    uint32_t function;
    size_t next;  // of its calls
} visit;

typedef enum colour { WHITE, GREY, BLACK } colour;

// A depth-first search without recursion: call chains may be arbitrarily long.
typedef struct search {
    contents *c;
    visit *stack;
    size_t depth, depth_capacity;
    uint8_t *colours;
    uint32_t *order;  // callees before callers
    size_t done;
    LLVMValueRef *cycles;  // calls that close a cycle
    size_t cycle_count, cycle_capacity;
} search;

static uint32_t callee_of(const contents *c, LLVMValueRef call) {
    uint32_t number = 0;
    igi_map_get(&c->seen, LLVMGetCalledValue(call), &number);
    return number;
}

static bool enter(search *s, uint32_t function) {
    if (!igi_grow((void **)&s->stack, &s->depth_capacity, s->depth + 1, sizeof *s->stack)) return false;
    s->stack[s->depth++] = (visit){function, 0};
    s->colours[function] = GREY;
    return true;
}

static bool note_cycle(search *s, LLVMValueRef call) {
    if (!igi_grow((void **)&s->cycles, &s->cycle_capacity, s->cycle_count + 1, sizeof *s->cycles)) return false;
    s->cycles[s->cycle_count++] = call;
    return true;
}

static bool advance(search *s) {
    visit *top = &s->stack[s->depth - 1];
    const contents_function *f = &s->c->functions[top->function];
    if (top->next == f->call_count) {
        s->colours[top->function] = BLACK;
        s->order[s->done++] = top->function;
        s->depth--;
        return true;
    }
    LLVMValueRef call = f->calls[top->next++];
    uint32_t callee = callee_of(s->c, call);
    if (s->colours[callee] == WHITE) return enter(s, callee);
    return s->colours[callee] == BLACK || note_cycle(s, call);
}

static bool search_calls(search *s, contents *c) {
    size_t count = c->function_count;
    *s = (search){.c = c, .colours = igi_calloc(count + 1, 1), .order = igi_calloc(count + 1, sizeof *s->order)};
    bool ok = s->colours && s->order;
    for (uint32_t i = 0; i < count && ok; i++) {
        if (s->colours[i] == WHITE) ok = enter(s, i);
        while (ok && s->depth) ok = advance(s);
    }
    return ok;
}

static void free_search(search *s) {
    free(s->stack), free(s->colours), free(s->order), free(s->cycles);
}

// ---- Instructions, with all that is inlined ----

// Owned by the caller; NULL when memory is short. Calls that close a cycle are ignored.
static uint64_t *sum_up(const search *s) {
    const contents *c = s->c;
    uint64_t *sums = igi_calloc(c->function_count + 1, sizeof *sums);
    for (size_t i = 0; sums && i < s->done; i++) {
        const contents_function *f = &c->functions[s->order[i]];
        uint64_t sum = f->instructions;
        for (size_t k = 0; k < f->call_count; k++) sum = igi_add_clamped(sum, sums[callee_of(c, f->calls[k])]);
        sums[s->order[i]] = sum;
    }
    return sums;
}

// ---- Recursion ----

// Tail recursion is a loop, and Metal programs contain it: it is allowed if src/simt can turn it into one
// (simt/inline.c).
static const char passes[] =
    "globaldce,always-inline,globaldce,function(sroa,early-cse,simplifycfg,tailcallelim),always-inline,globaldce";

static void remove_attribute(LLVMValueRef function, const char *name) {
    LLVMRemoveEnumAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                   LLVMGetEnumAttributeKindForName(name, strlen(name)));
}

typedef struct recursion {
    char *symbol, *name;  // of the function called
    igi_msl_place place;  // of the call
    bool remains;
} recursion;

static void prepare_inlining(LLVMValueRef function) {
    remove_attribute(function, "noinline");
    remove_attribute(function, "optnone");
    LLVMSetComdat(function, NULL);
    LLVMAttributeIndex index = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
    unsigned kind = LLVMGetEnumAttributeKindForName("alwaysinline", strlen("alwaysinline"));
    LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(function));
    LLVMAddAttributeAtIndex(function, index, LLVMCreateEnumAttribute(context, kind, 0));
    LLVMSetLinkage(function, LLVMInternalLinkage);
}

// Kernels call nothing in a circle: without them, and the lists that name them, only what does is inlined.
static void keep_only(LLVMModuleRef module, const recursion *found, size_t count) {
    static const char *const lists[] = {"llvm.used", "llvm.compiler.used", "llvm.global.annotations"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        LLVMValueRef list = LLVMGetNamedGlobal(module, lists[i]);
        if (list) LLVMDeleteGlobal(list);
    }
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f)) prepare_inlining(f);
    for (size_t i = 0; i < count; i++) {
        LLVMValueRef function = LLVMGetNamedFunction(module, found[i].symbol);
        if (function && !LLVMIsDeclaration(function)) LLVMSetLinkage(function, LLVMExternalLinkage);
    }
}

static bool unroll_tail_calls(LLVMModuleRef module) {
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef failure = LLVMRunPasses(module, passes, NULL, options);
    LLVMDisposePassBuilderOptions(options);
    if (failure) LLVMConsumeError(failure);
    return !failure;
}

static recursion describe_call(LLVMValueRef call) {
    size_t length;
    LLVMValueRef callee = LLVMGetCalledValue(call);
    recursion r = {.symbol = igi_strdup(LLVMGetValueName2(callee, &length)), .name = contents_name(callee)};
    igi_msl_place_of(call, &r.place);
    return r;
}

static void refuse_recursion(contents *c, const recursion *r) {
    char *message =
        igi_format("'%s' is called recursively, which Ingot does not support unless it can be made a loop", r->name);
    if (!message) {
        c->failed = true;
    } else if (r->place.file) {
        igi_msl_diagnostics_add_rewritten(c->diagnostics, "error", r->place.file, r->place.line, r->place.column,
                                          r->name, message);
    } else {
        c->diagnostics->unplaced++;
        igi_msl_diagnostics_add_at_word(c->diagnostics, "error", r->name, message);
    }
    free(message);
}

// Marks the calls whose function still calls itself after the passes. Inlining may have removed parts of a cycle.
static bool find_remaining(LLVMModuleRef module, recursion *found, size_t count) {
    contents after = {.module = module};
    search s = {0};
    for (size_t i = 0; i < count; i++) {
        LLVMValueRef function = LLVMGetNamedFunction(module, found[i].symbol);
        if (function) contents_add_root(&after, function);
    }
    contents_walk(&after);
    bool ok = !after.failed && search_calls(&s, &after), any = false;
    for (size_t i = 0; ok && i < s.cycle_count; i++) {
        size_t length;
        const char *symbol = LLVMGetValueName2(LLVMGetCalledValue(s.cycles[i]), &length);
        for (size_t k = 0; k < count; k++)
            if (strcmp(found[k].symbol, symbol) == 0) found[k].remains = any = true;
    }
    for (size_t k = 0; s.cycle_count && !any && k < count; k++) found[k].remains = true;
    free_search(&s);
    contents_free(&after);
    return ok;
}

static void judge_recursion(contents *c, recursion *found, size_t count, uint64_t inlined) {
    LLVMModuleRef copy = inlined > MAX_INLINED ? NULL : LLVMCloneModule(c->module);
    if (copy) keep_only(copy, found, count);
    if (!copy || !unroll_tail_calls(copy))
        for (size_t i = 0; i < count; i++) found[i].remains = true;
    else if (!find_remaining(copy, found, count))
        c->failed = true;
    if (copy) LLVMDisposeModule(copy);
    for (size_t i = 0; i < count && !c->failed; i++) {
        bool repeated = i && strcmp(found[i].symbol, found[i - 1].symbol) == 0;
        if (found[i].remains && !repeated) refuse_recursion(c, &found[i]);
    }
}

// What is inlined to make loops of the functions that call themselves; each counts once.
static uint64_t count_inlined(const search *s, const uint64_t *sums) {
    uint64_t inlined = 0;
    uint8_t *counted = igi_calloc(s->c->function_count + 1, 1);
    for (size_t i = 0; i < s->cycle_count && counted; i++) {
        uint32_t callee = callee_of(s->c, s->cycles[i]);
        if (!counted[callee]) inlined = igi_add_clamped(inlined, sums[callee]);
        counted[callee] = 1;
    }
    if (!counted) s->c->failed = true;
    free(counted);
    return inlined;
}

static void check_recursion(contents *c, const search *s, const uint64_t *sums) {
    recursion *found = igi_calloc(s->cycle_count, sizeof *found);
    bool ok = found != NULL;
    for (size_t i = 0; i < s->cycle_count && found; i++) {
        found[i] = describe_call(s->cycles[i]);
        ok = ok && found[i].symbol && found[i].name;
    }
    if (ok)
        judge_recursion(c, found, s->cycle_count, count_inlined(s, sums));
    else
        c->failed = true;
    for (size_t i = 0; i < s->cycle_count && found; i++)
        free(found[i].symbol), free(found[i].name), free(found[i].place.file);
    free(found);
}

void contents_check_calls(contents *c) {
    search s;
    bool ok = search_calls(&s, c);
    uint64_t *sums = ok ? sum_up(&s) : NULL;
    if (sums && s.cycle_count && !c->diagnostics->error_count) check_recursion(c, &s, sums);
    if (!sums) c->failed = true;
    free(sums);
    free_search(&s);
}
