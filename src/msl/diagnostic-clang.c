// SPDX-License-Identifier: Apache-2.0
// Parsing clang's output: headings with ranges, and proposed changes.
//
//   /path/x.metal:6:17:{6:12-6:16}{6:19-6:23}: error: invalid operands to binary expression
//       6
//     x[i] = m[0] * x[i];
//   fix-it:"/path/x.metal":{3:14-3:14}:";"
//
// Source lines, which are those of the rewritten file, are skipped.
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "msl/diagnostic.h"

typedef struct clang_range {
    uint32_t line, column, end_line, end_column;
} clang_range;

// What has been read of one message so far; it is complete when the next begins.
typedef struct reader {
    igi_msl_diagnostics *diagnostics;
    const igi_msl_source *source;  // that it is about; NULL: not the user's
    igi_msl_diagnostic message;
    char *heading;  // what the message borrows from; NULL: there is none
} reader;

// ---- Places ----

static uint32_t original_column(const igi_msl_source *source, uint32_t line, uint32_t column) {
    if (!source->rewrite.text) return column;
    return igi_msl_rewrite_locate(&source->rewrite, source->text, line, column);
}

// The part of the range on the message's line. Returns false if there is none.
static bool span_on_line(const reader *r, const clang_range *range, igi_msl_diagnostic_span *span) {
    uint32_t line = r->message.line;
    if (range->line > line || range->end_line < line) return false;
    uint32_t end = range->end_line > line ? UINT32_MAX : original_column(r->source, line, range->end_column);
    size_t length = 0, blank = 0;
    const char *text = igi_msl_source_line(r->source, line, &length);
    if (!text) return false;
    while (blank < length && isspace((unsigned char)text[blank])) blank++;
    uint32_t start = range->line < line ? (uint32_t)blank + 1 : original_column(r->source, line, range->column);
    *span = (igi_msl_diagnostic_span){start, end > length + 1 ? (uint32_t)length + 1 : end};
    return span->column < span->end;
}

// "{6:12-6:16}". Moves past it.
static bool read_range(const char **at, clang_range *range) {
    int length = 0;
    if (sscanf(*at, "{%u:%u-%u:%u}%n", &range->line, &range->column, &range->end_line, &range->end_column, &length) !=
            4 ||
        length == 0)
        return false;
    *at += length;
    return true;
}

static void read_ranges(reader *r, const char *ranges) {
    clang_range range;
    while (r->source && read_range(&ranges, &range)) {
        igi_msl_diagnostic_span span;
        if (r->message.span_count < IGI_DIAGNOSTIC_MARKS && span_on_line(r, &range, &span))
            r->message.spans[r->message.span_count++] = span;
    }
}

// Where the user's text ends.
static void point_at_end(const igi_msl_source *source, igi_msl_diagnostic *message) {
    size_t end = source->length, start;
    while (end > 0 && isspace((unsigned char)source->text[end - 1])) end--;
    for (start = end; start > 0 && source->text[start - 1] != '\n'; start--) continue;
    message->path = source->path;
    message->line = 1;
    for (size_t i = 0; i < start; i++) message->line += source->text[i] == '\n';
    message->column = (uint32_t)(end - start) + 1;
}

// ---- Headings ----

// Cuts ":{...}{...}" off the end of "path:line:column:{...}". Returns the ranges, or "" if there are none.
static const char *cut_ranges(char *place) {
    size_t length = strlen(place);
    char *ranges = place + length;
    while (ranges > place && ranges[-1] == '}') {
        char *open = ranges - 1;
        while (open > place && *open != '{') open--;
        if (*open != '{') return "";
        ranges = open;
    }
    if (!*ranges || ranges == place || ranges[-1] != ':') return "";
    ranges[-1] = '\0';
    return ranges;
}

static uint32_t cut_number(char *place) {
    char *colon = strrchr(place, ':'), *end;
    if (!colon || !isdigit((unsigned char)colon[1])) return 0;
    unsigned long number = strtoul(colon + 1, &end, 10);
    if (*end || number > UINT32_MAX) return 0;
    *colon = '\0';
    return (uint32_t)number;
}

