// SPDX-License-Identifier: Apache-2.0
// Compiling one source, and telling what is wrong with it as clang does.
#include "compile.h"

#include <llvm-c/BitReader.h>
#include <llvm-c/Core.h>
#include <stdio.h>
#include <string.h>

#include "compiler-identity.h"
#include "console/diagnostics.h"
#include "console/output.h"
#include "dependencies.h"
#include "files.h"
#include "msl/build.h"
#include "msl/bundle.h"
#include "preprocessed.h"
#include "tools.h"

// ---- Sources ----

static const char standard_input[] = "<stdin>";

// Standard input and devices are read to their end. As far as includes are concerned, they are in the current directory.
static ig_status load_stream(const metal_options *options, const char *input, igi_msl_sources *sources,
                             cli_list *directories, ig_error *error) {
    char *text = NULL;
    size_t length = 0;
    if (!tool_read(input, &text, &length)) return IG_STATUS_IO;
    cli_list_add(directories, ".");
    for (size_t i = 0; i < options->include_dirs.count; i++) cli_list_add(directories, options->include_dirs.items[i]);
    const igi_msl_main_source main = {
        .text = text, .length = length, .name = strcmp(input, "-") == 0 ? standard_input : input};
    ig_status status = igi_msl_sources_load(sources, &main, directories->items, directories->count, error);
    free(text);
    return status;
}

static ig_status load(const metal_options *options, const char *input, igi_msl_sources *sources, cli_list *directories,
                      ig_error *error) {
    bool stream = strcmp(input, "-") == 0 || tool_is_special(input);
    ig_status status = stream ? load_stream(options, input, sources, directories, error)
                              : igi_msl_sources_load(sources, &(igi_msl_main_source){.path = input},
                                                     options->include_dirs.items, options->include_dirs.count, error);
    if (status == IG_STATUS_NOT_FOUND) {
        tool_error("no such file or directory: '%s'", input);
        ig_error_clear(error);
        return status;
    }
    for (size_t i = 0; status == IG_STATUS_OK && i < options->before.count; i++)
        status = igi_msl_sources_add_before(sources, options->before.items[i], error);
    if (error->message) tool_report(status, error);
    return status;
}

// ---- Messages ----

static size_t count_level(const char *log, const char *level) {
    size_t count = 0;
    for (const char *line = log; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        cli_heading heading;
        bool is = cli_read_heading(line, strcspn(line, "\n"), &heading) &&
                  strncmp(heading.severity, level, heading.severity_length) == 0 && line[0] != ' ';
        count += is;
    }
    return count;
}

static void print_count(size_t count, const char *what, const char *after) {
    fprintf(stderr, "%zu %s%s%s", count, what, count == 1 ? "" : "s", after);
}

static void print_log(const char *log) {
    size_t errors = count_level(log, "error"), warnings = count_level(log, "warning");
    cli_print_diagnostics(stderr, log);
    if (warnings) print_count(warnings, "warning", errors ? " and " : " generated.\n");
    if (errors) print_count(errors, "error", " generated.\n");
}

// ---- What becomes of it ----

static void print_ir(const igi_msl_product *product, igi_text *result) {
    LLVMContextRef context = LLVMContextCreate();
    LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRangeCopy(product->bitcode, product->bitcode_length, "unit");
    LLVMModuleRef module = NULL;
    bool read = !LLVMParseBitcodeInContext2(context, buffer, &module);
    char *text = read ? LLVMPrintModuleToString(module) : NULL;
    if (text)
        igi_text_add(result, text);
    else
        result->failed = true;
    LLVMDisposeMessage(text);
    if (read) LLVMDisposeModule(module);
    LLVMDisposeMemoryBuffer(buffer);
    LLVMContextDispose(context);
}

