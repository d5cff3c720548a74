// SPDX-License-Identifier: Apache-2.0
// Line markers: # NUMBER "NAME" FLAGS
#include "preprocessed.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "console/output.h"

// The name and its length, of a line that is a marker; NULL for others.
static const char *marked_name(const char *line, size_t length, size_t *name_length) {
    const char *end = line + length, *at = line + 2;
    if (length < 5 || line[0] != '#' || line[1] != ' ' || !isdigit((unsigned char)*at)) return NULL;
    while (at < end && isdigit((unsigned char)*at)) at++;
    if (end - at < 3 || at[0] != ' ' || at[1] != '"') return NULL;
    const char *name = at + 2, *close = memrchr(name, '"', (size_t)(end - name));
    *name_length = close ? (size_t)(close - name) : 0;
    return close ? name : NULL;
}

static bool is(const char *name, size_t length, const char *wanted) {
    return strlen(wanted) == length && memcmp(name, wanted, length) == 0;
}

static const igi_msl_source *find(const igi_msl_sources *sources, const char *name, size_t length) {
    for (size_t i = 0; i < sources->count; i++)
        if (is(name, length, sources->files[i].path)) return &sources->files[i];
    return NULL;
}

static void add_line(const igi_msl_sources *sources, const char *line, size_t length, igi_text *result) {
    size_t name_length = 0;
    const char *name = marked_name(line, length, &name_length);
    bool ours = name && (is(name, name_length, "/dev/null") || is(name, name_length, "<built-in>") ||
                         is(name, name_length, "<command line>"));
    if (ours) return;
    const igi_msl_source *source = name ? find(sources, name, name_length) : NULL;
    if (source) {
        igi_text_append(result, line, (size_t)(name - line));
        igi_text_add(result, source->display);
        igi_text_append(result, name + name_length, length - (size_t)(name + name_length - line));
    } else {
        igi_text_append(result, line, length);
    }
    igi_text_append(result, "\n", 1);
}

void metal_tidy_text(const igi_msl_sources *sources, const char *text, igi_text *result) {
    size_t end = strlen(text);
    while (end && text[end - 1] == '\n') end--;
    for (size_t at = 0; at < end;) {
        size_t length = strcspn(text + at, "\n");
        add_line(sources, text + at, length, result);
        at += length + 1;
    }
}

// ---- Headers ----

// Files that are open, the main one first. clang allows 200.
typedef struct open_files {
    const igi_msl_source *files[256];
    size_t count;
} open_files;

static void enter(open_files *open, const igi_msl_source *source) {
    if (open->count == sizeof open->files / sizeof *open->files) return;
    for (size_t i = 0; i < open->count; i++) fputc('.', stderr);
    if (open->count) fprintf(stderr, " %s\n", cli_visible(source->display));
    open->files[open->count++] = source;
}

// Standard headers are left without having been entered.
static void leave(open_files *open, const igi_msl_source *source) {
    while (open->count && open->files[open->count - 1] != source) open->count--;
}

void metal_print_headers(const igi_msl_sources *sources, const char *text) {
    open_files open = {.count = 0};
    while (*text) {
        size_t length = strcspn(text, "\n"), name_length = 0;
        const char *name = marked_name(text, length, &name_length);
        const igi_msl_source *source = name ? find(sources, name, name_length) : NULL;
        bool flagged = name && name + name_length + 2 < text + length;
        char flag = flagged ? name[name_length + 2] : '\0';
        if (flag == '1' && source) enter(&open, source);
        if (flag == '2') leave(&open, source);
        text += length + (text[length] == '\n');
    }
}
