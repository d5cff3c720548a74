// SPDX-License-Identifier: Apache-2.0
// Attributes to annotations. All context is found by walking back over tokens, so macro bodies work like code.
#include "msl/rewrite.h"

#include <stdlib.h>
#include <string.h>

#include "msl/attributes.h"
#include "msl/lexer.h"

typedef struct rewriter {
    igi_tokens tokens;
    igi_rewrite *out;
    size_t last_extern;  // 1 + first token of the declaration last made extern
    bool failed;
} rewriter;

typedef struct item {  // one attribute of a [[list]]
    const igi_attribute *attribute;
    size_t name;         // token
    size_t first, last;  // argument tokens, first > last when there are none
    size_t end;          // token after the attribute
} item;

static bool is(const rewriter *r, size_t index, const char *word) {
    return igi_token_is(&r->tokens, index, word);
}

static const igi_token *at(const rewriter *r, size_t index) {
    return &r->tokens.items[index];
}

static size_t end_offset(const rewriter *r, size_t index) {
    return at(r, index)->offset + at(r, index)->length;
}

static void edit(rewriter *r, size_t offset, size_t length, char *text) {
    igi_rewrite *out = r->out;
    if (!text || !igi_grow((void **)&out->edits, &out->edit_capacity, out->edit_count + 1, sizeof *out->edits)) {
        free(text);
        r->failed = true;
        return;
    }
    out->edits[out->edit_count++] = (igi_edit){offset, length, text};
}

static void complain(rewriter *r, size_t token, char *message) {
    igi_rewrite *out = r->out;
    if (!message || !igi_grow((void **)&out->errors, &out->error_capacity, out->error_count + 1, sizeof *out->errors)) {
        free(message);
        r->failed = true;
        return;
    }
    out->errors[out->error_count++] = (igi_rewrite_error){at(r, token)->offset, message};
}

// ---- Walking back ----

static bool ends_statement(const rewriter *r, size_t index) {
    igi_token_kind kind = at(r, index)->kind;
    return kind == IGI_TOKEN_BOUNDARY || kind == IGI_TOKEN_DIRECTIVE || is(r, index, ";") || is(r, index, "{") ||
           is(r, index, "}");
}

// Whether an unclosed parenthesis lies between here and the beginning of the statement.
static bool inside_parentheses(const rewriter *r, size_t index) {
    int open = 0;
    for (; index > 0 && !ends_statement(r, index - 1); index--) {
        if (is(r, index - 1, ")")) open--;
        if (is(r, index - 1, "(") && ++open > 0) return true;
    }
    return false;
}

// The first token of the parameter or, outside parentheses, of the statement that `from` is in.
static size_t declaration_start(const rewriter *r, size_t from, bool parameter) {
    int angles = 0, brackets = 0;
    size_t index = from;
    for (; index > 0 && !ends_statement(r, index - 1); index--) {
        size_t previous = index - 1;
        if (is(r, previous, ">")) angles++;
        if (is(r, previous, "<")) angles--;
        if (is(r, previous, ")")) brackets++;
        if (is(r, previous, "(")) brackets--;
        if (brackets < 0) break;
        if (parameter && brackets == 0 && angles <= 0 && is(r, previous, ",")) break;
    }
    return index;
}

static const char *address_space(const rewriter *r, size_t first, size_t end) {
    static const char *const spaces[] = {"device", "constant", "threadgroup", "thread"};
    for (size_t i = first; i < end; i++)
        for (size_t k = 0; k < sizeof spaces / sizeof *spaces; k++)
            if (is(r, i, spaces[k])) return spaces[k];
    return "";
}

// ---- Attributes ----

static void append_tokens(const rewriter *r, igi_text *text, size_t first, size_t end) {
    for (size_t i = first; i < end; i++) {
        if (at(r, i)->kind == IGI_TOKEN_BOUNDARY) continue;
        if (i > first) igi_text_add(text, " ");
        igi_text_append(text, r->tokens.text + at(r, i)->offset, at(r, i)->length);
    }
}

