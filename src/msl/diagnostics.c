// SPDX-License-Identifier: Apache-2.0
// Compiler messages in the user's terms.
#include "msl/diagnostics.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "msl/threadgroup-variable.h"

static const char *line_text(const igi_source *source, uint32_t line, size_t *length) {
    const char *text = source->text, *end = source->text + source->length;
    for (; line > 1 && text < end; line--) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        if (!newline) return NULL;
        text = newline + 1;
    }
    const char *newline = memchr(text, '\n', (size_t)(end - text));
    *length = (size_t)((newline ? newline : end) - text);
    return text;
}

static void add_snippet(igi_diagnostics *diagnostics, const igi_source *source, uint32_t line, uint32_t column) {
    size_t length = 0;
    const char *text = line ? line_text(source, line, &length) : NULL;
    if (!text || length == 0) return;
    igi_text_addf(&diagnostics->log, "%5u | %.*s\n      | ", line, (int)length, text);
    for (uint32_t i = 1; i < column && i <= length; i++)
        igi_text_add(&diagnostics->log, text[i - 1] == '\t' ? "\t" : " ");
    igi_text_add(&diagnostics->log, "^\n");
}

static bool is_word(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

uint32_t igi_source_column(const igi_source *source, uint32_t line, const char *near) {
    size_t length = 0;
    const char *text = source && line && near && *near ? line_text(source, line, &length) : NULL;
    size_t size = near ? strlen(near) : 0;
    for (size_t at = 0; text && at + size <= length; at++) {
        bool begins = at == 0 || !is_word(text[at - 1]), ends = at + size == length || !is_word(text[at + size]);
        if (begins && ends && memcmp(text + at, near, size) == 0) return (uint32_t)at + 1;
    }
    return 1;
}

static void remember_first(igi_diagnostics *diagnostics, const char *file, uint32_t line, uint32_t column,
                           const char *message) {
    if (diagnostics->error_count++) return;
    igi_error_set(&diagnostics->first, IG_STATUS_COMPILE_FAILED, "%s", message);
    diagnostics->first.file = igi_strdup(file);
    diagnostics->first.line = line;
    diagnostics->first.column = column;
}

// The standard headers go by <name>, files of the user by what the user calls them.
static const char *shown_name(const igi_diagnostics *diagnostics, const char *path, const igi_source *source,
                              char header[80]) {
    if (source) return source->display;
    size_t length = diagnostics->stdlib ? strlen(diagnostics->stdlib) : 0;
    if (!length || strncmp(path, diagnostics->stdlib, length) != 0 || path[length] != '/') return path;
    snprintf(header, 80, "<%s>", path + length + 1);
    return header;
}

void igi_diagnostics_add(igi_diagnostics *diagnostics, const char *level, const char *path, uint32_t line,
                         uint32_t column, const char *near, const char *message) {
    const igi_source *source = igi_sources_find(diagnostics->sources, path);
    if (line && column == 0) column = igi_source_column(source, line, near);
    char header[80];
    const char *name = shown_name(diagnostics, path, source, header);
    if (line)
        igi_text_addf(&diagnostics->log, "%s:%u:%u: %s: %s\n", name, line, column, level, message);
    else
        igi_text_addf(&diagnostics->log, "%s: %s: %s\n", name, level, message);
    if (source) add_snippet(diagnostics, source, line, column);
    if (strstr(level, "error")) remember_first(diagnostics, name, line, column, message);
}

void igi_diagnostics_add_rewritten(igi_diagnostics *diagnostics, const char *level, const char *path, uint32_t line,
                                   uint32_t column, const char *near, const char *message) {
    const igi_source *source = igi_sources_find(diagnostics->sources, path);
    if (source && column) column = igi_rewrite_locate(&source->rewrite, source->text, line, column);
    igi_diagnostics_add(diagnostics, level, path, line, column, near, message);
}

// Line of the first place where the word stands alone; 0 when it is nowhere.
static uint32_t find_word(const igi_source *source, const char *word) {
    size_t size = strlen(word);
    uint32_t line = 1;
    for (size_t at = 0; at + size <= source->length; line += source->text[at++] == '\n') {
        bool begins = at == 0 || !is_word(source->text[at - 1]);
        if (!begins || memcmp(source->text + at, word, size) != 0) continue;
        if (at + size == source->length || !is_word(source->text[at + size])) return line;
    }
    return 0;
}

void igi_diagnostics_add_at_word(igi_diagnostics *diagnostics, const char *level, const char *word,
                                 const char *message) {
    const igi_sources *sources = diagnostics->sources;
    uint32_t line = 0;
    size_t file = 0;
    for (size_t i = 0; word && *word && !line && i < sources->count; i++)
        line = find_word(&sources->files[file = i], word);
    igi_diagnostics_add(diagnostics, level, sources->files[line ? file : 0].path, line, 0, word, message);
}

void igi_diagnostics_add_rewrite_errors(igi_diagnostics *diagnostics, size_t first) {
    for (size_t i = first; i < diagnostics->sources->count; i++) {
        const igi_source *source = &diagnostics->sources->files[i];
        for (size_t k = 0; k < source->rewrite.error_count; k++) {
            const igi_rewrite_error *error = &source->rewrite.errors[k];
            uint32_t line = 1, column = 1;
            for (size_t at = 0; at < error->offset; at++) {
                column = source->text[at] == '\n' ? 1 : column + 1;
                line += source->text[at] == '\n';
            }
            igi_diagnostics_add(diagnostics, "error", source->path, line, column, NULL, error->message);
        }
    }
}

bool igi_message_parse(char *line, igi_message *found) {
    static const char *const levels[] = {": fatal error: ", ": error: ", ": warning: ", ": note: "};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        char *level = strstr(line, levels[i]);
        if (!level) continue;
        *level = 0;
        found->level = i == 0 ? "error" : level + 2;
        found->text = level + strlen(levels[i]);
        level[strlen(levels[i]) - 2] = 0;
        char *column = strrchr(line, ':');
        if (column) *column = 0;
        char *row = column ? strrchr(line, ':') : NULL;
        if (row) *row = 0;
        found->path = line;
        found->line = row ? (uint32_t)strtoul(row + 1, NULL, 10) : 0;
        found->column = row ? (uint32_t)strtoul(column + 1, NULL, 10) : 0;
        return true;
    }
    return false;
}

