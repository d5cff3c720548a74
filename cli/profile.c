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