static size_t skip_parentheses(const rewriter *r, size_t open) {
    int depth = 0;
    for (size_t i = open; i < r->tokens.count; i++) {
        if (at(r, i)->kind == IGI_TOKEN_BOUNDARY) break;
        if (is(r, i, "(")) depth++;
        if (is(r, i, ")") && --depth == 0) return i + 1;
    }
    return 0;
}

static bool parse_item(const rewriter *r, size_t index, item *found) {
    if (index >= r->tokens.count || at(r, index)->kind != IGI_TOKEN_WORD) return false;
    *found = (item){.name = index, .first = 1, .last = 0, .end = index + 1};
    bool qualified = is(r, index + 1, ":") && is(r, index + 2, ":");
    if (qualified) found->end = index + 4;
    if (!qualified) found->attribute = igi_attribute_find(r->tokens.text + at(r, index)->offset, at(r, index)->length);
    if (found->end >= r->tokens.count || !is(r, found->end, "(")) return found->end < r->tokens.count;
    size_t close = skip_parentheses(r, found->end);
    if (!close) return false;
    found->first = found->end + 1;
    found->last = close - 2;
    found->end = close;
    return true;
}

static bool has_argument(const item *attribute) {
    return attribute->first <= attribute->last;
}

// The declaration loses its storage class and becomes extern; once for all its declarators.
static void make_extern(rewriter *r, size_t start, size_t name) {
    if (r->last_extern == start + 1) return;
    r->last_extern = start + 1;
    for (size_t i = start; i < name; i++) {
        if (!is(r, i, "static")) continue;
        edit(r, at(r, i)->offset, at(r, i)->length, igi_strdup("extern"));
        return;
    }
    edit(r, at(r, start)->offset, 0, igi_strdup("extern "));
}

// Turns `constant T name [[function_constant(n)]]` into an external symbol that carries number, type and name.
static void emit_constant(rewriter *r, igi_text *text, const item *attribute, size_t open, size_t start) {
    size_t name = open - 1, type = start, type_end = start;
    for (size_t i = start; i < name; i++) {
        if (is(r, i, "constant") || is(r, i, "static") || is(r, i, "const") || is(r, i, "constexpr")) type = i + 1;
    }
    for (type_end = type; type_end < name && !is(r, type_end + 1, "["); type_end++) {}
    make_extern(r, start, name);
    igi_text_add(text, " __asm__(\"ig.fc.\" __IG_STRING(");
    append_tokens(r, text, attribute->first, attribute->last + 1);
    igi_text_add(text, ") \".\" __IG_STRING(");
    append_tokens(r, text, type, type_end);
    igi_text_add(text, ") \".\" __IG_STRING(");
    append_tokens(r, text, name, open);
    igi_text_add(text, "))");
}

static void emit(rewriter *r, igi_text *text, const item *attribute, size_t open) {
    const char *name = attribute->attribute->name;
    bool parameter = inside_parentheses(r, open);
    size_t start = declaration_start(r, open, parameter);
    igi_attribute_kind kind = attribute->attribute->kind;
    bool wants_argument = kind == IGI_ATTRIBUTE_SLOT || kind == IGI_ATTRIBUTE_CONSTANT ||
                          kind == IGI_ATTRIBUTE_HOST_NAME || kind == IGI_ATTRIBUTE_LIMIT;
    if (wants_argument && !has_argument(attribute)) {
        complain(r, attribute->name, igi_format("attribute '%s' needs an argument, as in [[%s(%s)]]", name, name,
                                                kind == IGI_ATTRIBUTE_HOST_NAME ? "\"name\"" : "0"));
        return;
    }
    if (kind == IGI_ATTRIBUTE_IGNORED) return;
    if (kind == IGI_ATTRIBUTE_CONSTANT && !parameter) {
        emit_constant(r, text, attribute, open, start);
        return;
    }
    igi_text_add(text, "__attribute__((annotate(\"ig.");
    switch (kind) {
        case IGI_ATTRIBUTE_HOST_NAME: igi_text_add(text, "host_name:\" "); break;
        case IGI_ATTRIBUTE_UNSUPPORTED: igi_text_addf(text, "unsupported:%s\"", name); break;
        case IGI_ATTRIBUTE_CONSTANT: igi_text_add(text, "condition:\" __IG_STRING("); break;
        case IGI_ATTRIBUTE_SLOT: igi_text_addf(text, "%s:%s\", ", name, address_space(r, start, open)); break;
        case IGI_ATTRIBUTE_LIMIT: igi_text_addf(text, "%s\", ", name); break;
        default: igi_text_addf(text, "%s\"", name);
    }
    if (wants_argument) append_tokens(r, text, attribute->first, attribute->last + 1);
    igi_text_add(text, kind == IGI_ATTRIBUTE_CONSTANT ? "))))" : ")))");
    igi_text_add(text, " ");
}

