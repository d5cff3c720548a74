// SPDX-License-Identifier: Apache-2.0
// The steps from AIR to a library of one kernel, and that library as bytes.
#include "air/translate.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <string.h>

#include "air/translator.h"
#include "core/bytes.h"
#include "msl/contents.h"
#include "msl/layout.h"
#include "msl/llvm-context.h"

// ---- Failures ----

bool igi_air_fail(air_translator *t, ig_status status, const char *format, ...) {
    if (t->status != IG_STATUS_OK) return false;
    va_list arguments;
    va_start(arguments, format);
    char *message = igi_vformat(format, arguments);
    va_end(arguments);
    t->status = igi_error_set(t->error, status, "%s", message ? message : "");
    free(message);
    return false;
}

bool igi_air_fail_memory(air_translator *t) {
    if (t->status == IG_STATUS_OK) t->status = igi_error_no_memory(t->error);
    return false;
}

bool igi_air_fail_unknown(air_translator *t, const char *what) {
    return igi_air_fail(t, IG_STATUS_UNSUPPORTED,
                        "kernel '%.200s' uses %.200s, which Ingot cannot run from a compiled library", t->name, what);
}

// ---- Helpers of the steps ----

const char *igi_air_symbol(LLVMValueRef value) {
    size_t length;
    return LLVMGetValueName2(value, &length);
}

LLVMValueRef igi_air_call_intrinsic(air_translator *t, const char *name, LLVMTypeRef *types, size_t type_count,
                                    LLVMValueRef *arguments, unsigned count) {
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef function = LLVMGetIntrinsicDeclaration(t->module, id, types, type_count);
    LLVMTypeRef type = LLVMIntrinsicGetType(t->context, id, types, type_count);
    return LLVMBuildCall2(t->builder, type, function, arguments, count, "");
}

// ---- Steps ----

bool igi_air_verify(air_translator *t, ig_status status) {
    char *message = NULL;
    bool broken = LLVMVerifyModule(t->module, LLVMReturnStatusAction, &message);
    if (broken) igi_air_fail(t, status, "the bitcode of kernel '%.200s' is not valid: %s", t->name, message);
    LLVMDisposeMessage(message);
    return !broken;
}

static bool run(air_translator *t, const char *passes) {
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef failure = LLVMRunPasses(t->module, passes, NULL, options);
    LLVMDisposePassBuilderOptions(options);
    if (!failure) return true;
    char *message = LLVMGetErrorMessage(failure);
    igi_air_fail(t, IG_STATUS_INTERNAL, "kernel '%.200s': %s", t->name, message);
    LLVMDisposeErrorMessage(message);
    return false;
}

static bool lower(air_translator *t) {
    bool ok = true;
    for (LLVMValueRef f = LLVMGetFirstFunction(t->module); f && ok; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f)) ok = igi_air_lower_matrices(t, f) && igi_air_lower_calls(t, f);
    return ok;
}

// The rules for what a source may contain hold here too. They are reported for a source: here, an empty one.
static bool check(air_translator *t) {
    igi_msl_sources sources = {0};
    igi_msl_main_source nothing = {"", 0, NULL, "AIR"};
    if (igi_msl_sources_load(&sources, &nothing, NULL, 0, NULL) != IG_STATUS_OK) return igi_air_fail_memory(t);
    igi_msl_diagnostics diagnostics = {.sources = &sources};
    ig_error found = {0};
    bool ok = true;
    if (!igi_msl_check_contents(t->module, &diagnostics)) {
        ok = igi_air_fail_memory(t);
    } else if (diagnostics.error_count) {
        igi_msl_diagnostics_report(&diagnostics, &found);
        ok = igi_air_fail(t, IG_STATUS_UNSUPPORTED, "kernel '%.200s': %s", t->name,
                          found.message ? found.message : "it contains what Metal does not have");
    }
    ig_error_clear(&found);
    igi_msl_diagnostics_free(&diagnostics);
    igi_msl_sources_free(&sources);
    return ok;
}

// adce removes dead values of matrices.
static bool translate(air_translator *t) {
    if (!igi_air_read_metadata(t)) return false;
    if (!igi_air_runs(t)) return true;
    return igi_air_drop_logging(t) && igi_air_open_runtime(t) && igi_air_tidy(t) && lower(t) &&
           igi_air_unroll_recursion(t) && (t->kind == IG_FUNCTION_VISIBLE ? igi_air_expose(t) : igi_air_wrap(t)) &&
           igi_air_link_runtime(t) && run(t, "globaldce,always-inline,globaldce,function(adce)") &&
           igi_air_place_threadgroup(t) && run(t, "globaldce") && igi_air_check_threadgroup(t) &&
           igi_air_verify(t, IG_STATUS_INTERNAL) && check(t);
}

// ---- The result ----

