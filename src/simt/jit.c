// SPDX-License-Identifier: Apache-2.0
// LLJIT, with one JITDylib per kernel, so that all may use the same symbol names and be unloaded separately.
#include "simt/jit.h"

#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/ExecutionEngine.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>
#include <llvm-c/OrcEE.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "simt/checked/init.h"
#include "simt/checked/state.h"
#include "simt/compile.h"
#include "simt/jit-memory.h"
#include "simt/lines.h"
#include "simt/target.h"

enum { SYMBOL_LENGTH = 80 };

typedef struct unit {
    LLVMOrcJITDylibRef dylib;
    igi_simt_jit *jit;
    char missing[SYMBOL_LENGTH];  // the first symbol that was requested but is not allowed; guarded by the JIT's lock
    struct unit *next;
} unit;

struct igi_simt_jit {
    LLVMOrcLLJITRef lljit;
    pthread_mutex_t lock;  // guards what follows, and lookups in progress
    pthread_cond_t found;  // a lookup is done
    unit *idle;            // emptied, for reuse: LLVM's C API cannot remove a dylib
    uint64_t counter;
};

static ig_status report(ig_error *error, ig_status status, const char *what, LLVMErrorRef failure) {
    char *message = LLVMGetErrorMessage(failure);
    igi_error_set(error, status, "%s: %s", what, message);
    LLVMDisposeErrorMessage(message);
    return status;
}

// LLVM reports the reason here, on the thread that loads; the return value says only that there was an error.
static void log_reason(void *context, LLVMErrorRef failure) {
    (void)context;
    char *message = LLVMGetErrorMessage(failure);
    igi_log(IG_LOG_WARNING, "LLVM's JIT: %s", message);
    LLVMDisposeErrorMessage(message);
}

// ---- Debuggers and profilers ----

// Listeners are LLVM's own, one of each kind for the whole process.
typedef struct listeners {
    LLVMJITEventListenerRef gdb, perf;
} listeners;

static ig_status find_listeners(unsigned audience, listeners *found, ig_error *error) {
    if (audience & IGI_JIT_GDB) found->gdb = LLVMCreateGDBRegistrationListener();
    if (audience & IGI_JIT_PERF) found->perf = LLVMCreatePerfJITEventListener();
    bool missing_gdb = (audience & IGI_JIT_GDB) && !found->gdb,
         missing_perf = (audience & IGI_JIT_PERF) && !found->perf;
    if (!missing_gdb && !missing_perf) return IG_STATUS_OK;
    return igi_error_set(error, IG_STATUS_UNSUPPORTED, "this LLVM was built without support for %s",
                         missing_gdb ? "gdb" : "perf");
}

// LLVM's older linker, the only one for which its C API has listeners.
static LLVMOrcObjectLayerRef make_linker(void *user, LLVMOrcExecutionSessionRef session, const char *triple) {
    (void)triple;
    const listeners *who = user;
    LLVMOrcObjectLayerRef layer = igi_simt_jit_memory_layer(session);
    if (who->gdb) LLVMOrcRTDyldObjectLinkingLayerRegisterJITEventListener(layer, who->gdb);
    if (who->perf) LLVMOrcRTDyldObjectLinkingLayerRegisterJITEventListener(layer, who->perf);
    return layer;
}

ig_status igi_simt_jit_create(unsigned audience, igi_simt_jit **jit, ig_error *error) {
    listeners who = {0};
    ig_status status = find_listeners(audience, &who, error);
    if (status != IG_STATUS_OK) return status;
    igi_simt_chosen_target();  // initialises it
    igi_simt_jit *made = igi_calloc(1, sizeof *made);
    if (!made) return igi_error_no_memory(error);
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->found, NULL);
    LLVMOrcLLJITBuilderRef builder = LLVMOrcCreateLLJITBuilder();
    if (audience) LLVMOrcLLJITBuilderSetObjectLinkingLayerCreator(builder, make_linker, &who);
    LLVMErrorRef failure = LLVMOrcCreateLLJIT(&made->lljit, builder);
    if (failure) {
        free(made);
        return report(error, IG_STATUS_SYSTEM, "cannot start LLVM's JIT", failure);
    }
    LLVMOrcExecutionSessionSetErrorReporter(LLVMOrcLLJITGetExecutionSession(made->lljit), log_reason, NULL);
    *jit = made;
    return IG_STATUS_OK;
}

