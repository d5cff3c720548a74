// SPDX-License-Identifier: Apache-2.0
// What is in a library that Ingot's own tools wrote: its functions, and the sources and options that they were made from.
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>

#include "console/options.h"
#include "console/output.h"
#include "core/file.h"
#include "format.h"
#include "info-library.h"
#include "msl/bundle.h"

static const char *const modes[] = {[IG_MATH_FAST] = "fast", [IG_MATH_SAFE] = "safe"};

static bool is_wanted(const igi_msl_symbol *symbol, const char *pattern) {
    return !pattern || fnmatch(pattern, symbol->name, 0) == 0;
}

static size_t count_wanted(const igi_msl_bundle *bundle, const char *pattern) {
    size_t count = 0;
    for (size_t i = 0; i < bundle->count; i++)
        for (size_t k = 0; k < bundle->units[i].symbol_count; k++)
            count += is_wanted(&bundle->units[i].symbols[k], pattern);
    return count;
}

static const char *version_text(uint32_t version, char text[CLI_FORMAT_TEXT]) {
    snprintf(text, CLI_FORMAT_TEXT, "%u.%u", version / 100, version / 10 % 10);
    return text;
}

static void add_unit(cli_table *table, const igi_msl_unit *unit, const char *pattern) {
    char version[CLI_FORMAT_TEXT];
    for (size_t i = 0; i < unit->symbol_count; i++) {
        const igi_msl_symbol *symbol = &unit->symbols[i];
        if (!is_wanted(symbol, pattern)) continue;
        cli_table_add(table, "%s", symbol->name);
        cli_table_add(table, "%s", ig_function_kind_name(symbol->kind));
        cli_table_add(table, "%s", version_text(unit->language_version, version));
        cli_table_add(table, "%s", modes[unit->math_mode]);
        cli_table_add(table, "%s", unit->name);
    }
}

static void print_bundle(const char *path, const igi_msl_bundle *bundle, size_t length, const char *pattern) {
    static const char *const headings[] = {"function", "kind", "Metal", "math", "source"};
    char bytes[CLI_FORMAT_TEXT];
    size_t count = count_wanted(bundle, NULL);
    printf("%s: %zu function%s in %zu unit%s, made by Ingot, %s\n\n", cli_visible(path), count, count == 1 ? "" : "s",
           bundle->count, bundle->count == 1 ? "" : "s", cli_format_bytes(length, bytes));
    cli_table table = {.columns = sizeof headings / sizeof *headings};
    for (size_t i = 0; i < table.columns; i++) cli_table_add(&table, "%s", headings[i]);
    for (size_t i = 0; i < bundle->count; i++) add_unit(&table, &bundle->units[i], pattern);
    cli_table_print(&table, 0);
}

static void put_unit(const igi_msl_unit *unit, const char *pattern) {
    char version[CLI_FORMAT_TEXT];
    for (size_t i = 0; i < unit->symbol_count; i++) {
        const igi_msl_symbol *symbol = &unit->symbols[i];
        if (!is_wanted(symbol, pattern)) continue;
        igi_json *row = cli_begin_row();
        igi_json_put_string(row, "function", symbol->name);
        igi_json_put_string(row, "kind", ig_function_kind_name(symbol->kind));
        igi_json_put_string(row, "language_version", version_text(unit->language_version, version));
        igi_json_put_string(row, "math", modes[unit->math_mode]);
        igi_json_put_string(row, "source", unit->name);
        cli_end_row();
    }
}

static int show(const char *path, const igi_msl_bundle *bundle, size_t length, const char *pattern) {
    if (pattern && !count_wanted(bundle, pattern))
        return cli_error(CLI_BAD_INPUT, "%s has no function that matches '%s'", path, pattern);
    if (!cli_json) print_bundle(path, bundle, length, pattern);
    for (size_t i = 0; cli_json && i < bundle->count; i++) put_unit(&bundle->units[i], pattern);
    return pattern ? info_arguments(path, pattern) : CLI_OK;
}

int info_bundle(const char *path, const char *pattern) {
    igi_msl_bundle bundle;
    ig_error error = {0};
    char *bytes = NULL;
    size_t length = 0;
    ig_status status = igi_file_read(path, &bytes, &length, &error);
    if (status == IG_STATUS_OK) status = igi_msl_bundle_read(bytes, length, path, &bundle, &error);
    int result = status == IG_STATUS_OK ? show(path, &bundle, length, pattern) : cli_report_and_clear(status, &error);
    if (status == IG_STATUS_OK) igi_msl_bundle_free(&bundle);
    free(bytes);
    return result;
}
