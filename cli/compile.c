// SPDX-License-Identifier: Apache-2.0
// ingot compile: compiles a file, and lists what it contains or shows the result.
#include <stdlib.h>
#include <string.h>

#include "air/container.h"
#include "commands.h"
#include "console/device.h"
#include "console/output.h"
#include "core/status-internal.h"
#include "format.h"
#include "kernel-info.h"
#include "msl/bundle.h"
#include "source.h"

typedef struct compile_options {
    cli_source source;
    int emit;  // an emit_stage
    bool remarks;
} compile_options;

typedef enum emit_stage { EMIT_NOTHING = -1, EMIT_AST, EMIT_AIR, EMIT_LLVM, EMIT_SIMT, EMIT_ASM } emit_stage;
static const char *const stage_names[] = {
    [EMIT_AST] = "ast", [EMIT_AIR] = "air", [EMIT_LLVM] = "llvm", [EMIT_SIMT] = "simt", [EMIT_ASM] = "asm"};
static const char *const stage_comments[] = {
    [EMIT_AST] = "//", [EMIT_AIR] = ";", [EMIT_LLVM] = ";", [EMIT_SIMT] = ";", [EMIT_ASM] = "#"};

// ---- Listing ----

static void print_function_constants(const ig_library *library) {
    size_t count = ig_library_function_constant_count(library);
    if (count == 0) return;
    printf("\n%sfunction constants%s\n", cli_escape(stdout, CLI_BOLD), cli_escape(stdout, CLI_PLAIN));
    cli_table table = {.columns = 3, .right_aligned = 1};
    cli_table_add(&table, "id");
    cli_table_add(&table, "type");
    cli_table_add(&table, "name");
    for (size_t i = 0; i < count; i++) {
        const ig_function_constant_info *constant = ig_library_function_constant(library, i);
        cli_table_add(&table, "%u", constant->id);
        if (constant->components > 1) {
            cli_table_add(&table, "%s x %u", ig_type_name(constant->type), constant->components);
        } else {
            cli_table_add(&table, "%s", ig_type_name(constant->type));
        }
        cli_table_add(&table, "%s", constant->name);
    }
    cli_table_print(&table, 2);
}

static bool is_named(const compile_options *options, const char *name) {
    return !options->source.kernel || strcmp(name, options->source.kernel) == 0;
}

static bool is_meant(const compile_options *options, const ig_library *library, size_t index) {
    return is_named(options, ig_library_kernel_name(library, index));
}

// Functions that are no kernels.
static void list_others(const compile_options *options, const ig_library *library) {
    for (size_t i = 0; i < ig_library_function_count(library); i++)
        if (is_named(options, ig_library_function(library, i)))
            (cli_json ? cli_put_visible : cli_print_visible)(ig_library_function(library, i));
    for (size_t i = 0; i < ig_library_other_count(library); i++)
        if (is_named(options, ig_library_other_name(library, i)))
            (cli_json ? cli_put_kernel : cli_print_kernel)(ig_library_other(library, i));
}

static void print_library(const compile_options *options, const ig_library *library, uint64_t elapsed_ns) {
    char time[CLI_FORMAT_TEXT];
    size_t count = ig_library_kernel_count(library),
           others = ig_library_function_count(library) + ig_library_other_count(library);
    printf("%s: %zu kernel%s", cli_visible(options->source.path), count, count == 1 ? "" : "s");
    if (others) printf(" and %zu other function%s", others, others == 1 ? "" : "s");
    printf(", compiled in %s\n", cli_format_time((double)elapsed_ns, time));
    for (size_t i = 0; i < count; i++)
        if (is_meant(options, library, i)) cli_print_kernel(ig_library_kernel(library, i));
    list_others(options, library);
    print_function_constants(library);
}

static void put_library(const compile_options *options, const ig_library *library) {
    for (size_t i = 0; i < ig_library_kernel_count(library); i++)
        if (is_meant(options, library, i)) cli_put_kernel(ig_library_kernel(library, i));
    list_others(options, library);
    for (size_t i = 0; i < ig_library_function_constant_count(library); i++) {
        const ig_function_constant_info *constant = ig_library_function_constant(library, i);
        igi_json *row = cli_begin_row();
        igi_json_put_string(row, "function_constant", constant->name);
        igi_json_put_u64(row, "id", constant->id);
        igi_json_put_string(row, "type", ig_type_name(constant->type));
        igi_json_put_u64(row, "components", constant->components);
        cli_end_row();
    }
}

