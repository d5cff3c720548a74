// SPDX-License-Identifier: Apache-2.0
// Part of the build: compile-runtime RUNTIME.metal OUTPUT.c writes the functions that AIR's intrinsics stand for as
// bitcode. If clang is missing here, there is none, and compiled Metal libraries are refused.
#include <llvm-c/BitReader.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/Core.h>
#include <llvm-c/Linker.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "air/embed-runtime.h"
#include "core/status-internal.h"
#include "msl/compiler.h"

// Without fast math: instructions in a kernel keep the rules it was compiled with, and fast:: functions are fast anyway.
static ig_status compile(const char *path, char **bitcode, size_t *length, ig_error *error) {
    igi_msl_compiler *compiler = NULL;
    igi_msl_request request = {.language_version = IGI_MSL_DEFAULT_LANGUAGE, .math_mode = IG_MATH_SAFE};
    igi_msl_main_source main_source = {.path = path};
    igi_msl_diagnostics diagnostics = {.sources = &request.sources};
    ig_status status = igi_msl_compiler_create(NULL, &compiler);
    if (status == IG_STATUS_OK) status = igi_msl_sources_load(&request.sources, &main_source, NULL, 0, error);
    if (status == IG_STATUS_OK) status = igi_msl_compile(compiler, &request, &diagnostics, bitcode, length, error);
    if (status == IG_STATUS_COMPILE_FAILED) igi_msl_diagnostics_report(&diagnostics, error);
    igi_msl_diagnostics_free(&diagnostics);
    igi_msl_sources_free(&request.sources);
    igi_msl_compiler_destroy(compiler);
    return status;
}

// ---- Cutting: neighbours in the order of names share a module ----

enum { FUNCTIONS_PER_MODULE = 16 };

static LLVMModuleRef open_bitcode(LLVMContextRef context, const char *bitcode, size_t length) {
    LLVMModuleRef module = NULL;
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(bitcode, length, "runtime");
    return LLVMGetBitcodeModuleInContext2(context, buffer, &module) ? NULL : module;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

// owns: the names and their array are the caller's.
static char **list_functions(const char *bitcode, size_t length, size_t *count) {
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = open_bitcode(context, bitcode, length);
    char **names = NULL;
    size_t capacity = 0;
    *count = 0;
    for (LLVMValueRef f = module ? LLVMGetFirstFunction(module) : NULL; f; f = LLVMGetNextFunction(f)) {
        size_t name_length;
        if (LLVMIsDeclaration(f) || LLVMGetLinkage(f) == LLVMInternalLinkage) continue;
        if (!igi_grow((void **)&names, &capacity, *count + 1, sizeof *names)) abort();
        names[(*count)++] = igi_strdup(LLVMGetValueName2(f, &name_length));
    }
    if (module) LLVMDisposeModule(module);
    LLVMContextDispose(context);
    if (names) qsort(names, *count, sizeof *names, by_name);
    return names;
}

// What is internal and not called is left out by the linker.
static void keep_only(LLVMModuleRef module, char **names, size_t count) {
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
        size_t length;
        const char *name = LLVMGetValueName2(f, &length);
        if (!LLVMIsDeclaration(f) && !bsearch(&name, names, count, sizeof *names, by_name))
            LLVMSetLinkage(f, LLVMInternalLinkage);
    }
}

static bool cut_out(const char *bitcode, size_t length, char **names, size_t count, igi_air_embedded *embedded) {
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef whole = open_bitcode(context, bitcode, length);
    LLVMModuleRef part = LLVMModuleCreateWithNameInContext("runtime", context);
    bool ok = whole != NULL;
    if (ok) {
        keep_only(whole, names, count);
        LLVMSetTarget(part, LLVMGetTarget(whole));
        LLVMSetDataLayout(part, LLVMGetDataLayoutStr(whole));
        if (!embedded->target) embedded->target = igi_strdup(LLVMGetTarget(whole));
        if (!embedded->layout) embedded->layout = igi_strdup(LLVMGetDataLayoutStr(whole));
        ok = !LLVMLinkModules2(part, whole);
    }
    if (ok) {
        for (size_t i = 0; i < count; i++) igi_air_embed_function(embedded, names[i]);
        LLVMMemoryBufferRef made = LLVMWriteBitcodeToMemoryBuffer(part);
        igi_air_embed_module(embedded, LLVMGetBufferStart(made), LLVMGetBufferSize(made));
        LLVMDisposeMemoryBuffer(made);
    }
    LLVMDisposeModule(part);
    LLVMContextDispose(context);
    return ok;
}

static bool cut(const char *bitcode, size_t length, igi_air_embedded *embedded) {
    size_t count, taken;
    char **names = list_functions(bitcode, length, &count);
    bool ok = count > 0;
    for (size_t i = 0; i < count && ok; i += taken) {
        taken = count - i < FUNCTIONS_PER_MODULE ? count - i : FUNCTIONS_PER_MODULE;
        ok = cut_out(bitcode, length, names + i, taken, embedded);
    }
    for (size_t i = 0; i < count; i++) free(names[i]);
    free(names);
    return ok;
}

int main(int argc, char **argv) {
    ig_error error = {0};
    igi_air_embedded embedded = {0};
    char *bitcode = NULL;
    size_t length = 0;
    FILE *out = argc == 3 ? fopen(argv[2], "w") : NULL;
    if (!out) return 2;
    ig_status status = compile(argv[1], &bitcode, &length, &error);
    bool missing = status == IG_STATUS_COMPILER_MISSING;
    if (status == IG_STATUS_OK && !cut(bitcode, length, &embedded))
        status = igi_error_set(&error, IG_STATUS_INTERNAL, "the functions cannot be cut into modules");
    if (status != IG_STATUS_OK)
        fprintf(stderr, "%s: %s\n", missing ? "compiled Metal libraries will not run" : "compile-runtime",
                error.log       ? error.log
                : error.message ? error.message
                                : ig_status_text(status));
    bool written = igi_air_embed_write(&embedded, out);
    free(bitcode);
    ig_error_clear(&error);
    return fclose(out) == 0 && written && (status == IG_STATUS_OK || missing) ? 0 : 1;
}
