// SPDX-License-Identifier: Apache-2.0
// ingot info TRACE.json: events added up by kernel. Traces that Ingot wrote have an event on each line.
#include "info-trace.h"

#include <stdlib.h>
#include <string.h>

#include "console/output.h"
#include "core/file.h"
#include "core/json-read.h"
#include "core/memory.h"
#include "profile.h"

typedef struct summary {
    ig_kernel_profile *rows;
    size_t count, capacity;
} summary;

static ig_kernel_profile *row_of(summary *s, const char *kernel, uint32_t width) {
    for (size_t i = 0; i < s->count; i++)
        if (s->rows[i].width == width && strcmp(s->rows[i].kernel, kernel) == 0) return &s->rows[i];
    if (s->count == s->capacity) {
        s->capacity = s->capacity ? 2 * s->capacity : 16;
        s->rows = cli_realloc(s->rows, s->capacity * sizeof *s->rows);
    }
    char *name = igi_strdup(kernel);
    if (!name) exit(cli_error(CLI_FAILED, "not enough memory"));
    s->rows[s->count] = (ig_kernel_profile){.kernel = name, .width = width};
    return &s->rows[s->count++];
}

static uint64_t number_of(const igi_json_value *details, const char *key) {
    uint64_t number = 0;
    igi_json_get_u64(igi_json_member(details, key), &number);
    return number;
}

static void add_event(summary *s, const igi_json_value *event) {
    const igi_json_value *details = igi_json_member(event, "args");
    const char *category = igi_json_get_string(igi_json_member(event, "cat"));
    const char *name = igi_json_get_string(igi_json_member(event, "name"));
    uint64_t time = number_of(details, "ns"), width = number_of(details, "width");
    if (!category || !name || width > UINT32_MAX) return;
    bool ran = strcmp(category, "dispatch") == 0 || strcmp(category, "ring") == 0;
    bool compiled = strcmp(category, "compile") == 0 && width;
    if (!ran && !compiled) return;
    ig_kernel_profile *row = row_of(s, name, (uint32_t)width);
    if (compiled) row->compile_ns = igi_add_clamped(row->compile_ns, time);
    if (!ran) return;
    if (!row->calls++ || time < row->best_ns) row->best_ns = time;
    row->time_ns = igi_add_clamped(row->time_ns, time);
    row->threads = igi_add_clamped(row->threads, number_of(details, "threads"));
    row->bytes = igi_add_clamped(row->bytes, number_of(details, "bytes"));
}

// One line: an event and a comma, or a bracket.
static ig_status add_line(summary *s, const char *path, const char *line, size_t length, ig_error *error) {
    while (length && (line[length - 1] == ',' || line[length - 1] == '\r')) length--;
    if (!length || (length == 1 && (*line == '[' || *line == ']'))) return IG_STATUS_OK;
    igi_json_document document;
    ig_status status = igi_json_parse(path, line, length, &document, error);
    if (status != IG_STATUS_OK) return status;
    add_event(s, document.root);
    igi_json_document_free(&document);
    return IG_STATUS_OK;
}

static int by_time(const void *a, const void *b) {
    const ig_kernel_profile *x = a, *y = b;
    if (x->time_ns != y->time_ns) return x->time_ns < y->time_ns ? 1 : -1;
    return strcmp(x->kernel, y->kernel);
}

int info_trace(const char *path) {
    char *text = NULL;
    size_t length = 0;
    ig_error error = {0};
    summary s = {0};
    ig_status status = igi_file_read(path, &text, &length, &error);
    for (size_t at = 0; at < length && status == IG_STATUS_OK;) {
        const char *end = memchr(text + at, '\n', length - at);
        size_t line = end ? (size_t)(end - text) - at : length - at;
        status = add_line(&s, path, text + at, line, &error);
        at += line + 1;
    }
    int result = status == IG_STATUS_OK ? CLI_OK : cli_report_and_clear(status, &error);
    if (s.count) qsort(s.rows, s.count, sizeof *s.rows, by_time);
    if (result == CLI_OK && !s.count)
        result = cli_error(CLI_BAD_INPUT, "%s has no events of kernels; INGOT_TRACE makes such traces", path);
    else if (result == CLI_OK)
        cli_profile_show(s.rows, s.count);
    for (size_t i = 0; i < s.count; i++) free((char *)s.rows[i].kernel);
    free(s.rows), free(text);
    return result;
}