// ---- What became of it ----

static int emit_kernel(const compile_options *options, ig_pipeline *pipeline, const char *name, bool titled) {
    char *text;
    ig_error error = {0};
    ig_status status = options->emit == EMIT_AST ? cli_source_syntax(&options->source, name, &text, &error)
                                                 : ig_pipeline_emit(pipeline, stage_names[options->emit], &text);
    if (status != IG_STATUS_OK) return cli_report_and_clear(status, &error);
    if (cli_json) {
        igi_json *row = cli_begin_row();
        igi_json_put_string(row, "kernel", name);
        igi_json_put_string(row, stage_names[options->emit], text);
        cli_end_row();
    } else {
        if (titled) printf("%s kernel %s\n", stage_comments[options->emit], cli_visible(name));
        cli_write_visible(stdout, text, strlen(text));
    }
    free(text);
    return CLI_CONTINUE;
}

static void put_remark(const char *kernel, const ig_remark *remark, uint32_t width) {
    igi_json *row = cli_begin_row();
    igi_json_put_string(row, "kernel", kernel);
    igi_json_put_string(row, "kind", remark->kind);
    igi_json_put_string(row, "file", remark->file);
    igi_json_put_u64(row, "line", remark->line);
    igi_json_put_u64(row, "column", remark->column);
    igi_json_put_string(row, "text", remark->text);
    if (strcmp(remark->kind, "width") == 0) igi_json_put_u64(row, "simt_width", width);
    cli_end_row();
}

static void print_remark(const char *kernel, const ig_remark *remark) {
    printf("%s", cli_escape(stdout, CLI_BOLD));
    if (remark->line)
        printf("%s:%u:%u: ", cli_visible(remark->file), remark->line, remark->column);
    else
        printf("%s: ", cli_visible(kernel));
    printf("%sremark: %s%s: %s\n", cli_escape(stdout, CLI_CYAN), cli_escape(stdout, CLI_PLAIN), remark->kind,
           cli_visible(remark->text));
}

static int remark_kernel(ig_pipeline *pipeline, const char *name) {
    ig_remark *remarks;
    size_t count;
    ig_pipeline_properties properties;
    ig_pipeline_get_properties(pipeline, &properties);
    ig_status status = ig_pipeline_get_remarks(pipeline, &remarks, &count);
    if (status != IG_STATUS_OK) return cli_report(status, NULL);
    for (size_t i = 0; i < count; i++) {
        if (cli_json)
            put_remark(name, &remarks[i], properties.simt_width);
        else
            print_remark(name, &remarks[i]);
    }
    free(remarks);
    return CLI_CONTINUE;
}

static int examine_kernel(const compile_options *options, ig_library *library, const char *name, bool titled) {
    ig_pipeline *pipeline = NULL;
    int result = cli_source_specialise(&options->source, library, name, &pipeline);
    if (result == CLI_CONTINUE && options->remarks) result = remark_kernel(pipeline, name);
    if (result == CLI_CONTINUE && options->emit != EMIT_NOTHING) result = emit_kernel(options, pipeline, name, titled);
    ig_pipeline_release(pipeline);
    return result;
}

static int examine_kernels(const compile_options *options, ig_library *library) {
    const ig_kernel_info *kernel;
    if (options->source.kernel) {
        int result = cli_source_choose_kernel(&options->source, library, &kernel);
        return result == CLI_CONTINUE ? examine_kernel(options, library, kernel->name, false) : result;
    }
    size_t count = ig_library_kernel_count(library);
    int result = CLI_CONTINUE;
    for (size_t i = 0; i < count && result == CLI_CONTINUE; i++)
        result = examine_kernel(options, library, ig_library_kernel_name(library, i), count > 1);
    return result;
}

