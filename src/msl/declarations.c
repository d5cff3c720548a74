// SPDX-License-Identifier: Apache-2.0
// One pass over the tokens that tracks open scopes. Each branch of an #if starts with the scopes before it.
#include "msl/declarations.h"

#include "core/memory.h"
#include "msl/address-space.h"

enum { NONE = UINT32_MAX };

typedef struct scope {
    uint32_t parent;
    uint32_t declaration;  // of the class, NONE for other scopes and for ignored classes
    uint32_t name;         // token of the class's name, NONE for others
    bool macro;            // a macro's body: the code around its invocation is unknown
} scope;

typedef struct branch {  // a part of the file between #if, #else and #endif
    uint32_t parent, end;
} branch;

// The state of the walk: small and flat, because every #if saves a copy.
typedef struct state {
    uint32_t scope;
    uint32_t depth;        // open brackets in the head, or open braces in a body
    uint32_t declaration;  // whose body is open; NONE if it is ignored
    uint32_t first;        // first token of the head; NONE before it
    uint32_t head_end;     // where bases or initialisers begin; NONE before that
    uint32_t branch;       // in which the head began
    uint32_t words;        // tokens before the parameters, without specifiers and template arguments
    uint32_t name;         // last word of a class's head
    uint32_t last_word;    // last word outside template arguments
    uint32_t angles;
    bool in_body, is_namespace, is_class, is_function, has_space;
    bool is_other;  // a statement, or the invocation of a macro
} state;

typedef struct walker {
    const igi_msl_tokens *tokens;
    igi_msl_declarations *found;
    scope *scopes;
    size_t scope_count, scope_capacity;
    branch *branches;
    size_t branch_count, branch_capacity;
    state *saved;  // one for each open #if
    size_t saved_count, saved_capacity;
    uint32_t branch;
    state now, outside;  // `outside` while in a macro's body
    bool failed;
} walker;

static bool is(const walker *w, size_t index, const char *word) {
    return igi_msl_token_is(w->tokens, index, word);
}

// ---- Scopes and branches ----

static uint32_t add_scope(walker *w, scope added) {
    if (!igi_grow((void **)&w->scopes, &w->scope_capacity, w->scope_count + 1, sizeof *w->scopes)) {
        w->failed = true;
        return 0;
    }
    w->scopes[w->scope_count] = added;
    return (uint32_t)w->scope_count++;
}

static void open_branch(walker *w, uint32_t parent) {
    if (!igi_grow((void **)&w->branches, &w->branch_capacity, w->branch_count + 1, sizeof *w->branches)) {
        w->failed = true;
        return;
    }
    w->branches[w->branch_count] = (branch){.parent = parent, .end = NONE};
    w->branch = (uint32_t)w->branch_count++;
}

static void open_condition(walker *w) {
    if (!igi_grow((void **)&w->saved, &w->saved_capacity, w->saved_count + 1, sizeof *w->saved)) {
        w->failed = true;
        return;
    }
    w->saved[w->saved_count++] = w->now;
    open_branch(w, w->branch);
}

static void follow_condition(walker *w, size_t hash) {
    static const char *const openings[] = {"if", "ifdef", "ifndef", NULL};
    static const char *const others[] = {"elif", "else", "elifdef", "elifndef", NULL};
    bool ends = is(w, hash + 1, "endif"), other = igi_msl_token_in(w->tokens, hash + 1, others);
    if (igi_msl_token_in(w->tokens, hash + 1, openings)) open_condition(w);
    if ((!ends && !other) || w->saved_count == 0) return;
    uint32_t parent = w->branches[w->branch].parent;
    w->branches[w->branch].end = (uint32_t)hash;
    if (other) {
        w->now = w->saved[w->saved_count - 1];
        open_branch(w, parent);
    } else {
        w->saved_count--;
        w->branch = parent;
    }
}

// ---- Heads ----

static void start_head(walker *w) {
    w->now = (state){
        .scope = w->now.scope, .declaration = NONE, .first = NONE, .head_end = NONE, .name = NONE, .last_word = NONE};
}

static bool is_call(const walker *w, size_t index) {
    static const char *const others[] = {"alignas",  "__attribute__", "__declspec", "decltype",
                                         "explicit", "noexcept",      NULL};
    return is(w, index, "(") && index > 0 && !igi_msl_token_in(w->tokens, index - 1, others);
}

