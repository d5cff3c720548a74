// SPDX-License-Identifier: Apache-2.0
// Part of the build: compile-runtime RUNTIME.metal OUTPUT.c writes the functions that AIR's intrinsics stand for as
// bitcode. If clang is missing here, there is none, and compiled Metal libraries are refused.
#include <stdio.h>
#include <stdlib.h>

#include "core/embed.h"
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

int main(int argc, char **argv) {
    ig_error error = {0};
    char *bitcode = NULL;
    size_t length = 0;
    FILE *out = argc == 3 ? fopen(argv[2], "w") : NULL;
    if (!out) return 2;
    ig_status status = compile(argv[1], &bitcode, &length, &error);
    bool missing = status == IG_STATUS_COMPILER_MISSING;
    if (status != IG_STATUS_OK)
        fprintf(stderr, "%s: %s\n", missing ? "compiled Metal libraries will not run" : "compile-runtime",
                error.log       ? error.log
                : error.message ? error.message
                                : ig_status_text(status));
    // LLVM reads bitcode in words.
    fprintf(out, "#include \"air/runtime.h\"\n\n_Alignas(8) const char igi_air_runtime[] =\n");
    igi_embed_bytes(out, bitcode, length);
    fprintf(out, ";\nconst size_t igi_air_runtime_length = %zu;\n", length);
    free(bitcode);
    ig_error_clear(&error);
    return fclose(out) == 0 && (status == IG_STATUS_OK || missing) ? 0 : 1;
}
