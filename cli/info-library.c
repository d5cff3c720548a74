// SPDX-License-Identifier: Apache-2.0
// What is in a .metallib, or in those that a Mach-O file carries: its functions, their versions and sizes, and the arguments of those that are asked for.
#include "info-library.h"

#include <fnmatch.h>
#include <stdio.h>

#include "air/container.h"
#include "console/device.h"
#include "console/options.h"
#include "console/output.h"
#include "format.h"
#include "kernel-info.h"
#include "msl/bundle.h"

static size_t count_constants(const igi_air_function *function) {
    igi_air_constants constants = igi_air_constants_of(function);
    ig_function_constant_info constant;
    size_t count = 0;
    while (igi_air_next_constant(&constants, &constant)) count++;
    return count;
}

static bool is_wanted(const igi_air_function *function, const char *pattern) {
    return !pattern || fnmatch(pattern, function->name, 0) == 0;
}

// In the sections of a program or library.
static bool is_embedded(const igi_air_container *container) {
    return container->parts[0].name[0] != 0;
}

// ---- Text ----

static void add_function(cli_table *table, const igi_air_container *c, const igi_air_function *f) {
    char bytes[CLI_FORMAT_TEXT];
    cli_table_add(table, "%s", f->name);
    cli_table_add(table, "%s", igi_air_kind_name(f->kind));
    cli_table_add(table, "%u.%u", f->air.major, f->air.minor);
    cli_table_add(table, "%u.%u", f->language.major, f->language.minor);
    cli_table_add(table, "%s", cli_format_bytes(f->bitcode_length, bytes));
    cli_table_add(table, "%zu", count_constants(f));
    if (is_embedded(c)) cli_table_add(table, "%s", cli_visible(c->parts[f->part].name));
}

static void print_part(const char *path, const igi_air_container *c, size_t index) {
    char bytes[CLI_FORMAT_TEXT];
    const igi_air_part *part = &c->parts[index];
    printf("%s", cli_visible(path));
    if (is_embedded(c)) printf(", section %s", cli_visible(part->name));
    printf(": %zu function%s for %s %u.%u, %s\n", part->count, part->count == 1 ? "" : "s",
           igi_air_system_name(part->system_kind), part->system.major, part->system.minor,
           cli_format_bytes(part->length, bytes));
}

static void print_functions(const char *path, const igi_air_container *c, const char *pattern) {
    static const char *const headings[] = {"function", "kind", "AIR", "Metal", "size", "constants", "section"};
    for (size_t i = 0; i < c->part_count; i++) print_part(path, c, i);
    printf("\n");
    cli_table table = {.columns = sizeof headings / sizeof *headings - !is_embedded(c),
                       .right_aligned = 1u << 4 | 1u << 5};
    for (size_t i = 0; i < table.columns; i++) cli_table_add(&table, "%s", headings[i]);
    for (size_t i = 0; i < c->count; i++)
        if (is_wanted(&c->functions[i], pattern)) add_function(&table, c, &c->functions[i]);
    cli_table_print(&table, 0);
}

// ---- JSON ----

static void put_version(igi_json *row, const char *key, igi_air_version version) {
    char text[CLI_FORMAT_TEXT];
    snprintf(text, sizeof text, "%u.%u", version.major, version.minor);
    igi_json_put_string(row, key, text);
}

static void put_functions(const igi_air_container *c, const char *pattern) {
    for (size_t i = 0; i < c->count; i++) {
        const igi_air_function *f = &c->functions[i];
        if (!is_wanted(f, pattern)) continue;
        igi_json *row = cli_begin_row();
        igi_json_put_string(row, "function", f->name);
        igi_json_put_string(row, "kind", igi_air_kind_name(f->kind));
        put_version(row, "air_version", f->air);
        put_version(row, "language_version", f->language);
        igi_json_put_u64(row, "bytes", f->bitcode_length);
        igi_json_put_u64(row, "constants", count_constants(f));
        if (is_embedded(c)) igi_json_put_string(row, "section", cli_visible(c->parts[f->part].name));
        cli_end_row();
    }
}

// ---- Arguments ----

// A kernel that cannot be translated has none; creating its pipeline would say why.
int info_arguments(const char *path, const char *pattern) {
    ig_device *device = NULL;
    ig_library *library = NULL;
    ig_error error = {0};
    int result = cli_open_device(&(ig_device_desc){0}, &device);
    if (result != CLI_CONTINUE) return result;
    ig_status status = ig_library_create(device, &(ig_library_desc){.path = path}, &library, &error);
    for (size_t i = 0; status == IG_STATUS_OK && i < ig_library_kernel_count(library); i++)
        if (fnmatch(pattern, ig_library_kernel_name(library, i), 0) == 0)
            (cli_json ? cli_put_kernel : cli_print_kernel)(ig_library_kernel(library, i));
    for (size_t i = 0; status == IG_STATUS_OK && i < ig_library_other_count(library); i++)
        if (fnmatch(pattern, ig_library_other_name(library, i), 0) == 0)
            (cli_json ? cli_put_kernel : cli_print_kernel)(ig_library_other(library, i));
    ig_library_release(library);
    ig_device_release(device);
    return status == IG_STATUS_OK ? CLI_OK : cli_report_and_clear(status, &error);
}

int info_library(const char *path, const char *pattern) {
    igi_air_container container;
    ig_error error = {0};
    if (igi_msl_is_bundle_file(path)) return info_bundle(path, pattern);
    ig_status status = igi_air_open_file(path, &container, &error);
    if (status != IG_STATUS_OK) return cli_report_and_clear(status, &error);
    size_t found = 0;
    for (size_t i = 0; i < container.count; i++) found += is_wanted(&container.functions[i], pattern);
    int result = CLI_OK;
    if (pattern && !found)
        result = cli_error(CLI_BAD_INPUT, "%s has no function that matches '%s'", path, pattern);
    else if (cli_json)
        put_functions(&container, pattern);
    else
        print_functions(path, &container, pattern);
    if (found && pattern) result = info_arguments(path, pattern);
    igi_air_close(&container);
    return result;
}