// A lone name before the parameters is a constructor only if it is the name of the class; otherwise it is a macro, and
// what the macro does with an address space is unknown.
static bool names_function(const walker *w) {
    uint32_t class_name = w->scopes[w->now.scope].name, name = w->now.last_word;
    return w->now.words > 1 || (class_name != NONE && name != NONE && igi_msl_token_same(w->tokens, class_name, name));
}

static void read_head_word(walker *w, size_t index) {
    static const char *const statements[] = {"if",   "for",    "while", "switch",  "do",
                                             "else", "return", "case",  "default", NULL};
    static const char *const class_keys[] = {"struct", "class", "union", NULL};
    static const char *const specifiers[] = {"constexpr", "explicit", "extern",     "friend",   "inline",
                                             "kernel",    "static",   "METAL_FUNC", "template", NULL};
    state *now = &w->now;
    now->last_word = (uint32_t)index;
    if (now->first == index) now->is_other = igi_msl_token_in(w->tokens, index, statements);
    now->is_namespace |= is(w, index, "namespace");
    if (igi_msl_token_in(w->tokens, index, class_keys))
        now->is_class = true;
    else if (now->is_class && !is(w, index, "final"))
        now->name = (uint32_t)index;
    if (!igi_msl_token_in(w->tokens, index, specifiers)) now->words++;
}

// A token of a head, outside all brackets.
static void read_head(walker *w, size_t index) {
    state *now = &w->now;
    igi_msl_token_kind kind = w->tokens->items[index].kind;
    bool named = index > now->first && igi_msl_token_is_word(w->tokens, index - 1) && !is(w, index - 1, "operator");
    if (is(w, index, "<") && named) {
        now->angles++;
    } else if (is(w, index, ">") && now->angles > 0) {
        now->angles--;
    } else if (now->angles == 0 && kind == IGI_TOKEN_STRING) {
        now->is_namespace |= index > 0 && is(w, index - 1, "extern");
    } else if (now->angles == 0 && now->head_end == NONE && is_call(w, index)) {
        if (!now->is_function) now->is_other |= !names_function(w);
        now->is_function = true;
    } else if (now->angles == 0 && now->head_end == NONE && !now->is_function) {
        if (kind == IGI_TOKEN_WORD) read_head_word(w, index);
        if (kind == IGI_TOKEN_PUNCT) now->words++;
    }
}

// ---- Declarations ----

// Adds the declaration whose head ends here, if it is a function or class in one piece; otherwise returns NONE.
static uint32_t add_declaration(walker *w, size_t index, bool has_body) {
    state *now = &w->now;
    bool is_class = now->is_class && !now->is_function;
    bool known = now->first != NONE && (is_class ? has_body : now->is_function) && !now->is_other;
    // Statements in a macro's body look like prototypes.
    if (!known || now->branch != w->branch || (w->scopes[now->scope].macro && !has_body)) return NONE;
    igi_msl_declarations *found = w->found;
    if (!igi_grow((void **)&found->items, &found->capacity, found->count + 1, sizeof *found->items)) {
        w->failed = true;
        return NONE;
    }
    found->items[found->count] =
        (igi_msl_declaration){.first = now->first,
                              .head_end = now->head_end == NONE ? (uint32_t)index : now->head_end,
                              .scope = now->scope,
                              .visible_until = now->branch,  // its end is not known yet
                              .has_body = has_body,
                              .has_space = now->has_space};
    return (uint32_t)found->count++;
}

// The declaration is complete if it ends in the branch where it began.
static void end_declaration(walker *w, uint32_t declaration, size_t end) {
    if (declaration == NONE) return;
    igi_msl_declaration *item = &w->found->items[declaration];
    if (item->visible_until == w->branch && item->end == 0) item->end = (uint32_t)end;
}

static void open_body(walker *w, size_t index) {
    state *now = &w->now;
    uint32_t declaration = add_declaration(w, index, true);
    if ((now->is_namespace || now->is_class) && !now->is_function) {
        bool macro = w->scopes[now->scope].macro && !now->is_class;
        scope inner = {now->scope, declaration, now->is_class ? now->name : NONE, macro};
        uint32_t added = add_scope(w, inner);
        start_head(w);
        now->scope = added;
    } else {
        now->declaration = declaration;
        now->in_body = true;
        now->depth = 1;
    }
}

