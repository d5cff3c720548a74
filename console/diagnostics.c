// SPDX-License-Identifier: Apache-2.0
// Compiler messages: coloured for people, as JSON rows for programs.
#include "console/diagnostics.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "console/output.h"
#include "core/visible.h"

// ---- Reading ----

static const struct {
    const char *word;
    cli_style style;
} severities[] = {
    {"fatal error", CLI_RED}, {"error", CLI_RED}, {"warning", CLI_YELLOW}, {"remark", CLI_CYAN}, {"note", CLI_CYAN},
};
enum { SEVERITY_COUNT = sizeof severities / sizeof *severities };

// Cuts ":NUMBER" off the end. 0 if there is none.
static uint32_t cut_number(const char *text, size_t *length) {
    size_t at = *length;
    while (at > 0 && isdigit((unsigned char)text[at - 1])) at--;
    if (at == *length || at == 0 || text[at - 1] != ':') return 0;
    uint32_t number = (uint32_t)strtoul(text + at, NULL, 10);
    *length = at - 1;
    return number;
}

static void read_place(const char *text, size_t length, cli_heading *heading) {
    heading->file = text;
    heading->column = cut_number(text, &length);
    heading->line = heading->column ? cut_number(text, &length) : 0;
    heading->file_length = length;
}

bool cli_read_heading(const char *line, size_t length, cli_heading *heading) {
    for (size_t i = 0; i < SEVERITY_COUNT; i++) {
        char mark[24];
        size_t size = (size_t)snprintf(mark, sizeof mark, ": %s: ", severities[i].word);
        const char *found = memmem(line, length, mark, size);
        if (!found) continue;
        *heading = (cli_heading){.severity = found + 2, .severity_length = strlen(severities[i].word)};
        heading->message = found + size;
        heading->message_length = (size_t)(line + length - heading->message);
        read_place(line, (size_t)(found - line), heading);
        return true;
    }
    return false;
}

// Below a heading, each line begins with six columns, a sign and a blank: "   12
// text", "      + text".
enum { MARGIN = 6 };
static char margin_sign(const char *line, size_t length) {
    size_t digits = strspn(line, " 0123456789");
    bool formed = length > digits && digits >= MARGIN && strchr("|+-", line[digits]);
    return formed && (length == digits + 1 || line[digits + 1] == ' ') ? line[digits] : '\0';
}

static const char *after_margin(const char *line, size_t length, size_t *rest) {
    size_t margin = strspn(line, " 0123456789") + 2;
    *rest = length > margin ? length - margin : 0;
    return line + (length > margin ? margin : length);
}

// ---- For people ----

static cli_style style_of(const cli_heading *heading) {
    for (size_t i = 0; i < SEVERITY_COUNT; i++)
        if (strncmp(severities[i].word, heading->severity, heading->severity_length) == 0) return severities[i].style;
    return CLI_PLAIN;
}

static void print_heading(FILE *stream, const char *line, const cli_heading *heading) {
    const char *plain = cli_escape(stream, CLI_PLAIN), *bold = cli_escape(stream, CLI_BOLD);
    fputs(bold, stream);
    cli_write_visible(stream, line, (size_t)(heading->severity - line));
    fprintf(stream, "%s%s%.*s: %s%s", plain, cli_escape(stream, style_of(heading)), (int)heading->severity_length,
            heading->severity, plain, bold);
    cli_write_visible(stream, heading->message, heading->message_length);
    fprintf(stream, "%s\n", plain);
}

static bool is_caret_line(const char *line, size_t length) {
    return length && strspn(line, " |^~\t") >= length && memchr(line, '^', length);
}

static cli_style snippet_style(const char *line, size_t length) {
    char sign = margin_sign(line, length);
    return sign == '-' ? CLI_RED : sign == '+' || is_caret_line(line, length) ? CLI_GREEN : CLI_PLAIN;
}

static void print_line(FILE *stream, const char *line, size_t length) {
    cli_heading heading;
    if (!margin_sign(line, length) && cli_read_heading(line, length, &heading)) {
        print_heading(stream, line, &heading);
        return;
    }
    cli_style style = snippet_style(line, length);
    if (style != CLI_PLAIN) fputs(cli_escape(stream, style), stream);
    cli_write_visible(stream, line, length);
    fprintf(stream, "%s\n", style != CLI_PLAIN ? cli_escape(stream, CLI_PLAIN) : "");
}

