// SPDX-License-Identifier: Apache-2.0
// The syntax tree of a kernel, as clang prints it.
#include <stdlib.h>
#include <string.h>

#include "core/disk-cache.h"
#include "msl/compiler.h"
#include "source.h"

static const char heading[] = "Dumping ";

// clang dumps every function whose name contains the kernel's, each below "Dumping NAME:".
static void keep_kernel(char *text, const char *kernel) {
    char *to = text;
    size_t length = strlen(kernel);
    bool wanted = false;
    for (char *line = text, *next; *line; line = next) {
        char *end = strchr(line, '\n');
        next = end ? end + 1 : line + strlen(line);
        bool is_heading = strncmp(line, heading, sizeof heading - 1) == 0;
        const char *name = line + sizeof heading - 1;
        if (is_heading) wanted = strncmp(name, kernel, length) == 0 && name[length] == ':';
        if (is_heading || !wanted) continue;
        memmove(to, line, (size_t)(next - line));
        to += next - line;
    }
    *to = '\0';
}

ig_status cli_source_syntax(const cli_source *source, const char *kernel, char **text, ig_error *error) {
    char *cache = igi_cache_dir(NULL);
    igi_msl_compiler *compiler = NULL;
    size_t length;
    igi_msl_request request = {
        .defines = source->defines,
        .define_count = source->define_texts.count,
        .language_version = source->language_version ? source->language_version : IGI_MSL_DEFAULT_LANGUAGE,
        .math_mode = (ig_math_mode)source->math,
        .syntax_of = kernel};
    const igi_msl_main_source main = {.path = source->path};
    ig_status status =
        igi_msl_sources_load(&request.sources, &main, source->include_dirs.items, source->include_dirs.count, error);
    igi_msl_diagnostics diagnostics = {.sources = &request.sources};
    if (status == IG_STATUS_OK) status = igi_msl_compiler_create(cache, &compiler);
    if (status == IG_STATUS_OK) status = igi_msl_compile(compiler, &request, &diagnostics, text, &length, error);
    if (status == IG_STATUS_COMPILE_FAILED) igi_msl_diagnostics_report(&diagnostics, error);
    if (status == IG_STATUS_OK) keep_kernel(*text, kernel);
    igi_msl_diagnostics_free(&diagnostics);
    igi_msl_sources_free(&request.sources);
    igi_msl_compiler_destroy(compiler);
    free(cache);
    return status;
}