// The replacement keeps the line breaks of what it replaces, so that line numbers stay.
static void keep_lines(const rewriter *r, igi_text *text, size_t from, size_t to) {
    for (size_t i = from; i < to; i++) {
        if (r->tokens.text[i] != '\n') continue;
        bool joined = i > from && (r->tokens.text[i - 1] == '\\' || (r->tokens.text[i - 1] == '\r' && i > from + 1 &&
                                                                     r->tokens.text[i - 2] == '\\'));
        igi_text_add(text, joined ? " \\\n" : "\n");
    }
}

// [[a, b(1)]] at token `open`. Gives the token after the list, or 0 when it is no attribute list.
static size_t rewrite_list(rewriter *r, size_t open) {
    igi_text ours = {0}, theirs = {0};
    bool metal = false;
    size_t index = open + 2;
    igi_text_add(&ours, " ");  // MSL allows name[[attribute]]
    item attribute;
    for (;;) {
        if (!parse_item(r, index, &attribute)) goto not_a_list;
        if (attribute.attribute) {
            metal = true;
            emit(r, &ours, &attribute, open);
        } else {
            if (theirs.length) igi_text_add(&theirs, ", ");
            append_tokens(r, &theirs, index, attribute.end);
        }
        index = attribute.end;
        if (!is(r, index, ",")) break;
        index++;
    }
    if (!is(r, index, "]") || !is(r, index + 1, "]")) goto not_a_list;
    if (metal) {
        size_t from = at(r, open)->offset, to = end_offset(r, index + 1);
        if (theirs.length) igi_text_addf(&ours, "[[%s]]", theirs.data);
        keep_lines(r, &ours, from, to);
        edit(r, from, to - from, igi_text_take(&ours));
    }
    igi_text_free(&ours), igi_text_free(&theirs);
    return index + 2;
not_a_list:
    igi_text_free(&ours), igi_text_free(&theirs);
    return 0;
}

// ---- Directives ----

static void add_include(rewriter *r, const char *name, size_t length, bool quoted) {
    igi_rewrite *out = r->out;
    char *copy = igi_strndup(name, length);
    if (!copy ||
        !igi_grow((void **)&out->includes, &out->include_capacity, out->include_count + 1, sizeof *out->includes)) {
        free(copy);
        r->failed = true;
        return;
    }
    out->includes[out->include_count++] = (igi_include){copy, quoted};
}

static void note_include(rewriter *r, size_t index) {
    if (index >= r->tokens.count) return;
    const char *start = r->tokens.text + at(r, index)->offset;
    if (at(r, index)->kind == IGI_TOKEN_STRING && at(r, index)->length >= 2) {
        add_include(r, start + 1, at(r, index)->length - 2, true);
    } else if (is(r, index, "<")) {
        size_t length = strcspn(start + 1, ">\n");
        if (start[1 + length] == '>') add_include(r, start + 1, length, false);
    }
}

static void directive(rewriter *r, size_t hash) {
    if (is(r, hash + 1, "include") || is(r, hash + 1, "import")) note_include(r, hash + 2);
    // Metal's contraction pragma is clang's under another name.
    if (is(r, hash + 1, "pragma") && is(r, hash + 2, "METAL") && is(r, hash + 3, "fp") && is(r, hash + 4, "contract"))
        edit(r, at(r, hash + 2)->offset, at(r, hash + 2)->length, igi_strdup("clang"));
}

