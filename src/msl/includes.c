// SPDX-License-Identifier: Apache-2.0
// Which files a text names: in #include and its relatives, in #embed, and in __has_include.
#include <assert.h>
#include <string.h>

#include "msl/rewrite-passes.h"

typedef struct directive {
    const char *word;
    bool every, data;
} directive;

static const directive directives[] = {
    {"include", false, false},          {"import", false, false}, {"include_next", true, false},
    {"__include_macros", false, false}, {"embed", false, true},
};
static const directive probes[] = {
    {"__has_include", false, false},
    {"__has_include_next", true, false},
    {"__has_embed", false, true},
};

const char igi_msl_computed_probe[] = "__ingot_computed_has_include";

#define FIND(table, r, index) find(table, sizeof(table) / sizeof *(table), r, index)

static const directive *find(const directive *table, size_t count, const igi_msl_rewriter *r, size_t index) {
    for (size_t i = 0; i < count; i++)
        if (igi_msl_is(r, index, table[i].word)) return &table[i];
    return NULL;
}

static void add_include(igi_msl_rewriter *r, const igi_msl_include *include, const char *name, size_t length) {
    igi_msl_rewrite *out = r->out;
    char *copy = igi_strndup(name, length);
    if (!copy ||
        !igi_grow((void **)&out->includes, &out->include_capacity, out->include_count + 1, sizeof *out->includes)) {
        free(copy);
        r->failed = true;
        return;
    }
    out->includes[out->include_count] = *include;
    out->includes[out->include_count++].name = copy;
}

// Records "name" or <name> at this token; returns false if it is neither.
static bool note_name(igi_msl_rewriter *r, size_t index, size_t length, const directive *how, bool probe) {
    if (index >= r->tokens.count) return false;
    const igi_msl_token *token = igi_msl_at(r, index);
    igi_msl_include include = {
        .offset = token->offset, .every = how->every, .data = how->data, .probe = probe, .file = SIZE_MAX};
    const char *name = r->tokens.text + token->offset + 1, *end = r->tokens.text + length;
    if (token->kind == IGI_TOKEN_STRING && token->length >= 2 && name[-1] == '"') {
        include.quoted = true;
        add_include(r, &include, name, token->length - 2);
        return true;
    }
    if (!igi_msl_is(r, index, "<")) return false;
    const char *newline = memchr(name, '\n', (size_t)(end - name));
    const char *close = memchr(name, '>', (size_t)((newline ? newline : end) - name));
    if (close) add_include(r, &include, name, (size_t)(close - name));
    return close != NULL;
}

// Only clang knows a name that comes from a macro, and it does not report whether such a file is missing. The test is
// rewritten so that clang refuses it where it is evaluated.
static void note_probe(igi_msl_rewriter *r, size_t index, size_t length) {
    const directive *how = FIND(probes, r, index);
    if (!how) return;
    bool asks = igi_msl_is(r, index + 1, "(");
    if (asks && note_name(r, index + 2, length, how, true)) return;
    if (asks || igi_msl_at(r, index)->region == IGI_REGION_MACRO)
        igi_msl_rewriter_replace(r, index, index + 1, igi_msl_computed_probe);
}

// ---- Lines ----

typedef struct line_counter {
    const char *text;
    size_t at;
    uint32_t line;
} line_counter;

// pre: offsets ascend. Lines as clang counts them: a carriage return alone ends one too.
static uint32_t line_at(line_counter *counter, size_t offset) {
    assert(offset >= counter->at);
    for (; counter->at < offset; counter->at++) {
        char c = counter->text[counter->at];
        counter->line += c == '\n' || (c == '\r' && counter->text[counter->at + 1] != '\n');
    }
    return counter->line;
}

static size_t end_of_directive(const igi_msl_rewriter *r, size_t index) {
    while (index < r->tokens.count && igi_msl_at(r, index)->kind != IGI_TOKEN_BOUNDARY) index++;
    return index < r->tokens.count ? index : r->tokens.count - 1;
}

static void note_embed_lines(igi_msl_rewriter *r, size_t index, line_counter *counter) {
    igi_msl_rewrite *out = r->out;
    if (!igi_grow((void **)&out->embeds, &out->embed_capacity, out->embed_count + 1, sizeof *out->embeds)) {
        r->failed = true;
        return;
    }
    uint32_t first = line_at(counter, igi_msl_at(r, index)->offset);
    uint32_t last = line_at(counter, igi_msl_at(r, end_of_directive(r, index))->offset);
    out->embeds[out->embed_count++] = (igi_msl_line_range){first, last};
}

// `#line 7` and `# 7 "name"`: after one of these, clang's line numbers are not those of the text.
static bool renumbers(const igi_msl_rewriter *r, size_t index) {
    return igi_msl_is(r, index + 1, "line") ||
           (index + 1 < r->tokens.count && igi_msl_at(r, index + 1)->kind == IGI_TOKEN_NUMBER);
}

void igi_msl_note_includes(igi_msl_rewriter *r, size_t length) {
    line_counter counter = {.text = r->tokens.text, .line = 1};
    for (size_t i = 0; i < r->tokens.count && !r->failed; i++) {
        if (igi_msl_at(r, i)->region != IGI_REGION_CODE && igi_msl_at(r, i)->kind == IGI_TOKEN_WORD)
            note_probe(r, i, length);
        if (igi_msl_at(r, i)->kind != IGI_TOKEN_DIRECTIVE) continue;
        r->out->renumbered = r->out->renumbered || renumbers(r, i);
        const directive *how = FIND(directives, r, i + 1);
        if (!how) continue;
        note_name(r, i + 2, length, how, false);
        if (how->data) note_embed_lines(r, i, &counter);
    }
}