// Such a kernel is still part of its library, and only creating a pipeline fails; but those who compile to find out
// whether it can run want to know.
static int check_threadgroup_memory(const compile_options *options, const ig_device *device,
                                    const ig_library *library) {
    ig_device_properties properties;
    ig_device_get_properties(device, &properties);
    for (size_t i = 0; i < ig_library_kernel_count(library); i++) {
        if (!is_meant(options, library, i)) continue;
        const ig_kernel_info *kernel = ig_library_kernel(library, i);
        if (kernel->static_threadgroup_memory <= properties.max_threadgroup_memory) continue;
        ig_error error = {0};
        igi_error_set(&error, IG_STATUS_THREADGROUP_TOO_LARGE,
                      "kernel '%s' has %u bytes of threadgroup memory; the device has %u", kernel->name,
                      kernel->static_threadgroup_memory, properties.max_threadgroup_memory);
        return cli_report_and_clear(error.status, &error);
    }
    return CLI_CONTINUE;
}

static int list(const compile_options *options, const ig_library *library, uint64_t elapsed_ns) {
    const ig_kernel_info *kernel;
    bool chosen = options->source.kernel && !cli_source_has_other(&options->source, library);
    int result = chosen ? cli_source_choose_kernel(&options->source, library, &kernel) : CLI_CONTINUE;
    if (result != CLI_CONTINUE) return result;
    if (cli_json)
        put_library(options, library);
    else
        print_library(options, library, elapsed_ns);
    return CLI_CONTINUE;
}

static int compile(const compile_options *options) {
    ig_device *device = NULL;
    ig_library *library = NULL;
    uint64_t elapsed_ns;
    const char *path = options->source.path;
    if (options->emit == EMIT_AST && (igi_air_is_container_file(path) || igi_msl_is_bundle_file(path)))
        return cli_usage_error("%s is compiled: it has no syntax tree", path);
    if (options->emit == EMIT_AIR && !igi_air_is_container_file(path))
        return cli_usage_error("%s was not compiled by Apple's compiler: it has no AIR", path);
    int result = cli_open_device(NULL, &device);
    if (result == CLI_CONTINUE) result = cli_source_compile(&options->source, device, &library, &elapsed_ns);
    if (result == CLI_CONTINUE) {
        bool examined = options->remarks || options->emit != EMIT_NOTHING;
        result = examined ? examine_kernels(options, library) : list(options, library, elapsed_ns);
    }
    if (result == CLI_CONTINUE) result = check_threadgroup_memory(options, device, library);
    ig_library_release(library);
    ig_device_release(device);
    return result == CLI_CONTINUE ? CLI_OK : result;
}

int cmd_compile(int argc, char **argv) {
    compile_options compiling = {.emit = EMIT_NOTHING};
    cli_list operands = {0};
    const cli_option options[] = {
        CLI_SOURCE_OPTIONS(compiling.source),
        {'k', "kernel", CLI_TEXT, &compiling.source.kernel, "NAME",
         "the kernel to list, emit or remark on, or another function to list (default all)"},
        {0, "emit", CLI_CHOICE, &compiling.emit, "ast|air|llvm|simt|asm",
         "print the syntax tree, the AIR of a .metallib, the LLVM IR of a thread or a threadgroup, or the assembly"},
        {0, "remarks", CLI_FLAG, &compiling.remarks, NULL,
         "report by source line what was vectorised, what was not, and why"},
        CLI_OPTION_JSON,
    };
    const cli_syntax syntax = {
        .usage = "FILE.metal [OPTION...]",
        .purpose = "Compile a Metal source file, or translate a .metallib, and list its functions and their arguments.",
        .options = options,
        .option_count = sizeof options / sizeof *options,
        .examples =
            "ingot compile saxpy.metal\n"
            "ingot compile kernels.metal -D TILE=16 -I include --std metal3.0 --json\n"
            "ingot compile kernels.metal --kernel softmax --emit asm\n"
            "ingot compile kernels.metal --constant 0=bool:true --remarks",
        .min_operands = 1,
        .max_operands = 1,
        .operand = "FILE.metal",
    };
    int result = cli_parse(&syntax, argc, argv, &operands);
    if (result == CLI_CONTINUE) result = cli_source_read_options(&compiling.source);
    if (result == CLI_CONTINUE) {
        compiling.source.path = operands.items[0];
        compiling.source.line_tables = compiling.remarks;
        compiling.source.unset_constants_are_zero = compiling.emit == EMIT_AIR;  // it does not depend on them
        result = compile(&compiling);
    }
    cli_source_free(&compiling.source);
    cli_list_free(&operands);
    return result;
}
