// SPDX-License-Identifier: Apache-2.0
// The parameter of a kernel with [[stage_in]] becomes a variable at the start of its body, which the functions that
// annotate.c put behind the members of its type fill (stdlib/__ingot_stage_input). Vertex functions keep theirs: they only
// list its members for the reflection.
#include "msl/declarations.h"
#include "msl/rewrite-passes.h"

static bool has_word(const igi_msl_rewriter *r, size_t first, size_t end, const char *word) {
    for (size_t i = first; i < end; i++)
        if (igi_msl_is(r, i, word)) return true;
    return false;
}

// The first bracket of [[stage_in]] in the head, or SIZE_MAX.
static size_t attribute_in(const igi_msl_rewriter *r, const igi_msl_declaration *d) {
    for (size_t i = d->first; i + 4 < d->head_end; i++)
        if (igi_msl_is(r, i, "[") && igi_msl_is(r, i + 1, "[") && igi_msl_is(r, i + 2, "stage_in") &&
            igi_msl_is(r, i + 3, "]") && igi_msl_is(r, i + 4, "]"))
            return i;
    return SIZE_MAX;
}

// The first token of the parameter that goes up to `end`.
static size_t parameter_start(const igi_msl_rewriter *r, size_t first, size_t end) {
    int angles = 0;
    size_t i = end;
    for (; i > first; i--) {
        if (igi_msl_is(r, i - 1, ">")) angles++;
        if (igi_msl_is(r, i - 1, "<")) angles--;
        if (angles == 0 && (igi_msl_is(r, i - 1, ",") || igi_msl_is(r, i - 1, "("))) break;
    }
    return i;
}

// With one of the commas around it.
static void remove_parameter(igi_msl_rewriter *r, size_t start, size_t end) {
    if (igi_msl_is(r, end, ","))
        igi_msl_rewriter_replace(r, start, end + 1, "");
    else
        igi_msl_rewriter_replace(r, start - igi_msl_is(r, start - 1, ","), end, "");
}

static void list_members(igi_msl_rewriter *r, size_t body, size_t start, size_t name) {
    igi_text type = {0};
    igi_msl_rewriter_append(r, &type, start, name);
    char *text = type.failed ? NULL : igi_format(" ::metal::__ig_stage::listed<%s>();", type.data);
    igi_msl_rewriter_edit(r, igi_msl_end_of(r, body), 0, text);
    igi_text_free(&type);
}

static void declare_variable(igi_msl_rewriter *r, size_t body, size_t start, size_t name) {
    igi_text type = {0};
    igi_msl_rewriter_append(r, &type, start, name);
    const igi_msl_token *word = igi_msl_at(r, name);
    char *text = type.failed ? NULL
                             : igi_format(" %s %.*s = ::metal::__ig_stage::filled<%s>();", type.data, (int)word->length,
                                          r->tokens.text + word->offset, type.data);
    igi_msl_rewriter_edit(r, igi_msl_end_of(r, body), 0, text);
    igi_text_free(&type);
}

void igi_msl_rewrite_stage_inputs(igi_msl_rewriter *r) {
    igi_msl_declarations found = {0};
    if (!has_word(r, 0, r->tokens.count, "stage_in")) return;
    if (!igi_msl_declarations_find(&r->tokens, &found)) r->failed = true;
    for (size_t i = 0; i < found.count && !r->failed; i++) {
        const igi_msl_declaration *d = &found.items[i];
        bool vertex = has_word(r, d->first, d->head_end, "vertex");
        if (!vertex && !has_word(r, d->first, d->head_end, "kernel")) continue;
        size_t open = attribute_in(r, d);
        if (open == SIZE_MAX || !igi_msl_token_is_word(&r->tokens, open - 1)) continue;
        size_t start = parameter_start(r, d->first, open);
        if (start + 1 >= open || start <= d->first) continue;
        bool has_body = d->has_body && igi_msl_is(r, d->head_end, "{");
        if (has_body) (vertex ? list_members : declare_variable)(r, d->head_end, start, open - 1);
        if (!vertex) remove_parameter(r, start, open + 5);
    }
    igi_msl_declarations_free(&found);
}
