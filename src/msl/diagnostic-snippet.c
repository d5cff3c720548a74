// SPDX-License-Identifier: Apache-2.0
// The source line below a message.
#include <string.h>

#include "core/visible.h"
#include "msl/diagnostic.h"

static const char gutter[] = "      ";

const char *igi_msl_source_line(const igi_msl_source *source, uint32_t line, size_t *length) {
    const char *text = source->text, *end = source->text + source->length;
    for (; line > 1 && text < end; line--) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        if (!newline) return NULL;
        text = newline + 1;
    }
    const char *newline = memchr(text, '\n', (size_t)(end - text));
    *length = (size_t)((newline ? newline : end) - text);
    if (*length && text[*length - 1] == '\r') --*length;
    return text;
}

typedef struct source_line {
    const char *text;
    size_t length;
} source_line;

// The offset of a column, which may be past the end.
static size_t place_of(const source_line *line, uint32_t column) {
    return column - 1 < line->length ? column - 1 : line->length;
}

// Adds as many blank columns as the bytes take. Tabs stay tabs, so that what follows is aligned with the line above.
static void add_blanks(igi_text *log, const source_line *line, size_t from, size_t to) {
    for (size_t i = from; i < to;) {
        size_t sequence = igi_utf8_sequence(line->text + i, to - i);
        size_t step = sequence ? sequence : 1;
        for (size_t k = igi_visible_columns(line->text + i, step); k > 0; k--)
            igi_text_add(log, line->text[i] == '\t' ? "\t" : " ");
        i += step;
    }
}

static bool is_in(igi_msl_diagnostic_span span, size_t place) {
    return place + 1 >= span.column && place + 1 < span.end;
}

static bool is_marked(const igi_msl_diagnostic *message, size_t place) {
    for (size_t i = 0; i < message->span_count; i++)
        if (is_in(message->spans[i], place)) return true;
    for (size_t i = 0; i < message->change_count; i++)
        if (is_in(message->changes[i].span, place)) return true;
    return false;
}

static void trim_blanks(igi_text *log) {
    while (log->length && strchr(" \t", log->data[log->length - 1])) log->data[--log->length] = '\0';
}

// Adds the caret, and "~" below everything else that the message refers to.
static void add_marks(igi_text *log, const source_line *line, const igi_msl_diagnostic *message) {
    size_t caret = place_of(line, message->column);
    igi_text_addf(log, "%s| ", gutter);
    for (size_t i = 0, step; i <= line->length; i += step) {
        bool past = i == line->length;
        size_t sequence = past ? 1 : igi_utf8_sequence(line->text + i, line->length - i);
        step = sequence ? sequence : 1;
        size_t columns = past ? 1 : igi_visible_columns(line->text + i, step);
        if (caret >= i && caret < i + step) igi_text_add(log, "^"), columns--;
        const char *mark = !past && is_marked(message, i) ? "~" : !past && line->text[i] == '\t' ? "\t" : " ";
        for (; columns > 0; columns--) igi_text_add(log, mark);
    }
    trim_blanks(log);
    igi_text_add(log, "\n");
}

static void add_change_line(igi_text *log, const source_line *line, const igi_msl_diagnostic_change *change, char sign,
                            const char *text, size_t length) {
    igi_text_addf(log, "%s%c ", gutter, sign);
    add_blanks(log, line, 0, place_of(line, change->span.column));
    igi_text_add_visible(log, text, length);
    igi_text_add(log, "\n");
}

static void add_change(igi_text *log, const source_line *line, const igi_msl_diagnostic_change *change) {
    size_t from = place_of(line, change->span.column), to = place_of(line, change->span.end);
    if (to > from) add_change_line(log, line, change, '-', line->text + from, to - from);
    if (*change->text) add_change_line(log, line, change, '+', change->text, strlen(change->text));
}

void igi_msl_diagnostic_add_snippet(igi_text *log, const igi_msl_source *source, const igi_msl_diagnostic *message) {
    source_line line = {0};
    if (message->line && message->column) line.text = igi_msl_source_line(source, message->line, &line.length);
    if (!line.text || line.length == 0) return;
    igi_text_addf(log, "%5u | ", message->line);
    igi_text_add_visible(log, line.text, line.length);
    igi_text_add(log, "\n");
    add_marks(log, &line, message);
    for (size_t i = 0; i < message->change_count; i++) add_change(log, &line, &message->changes[i]);
}