// Splits "path:line:column:{ranges}: level: text" in place. Returns the ranges; NULL if it is not a heading.
static const char *split_heading(char *line, igi_msl_diagnostic *message) {
    static const char *const levels[] = {": fatal error: ", ": error: ", ": warning: ", ": note: "};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        char *level = strstr(line, levels[i]);
        if (!level) continue;
        *level = '\0';
        message->level = i == 0 ? "error" : level + 2;
        message->text = level + strlen(levels[i]);
        level[strlen(levels[i]) - 2] = '\0';
        const char *ranges = cut_ranges(line);
        message->column = cut_number(line);
        message->line = message->column ? cut_number(line) : 0;
        message->path = line;
        return ranges;
    }
    return NULL;
}

// "   12 | int n = 3" and "      |     ^".
static bool is_source_line(const char *line) {
    line += strspn(line, " 0123456789");
    return strncmp(line, "| ", 2) == 0 || strcmp(line, "|") == 0;
}

bool igi_msl_message_parse(char *line, igi_msl_message *found) {
    igi_msl_diagnostic message = {0};
    if (is_source_line(line) || !split_heading(line, &message)) return false;
    *found = (igi_msl_message){message.path, message.level, (char *)message.text, message.line, message.column};
    return true;
}

// Takes the line. Returns false if it is not a heading.
static bool begin_message(reader *r, char *line) {
    igi_msl_diagnostic message = {0};
    const char *ranges = split_heading(line, &message);
    if (!ranges) return false;
    r->heading = line;
    r->message = message;
    r->source = igi_msl_sources_find(r->diagnostics->sources, message.path);
    // The user's file is included into an empty one, where it ends as far as clang is concerned.
    if (strcmp(message.path, "/dev/null") == 0 && r->diagnostics->sources->count)
        point_at_end(&r->diagnostics->sources->files[0], &r->message);
    else if (r->source)
        r->message.column = original_column(r->source, message.line, message.column);
    read_ranges(r, ranges);
    return true;
}

// ---- Changes ----

static char *unescape(const char *text) {
    igi_text plain = {0};
    for (; *text && *text != '"'; text++) {
        if (*text != '\\' || !text[1]) {
            igi_text_append(&plain, text, 1);
            continue;
        }
        text++;
        unsigned value = 0;
        int length = 0;
        if (sscanf(text, "%3o%n", &value, &length) == 1 && isdigit((unsigned char)*text)) {
            igi_text_append(&plain, (const char[]){(char)value}, 1);
            text += length - 1;
        } else {
            char c = *text == 'n' ? '\n' : *text == 't' ? '\t' : *text;
            igi_text_append(&plain, &c, 1);
        }
    }
    return igi_text_take(&plain);
}

// Text inserted by the rewriter is not the user's, so no change is suggested for it.
static bool can_change(const reader *r, const clang_range *range) {
    return r->source && r->source->rewrite.text && range->line == r->message.line &&
           range->end_line == r->message.line &&
           igi_msl_rewrite_has_place(&r->source->rewrite, range->line, range->column) &&
           igi_msl_rewrite_has_place(&r->source->rewrite, range->line, range->end_column);
}

// `"path":{3:14-3:14}:"text"`
static void read_change(reader *r, const char *line) {
    const char *at = strstr(line, "\":{");
    clang_range range;
    if (!r->heading || !at) return;
    at += 2;
    size_t path_length = strlen(r->message.path);
    bool same_file = strncmp(line + 1, r->message.path, path_length) == 0 && line[path_length + 1] == '"';
    if (!same_file || !read_range(&at, &range) || strncmp(at, ":\"", 2) != 0 || !can_change(r, &range)) return;
    igi_msl_diagnostic_span span = {original_column(r->source, range.line, range.column),
                                    original_column(r->source, range.line, range.end_column)};
    char *text = unescape(at + 2);
    bool internal = text && (strstr(text, "__ig") || strchr(text, '\n'));
    if (!internal && span.end >= span.column)
        igi_msl_diagnostic_propose(&r->message, span, text);
    else
        free(text);
}

// ---- Finishing a message ----

