// SPDX-License-Identifier: Apache-2.0
// metal-objdump: what is in files that `metal` and `metallib` wrote. Bitcode is shown by the device, which reads it in
// another process.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "console/device.h"
#include "console/output.h"
#include "files.h"
#include "tools.h"

static const char help[] =
    "usage: metal-objdump {-h|-t|-d|-s} FILE...\n"
    "\n"
    "  -h, --section-headers    units: their sources, language, math mode and sizes\n"
    "  -t, --syms               kernels and visible functions\n"
    "  -d, --disassemble        LLVM's IR of each kernel, with function constants that are zero\n"
    "  -s, --source             the sources, after a line with their name each\n";

typedef struct dump {
    cli_list files;
    bool headers, symbols, code, sources;
    int result;
} dump;

static const struct {
    const char *spelling;
    size_t member;
} flags[] = {
    {"-h", offsetof(dump, headers)}, {"--section-headers", offsetof(dump, headers)},
    {"-t", offsetof(dump, symbols)}, {"--syms", offsetof(dump, symbols)},
    {"-d", offsetof(dump, code)},    {"--disassemble", offsetof(dump, code)},
    {"-D", offsetof(dump, code)},    {"--disassemble-all", offsetof(dump, code)},
    {"-s", offsetof(dump, sources)}, {"--source", offsetof(dump, sources)},
    {"-S", offsetof(dump, sources)},
};

static void read_option(dump *d, const char *option) {
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        if (strcmp(option, flags[i].spelling) != 0) continue;
        *(bool *)((char *)d + flags[i].member) = true;
        return;
    }
    bool version = strcmp(option, "--version") == 0, helps = strcmp(option, "--help") == 0;
    if (version) tool_print_version("metal-objdump");
    if (helps) fputs(help, stdout);
    d->result = version || helps ? 0 : tool_error("unknown argument '%s'", option);
}

// ---- Units ----

static void print_header(const igi_msl_unit *unit) {
    size_t source = 0;
    for (size_t i = 0; i < unit->file_count; i++) source += unit->files[i].length;
    printf("  %s: metal%u.%u, %s math, %zu file%s of %zu bytes, %zu bytes compiled by %.16s\n", cli_visible(unit->name),
           unit->language_version / 100, unit->language_version / 10 % 10,
           unit->math_mode == IG_MATH_FAST ? "fast" : "safe", unit->file_count, unit->file_count == 1 ? "" : "s",
           source, unit->packed_length, cli_visible(unit->compiler));
    for (size_t i = 0; i < unit->define_count; i++)
        printf("    -D%s=%s\n", cli_visible(unit->defines[i].name), cli_visible(unit->defines[i].value));
}

static void print_symbols(const igi_msl_unit *unit) {
    for (size_t i = 0; i < unit->symbol_count; i++)
        printf("  %-8s %s\n", ig_function_kind_name(unit->symbols[i].kind), cli_visible(unit->symbols[i].name));
}

static void print_sources(const igi_msl_unit *unit) {
    for (size_t i = 0; i < unit->file_count; i++) {
        const igi_msl_stored_source *file = &unit->files[i];
        printf("// ---- %s\n", cli_visible(file->display));
        if (!file->data) cli_write_data(stdout, file->text, file->length);
    }
}

// ---- Code ----

static bool print_kernel(ig_library *library, const char *name) {
    ig_pipeline *pipeline = NULL;
    ig_error error = {0};
    char *text = NULL;
    ig_status status = ig_pipeline_create(
        library, &(ig_pipeline_desc){.kernel = name, .unset_constants_are_zero = true}, &pipeline, &error);
    if (status == IG_STATUS_OK) status = ig_pipeline_emit(pipeline, "llvm", &text);
    if (status == IG_STATUS_OK) {
        printf("; kernel %s\n", cli_visible(name));
        cli_write_visible(stdout, text, strlen(text));
    } else {
        tool_report(status, &error);
    }
    free(text);
    ig_pipeline_release(pipeline);
    return status == IG_STATUS_OK;
}

static bool print_unit_code(ig_device *device, const igi_msl_unit *unit) {
    igi_text bytes = {0};
    ig_library *library = NULL;
    ig_error error = {0};
    igi_msl_bundle_write(unit, 1, &bytes);
    if (bytes.failed) return tool_error("out of memory"), false;
    const ig_library_desc desc = {.data = bytes.data, .data_length = bytes.length, .name = unit->name};
    ig_status status = ig_library_create(device, &desc, &library, &error);
    bool ok = status == IG_STATUS_OK;
    if (!ok) tool_report(status, &error);
    for (size_t i = 0; ok && i < ig_library_kernel_count(library); i++)
        ok = print_kernel(library, ig_library_kernel_name(library, i));
    ig_library_release(library);
    igi_text_free(&bytes);
    return ok;
}

static bool print_code(const tool_units *units) {
    ig_device *device = NULL;
    bool ok = cli_open_device(&(ig_device_desc){0}, &device) == CLI_CONTINUE;
    for (size_t i = 0; ok && i < units->count; i++) ok = print_unit_code(device, &units->items[i].unit);
    ig_device_release(device);
    return ok;
}

static bool dump_file(const dump *d, const char *path) {
    tool_units units = {0};
    bool ok = tool_read_units(&units, path);
    for (size_t i = 0; ok && i < units.count; i++) {
        const igi_msl_unit *unit = &units.items[i].unit;
        if (i == 0 || units.items[i].file != units.items[i - 1].file)
            printf("%s:\tfile format ingot\n", cli_visible(units.items[i].file));
        if (d->headers) print_header(unit);
        if (d->symbols) print_symbols(unit);
        if (d->sources) print_sources(unit);
    }
    if (ok && d->code) ok = print_code(&units);
    tool_units_free(&units);
    return ok;
}

int tool_metal_objdump(int argc, char **argv) {
    cli_list arguments = {0};
    dump d = {.result = CLI_CONTINUE};
    if (!tool_expand_arguments(argc, argv, &arguments)) return 1;
    for (size_t i = 0; i < arguments.count && d.result == CLI_CONTINUE; i++) {
        if (arguments.items[i][0] == '-' && arguments.items[i][1])
            read_option(&d, arguments.items[i]);
        else
            cli_list_add(&d.files, arguments.items[i]);
    }
    bool ok = true;
    if (d.result == CLI_CONTINUE && !(d.headers || d.symbols || d.code || d.sources))
        d.result = tool_error("say what to show: -h, -t, -d or -s");
    if (d.result == CLI_CONTINUE && !d.files.count) d.result = tool_error("no input files");
    for (size_t i = 0; d.result == CLI_CONTINUE && i < d.files.count; i++) ok = dump_file(&d, d.files.items[i]) && ok;
    cli_list_free(&arguments), cli_list_free(&d.files);
    return d.result != CLI_CONTINUE ? d.result : !ok;
}