// ---- Literals ----

// MSL has no double: 0.5 is a float. (clang's option for that is lost in templates.)
static void literal(rewriter *r, size_t index) {
    const igi_token *token = at(r, index);
    const char *text = r->tokens.text + token->offset;
    bool hex = token->length > 1 && text[0] == '0' && (text[1] | 32) == 'x', floating = false;
    for (uint32_t i = hex ? 2 : 0; i < token->length; i++) {
        char c = (char)(text[i] | 32);
        floating |= text[i] == '.' || (hex ? c == 'p' : c == 'e');
    }
    char last = text[token->length - 1];
    bool bare = last == '.' || (last >= '0' && last <= '9');
    if (floating && bare) edit(r, token->offset + token->length, 0, igi_strdup("f"));
}

// ---- Putting it together ----

static int by_offset(const void *a, const void *b) {
    const igi_edit *left = a, *right = b;
    return left->offset < right->offset ? -1 : left->offset > right->offset;
}

static void apply(rewriter *r, size_t length) {
    igi_rewrite *out = r->out;
    igi_text text = {0};
    size_t done = 0;
    qsort(out->edits, out->edit_count, sizeof *out->edits, by_offset);
    for (size_t i = 0; i < out->edit_count; i++) {
        const igi_edit *e = &out->edits[i];
        igi_text_append(&text, r->tokens.text + done, e->offset - done);
        igi_text_add(&text, e->text);
        done = e->offset + e->length;
    }
    igi_text_append(&text, r->tokens.text + done, length - done);
    out->length = text.length;
    out->text = igi_text_take(&text);
    if (!out->text) r->failed = true;
}

bool igi_rewrite_source(const char *source, size_t length, igi_rewrite *rewrite) {
    *rewrite = (igi_rewrite){0};
    rewriter r = {.out = rewrite};
    if (!igi_lex(source, length, &r.tokens)) return false;
    for (size_t i = 0; i < r.tokens.count && !r.failed;) {
        size_t next = 0;
        if (at(&r, i)->kind == IGI_TOKEN_DIRECTIVE) directive(&r, i);
        if (at(&r, i)->kind == IGI_TOKEN_NUMBER) literal(&r, i);
        bool opens = is(&r, i, "[") && is(&r, i + 1, "[") && at(&r, i + 1)->offset == at(&r, i)->offset + 1;
        if (opens) next = rewrite_list(&r, i);
        i = next ? next : i + 1;
    }
    if (!r.failed) apply(&r, length);
    igi_tokens_free(&r.tokens);
    if (r.failed) igi_rewrite_free(rewrite);
    return !r.failed;
}

void igi_rewrite_free(igi_rewrite *rewrite) {
    for (size_t i = 0; i < rewrite->edit_count; i++) free(rewrite->edits[i].text);
    for (size_t i = 0; i < rewrite->include_count; i++) free(rewrite->includes[i].name);
    for (size_t i = 0; i < rewrite->error_count; i++) free(rewrite->errors[i].message);
    free(rewrite->edits), free(rewrite->includes), free(rewrite->errors), free(rewrite->text);
    *rewrite = (igi_rewrite){0};
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

uint32_t igi_rewrite_locate(const igi_rewrite *rewrite, const char *source, uint32_t line, uint32_t column) {
    if (line == 0 || column == 0) return column;
    size_t place = line_offset(rewrite->text, line) + column - 1;
    size_t in = 0, out = 0;  // positions in step, before the next edit
    for (size_t i = 0; i < rewrite->edit_count; i++) {
        const igi_edit *e = &rewrite->edits[i];
        size_t edit_out = out + (e->offset - in), written = strlen(e->text);
        if (place < edit_out) break;
        if (place < edit_out + written) {
            place = edit_out;  // inside a replacement: point at what it replaced
            in = e->offset;
            out = edit_out;
            break;
        }
        in = e->offset + e->length;
        out = edit_out + written;
    }
    size_t original = in + (place - out), start = line_offset(source, line);
    return original >= start ? (uint32_t)(original - start + 1) : 1;
}
