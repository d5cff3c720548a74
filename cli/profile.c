// SPDX-License-Identifier: Apache-2.0
// The table of kernels.
#include "profile.h"

#include <inttypes.h>

#include "console/output.h"
#include "format.h"

static double share_of(const ig_kernel_profile *row, uint64_t total) {
    return total ? (double)row->time_ns / (double)total : 0;
}

// A byte in a nanosecond is a gigabyte in a second.
static double gigabytes_per_second(const ig_kernel_profile *row) {
    return row->time_ns ? (double)row->bytes / (double)row->time_ns : 0;
}

static void put_row(const ig_kernel_profile *kernel, uint64_t total) {
    igi_json *row = cli_begin_row();
    igi_json_put_string(row, "kernel", kernel->kernel);
    igi_json_put_u64(row, "calls", kernel->calls);
    igi_json_put_u64(row, "time_ns", kernel->time_ns);
    igi_json_put_u64(row, "best_ns", kernel->best_ns);
    igi_json_put_double(row, "share", share_of(kernel, total));
    igi_json_put_u64(row, "threads", kernel->threads);
    igi_json_put_u64(row, "bytes", kernel->bytes);
    igi_json_put_double(row, "gigabytes_per_second", gigabytes_per_second(kernel));
    igi_json_put_u64(row, "width", kernel->width);
    igi_json_put_u64(row, "compile_ns", kernel->compile_ns);
    cli_end_row();
}

static void add_row(cli_table *table, const ig_kernel_profile *row, uint64_t total) {
    char time[CLI_FORMAT_TEXT], best[CLI_FORMAT_TEXT], bytes[CLI_FORMAT_TEXT], compile[CLI_FORMAT_TEXT];
    cli_table_add(table, "%s", row->kernel);
    cli_table_add(table, "%" PRIu64, row->calls);
    cli_table_add(table, "%s", cli_format_time((double)row->time_ns, time));
    cli_table_add(table, "%.1f %%", 100 * share_of(row, total));
    cli_table_add(table, "%s", cli_format_time((double)row->best_ns, best));
    cli_table_add(table, "%" PRIu64, row->threads);
    cli_table_add(table, "%s", row->bytes ? cli_format_bytes(row->bytes, bytes) : "-");
    if (row->bytes)
        cli_table_add(table, "%.2f", gigabytes_per_second(row));
    else
        cli_table_add(table, "-");
    cli_table_add(table, "%" PRIu32, row->width);
    cli_table_add(table, "%s", cli_format_time((double)row->compile_ns, compile));
}

static void print_table(const ig_kernel_profile *rows, size_t count, uint64_t total) {
    static const char *const headings[] = {"kernel",  "calls", "time", "share", "best",
                                           "threads", "bound", "GB/s", "width", "compile"};
    cli_table table = {.columns = sizeof headings / sizeof *headings, .right_aligned = 0x3fe};
    for (size_t i = 0; i < table.columns; i++) cli_table_add(&table, "%s", headings[i]);
    for (size_t i = 0; i < count; i++) add_row(&table, &rows[i], total);
    cli_table_print(&table, 0);
}

void cli_profile_show(const ig_kernel_profile *rows, size_t count) {
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++) total += rows[i].time_ns;
    if (!cli_json) print_table(rows, count, total);
    for (size_t i = 0; cli_json && i < count; i++) put_row(&rows[i], total);
}

// ---- Lines ----

enum { MOST_LINES = 20 };

static const char *without_indent(const char *source) {
    while (*source == ' ' || *source == '\t') source++;
    return source;
}

static void put_line(const ig_line_profile *line, uint64_t total) {
    igi_json *row = cli_begin_row();
    igi_json_put_string(row, "kernel", line->kernel);
    igi_json_put_string(row, "file", line->file);
    igi_json_put_u64(row, "line", line->line);
    igi_json_put_string(row, "source", line->source);
    igi_json_put_u64(row, "samples", line->samples);
    igi_json_put_double(row, "share", (double)line->samples / (double)total);
    cli_end_row();
}

static void add_line(cli_table *table, const ig_line_profile *line, uint64_t total) {
    cli_table_add(table, "%" PRIu64, line->samples);
    cli_table_add(table, "%.1f %%", 100 * (double)line->samples / (double)total);
    if (line->line)
        cli_table_add(table, "%s:%" PRIu32, cli_visible(line->file), line->line);
    else
        cli_table_add(table, "-");
    cli_table_add(table, "%s", line->line ? cli_visible(without_indent(line->source)) : "functions of the runtime");
}

static void print_lines(const ig_line_profile *rows, size_t count, uint64_t total) {
    cli_table table = {.columns = 4, .right_aligned = 3};
    static const char *const headings[] = {"samples", "share", "line", "source"};
    for (size_t i = 0; i < table.columns; i++) cli_table_add(&table, "%s", headings[i]);
    for (size_t i = 0; i < count && i < MOST_LINES; i++) add_line(&table, &rows[i], total);
    cli_table_print(&table, 0);
    if (count > MOST_LINES) printf("and %zu more lines\n", count - MOST_LINES);
}

void cli_profile_show_lines(const ig_line_profile *rows, size_t count) {
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++) total += rows[i].samples;
    if (!total && !cli_json) printf("no samples: it took less than a millisecond or two; use --repeat\n");
    if (total && !cli_json) print_lines(rows, count, total);
    for (size_t i = 0; cli_json && i < count; i++) put_line(&rows[i], total);
}
