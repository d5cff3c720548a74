// SPDX-License-Identifier: Apache-2.0
// What the user sees: colours, errors, JSON rows, exit codes.
#ifndef INGOT_CONSOLE_OUTPUT_H
#define INGOT_CONSOLE_OUTPUT_H

#include <ingot/ingot.h>
#include <stdio.h>

#include "core/json.h"

enum { CLI_OK = 0, CLI_BAD_INPUT = 1, CLI_BAD_USAGE = 2, CLI_FAILED = 3 };

typedef enum cli_color { CLI_COLOR_AUTO, CLI_COLOR_ALWAYS, CLI_COLOR_NEVER } cli_color;
typedef enum cli_style { CLI_PLAIN, CLI_BOLD, CLI_DIM, CLI_RED, CLI_GREEN, CLI_YELLOW, CLI_CYAN } cli_style;

extern int cli_color_mode;  // a cli_color; an int so that an option can set it
extern bool cli_json;       // data is printed as JSON rows

// Sets the command's name, which precedes every message: "ingot run: ...".
void cli_begin_command(const char *name);
const char *cli_command_name(void);

// The escape sequence, or "" if the stream shows no colours (--color, NO_COLOR, not a terminal).
const char *cli_escape(FILE *stream, cli_style style);

// Text from outside (names of files and kernels, sources, models) made safe to display: control characters as \x1b.
// Line breaks are kept.
void cli_write_visible(FILE *stream, const char *text, size_t length);
// The same for a "%s": the text itself, or a copy that is kept until the process ends. One line only.
const char *cli_visible(const char *text);
// Data that the user asked for: unchanged into a file or a pipe, made safe to display on a terminal.
void cli_write_data(FILE *stream, const char *text, size_t length);

// The exit code for an ig_status.
int cli_exit_code(ig_status status);

// Each prints to stderr and returns the corresponding exit code.
__attribute__((format(printf, 1, 2))) int cli_usage_error(const char *format, ...);
__attribute__((format(printf, 2, 3))) int cli_error(int exit_code, const char *format, ...);
// Prints the error's diagnostics if it has any, else its message, else the status' own text; with --json also as a row.
int cli_report(ig_status status, const ig_error *error);
// Frees the error as well.
int cli_report_and_clear(ig_status status, ig_error *error);

__attribute__((format(printf, 1, 2))) void cli_note(const char *format, ...);
// Forwards the library's warnings and errors to stderr.
void cli_show_library_log(void);
// What a kernel logs, on stderr: an ig_kernel_log_callback.
void cli_show_kernel_log(const ig_kernel_log_entry *entry, void *user);

// A row of output: begin, put, end. The writer goes to stdout.
igi_json *cli_begin_row(void);
void cli_end_row(void);

// Whether a file with that name can be written: its extension must be in the list, "|.npy|.png|". Devices such as
// /dev/stdout have none. Prints an error and returns the exit code, else CLI_OK.
int cli_check_ending(const char *option, const char *path, const char *endings);

// Flushes stdout; the exit code becomes CLI_FAILED if that fails.
int cli_finish(int exit_code);

// Memory for the command line itself: ends the process with CLI_FAILED if there is none.
void *cli_alloc(size_t bytes);
void *cli_realloc(void *memory, size_t bytes);

#endif
