// SPDX-License-Identifier: Apache-2.0
// Times, sizes and tables for people.
#ifndef INGOT_CLI_FORMAT_H
#define INGOT_CLI_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CLI_FORMAT_TEXT = 32 };
// "850 ns", "12.3 us", "4.56 ms", "1.20 s"
const char *cli_format_time(double nanoseconds, char text[CLI_FORMAT_TEXT]);
// "512 bytes", "32 KiB", "7.8 GiB"
const char *cli_format_bytes(uint64_t bytes, char text[CLI_FORMAT_TEXT]);

// Columns as wide as their widest cell. The first row is the heading.
typedef struct cli_table {
    size_t columns;
    uint32_t right_aligned;  // bit c: column c
    char **cells;
    size_t count, capacity;
} cli_table;

// Cells in reading order; the text is copied.
__attribute__((format(printf, 2, 3))) void cli_table_add(cli_table *table, const char *format, ...);
// To stdout. Frees the table.
void cli_table_print(cli_table *table, int indent);

#endif
