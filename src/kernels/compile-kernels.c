// SPDX-License-Identifier: Apache-2.0
// Part of the build: compile-kernels OUTPUT.c writes the built-in kernels as bitcode with their reflection, so that
// they run on machines without clang. If clang is missing here, the table is empty, and they are compiled when needed.
#include <stdio.h>
#include <stdlib.h>

#include "core/embed.h"
#include "core/status-internal.h"
#include "kernels/source.h"
#include "msl/build.h"
#include "msl/packed.h"

static ig_status compile(igi_msl_compiler *compiler, igi_msl_request *request, igi_text *bytes, ig_error *error) {
    igi_msl_product product;
    igi_msl_diagnostics diagnostics = {.sources = &request->sources};
    ig_status status = igi_msl_build(compiler, request, &diagnostics, &product, error);
    if (status == IG_STATUS_COMPILE_FAILED) igi_msl_diagnostics_report(&diagnostics, error);
    if (status == IG_STATUS_OK) {
        const igi_msl_packed packed = {product.reflection, igi_text_take(&diagnostics.log), product.bitcode,
                                       product.bitcode_length};
        igi_msl_packed_write(&packed, bytes);
        free(packed.log), free(product.bitcode);
        igi_msl_reflection_free(&product.reflection);
    }
    igi_msl_diagnostics_free(&diagnostics);
    return status;
}

static ig_status write_file(FILE *out, igi_msl_compiler *compiler, const igi_embedded *file, ig_error *error) {
    ig_library_desc desc;
    igi_text bytes = {0};
    char *source = NULL, name[33];
    ig_status status = igi_kernels_kernel_library_desc(file, &desc, &source);
    if (status != IG_STATUS_OK) return status;
    igi_msl_request request = {.language_version = desc.language_version, .math_mode = desc.math_mode};
    igi_msl_main_source main_source = {desc.source, desc.source_length, desc.path, desc.name};
    status = igi_msl_sources_load(&request.sources, &main_source, NULL, 0, error);
    if (status == IG_STATUS_OK) status = compile(compiler, &request, &bytes, error);
    if (status == IG_STATUS_OK) {
        igi_hash_hex(igi_msl_content_key(compiler, &request), name);
        fprintf(out, "  // %s\n  {\"%s\", %zu,\n", file->name, name, bytes.length);
        igi_embed_bytes(out, bytes.data, bytes.length);
        fprintf(out, "},\n");
    }
    igi_msl_sources_free(&request.sources);
    igi_text_free(&bytes);
    free(source);
    return status;
}

static ig_status write_all(FILE *out, ig_error *error) {
    igi_msl_compiler *compiler = NULL;
    size_t count = 0;
    ig_status status = igi_msl_compiler_create(NULL, &compiler);
    fprintf(out, "#include \"core/embedded.h\"\n\nconst igi_embedded igi_builtin_libraries[] = {\n");
    for (size_t i = 0; i < igi_kernel_files_count && status == IG_STATUS_OK; i++) {
        const igi_embedded *file = &igi_kernel_files[i];
        if (igi_kernels_kernel_file_is_part(file)) continue;
        status = write_file(out, compiler, file, error);
        count += status == IG_STATUS_OK;
    }
    // An array has at least one element.
    fprintf(out, "  {\"\", 0, \"\"}};\nconst size_t igi_builtin_libraries_count = %zu;\n", count);
    igi_msl_compiler_destroy(compiler);
    return status;
}

int main(int argc, char **argv) {
    ig_error error = {0};
    FILE *out = argc == 2 ? fopen(argv[1], "w") : NULL;
    if (!out) return 2;
    ig_status status = write_all(out, &error);
    bool missing = status == IG_STATUS_COMPILER_MISSING;
    if (status != IG_STATUS_OK)
        fprintf(stderr, "%s: %s\n", missing ? "kernels are not compiled ahead of time" : "compile-kernels",
                error.log       ? error.log
                : error.message ? error.message
                                : ig_status_text(status));
    ig_error_clear(&error);
    return fclose(out) == 0 && (status == IG_STATUS_OK || missing) ? 0 : 1;
}