static void write(air_translator *t, igi_text *bytes) {
    igi_msl_packed packed = {.log = "", .bitcode = (char *)""};
    if (igi_air_reflect(t, &packed.reflection)) {
        LLVMMemoryBufferRef made = igi_air_runs(t) ? LLVMWriteBitcodeToMemoryBuffer(t->module) : NULL;
        if (made) packed.bitcode = (char *)LLVMGetBufferStart(made), packed.bitcode_length = LLVMGetBufferSize(made);
        igi_put_u32(bytes, t->flushes_denormals);
        igi_msl_packed_write(&packed, bytes);
        if (made) LLVMDisposeMemoryBuffer(made);
        if (bytes->failed) igi_air_fail_memory(t);
    }
    igi_msl_reflection_free(&packed.reflection);
}

static air_translator open_translator(LLVMContextRef context, const char *name, ig_error *error) {
    return (air_translator){.name = name,
                            .context = context,
                            .error = error,
                            .builder = LLVMCreateBuilderInContext(context),
                            .i32 = LLVMInt32TypeInContext(context),
                            .i64 = LLVMInt64TypeInContext(context),
                            .pointer = LLVMPointerTypeInContext(context, 0)};
}

static void close_translator(air_translator *t) {
    for (size_t i = 0; i < t->argument_count; i++)
        free(t->arguments[i].kind), free(t->arguments[i].name), free(t->arguments[i].type),
            free(t->arguments[i].condition), igi_msl_layout_free(t->arguments[i].layout, t->arguments[i].layout_count);
    if (t->module) LLVMDisposeModule(t->module);
    igi_air_close_runtime(t);
    LLVMDisposeBuilder(t->builder);
}

// Closes the translator. `parsed`: it has a module.
static ig_status finish(air_translator *t, bool parsed, char **output, size_t *output_length) {
    igi_text bytes = {0};
    if (parsed && translate(t)) write(t, &bytes);
    close_translator(t);
    if (t->status != IG_STATUS_OK) {
        igi_text_free(&bytes);
        return t->status;
    }
    *output_length = bytes.length;
    *output = igi_text_take(&bytes);
    return IG_STATUS_OK;
}

ig_status igi_air_translate(const char *bitcode, size_t length, const char *name, char **output, size_t *output_length,
                            ig_error *error) {
    LLVMContextRef context = igi_msl_llvm_context_create();
    air_translator t = open_translator(context, name, error);
    ig_status status = finish(&t, igi_air_parse(&t, bitcode, length), output, output_length);
    LLVMContextDispose(context);
    return status;
}

ig_status igi_air_translate_parsed(LLVMModuleRef module, const char *name, char **output, size_t *output_length,
                                   ig_error *error) {
    air_translator t = open_translator(LLVMGetModuleContext(module), name, error);
    t.module = module;
    return finish(&t, true, output, output_length);
}

// How many an argument of this kind can be the index of; 0 if there is none of this kind.
static uint32_t slots_of(ig_argument_kind kind) {
    switch (kind) {
        case IG_ARGUMENT_BUFFER:
        case IG_ARGUMENT_THREADGROUP:
        case IG_ARGUMENT_FUNCTION_TABLE:
        case IG_ARGUMENT_STAGE_INPUT:
        case IG_ARGUMENT_BUILTIN: return 31;
        case IG_ARGUMENT_TEXTURE: return 128;
        case IG_ARGUMENT_SAMPLER: return 16;
        default: return 0;
    }
}

// The bitcode may have taken over the process that translated it, so its answer is checked.
static bool is_sound(const igi_msl_reflection *reflection) {
    if (reflection->kernel_count + reflection->function_count + reflection->other_count != 1) return false;
    if (reflection->function_count) return true;
    const ig_kernel_info *info = reflection->kernel_count ? &reflection->kernels[0].info : &reflection->others[0].info;
    bool sound = true;
    for (size_t i = 0; i < info->argument_count; i++) {
        const ig_argument *argument = &info->arguments[i];
        uint32_t slots = slots_of(argument->kind);
        sound = sound && igi_in_range(argument->index, argument->array_length, slots) &&
                argument->access <= IG_ACCESS_READ_WRITE;
    }
    return sound;
}

bool igi_air_translated_read(const char *bytes, size_t length, igi_air_translated *translated) {
    igi_reader r = igi_read_from(bytes, length);
    *translated = (igi_air_translated){.flushes_denormals = igi_get_u32(&r) != 0};
    if (r.failed || !igi_msl_packed_read(r.at, igi_bytes_left(&r), &translated->library)) return false;
    if (is_sound(&translated->library.reflection)) return true;
    igi_air_translated_free(translated);
    return false;
}

void igi_air_translated_free(igi_air_translated *translated) {
    igi_msl_reflection_free(&translated->library.reflection);
    free(translated->library.log), free(translated->library.bitcode);
    *translated = (igi_air_translated){0};
}
