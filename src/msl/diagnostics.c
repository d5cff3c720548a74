// SPDX-License-Identifier: Apache-2.0
// Collecting the messages of the compiler.
#include "msl/diagnostics.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "core/visible.h"
#include "msl/diagnostic.h"

static bool is_word(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

uint32_t igi_msl_source_column(const igi_msl_source *source, uint32_t line, const char *near) {
    size_t length = 0;
    const char *text = source && line && near && *near ? igi_msl_source_line(source, line, &length) : NULL;
    size_t size = near ? strlen(near) : 0;
    for (size_t at = 0; text && at + size <= length; at++) {
        bool begins = at == 0 || !is_word(text[at - 1]), ends = at + size == length || !is_word(text[at + size]);
        if (begins && ends && memcmp(text + at, near, size) == 0) return (uint32_t)at + 1;
    }
    return 1;
}

// ---- Single messages ----

void igi_msl_diagnostic_propose(igi_msl_diagnostic *message, igi_msl_diagnostic_span span, char *text) {
    if (!text || message->change_count == IGI_DIAGNOSTIC_MARKS) {
        free(text);
        return;
    }
    message->changes[message->change_count++] = (igi_msl_diagnostic_change){span, text};
}

void igi_msl_diagnostic_free(igi_msl_diagnostic *message) {
    for (size_t i = 0; i < message->change_count; i++) free(message->changes[i].text);
    message->change_count = 0;
}

static void remember_first(igi_msl_diagnostics *diagnostics, const char *file, const igi_msl_diagnostic *message) {
    if (diagnostics->error_count++) return;
    igi_error_set(&diagnostics->first, IG_STATUS_COMPILE_FAILED, "%s", message->text);
    diagnostics->first.file = igi_strdup(file);
    diagnostics->first.line = message->line;
    diagnostics->first.column = message->column;
}

// Standard headers are shown as <name>, the user's files by the user's names.
static const char *shown_name(const igi_msl_diagnostics *diagnostics, const char *path, const igi_msl_source *source,
                              char header[80]) {
    if (source) return source->display;
    size_t length = diagnostics->stdlib ? strlen(diagnostics->stdlib) : 0;
    if (!length || strncmp(path, diagnostics->stdlib, length) != 0 || path[length] != '/') return path;
    snprintf(header, 80, "<%s>", path + length + 1);
    return header;
}

void igi_msl_diagnostics_put(igi_msl_diagnostics *diagnostics, const igi_msl_diagnostic *message) {
    const igi_msl_source *source = igi_msl_sources_find(diagnostics->sources, message->path);
    igi_text *log = &diagnostics->log;
    char header[80];
    const char *name = shown_name(diagnostics, message->path, source, header);
    if (strcmp(message->level, "note") != 0) diagnostics->group_start = log->length;
    igi_text_add_visible(log, name, strlen(name));
    if (message->line) igi_text_addf(log, ":%u:%u", message->line, message->column);
    igi_text_addf(log, ": %s: ", message->level);
    igi_text_add_visible(log, message->text, strlen(message->text));
    igi_text_add(log, "\n");
    if (source) igi_msl_diagnostic_add_snippet(log, source, message);
    if (strstr(message->level, "error")) remember_first(diagnostics, name, message);
}

void igi_msl_diagnostics_add(igi_msl_diagnostics *diagnostics, const char *level, const char *path, uint32_t line,
                             uint32_t column, const char *near, const char *text) {
    const igi_msl_source *source = igi_msl_sources_find(diagnostics->sources, path);
    if (line && column == 0) column = igi_msl_source_column(source, line, near);
    igi_msl_diagnostics_put(
        diagnostics, &(igi_msl_diagnostic){.level = level, .path = path, .text = text, .line = line, .column = column});
}

void igi_msl_diagnostics_add_rewritten(igi_msl_diagnostics *diagnostics, const char *level, const char *path,
                                       uint32_t line, uint32_t column, const char *near, const char *message) {
    const igi_msl_source *source = igi_msl_sources_find(diagnostics->sources, path);
    if (source && column) column = igi_msl_rewrite_locate(&source->rewrite, source->text, line, column);
    igi_msl_diagnostics_add(diagnostics, level, path, line, column, near, message);
}

// The line of the first occurrence as a whole word; 0 if there is none.
static uint32_t find_word(const igi_msl_source *source, const char *word) {
    size_t size = strlen(word);
    uint32_t line = 1;
    for (size_t at = 0; at + size <= source->length; line += source->text[at++] == '\n') {
        bool begins = at == 0 || !is_word(source->text[at - 1]);
        if (!begins || memcmp(source->text + at, word, size) != 0) continue;
        if (at + size == source->length || !is_word(source->text[at + size])) return line;
    }
    return 0;
}

void igi_msl_diagnostics_add_at_word(igi_msl_diagnostics *diagnostics, const char *level, const char *word,
                                     const char *message) {
    const igi_msl_sources *sources = diagnostics->sources;
    uint32_t line = 0;
    size_t file = 0;
    for (size_t i = 0; word && *word && !line && i < sources->count; i++)
        line = find_word(&sources->files[file = i], word);
    igi_msl_diagnostics_add(diagnostics, level, sources->files[line ? file : 0].path, line, 0, word, message);
}

// ---- From the rewriter ----

void igi_msl_diagnostics_add_rewrite_errors(igi_msl_diagnostics *diagnostics, size_t first) {
    for (size_t i = first; i < diagnostics->sources->count; i++) {
        const igi_msl_source *source = &diagnostics->sources->files[i];
        for (size_t k = 0; k < source->rewrite.error_count; k++) {
            const igi_msl_rewrite_error *error = &source->rewrite.errors[k];
            uint32_t line = 1, column = 1;
            for (size_t at = 0; at < error->offset; at++) {
                column = source->text[at] == '\n' ? 1 : column + 1;
                line += source->text[at] == '\n';
            }
            igi_msl_diagnostics_add(diagnostics, "error", source->path, line, column, NULL, error->message);
        }
    }
}

// ---- Handing over ----

ig_status igi_msl_diagnostics_report(igi_msl_diagnostics *diagnostics, ig_error *error) {
    ig_status status = diagnostics->error_count ? IG_STATUS_COMPILE_FAILED : IG_STATUS_OK;
    if (!error || status == IG_STATUS_OK) return status;
    ig_error_clear(error);
    *error = diagnostics->first;
    diagnostics->first = (ig_error){0};
    error->log = igi_text_take(&diagnostics->log);
    return status;
}

void igi_msl_diagnostics_free(igi_msl_diagnostics *diagnostics) {
    igi_text_free(&diagnostics->log);
    ig_error_clear(&diagnostics->first);
}