// Where the user's text ends.
static void point_at_end(const igi_source *source, igi_message *found) {
    size_t end = source->length, start;
    while (end > 0 && isspace((unsigned char)source->text[end - 1])) end--;
    for (start = end; start > 0 && source->text[start - 1] != '\n'; start--) continue;
    found->path = source->path;
    found->line = 1;
    for (size_t i = 0; i < start; i++) found->line += source->text[i] == '\n';
    found->column = (uint32_t)(end - start) + 1;
}

static const char computed_probe[] =
    "the file that __has_include or __has_embed asks for must be written out, as \"name\" or <name>: a name that a "
    "macro "
    "gives is not followed";

// Our own sentence for what clang says because of us; NULL when its own will do. owns: the caller frees it.
static char *explain(const igi_diagnostics *diagnostics, const igi_message *found) {
    static const char tail[] = "' file not found";
    if (strstr(found->text, igi_computed_probe)) return igi_strdup(computed_probe);
    const char *end = found->text[0] == '\'' ? strstr(found->text, tail) : NULL;
    char *name = end ? igi_strndup(found->text + 1, (size_t)(end - found->text - 1)) : NULL;
    const char *reason = name ? igi_sources_refusal(diagnostics->sources, found->path, name) : NULL;
    free(name);
    return igi_strdup(reason);
}

static void add_message(igi_diagnostics *diagnostics, igi_message found) {
    const igi_source *source = igi_sources_find(diagnostics->sources, found.path);
    // The user's file is included into an empty one, where it ends as far as clang is concerned.
    if (strcmp(found.path, "/dev/null") == 0 && diagnostics->sources->count)
        point_at_end(&diagnostics->sources->files[0], &found);
    else if (source && source->rewrite.text)
        found.column = igi_rewrite_locate(&source->rewrite, source->text, found.line, found.column);
    if (!source && found.line == 0) {
        igi_text_addf(&diagnostics->log, "%s: %s: %s\n", found.path, found.level, found.text);
        if (strcmp(found.level, "error") == 0) remember_first(diagnostics, found.path, 0, 0, found.text);
        return;
    }
    igi_diagnostics_add(diagnostics, found.level, found.path, found.line, found.column, NULL, found.text);
}

static void add_clang_line(igi_diagnostics *diagnostics, char *line) {
    igi_message found;
    if (!igi_message_parse(line, &found)) return;
    char *explained = explain(diagnostics, &found);
    if (explained) found.text = explained;
    add_message(diagnostics, found);
    free(explained);
}

// ---- All that clang printed ----

static char *next_line(const char **output) {
    size_t length = strcspn(*output, "\n");
    char *line = igi_strndup(*output, length);
    *output += length + ((*output)[length] == '\n');
    return line;
}

static bool is_note(const char *output) {
    size_t length = strcspn(output, "\n");
    return memmem(output, length, ": note: ", strlen(": note: ")) != NULL;
}

// The note that says where the variable is declared.
static bool is_of_threadgroup_variable(const igi_diagnostics *diagnostics, char *line) {
    igi_message found;
    if (!igi_message_parse(line, &found)) return false;
    bool declaration =
        strncmp(found.text, "initialize the variable", 23) == 0 || strstr(found.text, "is declared here") != NULL;
    const igi_source *source = declaration ? igi_sources_find(diagnostics->sources, found.path) : NULL;
    if (!source) return false;
    uint32_t column = igi_rewrite_locate(&source->rewrite, source->text, found.line, found.column);
    return igi_msl_declares_threadgroup(source, found.line, column);
}

// Threadgroup variables are set by another thread as often as not.
static bool is_false_alarm(const igi_diagnostics *diagnostics, const char *line, const char *notes) {
    bool alarm = false;
    if (!strstr(line, "-Wuninitialized]") && !strstr(line, "-Wsometimes-uninitialized]")) return false;
    while (*notes && is_note(notes) && !alarm) {
        char *note = next_line(&notes);
        alarm = note && is_of_threadgroup_variable(diagnostics, note);
        free(note);
    }
    return alarm;
}

void igi_diagnostics_add_clang(igi_diagnostics *diagnostics, const char *output) {
    while (*output) {
        char *line = next_line(&output);
        if (!line)
            diagnostics->log.failed = true;
        else if (is_false_alarm(diagnostics, line, output))
            while (*output && is_note(output)) free(next_line(&output));
        else
            add_clang_line(diagnostics, line);
        free(line);
    }
}

ig_status igi_diagnostics_report(igi_diagnostics *diagnostics, ig_error *error) {
    ig_status status = diagnostics->error_count ? IG_STATUS_COMPILE_FAILED : IG_STATUS_OK;
    if (!error || status == IG_STATUS_OK) return status;
    ig_error_clear(error);
    *error = diagnostics->first;
    diagnostics->first = (ig_error){0};
    error->log = igi_text_take(&diagnostics->log);
    return status;
}

void igi_diagnostics_free(igi_diagnostics *diagnostics) {
    igi_text_free(&diagnostics->log);
    ig_error_clear(&diagnostics->first);
}
