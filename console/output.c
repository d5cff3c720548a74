// SPDX-License-Identifier: Apache-2.0
// Colours, errors, JSON rows and exit codes.
#include "console/output.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "console/diagnostics.h"
#include "core/memory.h"
#include "core/visible.h"

int cli_color_mode = CLI_COLOR_AUTO;
bool cli_json;

static const char *command_name = "";

void cli_begin_command(const char *name) {
    command_name = name;
}

const char *cli_command_name(void) {
    return command_name;
}

static bool shows_color(FILE *stream) {
    if (cli_color_mode != CLI_COLOR_AUTO) return cli_color_mode == CLI_COLOR_ALWAYS;
    const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");
    if ((no_color && *no_color) || (terminal && strcmp(terminal, "dumb") == 0)) return false;
    return isatty(fileno(stream));
}

const char *cli_escape(FILE *stream, cli_style style) {
    static const char *const escapes[] = {
        [CLI_PLAIN] = "\033[0m",  [CLI_BOLD] = "\033[1m",    [CLI_DIM] = "\033[2m",   [CLI_RED] = "\033[1;31m",
        [CLI_GREEN] = "\033[32m", [CLI_YELLOW] = "\033[33m", [CLI_CYAN] = "\033[36m",
    };
    return shows_color(stream) ? escapes[style] : "";
}

void cli_write_visible(FILE *stream, const char *text, size_t length) {
    for (const char *end = text + length; text < end;) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        size_t part = (size_t)((newline ? newline : end) - text);
        igi_text visible = {0};
        igi_text_add_visible(&visible, text, part);
        if (visible.length) fwrite(visible.data, 1, visible.length, stream);
        if (newline) fputc('\n', stream);
        igi_text_free(&visible);
        text += part + (newline != NULL);
    }
}

// There are few, small copies: they stay reachable from here until the process ends.
static struct copy {
    struct copy *next;
    char text[];
} *copies;

const char *cli_visible(const char *text) {
    size_t length = strlen(text);
    if (igi_is_visible(text, length)) return text;
    igi_text visible = {0};
    igi_text_add_visible(&visible, text, length);
    struct copy *copy = cli_alloc(sizeof *copy + visible.length + 1);
    memcpy(copy->text, visible.data ? visible.data : "", visible.length + 1);
    igi_text_free(&visible);
    copy->next = copies;
    copies = copy;
    return copy->text;
}

void cli_write_data(FILE *stream, const char *text, size_t length) {
    if (isatty(fileno(stream)))
        cli_write_visible(stream, text, length);
    else
        fwrite(text, 1, length, stream);
}

int cli_exit_code(ig_status status) {
    switch (status) {
        case IG_STATUS_OK: return CLI_OK;
        case IG_STATUS_INVALID_ARGUMENT:
        case IG_STATUS_OVERFLOW:
        case IG_STATUS_OUT_OF_RANGE:
        case IG_STATUS_NOT_FOUND:
        case IG_STATUS_UNSUPPORTED:
        case IG_STATUS_COMPILE_FAILED:
        case IG_STATUS_WRONG_CONSTANT:
        case IG_STATUS_UNBOUND_ARGUMENT:
        case IG_STATUS_BUFFER_TOO_SMALL:
        case IG_STATUS_THREADGROUP_TOO_LARGE:
        case IG_STATUS_KERNEL_FAULT:
        case IG_STATUS_CHECK_FAILED:
        case IG_STATUS_BAD_FORMAT: return CLI_BAD_INPUT;
        default: return CLI_FAILED;
    }
}

static void print_prefix(void) {
    fflush(stdout);
    fprintf(stderr, "%singot%s%s:%s ", cli_escape(stderr, CLI_RED), *command_name ? " " : "", command_name,
            cli_escape(stderr, CLI_PLAIN));
}

static void print_visible(const char *format, va_list arguments) {
    char *message = igi_vformat(format, arguments);
    if (message) cli_write_visible(stderr, message, strlen(message));
    free(message);
}

static void print_error(const char *format, va_list arguments) {
    print_prefix();
    print_visible(format, arguments);
    fputc('\n', stderr);
}

int cli_usage_error(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    print_error(format, arguments);
    va_end(arguments);
    fprintf(stderr, "Try 'ingot%s%s --help'.\n", *command_name ? " " : "", command_name);
    return CLI_BAD_USAGE;
}

int cli_error(int exit_code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    print_error(format, arguments);
    va_end(arguments);
    return exit_code;
}

void cli_note(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fflush(stdout);  // keeps the order of writing, even if both go into one pipe
    fputs(cli_escape(stderr, CLI_DIM), stderr);
    print_visible(format, arguments);
    fprintf(stderr, "%s\n", cli_escape(stderr, CLI_PLAIN));
    va_end(arguments);
}