static void free_idle(igi_simt_jit *jit) {
    while (jit->idle) {
        unit *next = jit->idle->next;
        free(jit->idle);
        jit->idle = next;
    }
}

void igi_simt_jit_destroy(igi_simt_jit *jit) {
    if (!jit) return;
    LLVMErrorRef failure = LLVMOrcDisposeLLJIT(jit->lljit);
    if (failure) LLVMConsumeError(failure);
    free_idle(jit);
    pthread_mutex_destroy(&jit->lock);
    pthread_cond_destroy(&jit->found);
    free(jit);
}

// ---- What compiled kernels may call ----

#if defined(__x86_64__) && defined(__FLT16_MANT_DIG__)
static float extend_half(_Float16 value) {
    return (float)value;
}

static _Float16 shorten_float(float value) {
    return (_Float16)value;
}
#endif

#define FUNCTION(name) {#name, (void (*)(void))(name)}

// Any other symbol that an object needs makes loading fail: symbols of the process are not searched. LLVM itself
// generates the calls to the C library: for large copies, and for what old processors cannot do (x86-64 before SSE 4.1,
// FMA and F16C).
static const struct {
    const char *name;
    void (*address)(void);
} runtime[] = {
    {"ig.private", (void (*)(void))igi_simt_private_memory},
    {"ig.late", (void (*)(void))igi_simt_late_add},
#define CHECK(name, function) {IGI_CHECKED_PREFIX name, (void (*)(void))(function)},
    IGI_CHECKED_HOOKS(CHECK)
#undef CHECK
        FUNCTION(memcpy),
    FUNCTION(memmove),
    FUNCTION(memset),
#if defined(__x86_64__)
    FUNCTION(ceilf),
    FUNCTION(floorf),
    FUNCTION(truncf),
    FUNCTION(rintf),
    FUNCTION(nearbyintf),
    FUNCTION(roundf),
    {"roundevenf", (void (*)(void))nearbyintf},  // the same in the rounding mode that kernels run in; macOS lacks it
    FUNCTION(fmaf),
    FUNCTION(fmaxf),
    FUNCTION(fminf),
#if defined(__FLT16_MANT_DIG__)
    {"__extendhfsf2", (void (*)(void))extend_half},
    {"__truncsfhf2", (void (*)(void))shorten_float},
#endif
#endif
};

static void (*find_symbol(const char *name))(void) {
    for (size_t i = 0; i < sizeof runtime / sizeof *runtime; i++)
        if (strcmp(runtime[i].name, name) == 0) return runtime[i].address;
    return igi_simt_checked_sanitizer_symbol(name);
}

static LLVMErrorRef define(LLVMOrcJITDylibRef dylib, LLVMOrcSymbolStringPoolEntryRef name, void (*address)(void)) {
    LLVMOrcRetainSymbolStringPoolEntry(name);
    LLVMOrcCSymbolMapPair pair = {name,
                                  {(LLVMOrcExecutorAddress)(uintptr_t)address,
                                   {LLVMJITSymbolGenericFlagsExported | LLVMJITSymbolGenericFlagsCallable, 0}}};
    return LLVMOrcJITDylibDefine(dylib, LLVMOrcAbsoluteSymbols(&pair, 1));
}

static void note_missing(unit *home, const char *name) {
    pthread_mutex_lock(&home->jit->lock);
    if (!home->missing[0]) snprintf(home->missing, sizeof home->missing, "%s", name);
    pthread_mutex_unlock(&home->jit->lock);
}

// LLVM asks for symbols that the object itself does not define.
static LLVMErrorRef resolve(LLVMOrcDefinitionGeneratorRef generator, void *user, LLVMOrcLookupStateRef *state,
                            LLVMOrcLookupKind kind, LLVMOrcJITDylibRef dylib, LLVMOrcJITDylibLookupFlags flags,
                            LLVMOrcCLookupSet wanted, size_t count) {
    (void)generator, (void)state, (void)kind, (void)flags;
    unit *home = user;
    bool prefixed = LLVMOrcLLJITGetGlobalPrefix(home->jit->lljit) != 0;
    for (size_t i = 0; i < count; i++) {
        const char *name = LLVMOrcSymbolStringPoolEntryStr(wanted[i].Name) + prefixed;
        void (*address)(void) = find_symbol(name);
        LLVMErrorRef failure = address ? define(dylib, wanted[i].Name, address) : NULL;
        if (failure) return failure;
        if (!address && wanted[i].LookupFlags == LLVMOrcSymbolLookupFlagsRequiredSymbol) note_missing(home, name);
    }
    return NULL;
}

