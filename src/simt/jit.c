// SPDX-License-Identifier: Apache-2.0
// LLJIT, one JITDylib per kernel so that all may use the same symbol names and be unloaded alone.
#include "simt/jit.h"

#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/ExecutionEngine.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>
#include <llvm-c/OrcEE.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "simt/compile.h"

typedef struct unit {
    LLVMOrcJITDylibRef dylib;
    struct unit *next;
} unit;

struct igi_jit {
    LLVMOrcLLJITRef lljit;
    pthread_mutex_t lock;  // guards what follows, and lookups under way
    pthread_cond_t found;  // a lookup is done
    unit *idle;            // emptied, to be used again: LLVM's C API cannot remove a dylib
    uint64_t counter;
};

static ig_status report(ig_error *error, ig_status status, const char *what, LLVMErrorRef failure) {
    char *message = LLVMGetErrorMessage(failure);
    igi_error_set(error, status, "%s: %s", what, message);
    LLVMDisposeErrorMessage(message);
    return status;
}

// LLVM tells the reason here, on the thread that loads; the return value says only that there is one.
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

// LLVM's older linker, the only one its C API lets anybody listen to.
static LLVMOrcObjectLayerRef make_linker(void *user, LLVMOrcExecutionSessionRef session, const char *triple) {
    (void)triple;
    const listeners *who = user;
    LLVMOrcObjectLayerRef layer = LLVMOrcCreateRTDyldObjectLinkingLayerWithSectionMemoryManager(session);
    if (who->gdb) LLVMOrcRTDyldObjectLinkingLayerRegisterJITEventListener(layer, who->gdb);
    if (who->perf) LLVMOrcRTDyldObjectLinkingLayerRegisterJITEventListener(layer, who->perf);
    return layer;
}