static void put_error_row(ig_status status, const ig_error *error, const char *message) {
    igi_json *row = cli_begin_row();
    igi_json_put_string(row, "error", message);
    igi_json_put_string(row, "status", ig_status_name(status));
    if (error && error->file) igi_json_put_string(row, "file", error->file);
    if (error && error->line) igi_json_put_u64(row, "line", error->line);
    if (error && error->column) igi_json_put_u64(row, "column", error->column);
    if (error && error->log) igi_json_put_string(row, "log", error->log);
    cli_end_row();
}

int cli_report(ig_status status, const ig_error *error) {
    const char *message = error && error->message ? error->message : ig_status_text(status);
    if (cli_json && error && error->log) cli_put_diagnostics(error->log);
    if (cli_json) put_error_row(status, error, message);
    if (error && error->log && *error->log) {
        fflush(stdout);
        cli_print_diagnostics(stderr, error->log);
        return cli_exit_code(status);
    }
    bool placed = error && error->file && !strstr(message, error->file);
    if (placed && error->line)
        return cli_error(cli_exit_code(status), "%s:%u:%u: %s", error->file, error->line, error->column, message);
    if (placed) return cli_error(cli_exit_code(status), "%s: %s", error->file, message);
    return cli_error(cli_exit_code(status), "%s", message);
}

int cli_report_and_clear(ig_status status, ig_error *error) {
    int exit_code = cli_report(status, error);
    ig_error_clear(error);
    return exit_code;
}

static void show_log_message(ig_log_level level, const char *message, void *user) {
    (void)user;
    if (level < IG_LOG_WARNING) return;
    fprintf(stderr, "%singot: %s:%s ", cli_escape(stderr, level == IG_LOG_ERROR ? CLI_RED : CLI_YELLOW),
            level == IG_LOG_ERROR ? "error" : "warning", cli_escape(stderr, CLI_PLAIN));
    cli_write_visible(stderr, message, strlen(message));
    fputc('\n', stderr);
}

void cli_show_library_log(void) {
    ig_set_log(show_log_message, NULL);
}

void cli_show_kernel_log(const ig_kernel_log_entry *entry, void *user) {
    static const char *const levels[] = {"debug", "info", "notice", "error", "fault"};
    bool bad = entry->level >= IG_KERNEL_LOG_ERROR, named = *entry->subsystem || *entry->category;
    (void)user;
    fflush(stdout);
    fprintf(stderr, "%s%s", cli_escape(stderr, bad ? CLI_RED : CLI_DIM), levels[entry->level]);
    fprintf(stderr, "%s ", cli_escape(stderr, CLI_PLAIN));
    if (named) fprintf(stderr, "[%s:%s] ", cli_visible(entry->subsystem), cli_visible(entry->category));
    cli_write_visible(stderr, entry->text, strlen(entry->text));
    fprintf(stderr, "\n");
}

int cli_check_ending(const char *option, const char *path, const char *endings) {
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    if (strncmp(path, "/dev/", 5) == 0) return CLI_OK;
    size_t length = dot ? strlen(dot) : 0;
    for (const char *at = endings; length && (at = strstr(at, dot)); at++)
        if (at[-1] == '|' && at[length] == '|') return CLI_OK;
    igi_text known = {0};
    for (const char *at = endings + 1; *at; at += strcspn(at, "|") + 1)
        igi_text_addf(&known, "%s%.*s", known.length ? " or " : "", (int)strcspn(at, "|"), at);
    char *list = igi_text_take(&known);
    int result = cli_usage_error("--%s writes %s files: '%s' has another extension", option, list ? list : "", path);
    free(list);
    return result;
}

static igi_json row_writer;

igi_json *cli_begin_row(void) {
    igi_json_to_file(&row_writer, stdout);
    igi_json_begin_object(&row_writer);
    return &row_writer;
}

void cli_end_row(void) {
    igi_json_end_object(&row_writer);
    igi_json_end_row(&row_writer);
}

int cli_finish(int exit_code) {
    bool failed = ferror(stdout) != 0;
    if (fflush(stdout) != 0) failed = true;
    if (!failed) return exit_code;
    return cli_error(CLI_FAILED, "cannot write to standard output: %s", strerror(errno));
}

void *cli_realloc(void *memory, size_t bytes) {
    void *grown = igi_realloc(memory, bytes);
    if (!grown) exit(cli_error(CLI_FAILED, "not enough memory"));
    return grown;
}

void *cli_alloc(size_t bytes) {
    return cli_realloc(NULL, bytes);
}