// ---- Units ----

// A new dylib comes with functions for programs that exit; kernels do not.
static LLVMErrorRef make_dylib(unit *home, uint64_t number) {
    char name[40];
    snprintf(name, sizeof name, "kernel-%llu", (unsigned long long)number);
    LLVMOrcExecutionSessionRef session = LLVMOrcLLJITGetExecutionSession(home->jit->lljit);
    LLVMErrorRef failure = LLVMOrcExecutionSessionCreateJITDylib(session, &home->dylib, name);
    if (!failure) failure = LLVMOrcJITDylibClear(home->dylib);
    if (!failure)
        LLVMOrcJITDylibAddGenerator(home->dylib, LLVMOrcCreateCustomCAPIDefinitionGenerator(resolve, home, NULL));
    return failure;
}

static unit *take_unit(igi_simt_jit *jit, ig_error *error) {
    pthread_mutex_lock(&jit->lock);
    unit *taken = jit->idle;
    if (taken) jit->idle = taken->next;
    uint64_t number = jit->counter++;
    pthread_mutex_unlock(&jit->lock);
    if (taken) return taken;
    taken = igi_calloc(1, sizeof *taken);
    if (!taken) {
        igi_error_no_memory(error);
        return NULL;
    }
    taken->jit = jit;
    LLVMErrorRef failure = make_dylib(taken, number);
    if (!failure) return taken;
    report(error, IG_STATUS_SYSTEM, "cannot make room for a kernel", failure);
    free(taken);
    return NULL;
}

static void give_back(igi_simt_jit *jit, unit *spent) {
    LLVMErrorRef failure = LLVMOrcJITDylibClear(spent->dylib);
    if (failure) LLVMConsumeError(failure);
    pthread_mutex_lock(&jit->lock);
    spent->missing[0] = 0;
    spent->next = jit->idle;
    jit->idle = spent;
    pthread_mutex_unlock(&jit->lock);
}

// ---- Symbols ----

enum { SYMBOL_INFO, SYMBOL_RUN, SYMBOL_START, SYMBOL_RESUME, SYMBOL_SITES, SYMBOL_COUNT };
static const char *const symbol_names[SYMBOL_COUNT] = {"ig.info", "ig.run", "ig.start", "ig.resume", "ig.sites"};

typedef struct lookup {
    igi_simt_jit *jit;
    LLVMOrcSymbolStringPoolEntryRef names[SYMBOL_COUNT];
    LLVMOrcExecutorAddress addresses[SYMBOL_COUNT];
    LLVMErrorRef failure;
    bool done;
} lookup;

// Without a thread pool LLVM links on threads that look something up, but not always on the one that asked: any
// thread may take over the remaining work, and the one that asked may return before it is done.
static void found(LLVMErrorRef failure, LLVMOrcCSymbolMapPairs pairs, size_t count, void *user) {
    lookup *result = user;
    igi_simt_jit *jit = result->jit;
    pthread_mutex_lock(&jit->lock);
    result->failure = failure;
    result->done = true;
    for (size_t i = 0; !failure && i < count; i++)
        for (int k = 0; k < SYMBOL_COUNT; k++)
            if (pairs[i].Name == result->names[k]) result->addresses[k] = pairs[i].Sym.Address;
    pthread_cond_broadcast(&jit->found);
    pthread_mutex_unlock(&jit->lock);
}

// "ig.run", or "add.run" when functions are called after kernel add.
static LLVMOrcSymbolStringPoolEntryRef intern(igi_simt_jit *jit, const char *name, int symbol) {
    bool variable = symbol == SYMBOL_INFO || symbol == SYMBOL_SITES;
    char *full = name && !variable ? igi_format("%s%s", name, symbol_names[symbol] + strlen("ig")) : NULL;
    LLVMOrcSymbolStringPoolEntryRef entry = LLVMOrcLLJITMangleAndIntern(jit->lljit, full ? full : symbol_names[symbol]);
    free(full);
    return entry;
}

