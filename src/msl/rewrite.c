// SPDX-License-Identifier: Apache-2.0
// The rewriter: functions that passes call, and running the passes.
#include "msl/rewrite.h"

#include <string.h>

#include "msl/rewrite-passes.h"

// ---- What passes call ----

static void add_edit(igi_msl_rewriter *r, size_t offset, size_t length, char *text) {
    if (!igi_msl_edits_add(&r->out->edits, offset, length, text)) r->failed = true;
}

// The length of a backslash at the end of a line, with the line break; as in clang, blanks may be in between. 0: none.
static size_t splice_length(const char *text) {
    if (*text != '\\') return 0;
    const char *end = text + 1 + strspn(text + 1, " \t\v\f");
    size_t line_break = *end == '\n' ? 1 : *end != '\r' ? 0 : end[1] == '\n' ? 2 : 1;
    return line_break ? (size_t)(end - text) + line_break : 0;
}

// Copied words may contain line continuations, which have no meaning inside a word.
static void remove_splices(char *text) {
    char *to = text;
    while (text && *text) {
        size_t splice = splice_length(text);
        text += splice;
        if (!splice) *to++ = *text++;
    }
    if (to) *to = 0;
}

void igi_msl_rewriter_edit(igi_msl_rewriter *r, size_t offset, size_t length, char *text) {
    remove_splices(text);
    add_edit(r, offset, length, text);
}

void igi_msl_rewriter_complain(igi_msl_rewriter *r, size_t token, char *message) {
    igi_msl_rewrite *out = r->out;
    if (!message || !igi_grow((void **)&out->errors, &out->error_capacity, out->error_count + 1, sizeof *out->errors)) {
        free(message);
        r->failed = true;
        return;
    }
    out->errors[out->error_count++] = (igi_msl_rewrite_error){igi_msl_at(r, token)->offset, message};
}

void igi_msl_rewriter_mark_constant(igi_msl_rewriter *r, size_t token) {
    igi_msl_rewrite *out = r->out;
    char *name = igi_strndup(r->tokens.text + igi_msl_at(r, token)->offset, igi_msl_at(r, token)->length);
    if (!name ||
        !igi_grow((void **)&out->constants, &out->constant_capacity, out->constant_count + 1, sizeof *out->constants)) {
        free(name);
        r->failed = true;
        return;
    }
    out->constants[out->constant_count++] = (igi_msl_constant_mark){name, igi_msl_at(r, token)->offset};
}

void igi_msl_rewriter_append(const igi_msl_rewriter *r, igi_text *text, size_t first, size_t end) {
    for (size_t i = first; i < end; i++) {
        if (igi_msl_at(r, i)->kind == IGI_TOKEN_BOUNDARY) continue;
        if (i > first && igi_msl_end_of(r, i - 1) != igi_msl_at(r, i)->offset) igi_text_add(text, " ");
        igi_text_append(text, r->tokens.text + igi_msl_at(r, i)->offset, igi_msl_at(r, i)->length);
    }
}

// Line breaks inside a macro keep their backslash.
static void append_line_breaks(igi_text *text, const char *source, size_t from, size_t to) {
    for (size_t i = from; i < to; i++) {
        if (source[i] != '\n') continue;
        size_t before = i > from && source[i - 1] == '\r' ? i - 1 : i;
        bool joined = before > from && source[before - 1] == '\\';
        igi_text_add(text, joined ? " \\\n" : "\n");
    }
}

void igi_msl_rewriter_replace(igi_msl_rewriter *r, size_t first, size_t end, const char *text) {
    size_t from = igi_msl_at(r, first)->offset, to = igi_msl_end_of(r, end - 1);
    igi_text replacement = {0};
    igi_text_add(&replacement, text);
    remove_splices(replacement.data);
    if (replacement.data) replacement.length = strlen(replacement.data);
    append_line_breaks(&replacement, r->tokens.text, from, to);
    add_edit(r, from, to - from, igi_text_take(&replacement));
    for (size_t i = first; i < end; i++) igi_msl_at(r, i)->done = true;
}

// ---- Putting it together ----

bool igi_msl_rewrite_source(const char *source, size_t length, igi_msl_rewrite *rewrite) {
    static void (*const passes[])(igi_msl_rewriter *) = {igi_msl_rewrite_subscripts,
                                                         igi_msl_drop_address_space_overloads,
                                                         igi_msl_rewrite_threadgroup_variables,
                                                         igi_msl_rewrite_deduced_sizes,
                                                         igi_msl_rewrite_array_parameters,
                                                         igi_msl_rewrite_pragmas,
                                                         igi_msl_leave_out_kernels,
                                                         igi_msl_define_async_copies,
                                                         igi_msl_rewrite_stage_inputs,
                                                         igi_msl_rewrite_attributes,
                                                         igi_msl_rewrite_spellings,
                                                         igi_msl_rewrite_swizzle_assignments,
                                                         igi_msl_rewrite_conditionals,
                                                         igi_msl_refuse_unqualified};
    *rewrite = (igi_msl_rewrite){0};
    igi_msl_rewriter r = {.out = rewrite};
    if (!igi_msl_lex(source, length, &r.tokens)) return false;
    igi_msl_note_includes(&r, length);
    for (size_t i = 0; i < sizeof passes / sizeof *passes && !r.failed; i++) passes[i](&r);
    if (!r.failed) rewrite->text = igi_msl_edits_apply(&rewrite->edits, source, length, &rewrite->length);
    igi_msl_tokens_free(&r.tokens);
    if (rewrite->text) return true;
    igi_msl_rewrite_free(rewrite);
    return false;
}

void igi_msl_rewrite_free(igi_msl_rewrite *rewrite) {
    igi_msl_edits_free(&rewrite->edits);
    for (size_t i = 0; i < rewrite->include_count; i++) free(rewrite->includes[i].name);
    for (size_t i = 0; i < rewrite->constant_count; i++) free(rewrite->constants[i].name);
    for (size_t i = 0; i < rewrite->error_count; i++) free(rewrite->errors[i].message);
    free(rewrite->includes), free(rewrite->embeds), free(rewrite->constants), free(rewrite->errors),
        free(rewrite->text);
    *rewrite = (igi_msl_rewrite){0};
}

static size_t line_offset(const char *text, uint32_t line) {
    const char *at_line = text;
    while (--line && *at_line) {
        const char *end = strchr(at_line, '\n');
        if (!end) break;
        at_line = end + 1;
    }
    return (size_t)(at_line - text);
}

uint32_t igi_msl_rewrite_locate(const igi_msl_rewrite *rewrite, const char *source, uint32_t line, uint32_t column) {
    if (line == 0 || column == 0) return column;
    size_t original = igi_msl_edits_origin(&rewrite->edits, line_offset(rewrite->text, line) + column - 1);
    size_t start = line_offset(source, line);
    return original >= start ? (uint32_t)(original - start + 1) : 1;
}

bool igi_msl_rewrite_has_place(const igi_msl_rewrite *rewrite, uint32_t line, uint32_t column) {
    return line && column && !igi_msl_edits_is_inside(&rewrite->edits, line_offset(rewrite->text, line) + column - 1);
}