ig_status igi_jit_create(unsigned audience, igi_jit **jit, ig_error *error) {
    listeners who = {0};
    ig_status status = find_listeners(audience, &who, error);
    if (status != IG_STATUS_OK) return status;
    igi_simt_cpu();  // initialises the native target
    igi_jit *made = igi_calloc(1, sizeof *made);
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

static void free_idle(igi_jit *jit) {
    while (jit->idle) {
        unit *next = jit->idle->next;
        free(jit->idle);
        jit->idle = next;
    }
}

void igi_jit_destroy(igi_jit *jit) {
    if (!jit) return;
    LLVMErrorRef failure = LLVMOrcDisposeLLJIT(jit->lljit);
    if (failure) LLVMConsumeError(failure);
    free_idle(jit);
    pthread_mutex_destroy(&jit->lock);
    pthread_cond_destroy(&jit->found);
    free(jit);
}

// ---- Units ----

static LLVMErrorRef make_dylib(igi_jit *jit, uint64_t number, LLVMOrcJITDylibRef *dylib) {
    char name[40];
    snprintf(name, sizeof name, "kernel-%llu", (unsigned long long)number);
    LLVMErrorRef failure =
        LLVMOrcExecutionSessionCreateJITDylib(LLVMOrcLLJITGetExecutionSession(jit->lljit), dylib, name);
    if (failure) return failure;
    // memcpy and the like come from this process; kernels cannot name anything else (igi_pass_check).
    LLVMOrcDefinitionGeneratorRef process = NULL;
    failure = LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(&process, LLVMOrcLLJITGetGlobalPrefix(jit->lljit),
                                                                   NULL, NULL);
    if (!failure) LLVMOrcJITDylibAddGenerator(*dylib, process);
    return failure;
}

static unit *take_unit(igi_jit *jit, ig_error *error) {
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
    LLVMErrorRef failure = make_dylib(jit, number, &taken->dylib);
    if (!failure) return taken;
    report(error, IG_STATUS_SYSTEM, "cannot make room for a kernel", failure);
    free(taken);
    return NULL;
}

static void give_back(igi_jit *jit, unit *spent) {
    LLVMErrorRef failure = LLVMOrcJITDylibClear(spent->dylib);
    if (failure) LLVMConsumeError(failure);
    pthread_mutex_lock(&jit->lock);
    spent->next = jit->idle;
    jit->idle = spent;
    pthread_mutex_unlock(&jit->lock);
}

// ---- Symbols ----

enum { SYMBOL_INFO, SYMBOL_RUN, SYMBOL_START, SYMBOL_RESUME, SYMBOL_COUNT };
static const char *const symbol_names[SYMBOL_COUNT] = {"ig.info", "ig.run", "ig.start", "ig.resume"};

typedef struct lookup {
    igi_jit *jit;
    LLVMOrcSymbolStringPoolEntryRef names[SYMBOL_COUNT];
    LLVMOrcExecutorAddress addresses[SYMBOL_COUNT];
    LLVMErrorRef failure;
    bool done;
} lookup;

// Without a thread pool LLVM links on threads that look something up, but not always on the one that asked: whoever
// comes takes what is left to do, and the one that asked is back before it is done.
static void found(LLVMErrorRef failure, LLVMOrcCSymbolMapPairs pairs, size_t count, void *user) {
    lookup *result = user;
    igi_jit *jit = result->jit;
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
static LLVMOrcSymbolStringPoolEntryRef intern(igi_jit *jit, const char *name, int symbol) {
    char *full = name && symbol != SYMBOL_INFO ? igi_format("%s%s", name, symbol_names[symbol] + strlen("ig")) : NULL;
    LLVMOrcSymbolStringPoolEntryRef entry = LLVMOrcLLJITMangleAndIntern(jit->lljit, full ? full : symbol_names[symbol]);
    free(full);
    return entry;
}

static LLVMErrorRef find_symbols(igi_jit *jit, LLVMOrcJITDylibRef dylib, const char *name, lookup *result) {
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

IGI_CALLS_GENERATED_CODE static uint64_t frame_bytes(igi_start_function start) {
    igi_group nowhere = {0};
    igi_lane ask = {0};
    return igi_round_up((uint64_t)(uintptr_t)start(&nowhere, 0, 0, 0, &ask), 64);
}

static bool fill(igi_code *code, const lookup *symbols) {
    memcpy(&code->info, (const void *)(uintptr_t)symbols->addresses[SYMBOL_INFO], sizeof code->info);
    code->run = (igi_run_function)(uintptr_t)symbols->addresses[SYMBOL_RUN];
    code->start = (igi_start_function)(uintptr_t)symbols->addresses[SYMBOL_START];
    code->resume = (igi_resume_function)(uintptr_t)symbols->addresses[SYMBOL_RESUME];
    if (code->info.version != IGI_CODE_VERSION) return false;
    code->frame_bytes = code->info.context_bytes;
    if (code->info.form == IGI_FORM_LOOP) return code->run != NULL;
    if (!code->start || !code->resume) return false;
    code->frame_bytes = frame_bytes(code->start);
    return true;
}

// The one function of ours that kernels call.
static LLVMErrorRef define_runtime(igi_jit *jit, LLVMOrcJITDylibRef dylib) {
    LLVMOrcCSymbolMapPair pair = {LLVMOrcLLJITMangleAndIntern(jit->lljit, "ig.private"),
                                  {(LLVMOrcExecutorAddress)(uintptr_t)igi_private_memory,
                                   {LLVMJITSymbolGenericFlagsExported | LLVMJITSymbolGenericFlagsCallable, 0}}};
    return LLVMOrcJITDylibDefine(dylib, LLVMOrcAbsoluteSymbols(&pair, 1));
}

ig_status igi_jit_load(igi_jit *jit, const char *object, size_t length, const char *name, igi_code *code,
                       ig_error *error) {
    unit *home = take_unit(jit, error);
    if (!home) return error ? error->status : IG_STATUS_SYSTEM;
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(object, length, "kernel");
    LLVMErrorRef failure = LLVMOrcLLJITAddObjectFile(jit->lljit, home->dylib, buffer);
    if (!failure) failure = define_runtime(jit, home->dylib);
    lookup symbols = {.jit = jit};
    if (!failure) failure = find_symbols(jit, home->dylib, name, &symbols);
    igi_code made = {.unit = home};
    ig_status status = IG_STATUS_OK;
    if (failure)
        status = report(error, IG_STATUS_BAD_FORMAT, "compiled kernel cannot be loaded", failure);
    else if (!fill(&made, &symbols))
        status = igi_error_set(error, IG_STATUS_BAD_FORMAT, "compiled kernel is of another version");
    if (status == IG_STATUS_OK)
        *code = made;
    else
        give_back(jit, home);
    return status;
}

void igi_jit_unload(igi_jit *jit, igi_code *code) {
    if (code->unit) give_back(jit, code->unit);
    *code = (igi_code){0};
}
