// SPDX-License-Identifier: Apache-2.0
// Compiler messages, parsed from the log that every device returns: in clang's format, with proposed changes as in
// src/msl/diagnostics.h.
#ifndef INGOT_CONSOLE_DIAGNOSTICS_H
#define INGOT_CONSOLE_DIAGNOSTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

// A heading, "FILE:LINE:COLUMN: SEVERITY: MESSAGE", pointing into the log.
typedef struct cli_heading {
    const char *file, *severity, *message;
    size_t file_length, severity_length, message_length;
    uint32_t line, column;  // 0: none
} cli_heading;
bool cli_read_heading(const char *line, size_t length, cli_heading *heading);

// As clang prints them, coloured.
void cli_print_diagnostics(FILE *stream, const char *log);
// One JSON row for each message.
void cli_put_diagnostics(const char *log);

#endif