void cli_print_diagnostics(FILE *stream, const char *log) {
    while (*log) {
        size_t length = strcspn(log, "\n");
        print_line(stream, log, length);
        log += length + (log[length] == '\n');
    }
}

// ---- For programs ----

typedef struct row_writer {
    igi_json *row;           // NULL: none begun
    const char *source;      // the source line of the message; NULL: none so far
    size_t source_length;    //
    uint32_t line;           //
    uint32_t removed, kept;  // columns of a "-" line whose "+" line may follow: from 1, and the first after it
} row_writer;

// The bytes of the source line that take this many columns when shown: an escape like \x1b is one byte.
static uint32_t bytes_in_columns(const row_writer *w, size_t columns) {
    uint32_t bytes = 0;
    for (size_t i = 0, k = 0; i < w->source_length && k < columns;) {
        const char *at = w->source + i;
        bool escape = w->source_length - i >= 4 && at[0] == '\\' && at[1] == 'x' && isxdigit((unsigned char)at[2]) &&
                      isxdigit((unsigned char)at[3]);
        size_t sequence = escape ? 4 : igi_utf8_sequence(at, w->source_length - i);
        i += sequence ? sequence : 1;
        k += escape ? 4 : 1;
        bytes += escape || !sequence ? 1 : (uint32_t)sequence;
    }
    return bytes;
}

static void put_change(row_writer *w, uint32_t column, uint32_t end, const char *text, size_t length) {
    igi_json_begin_object(w->row);
    igi_json_put_u64(w->row, "line", w->line);
    igi_json_put_u64(w->row, "column", column);
    igi_json_put_u64(w->row, "end_column", end);
    igi_json_key(w->row, "text");
    igi_json_string_n(w->row, text, length);
    igi_json_end_object(w->row);
}

// A "-" line that was not followed by a "+" line.
static void flush_removal(row_writer *w) {
    if (w->removed) put_change(w, w->removed, w->kept, "", 0);
    w->removed = 0;
}

static void read_change(row_writer *w, char sign, const char *text, size_t length) {
    size_t blanks = 0;
    while (blanks < length && (text[blanks] == ' ' || text[blanks] == '\t')) blanks++;
    if (sign == '-') {
        flush_removal(w);
        w->removed = bytes_in_columns(w, blanks) + 1;
        w->kept = bytes_in_columns(w, blanks + igi_visible_columns(text + blanks, length - blanks)) + 1;
    } else if (w->removed) {
        // The text itself may begin with blanks.
        size_t before = 0;
        while (bytes_in_columns(w, before) + 1 < w->removed) before++;
        put_change(w, w->removed, w->kept, text + before, length - before);
        w->removed = 0;
    } else {
        uint32_t column = bytes_in_columns(w, blanks) + 1;
        put_change(w, column, column, text + blanks, length - blanks);
    }
}

static void end_row(row_writer *w) {
    if (!w->row) return;
    flush_removal(w);
    igi_json_end_array(w->row);
    cli_end_row();
    *w = (row_writer){0};
}

static void begin_row(row_writer *w, const cli_heading *heading) {
    end_row(w);
    *w = (row_writer){.row = cli_begin_row(), .line = heading->line};
    igi_json_key(w->row, "severity");
    igi_json_string_n(w->row, heading->severity, heading->severity_length);
    igi_json_key(w->row, "file");
    igi_json_string_n(w->row, heading->file, heading->file_length);
    igi_json_put_u64(w->row, "line", heading->line);
    igi_json_put_u64(w->row, "column", heading->column);
    igi_json_key(w->row, "message");
    igi_json_string_n(w->row, heading->message, heading->message_length);
    igi_json_key(w->row, "fixits");
    igi_json_begin_array(w->row);
}

static void put_line(row_writer *w, const char *line, size_t length) {
    cli_heading heading;
    char sign = margin_sign(line, length);
    if (!sign && cli_read_heading(line, length, &heading)) {
        begin_row(w, &heading);
    } else if (sign && w->row) {
        size_t rest;
        const char *text = after_margin(line, length, &rest);
        if (sign != '|') read_change(w, sign, text, rest);
        if (sign == '|' && !w->source) w->source = text, w->source_length = rest;
    }
}

void cli_put_diagnostics(const char *log) {
    row_writer writer = {0};
    while (*log) {
        size_t length = strcspn(log, "\n");
        put_line(&writer, log, length);
        log += length + (log[length] == '\n');
    }
    end_row(&writer);
}
