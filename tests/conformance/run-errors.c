// SPDX-License-Identifier: Apache-2.0
// Sources that must be refused. A .error file holds many of them, each followed by the expected messages:
//
//   == what is wrong
// std 300 define N=4
//   source, as many lines as it takes
//   ++ name.h
//   a file the source includes
//   -- 3:14 part of a message          the message is at that line and column of the source
//   -- name.h:3:14 part of a message   or of the included file
//   -- part of a message
//   -- pipeline KERNEL STATUS part of a message     it compiles, but the pipeline cannot be created
//   -- only                            there are no other errors
//   -- broken why                      last: known to fail
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "core/memory.h"
#include "run-conformance.h"

enum { MAX_PATTERNS = 12, MAX_DEFINES = 4 };

typedef struct refusal {
    const char *title;
    int line;
    ig_library_desc options;
    ig_define defines[MAX_DEFINES];
    const char *patterns[MAX_PATTERNS];
    int pattern_lines[MAX_PATTERNS];
    size_t pattern_count;
    const char *broken;  // NULL: it must work
} refusal;

static char *next_line(char **text) {
    char *line = *text;
    size_t length = strcspn(line, "\n");
    *text = line + length + (line[length] == '\n');
    line[length] = 0;
    return line;
}

// After '|': std N, math safe, define A=B.
static void read_options(refusal *r, char *text) {
    char *state = NULL;
    for (char *name = strtok_r(text, " ", &state); name; name = strtok_r(NULL, " ", &state)) {
        char *value = strtok_r(NULL, " ", &state);
        if (!value) return;
        if (strcmp(name, "std") == 0) r->options.language_version = (uint32_t)atoi(value);
        if (strcmp(name, "math") == 0) r->options.math_mode = strcmp(value, "safe") == 0 ? IG_MATH_SAFE : IG_MATH_FAST;
        if (strcmp(name, "define") != 0 || r->options.define_count == MAX_DEFINES) continue;
        char *equals = strchr(value, '=');
        if (equals) *equals = 0;
        r->defines[r->options.define_count++] = (ig_define){value, equals ? equals + 1 : NULL};
    }
}

// Reads one refusal, writing its files into the directory. Sets *text to the next "==".
static void read_refusal(refusal *r, char **text, int *line, const char *directory) {
    igi_text content = {0};
    char *title = next_line(text) + 2, *bar = strchr(title, '|'), *path = igi_path_join(directory, "case.metal");
    *r = (refusal){.title = title + strspn(title, " "), .line = (*line)++};
    if (bar) *bar = 0, read_options(r, bar + 1);
    while (**text && strncmp(*text, "== ", 3) != 0) {
        char *at = next_line(text);
        if (strncmp(at, "++ ", 3) == 0 || strncmp(at, "-- ", 3) == 0) {
            if (path) igi_file_write_atomic(path, content.data ? content.data : "", content.length);
            igi_text_free(&content);
            free(path);
            path = at[0] == '+' ? igi_path_join(directory, at + 3) : NULL;
            if (strncmp(at, "-- broken ", 10) == 0) {
                r->broken = at + 10;
            } else if (at[0] == '-' && r->pattern_count < MAX_PATTERNS) {
                r->pattern_lines[r->pattern_count] = *line;
                r->patterns[r->pattern_count++] = at + 3;
            }
        } else if (path) {
            igi_text_addf(&content, "%s\n", at);
        }
        ++*line;
    }
    igi_text_free(&content);
    free(path);
}

// ---- Looking for expected messages ----

// Splits "name.h:3:14 text" or "3:14 text" into the location as the log spells it and the text.
static const char *split_place(const char *pattern, char place[160]) {
    const char *space = strchr(pattern, ' '), *colon = strchr(pattern, ':');
    place[0] = 0;
    if (!space || !colon || colon > space || !isdigit((unsigned char)space[-1])) return pattern;
    bool named = !isdigit((unsigned char)pattern[0]);
    snprintf(place, 160, "%s%.*s: ", named ? "" : "case.metal:", (int)(space - pattern), pattern);
    return space + 1;
}

// Whether a line of the log has the location and the text.
static bool log_says(const char *log, const char *pattern) {
    char place[160];
    const char *text = split_place(pattern, place);
    for (const char *line = log; line && *line; line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
        size_t length = strcspn(line, "\n");
        const char *at = memmem(line, length, place, strlen(place));
        if (place[0] && (!at || (at > line && at[-1] != '/'))) continue;
        if (memmem(line, length, text, strlen(text))) return true;
    }
    return false;
}

static unsigned error_count(const char *log) {
    unsigned count = 0;
    for (const char *at = log; at && (at = strstr(at, ": error: ")); at++) count++;
    return count;
}

// Columns that some bytes of UTF-8 take.
static size_t columns_of(const char *text, size_t bytes) {
    size_t columns = 0;
    for (size_t i = 0; i < bytes; i++) columns += ((unsigned char)text[i] & 0xc0) != 0x80;
    return columns;
}