static bool is_internal_header(const reader *r) {
    const char *stdlib = r->diagnostics->stdlib, *path = r->message.path;
    size_t length = stdlib ? strlen(stdlib) : 0;
    return length && strncmp(path, stdlib, length) == 0 && strncmp(path + length, "/__ingot_", 9) == 0;
}

// "candidate template ignored: substitution failure [with A = float4]: ..." where the rest is about our own headers.
static char *explain_candidate(const char *text) {
    const char *with = strstr(text, "substitution failure [with "), *end = with ? strstr(with, "]: ") : NULL;
    if (!end || !strstr(end, "__ig")) return igi_strdup(text);
    with += strlen("substitution failure ");
    return igi_format("candidate ignored: it does not take these types %.*s", (int)(end + 1 - with), with);
}

// Notes about the internals of the standard headers do not help users, nor do repeated notes.
static bool is_worth_showing(const reader *r, const char *text) {
    if (strcmp(r->message.level, "note") != 0) return true;
    if (is_internal_header(r) || strcmp(r->message.path, "<scratch space>") == 0 || strstr(text, "__ig") ||
        strstr(text, "'__IG"))
        return false;
    const igi_text *log = &r->diagnostics->log;
    char *line = igi_format(": note: %s\n", text);
    bool known = line && !r->source && log->data && strstr(log->data + r->diagnostics->group_start, line);
    free(line);
    return !known;
}

static const char computed_probe[] =
    "the file that __has_include or __has_embed asks for must be written out, as \"name\" or <name>: a name that a "
    "macro gives is not followed";

// Our own text for a message that clang gives because of the rewriting; NULL to keep clang's. owns: the caller frees
// it.
static char *explain(const reader *r) {
    static const char tail[] = "' file not found";
    const char *text = r->message.text;
    if (strstr(text, igi_msl_computed_probe)) return igi_strdup(computed_probe);
    if (strcmp(text, "automatic variable qualified with an address space") == 0)
        return igi_strdup(
            "a variable of a function is in the thread address space; only pointers and references name another here");
    const char *end = text[0] == '\'' ? strstr(text, tail) : NULL;
    char *name = end ? igi_strndup(text + 1, (size_t)(end - text - 1)) : NULL;
    const char *reason = name ? igi_msl_sources_refusal(r->diagnostics->sources, r->message.path, name) : NULL;
    free(name);
    return igi_strdup(reason);
}

static char *reword(reader *r) {
    char *own = explain(r);
    if (own) return own;
    char *typed = igi_msl_diagnostic_plain_types(r->message.text);
    char *explained = typed ? explain_candidate(typed) : NULL;
    free(typed);
    if (!explained) return NULL;
    r->message.text = explained;
    char *hinted = igi_msl_diagnostic_add_hint(&r->message);
    free(explained);
    return hinted;
}

static void end_message(reader *r) {
    if (!r->heading) return;
    char *text = reword(r);
    r->message.text = text;
    if (!text)
        r->diagnostics->log.failed = true;
    else if (is_worth_showing(r, text))
        igi_msl_diagnostics_put(r->diagnostics, &r->message);
    free(text);
    igi_msl_diagnostic_free(&r->message);
    free(r->heading);
    r->heading = NULL;
}

// ---- All of it ----

static void read_line(reader *r, const char *text, size_t length) {
    static const char change[] = "fix-it:";
    char *line = igi_strndup(text, length);
    if (!line) {
        r->diagnostics->log.failed = true;
        return;
    }
    if (is_source_line(line)) {
        free(line);
    } else if (strncmp(line, change, sizeof change - 1) == 0) {
        read_change(r, line + sizeof change - 1);
        free(line);
    } else {
        end_message(r);
        if (!begin_message(r, line)) free(line);
    }
}

void igi_msl_diagnostics_add_clang(igi_msl_diagnostics *diagnostics, const char *output) {
    reader r = {.diagnostics = diagnostics};
    while (*output) {
        size_t length = strcspn(output, "\n");
        read_line(&r, output, length);
        output += length + (output[length] == '\n');
    }
    end_message(&r);
}
