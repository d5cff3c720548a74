// SPDX-License-Identifier: Apache-2.0
// Inserting included files into the text that includes them.
#include "msl/flatten.h"

#include <string.h>

// Headers that include each other would be inserted without end, because macros are not evaluated here.
enum { MAX_DEPTH = 200, MAX_BYTES = 64 << 20 };

typedef struct flattening {
    const igi_msl_sources *sources;
    bool *open;  // files that are being inserted
    igi_text text;
    size_t depth;
} flattening;

static const char *next_line(const char *line) {
    line = strchr(line, '\n');
    return line ? line + 1 : NULL;
}

static bool starts_with(const char *text, const char *start) {
    return strncmp(text, start, strlen(start)) == 0;
}

static const char pragma_once[] = "#pragma once";

static bool has_pragma_once(const igi_msl_source *file) {
    for (const char *line = file->text; line; line = next_line(line))
        if (starts_with(line, pragma_once)) return true;
    return false;
}

// `#ifndef NAME` before any other directive: the header has an include guard.
static bool has_guard(const igi_msl_source *file) {
    const char *line = file->text;
    while (line && *line != '#') line = next_line(line);
    return line && starts_with(line, "#ifndef");
}

static size_t line_of(const igi_msl_source *file, size_t offset) {
    size_t line = 1;
    for (size_t i = 0; i < offset; i++) line += file->text[i] == '\n';
    return line;
}

static size_t start_of_line(const igi_msl_source *file, size_t offset) {
    while (offset > 0 && file->text[offset - 1] != '\n') offset--;
    return offset;
}

static size_t end_of_line(const igi_msl_source *file, size_t offset) {
    while (offset < file->length && file->text[offset] != '\n') offset++;
    return offset;
}

// Without `#pragma once`, for which compilers warn outside of headers.
static void append(flattening *f, const igi_msl_source *file, size_t from, size_t to) {
    for (size_t i = from, end; i < to; i = end) {
        end = end_of_line(file, i);
        end = end < to ? end + 1 : to;
        bool drop = starts_with(file->text + i, pragma_once);
        igi_text_append(&f->text, drop ? "\n" : file->text + i, drop ? 1 : end - i);
    }
}

static bool is_spliced(const igi_msl_include *include) {
    return include->file != SIZE_MAX && !include->data && !include->probe && !include->every;
}

static bool add_file(flattening *f, size_t index);

// Everything from `from` up to the include, then the file it names, then continues at the line after it.
static bool add_include(flattening *f, const igi_msl_source *file, const igi_msl_include *include, size_t *from) {
    size_t start = start_of_line(file, include->offset), end = end_of_line(file, include->offset);
    append(f, file, *from, start);
    const igi_msl_source *included = &f->sources->files[include->file];
    bool again = f->open[include->file] && (has_pragma_once(included) || has_guard(included));
    if (!again && !add_file(f, include->file)) return false;
    igi_text_addf(&f->text, "\n#line %zu \"%s\"", line_of(file, start) + 1, file->display);
    *from = end;
    return true;
}

static bool add_parts(flattening *f, const igi_msl_source *file) {
    size_t from = 0;
    for (size_t i = 0; i < file->rewrite.include_count; i++) {
        const igi_msl_include *include = &file->rewrite.includes[i];
        if (is_spliced(include) && !add_include(f, file, include, &from)) return false;
    }
    append(f, file, from, file->length);
    return f->text.length <= MAX_BYTES;
}

// `#pragma once` has no effect in the middle of a text, so a macro replaces it.
static bool add_file(flattening *f, size_t index) {
    const igi_msl_source *file = &f->sources->files[index];
    if (f->depth >= MAX_DEPTH) return false;
    bool once = has_pragma_once(file), outer = f->open[index];
    if (once) igi_text_addf(&f->text, "#ifndef INGOT_ONCE_%zu\n#define INGOT_ONCE_%zu\n", index, index);
    igi_text_addf(&f->text, "#line 1 \"%s\"\n", file->display);
    f->open[index] = true;
    f->depth++;
    bool ended = add_parts(f, file);
    f->depth--;
    f->open[index] = outer;
    if (once) igi_text_add(&f->text, "\n#endif\n");
    return ended;
}

static bool includes_nothing(const igi_msl_sources *sources) {
    const igi_msl_source *main = &sources->files[0];
    for (size_t i = 0; i < main->rewrite.include_count; i++)
        if (is_spliced(&main->rewrite.includes[i])) return false;
    for (size_t i = 1; i < sources->count; i++)
        if (sources->files[i].before) return false;
    return true;
}

static bool add_all(flattening *f) {
    bool ended = true;
    for (size_t i = 1; ended && i < f->sources->count; i++)
        if (f->sources->files[i].before) ended = add_file(f, i);
    return ended && add_file(f, 0);
}

ig_status igi_msl_sources_flatten(const igi_msl_sources *sources, char **text, size_t *length, ig_error *error) {
    flattening f = {.sources = sources, .open = igi_calloc(sources->count, sizeof *f.open)};
    if (!f.open) return igi_error_no_memory(error);
    const igi_msl_source *main = &sources->files[0];
    bool ended = true;
    if (includes_nothing(sources))
        igi_text_append(&f.text, main->text, main->length);
    else
        ended = add_all(&f);
    free(f.open);
    if (!ended) {
        igi_text_free(&f.text);
        return igi_error_set(error, IG_STATUS_BAD_FORMAT, "%s: its includes are endless, or add up to more than 64 MiB",
                             main->display);
    }
    *length = f.text.length;
    *text = igi_text_take(&f.text);
    return *text ? IG_STATUS_OK : igi_error_no_memory(error);
}