// Below "    3
// source" the caret is in the column that the message names, which counts bytes.
static bool carets_are_right(const char *log) {
    for (const char *at = log; at && (at = strstr(at, ": error: ")); at++) {
        const char *start = at;
        while (start > log && start[-1] != ':' && start[-1] != '\n') start--;
        unsigned column = (unsigned)atoi(start);
        const char *source = strchr(at, '\n'), *caret = source ? strchr(source + 1, '\n') : NULL;
        const char *bar = source ? strstr(source + 1, " | ") : NULL;
        if (!caret || !bar || bar > caret) continue;  // no snippet
        size_t prefix = (size_t)(bar + 3 - (source + 1));
        if (strcspn(caret + 1, "^\n") != prefix + columns_of(bar + 3, column - 1)) return false;
    }
    return true;
}

// ---- One refusal ----

typedef struct verdict {
    int line;
    char *message;  // NULL: it is as expected
} verdict;

#define WRONG(at, ...) ((verdict){(at), igi_format(__VA_ARGS__)})

static verdict check_pipeline(const refusal *r, ig_library *library) {
    char kernel[64], status_name[64];
    int used = 0;
    ig_pipeline *pipeline = NULL;
    ig_error error = {0};
    if (sscanf(r->patterns[0], "pipeline %63s %63s%n", kernel, status_name, &used) != 2)
        return WRONG(r->pattern_lines[0], "expected: pipeline KERNEL STATUS text");
    const char *text = r->patterns[0] + used + strspn(r->patterns[0] + used, " ");
    ig_status status = ig_pipeline_create(library, &(ig_pipeline_desc){.kernel = kernel}, &pipeline, &error);
    const char *got = ig_status_name(status) + strlen("IG_STATUS_"), *message = error.message ? error.message : "";
    verdict v = {0};
    if (status == IG_STATUS_OK)
        v = WRONG(r->line, "the pipeline was made");
    else if (strcmp(got, status_name) != 0 || !strstr(message, text))
        v = WRONG(r->pattern_lines[0], "the pipeline fails with %s '%s'", got, message);
    ig_pipeline_release(pipeline);
    ig_error_clear(&error);
    return v;
}

static verdict check_compilation(const refusal *r, const ig_error *error) {
    const char *log = error->log ? error->log : error->message ? error->message : "";
    unsigned expected = 0;
    for (size_t i = 0; i < r->pattern_count; i++) {
        if (strcmp(r->patterns[i], "only") == 0) {
            if (error_count(log) == expected) continue;
            return WRONG(r->pattern_lines[i], "there are other errors too:\n%s", log);
        }
        expected++;
        if (!log_says(log, r->patterns[i])) return WRONG(r->pattern_lines[i], "not said:\n%s", log);
    }
    return carets_are_right(log) ? (verdict){0} : WRONG(r->line, "a caret is not below its column:\n%s", log);
}

static verdict check_refusal(const refusal *r, ig_status status, ig_library *library, const ig_error *error) {
    bool pipeline = r->pattern_count && strncmp(r->patterns[0], "pipeline ", 9) == 0;
    const char *log = error->log ? error->log : error->message ? error->message : "";
    if (!r->pattern_count) return WRONG(r->line, "nothing is expected");
    if (pipeline && status == IG_STATUS_OK) return check_pipeline(r, library);
    if (pipeline) return WRONG(r->line, "does not compile:\n%s", log);
    if (status == IG_STATUS_OK) return WRONG(r->line, "it compiles");
    if (status != IG_STATUS_COMPILE_FAILED) return WRONG(r->line, "%s: %s", ig_status_name(status), log);
    return check_compilation(r, error);
}

static void run_refusal(session *s, const char *path, const refusal *r, const char *directory) {
    ig_library *library = NULL;
    ig_error error = {0};
    ig_library_desc desc = r->options;
    char *source = igi_path_join(directory, "case.metal");
    desc.path = source;
    desc.defines = r->defines;
    ig_status status = ig_library_create(s->device, &desc, &library, &error);
    verdict v = check_refusal(r, status, library, &error);
    if (v.message && r->broken) {
        s->skipped++;
        printf("%s:%d: %s: known to be broken: %s\n", path, r->line, r->title, r->broken);
    } else if (v.message) {
        report(s, path, v.line, "%s: %s", r->title, v.message);
    } else if (r->broken) {
        report(s, path, r->line, "%s: works, but is said to be broken", r->title);
    } else {
        s->passed++;
    }
    free(v.message);
    ig_library_release(library);
    ig_error_clear(&error);
    free(source);
}

void run_error_file(session *s, const char *path) {
    char *text = NULL, *directory = igi_make_temp_dir();
    size_t length = 0;
    int line = 1;
    if (!directory || igi_file_read(path, &text, &length, NULL) != IG_STATUS_OK) report(s, path, 0, "cannot be read");
    char *at = text;
    while (at && *at && strncmp(at, "== ", 3) != 0) next_line(&at), line++;
    while (at && *at) {
        refusal r;
        read_refusal(&r, &at, &line, directory);
        if (begin_case(s, path, r.line, r.title, r.broken)) run_refusal(s, path, &r, directory);
    }
    if (directory) igi_remove_tree(directory);
    free(directory), free(text);
}
