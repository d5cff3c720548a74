// SPDX-License-Identifier: Apache-2.0
// Address spaces of types, and of the object a member function is called on (MSL specification, 4.7).
#include "msl/address-space.h"

#include <assert.h>
#include <string.h>

// Real code has one or two qualifiers in a row and short template arguments; text with more is left unchanged.
enum { MAX_QUALIFIERS = 8, MAX_ARGUMENTS = 64 };

static bool is(const igi_msl_tokens *tokens, size_t index, const char *word) {
    return igi_msl_token_is(tokens, index, word);
}

const char *igi_msl_address_space(const igi_msl_tokens *tokens, size_t index) {
    static const char *const spaces[] = {"device",   "constant",    "threadgroup",           "thread",
                                         "ray_data", "object_data", "threadgroup_imageblock"};
    if (!igi_msl_token_is_word(tokens, index)) return NULL;
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (is(tokens, index, spaces[i])) return spaces[i];
    return NULL;
}

// The space that is all of a macro's body, qualifiers aside; its name is at `name`.
static const char *space_of_body(const igi_msl_tokens *tokens, size_t name) {
    static const char *const qualifiers[] = {"const", "volatile", NULL};
    const char *space = NULL;
    size_t i = name + 1;
    if (i >= tokens->count || tokens->items[i].kind != IGI_TOKEN_BOUNDARY) return NULL;
    for (i++; i < name + MAX_QUALIFIERS && i < tokens->count; i++) {
        if (tokens->items[i].kind == IGI_TOKEN_BOUNDARY) return space;
        const char *named = igi_msl_address_space(tokens, i);
        if (!igi_msl_token_in(tokens, i, qualifiers) && (!named || space)) return NULL;
        if (named) space = named;
    }
    return NULL;
}

void igi_msl_space_macros_find(const igi_msl_tokens *tokens, igi_msl_space_macros *found) {
    found->count = 0;
    for (size_t i = 0; i < tokens->count && found->count < IGI_SPACE_MACROS; i++) {
        if (tokens->items[i].kind != IGI_TOKEN_DIRECTIVE || !is(tokens, i + 1, "define")) continue;
        const char *space = space_of_body(tokens, i + 2);
        if (!space) continue;
        found->names[found->count] = i + 2;
        found->spaces[found->count++] = space;
    }
}

const char *igi_msl_space_or_macro(const igi_msl_tokens *tokens, const igi_msl_space_macros *macros, size_t index) {
    const char *space = igi_msl_address_space(tokens, index);
    for (size_t i = 0; i < macros->count && !space && igi_msl_token_is_word(tokens, index); i++)
        if (igi_msl_token_same(tokens, macros->names[i], index)) space = macros->spaces[i];
    return space;
}

typedef struct qualifiers {
    bool is_const, is_noexcept;
} qualifiers;

static bool note_qualifier(const igi_msl_tokens *tokens, size_t index, qualifiers *seen) {
    seen->is_const |= is(tokens, index, "const");
    seen->is_noexcept |= is(tokens, index, "noexcept");
    return is(tokens, index, "const") || is(tokens, index, "volatile") || is(tokens, index, "noexcept") ||
           igi_msl_address_space(tokens, index);
}

// The ) of the parameter list before the qualifiers that end at `index`; 0 if they follow something else.
static size_t parameters_before(const igi_msl_tokens *tokens, size_t index, qualifiers *seen) {
    static const char *const no_functions[] = {"alignas", "__attribute__", "__declspec", "decltype", "sizeof", "if",
                                               "for",     "while",         "switch",     "_Pragma",  NULL};
    for (int i = 0; i < MAX_QUALIFIERS && index > 1; i++) {
        if (note_qualifier(tokens, index - 1, seen)) {
            index--;
            continue;
        }
        size_t close = index - 1, open = tokens->items[close].partner;
        if (!is(tokens, close, ")") || open == close || open == 0) return 0;
        if (!is(tokens, open - 1, "noexcept")) return igi_msl_token_in(tokens, open - 1, no_functions) ? 0 : close;
        index = open;
    }
    return 0;
}

// The token after the qualifiers that begin at `index`.
static size_t after_qualifiers(const igi_msl_tokens *tokens, size_t index, qualifiers *seen) {
    for (int i = 0; i < MAX_QUALIFIERS && note_qualifier(tokens, index, seen); i++) {
        index++;
        if (is(tokens, index - 1, "noexcept") && is(tokens, index, "(")) index = tokens->items[index].partner + 1;
    }
    return index;
}

static bool ends_declarator(const igi_msl_tokens *tokens, size_t index, const qualifiers *seen) {
    static const char *const ends[] = {"{", ";", "=", ",", ")", ">", "override", "final", NULL};
    if (index >= tokens->count) return false;
    // A macro may end in `alignas(16) threadgroup`, to be followed by a declaration.
    if (tokens->items[index].kind == IGI_TOKEN_BOUNDARY) return seen->is_const || seen->is_noexcept;
    if (is(tokens, index, "-") && is(tokens, index + 1, ">")) return true;
    return igi_msl_token_is_colon(tokens, index) || igi_msl_token_in(tokens, index, ends);
}

// The < that belongs to the > at `close`; `close` itself if it is far away or missing.
static size_t arguments_start(const igi_msl_tokens *tokens, size_t close) {
    int depth = 0;
    for (size_t i = close, n = 0; i > 0 && n < MAX_ARGUMENTS; i--, n++) {
        if (is(tokens, i, ">")) depth++;
        if (is(tokens, i, "<") && --depth == 0) return i;
    }
    return close;
}

// Constructors cannot be const: they have no type before their name.
static bool is_constructor(const igi_msl_tokens *tokens, size_t name) {
    static const char *const specifiers[] = {"constexpr", "explicit", "inline", "METAL_FUNC", ";", "{", "}", NULL};
    if (is(tokens, name, ">")) name = arguments_start(tokens, name) - 1;
    if (!igi_msl_token_is_word(tokens, name)) return false;  // operator+
    if (name == 0 || tokens->items[name - 1].kind == IGI_TOKEN_BOUNDARY) return true;
    if (is(tokens, name - 1, ">")) {
        size_t open = arguments_start(tokens, name - 1);
        return open == name - 1 || is(tokens, open - 1, "template");
    }
    bool qualified = name > 2 && is(tokens, name - 1, ":") && is(tokens, name - 2, ":");
    if (qualified) return igi_msl_token_same(tokens, name, name - 3);
    return is(tokens, name - 1, ":") || igi_msl_token_in(tokens, name - 1, specifiers);
}

igi_msl_space_role igi_msl_address_space_role(const igi_msl_tokens *tokens, size_t index) {
    qualifiers seen = {0};
    assert(igi_msl_address_space(tokens, index));
    size_t close = parameters_before(tokens, index, &seen);
    if (!close) return IGI_SPACE_OF_TYPE;
    size_t after = after_qualifiers(tokens, index, &seen);
    if (!ends_declarator(tokens, after, &seen)) return IGI_SPACE_OF_TYPE;
    if (!is(tokens, index, "constant") || seen.is_const || is(tokens, after, ":")) return IGI_SPACE_OF_OBJECT;
    bool constructor = is_constructor(tokens, tokens->items[close].partner - 1);
    return constructor ? IGI_SPACE_OF_OBJECT : IGI_SPACE_CONSTANT_OBJECT;
}