static LLVMErrorRef find_symbols(igi_simt_jit *jit, LLVMOrcJITDylibRef dylib, const char *name, lookup *result) {
    LLVMOrcCLookupSetElement wanted[SYMBOL_COUNT + 1] = {0};
    for (int i = 0; i < SYMBOL_COUNT; i++) {
        result->names[i] = intern(jit, name, i);
        wanted[i] = (LLVMOrcCLookupSetElement){result->names[i], i == SYMBOL_INFO
                                                                     ? LLVMOrcSymbolLookupFlagsRequiredSymbol
                                                                     : LLVMOrcSymbolLookupFlagsWeaklyReferencedSymbol};
    }
    LLVMOrcCJITDylibSearchOrderElement where = {dylib, LLVMOrcJITDylibLookupFlagsMatchExportedSymbolsOnly};
    LLVMOrcExecutionSessionLookup(LLVMOrcLLJITGetExecutionSession(jit->lljit), LLVMOrcLookupKindStatic, &where, 1,
                                  wanted, SYMBOL_COUNT, found, result);
    pthread_mutex_lock(&jit->lock);
    while (!result->done) pthread_cond_wait(&jit->found, &jit->lock);
    pthread_mutex_unlock(&jit->lock);
    return result->failure;
}

IGI_CALLS_GENERATED_CODE static uint64_t frame_bytes(igi_simt_start_function start) {
    igi_simt_group nowhere = {0};
    igi_simt_lane ask = {0};
    return igi_round_up((uint64_t)(uintptr_t)start(&nowhere, 0, 0, 0, &ask), 64);
}

static bool fill(igi_simt_code *code, const lookup *symbols) {
    memcpy(&code->info, (const void *)(uintptr_t)symbols->addresses[SYMBOL_INFO], sizeof code->info);
    code->run = (igi_simt_run_function)(uintptr_t)symbols->addresses[SYMBOL_RUN];
    code->start = (igi_simt_start_function)(uintptr_t)symbols->addresses[SYMBOL_START];
    code->resume = (igi_simt_resume_function)(uintptr_t)symbols->addresses[SYMBOL_RESUME];
    code->sites = (const igi_simt_checked_table *)(uintptr_t)symbols->addresses[SYMBOL_SITES];
    if (code->info.version != IGI_CODE_VERSION) return false;
    code->frame_bytes = code->info.context_bytes;
    if (code->info.form == IGI_FORM_LOOP) return code->run != NULL;
    if (!code->start || !code->resume) return false;
    code->frame_bytes = frame_bytes(code->start);
    return true;
}

static ig_status explain(igi_simt_jit *jit, const unit *home, LLVMErrorRef failure, ig_error *error) {
    char missing[SYMBOL_LENGTH];
    pthread_mutex_lock(&jit->lock);
    memcpy(missing, home->missing, sizeof missing);
    pthread_mutex_unlock(&jit->lock);
    if (!missing[0]) return report(error, IG_STATUS_BAD_FORMAT, "compiled kernel cannot be loaded", failure);
    LLVMConsumeError(failure);
    return igi_error_set(error, IG_STATUS_BAD_FORMAT,
                         "compiled kernel cannot be loaded: it needs '%s', which kernels may not use", missing);
}

ig_status igi_simt_jit_load(igi_simt_jit *jit, const char *object, size_t length, const char *name, igi_simt_code *code,
                            ig_error *error) {
    unit *home = take_unit(jit, error);
    if (!home) return error ? error->status : IG_STATUS_SYSTEM;
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(object, length, "kernel");
    LLVMErrorRef failure = LLVMOrcLLJITAddObjectFile(jit->lljit, home->dylib, buffer);
    lookup symbols = {.jit = jit};
    if (!failure) failure = find_symbols(jit, home->dylib, name, &symbols);
    igi_simt_code made = {.unit = home};
    ig_status status = IG_STATUS_OK;
    if (failure)
        status = explain(jit, home, failure, error);
    else if (!fill(&made, &symbols))
        status = igi_error_set(error, IG_STATUS_BAD_FORMAT, "compiled kernel is of another version");
    if (status == IG_STATUS_OK)
        *code = made;
    else
        give_back(jit, home);
    return status;
}

void igi_simt_jit_unload(igi_simt_jit *jit, igi_simt_code *code) {
    if (code->unit) give_back(jit, code->unit);
    igi_simt_lines_free(code->lines);
    *code = (igi_simt_code){0};
}