static ig_status keep(const metal_options *options, igi_msl_compiler *compiler, const igi_msl_request *request,
                      const igi_msl_product *product, igi_text *result, ig_error *error) {
    if (options->action == METAL_TEXT) print_ir(product, result);
    if (options->action != METAL_LINK && options->action != METAL_OBJECT) return IG_STATUS_OK;
    return igi_msl_unit_write(compiler, request, product, IGI_COMPILER_IDENTITY, result, error);
}

static ig_status build(const metal_options *options, igi_msl_compiler *compiler, igi_msl_request *request,
                       igi_msl_diagnostics *diagnostics, igi_text *result, ig_error *error) {
    igi_msl_product product;
    ig_status status = igi_msl_build(compiler, request, diagnostics, &product, error);
    if (status != IG_STATUS_OK) return status;
    status = keep(options, compiler, request, &product, result, error);
    free(product.bitcode);
    igi_msl_reflection_free(&product.reflection);
    return status;
}

static ig_status preprocess(igi_msl_compiler *compiler, igi_msl_request *request, igi_msl_diagnostics *diagnostics,
                            char **text, ig_error *error) {
    size_t length = 0;
    request->preprocess = true;
    ig_status status = igi_msl_compile(compiler, request, diagnostics, text, &length, error);
    request->preprocess = false;
    return status;
}

// From the line markers of preprocessed text, whatever form the user wants that in.
static void list_headers(igi_msl_compiler *compiler, igi_msl_request *request) {
    igi_msl_diagnostics diagnostics = {.sources = &request->sources};
    char *text = NULL;
    request->style_count = 0;
    if (preprocess(compiler, request, &diagnostics, &text, NULL) == IG_STATUS_OK)
        metal_print_headers(&request->sources, text);
    free(text);
    igi_msl_diagnostics_free(&diagnostics);
}

static ig_status make_text(igi_msl_compiler *compiler, igi_msl_request *request, igi_msl_diagnostics *diagnostics,
                           igi_text *result, ig_error *error) {
    char *text = NULL;
    ig_status status = preprocess(compiler, request, diagnostics, &text, error);
    if (status == IG_STATUS_OK) metal_tidy_text(&request->sources, text, result);
    free(text);
    return status;
}

static bool compile_sources(const metal_options *options, igi_msl_compiler *compiler, igi_msl_request *request,
                            const metal_rule *rule, igi_text *result) {
    igi_msl_diagnostics diagnostics = {.sources = &request->sources};
    ig_error error = {0};
    bool text = options->action == METAL_PREPROCESS || options->action == METAL_DEPENDENCIES;
    ig_status status = text ? make_text(compiler, request, &diagnostics, result, &error)
                            : build(options, compiler, request, &diagnostics, result, &error);
    if (diagnostics.log.data) print_log(diagnostics.log.data);
    bool said = status == IG_STATUS_COMPILE_FAILED && diagnostics.log.length;
    if (status != IG_STATUS_OK && !said) tool_report(status, &error);
    igi_msl_diagnostics_free(&diagnostics);
    ig_error_clear(&error);
    if (status == IG_STATUS_OK && result->failed) return tool_error("out of memory"), false;
    if (status != IG_STATUS_OK || !rule->path) return status == IG_STATUS_OK;
    return metal_write_rule(options, &request->sources, rule->target, rule->path);
}

bool metal_compile(const metal_options *options, igi_msl_compiler *compiler, const char *input, const metal_rule *rule,
                   igi_text *result) {
    ig_error error = {0};
    cli_list directories = {0};
    igi_msl_request request = {.defines = options->defines,
                               .define_count = options->define_count,
                               .language_version = options->language_version,
                               .math_mode = options->math_mode,
                               .notes_uses = rule->path != NULL,
                               .styles = options->styles.items,
                               .style_count = options->styles.count};
    bool ok = load(options, input, &request.sources, &directories, &error) == IG_STATUS_OK &&
              compile_sources(options, compiler, &request, rule, result);
    if (ok && options->lists_headers) list_headers(compiler, &request);
    igi_msl_sources_free(&request.sources);
    cli_list_free(&directories);
    return ok;
}
