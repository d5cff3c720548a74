// SPDX-License-Identifier: Apache-2.0
// Formatting of times, sizes and tables.
#include "format.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "console/output.h"
#include "core/memory.h"

static const char *scaled(double value, const char *unit, char text[CLI_FORMAT_TEXT]) {
    int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    snprintf(text, CLI_FORMAT_TEXT, "%.*f %s", decimals, value, unit);
    return text;
}

const char *cli_format_time(double nanoseconds, char text[CLI_FORMAT_TEXT]) {
    if (nanoseconds < 999.5) {
        snprintf(text, CLI_FORMAT_TEXT, "%.0f ns", nanoseconds);
        return text;
    }
    if (nanoseconds < 999.5e3) return scaled(nanoseconds / 1e3, "us", text);
    if (nanoseconds < 999.5e6) return scaled(nanoseconds / 1e6, "ms", text);
    return scaled(nanoseconds / 1e9, "s", text);
}

const char *cli_format_bytes(uint64_t bytes, char text[CLI_FORMAT_TEXT]) {
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes;
    size_t unit = 0;
    for (; value >= 1024 && unit + 1 < sizeof units / sizeof *units; unit++) value /= 1024;
    bool whole = value == (double)(uint64_t)value;
    snprintf(text, CLI_FORMAT_TEXT, "%.*f %s", whole ? 0 : 1, value, units[unit]);
    return text;
}

void cli_table_add(cli_table *table, const char *format, ...) {
    if (table->count == table->capacity) {
        table->capacity = table->capacity ? table->capacity * 2 : 32;
        table->cells = cli_realloc(table->cells, table->capacity * sizeof *table->cells);
    }
    va_list arguments;
    va_start(arguments, format);
    char *cell = igi_vformat(format, arguments);
    va_end(arguments);
    if (!cell) exit(cli_error(CLI_FAILED, "not enough memory"));
    const char *visible = cli_visible(cell);
    if (visible != cell) {
        free(cell);
        cell = igi_strdup(visible);
        if (!cell) exit(cli_error(CLI_FAILED, "not enough memory"));
    }
    table->cells[table->count++] = cell;
}

static int column_width(const cli_table *table, size_t column) {
    size_t width = 0;
    for (size_t i = column; i < table->count; i += table->columns) {
        size_t length = strlen(table->cells[i]);
        if (length > width) width = length;
    }
    return (int)width;
}

static void print_cell(const cli_table *table, size_t index, size_t column, int width) {
    bool last = column + 1 == table->columns;
    if (table->right_aligned & (1u << column)) {
        printf("%*s%s", width, table->cells[index], last ? "" : "  ");
    } else {
        printf("%-*s%s", last ? 0 : width, table->cells[index], last ? "" : "  ");
    }
}

// The first row is the heading.
static void print_row(const cli_table *table, size_t first, const int *widths, int indent) {
    printf("%*s%s", indent, "", first == 0 ? cli_escape(stdout, CLI_DIM) : "");
    for (size_t i = 0; i < table->columns && first + i < table->count; i++) print_cell(table, first + i, i, widths[i]);
    printf("%s\n", first == 0 ? cli_escape(stdout, CLI_PLAIN) : "");
}

void cli_table_print(cli_table *table, int indent) {
    int *widths = cli_alloc(table->columns * sizeof *widths);
    for (size_t i = 0; i < table->columns; i++) widths[i] = column_width(table, i);
    for (size_t i = 0; i < table->count; i += table->columns) print_row(table, i, widths, indent);
    for (size_t i = 0; i < table->count; i++) free(table->cells[i]);
    free(table->cells), free(widths);
    *table = (cli_table){0};
}
