// SPDX-License-Identifier: Apache-2.0
// The C file of runtime.h, for programs of the build.
#ifndef INGOT_AIR_EMBED_RUNTIME_H
#define INGOT_AIR_EMBED_RUNTIME_H

#include "core/embed.h"
#include "core/memory.h"

typedef struct igi_air_embedded {
    char *target, *layout;  // as runtime.h has them
    igi_text bytes, modules, functions;
    size_t module_count, function_count;
} igi_air_embedded;

static inline void igi_air_embed_function(igi_air_embedded *e, const char *name) {
    igi_text_addf(&e->functions, "    {\"%s\", %zu},\n", name, e->module_count);
    e->function_count++;
}

// After its functions. LLVM reads bitcode in words.
static inline void igi_air_embed_module(igi_air_embedded *e, const char *bitcode, size_t length) {
    igi_text_addf(&e->modules, "    {%zu, %zu},\n", e->bytes.length, length);
    igi_text_append(&e->bytes, bitcode, length);
    while (e->bytes.length % 8) igi_text_append(&e->bytes, "", 1);
    e->module_count++;
}

// Returns false if memory was short. Frees what was collected.
static inline bool igi_air_embed_write(igi_air_embedded *e, FILE *out) {
    bool failed = e->bytes.failed || e->modules.failed || e->functions.failed;
    fprintf(out, "#include \"air/runtime.h\"\n\n_Alignas(8) const char igi_air_runtime[] =\n");
    igi_embed_bytes(out, e->bytes.data, e->bytes.length);
    fprintf(out, ";\nconst size_t igi_air_runtime_length = %zu;\n", e->bytes.length);
    fprintf(out, "const char igi_air_runtime_target[] = \"%s\";\n", e->target ? e->target : "");
    fprintf(out, "const char igi_air_runtime_layout[] = \"%s\";\n", e->layout ? e->layout : "");
    fprintf(out, "const igi_air_runtime_module igi_air_runtime_modules[] = {\n%s    {0, 0}};\n",
            e->modules.data ? e->modules.data : "");
    fprintf(out, "const size_t igi_air_runtime_module_count = %zu;\n", e->module_count);
    fprintf(out, "const igi_air_runtime_function igi_air_runtime_functions[] = {\n%s    {\"\", 0}};\n",
            e->functions.data ? e->functions.data : "");
    fprintf(out, "const size_t igi_air_runtime_function_count = %zu;\n", e->function_count);
    free(e->target), free(e->layout);
    igi_text_free(&e->bytes), igi_text_free(&e->modules), igi_text_free(&e->functions);
    return !failed;
}

#endif