static void close_scope(walker *w, size_t index) {
    scope closed = w->scopes[w->now.scope];
    end_declaration(w, closed.declaration, index + 1);
    if (closed.parent != NONE) w->now.scope = closed.parent;
    start_head(w);
}

static void walk_body(walker *w, size_t index) {
    state *now = &w->now;
    if (is(w, index, "{")) now->depth++;
    if (!is(w, index, "}") || --now->depth > 0) return;
    end_declaration(w, now->declaration, index + 1);
    start_head(w);
}

static bool opens_initialiser(const walker *w, size_t index) {
    bool after_name = igi_msl_token_is_word(w->tokens, index - 1) || is(w, index - 1, ">");
    return w->now.is_function && w->now.head_end != NONE && after_name;
}

// A single colon: an access label, or the end of a head.
static void read_colon(walker *w, size_t index) {
    static const char *const labels[] = {"public", "private", "protected", NULL};
    if (index == w->now.first + 1 && igi_msl_token_in(w->tokens, w->now.first, labels))
        start_head(w);
    else if (w->now.head_end == NONE && (w->now.is_function || w->now.is_class))
        w->now.head_end = (uint32_t)index;
}

static void walk_head(walker *w, size_t index) {
    static const char *const opening[] = {"(", "[", NULL}, *const closing[] = {")", "]", NULL};
    state *now = &w->now;
    bool outside = now->depth == 0;
    if (outside && is(w, index, ";")) {
        end_declaration(w, add_declaration(w, index, false), index + 1);
        start_head(w);
        return;
    }
    if (outside && is(w, index, "}")) {
        close_scope(w, index);
        return;
    }
    if (now->first == NONE) now->first = (uint32_t)index, now->branch = w->branch;
    now->has_space |= now->head_end == NONE && igi_msl_address_space(w->tokens, index);
    if (outside && is(w, index, "{") && !opens_initialiser(w, index)) {
        open_body(w, index);
    } else if (outside && now->angles == 0 && igi_msl_token_is_colon(w->tokens, index)) {
        read_colon(w, index);
    } else {
        if (outside) read_head(w, index);
        if (igi_msl_token_in(w->tokens, index, opening) || is(w, index, "{")) now->depth++;
        if (now->depth > 0 && (igi_msl_token_in(w->tokens, index, closing) || is(w, index, "}"))) now->depth--;
    }
}

// ---- The walk ----

static void enter_macro(walker *w) {
    w->outside = w->now;
    w->now.scope = add_scope(w, (scope){NONE, NONE, NONE, true});
    start_head(w);
}

static void walk(walker *w) {
    igi_msl_token_region region = IGI_REGION_CODE;
    for (size_t i = 0; i < w->tokens->count && !w->failed; i++) {
        const igi_msl_token *token = &w->tokens->items[i];
        if (token->region == IGI_REGION_MACRO && region != IGI_REGION_MACRO) enter_macro(w);
        if (token->region != IGI_REGION_MACRO && region == IGI_REGION_MACRO) w->now = w->outside;
        region = token->region;
        if (token->kind == IGI_TOKEN_DIRECTIVE) follow_condition(w, i);
        if (region == IGI_REGION_DIRECTIVE) continue;
        if (w->now.in_body)
            walk_body(w, i);
        else
            walk_head(w, i);
    }
}

// Drops declarations that never ended, and replaces branches by the tokens where they end.
static void drop_unfinished(walker *w) {
    igi_msl_declarations *found = w->found;
    size_t kept = 0;
    for (size_t i = 0; i < found->count; i++) {
        if (found->items[i].end == 0) continue;
        found->items[kept] = found->items[i];
        found->items[kept].visible_until = w->branches[found->items[i].visible_until].end;
        kept++;
    }
    found->count = kept;
}

bool igi_msl_declarations_find(const igi_msl_tokens *tokens, igi_msl_declarations *found) {
    *found = (igi_msl_declarations){0};
    walker w = {.tokens = tokens, .found = found};
    open_branch(&w, NONE);
    w.now.scope = add_scope(&w, (scope){NONE, NONE, NONE, false});
    start_head(&w);
    if (!w.failed) walk(&w);
    if (!w.failed) drop_unfinished(&w);
    free(w.scopes), free(w.branches), free(w.saved);
    if (w.failed) igi_msl_declarations_free(found);
    return !w.failed;
}

void igi_msl_declarations_free(igi_msl_declarations *declarations) {
    free(declarations->items);
    *declarations = (igi_msl_declarations){0};
}
