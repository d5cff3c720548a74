// SPDX-License-Identifier: Apache-2.0
// Single tokens that clang spells differently: literals, trailing address spaces, double, casts.
#include <string.h>

#include "msl/address-space.h"
#include "msl/rewrite-passes.h"

enum { MAX_ARGUMENTS = 64 };  // tokens

// ---- Literals ----

typedef struct literal {
    bool floating;
    size_t suffix;  // offset of its suffix in the token
} literal;

static literal read_literal(const char *text, size_t length) {
    bool hex = length > 1 && text[0] == '0' && (text[1] | 32) == 'x';
    literal found = {.suffix = length};
    size_t i = hex ? 2 : 0;
    for (; i < length; i++) {
        char c = (char)(text[i] | 32);
        bool digit = (c >= '0' && c <= '9') || text[i] == '\'' || (hex && c >= 'a' && c <= 'f');
        if (text[i] == '.' || c == (hex ? 'p' : 'e')) {
            found.floating = true;
            if (text[i] != '.') break;
        } else if (!digit) {
            found.suffix = i;
            return found;
        }
    }
    for (i++; i < length; i++) {  // the exponent
        if (text[i] == '+' || text[i] == '-' || text[i] == '\'' || (text[i] >= '0' && text[i] <= '9')) continue;
        found.suffix = i;
        break;
    }
    return found;
}

static void rewrite_literal(igi_msl_rewriter *r, size_t index) {
    // clang accepts user-defined suffixes only with an underscore (h is an exception; see <metal_types>).
    static const struct {
        const char *msl, *ours;
    } suffixes[] = {{"H", "h"}, {"bf", "_bf"}, {"BF", "_bf"}, {"l", "_L"}, {"L", "_L"}};
    const igi_msl_token *token = igi_msl_at(r, index);
    const char *text = r->tokens.text + token->offset;
    literal found = read_literal(text, token->length);
    size_t place = token->offset + found.suffix, length = token->length - found.suffix;
    // MSL has no double: 0.5 is a float. (clang's option for that has no effect in templates.)
    if (found.floating && length == 0) igi_msl_rewriter_edit(r, place, 0, igi_strdup("f"));
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        if (strlen(suffixes[i].msl) != length || memcmp(suffixes[i].msl, text + found.suffix, length) != 0) continue;
        bool integer = !found.floating && (text[found.suffix] | 32) == 'l';
        if (!integer) igi_msl_rewriter_edit(r, place, length, igi_strdup(suffixes[i].ours));
    }
}

// ---- Strings ----

// The parenthesis around the tokens up to `end`, which follow `index`; 0 when it is far away.
static size_t parenthesis_around(const igi_msl_rewriter *r, size_t index, size_t end) {
    for (size_t open = index; open > 0 && index - open < MAX_ARGUMENTS; open--)
        if (igi_msl_is(r, open, "(") && igi_msl_at(r, open)->partner >= end) return open;
    return 0;
}

// Whether a function is called, or an object constructed, by the word before the parenthesis. The same words where a
// statement or a declaration begins may invoke a macro, which may do anything with a string.
static bool calls_function(const igi_msl_rewriter *r, size_t open) {
    static const char *const others[] = {"static_assert", "_Pragma",   "asm",       "__asm__", "__asm",
                                         "deprecated",    "nodiscard", "host_name", NULL};
    static const char *const before[] = {"=", ".", ">", "(", ",", "+", "-", "*", "/", "<", "return", ":", NULL};
    if (open < 3 || !igi_msl_token_is_word(&r->tokens, open - 1) || igi_msl_token_in(&r->tokens, open - 1, others))
        return false;
    bool builtin = strncmp(r->tokens.text + igi_msl_at(r, open - 1)->offset, "__builtin", 9) == 0;
    bool attribute = (igi_msl_is(r, open - 2, "(") && igi_msl_is(r, open - 3, "(")) || igi_msl_is(r, open - 2, "[");
    bool constructs = igi_msl_token_is_word(&r->tokens, open - 2);
    return !builtin && !attribute && (constructs || igi_msl_token_in(&r->tokens, open - 2, before));
}

// MSL's strings are in the constant address space, C++'s in none. Only as arguments does it matter.
static void rewrite_string(igi_msl_rewriter *r, size_t index) {
    bool text = r->tokens.text[igi_msl_at(r, index)->offset] == '"';
    if (!text || index == 0 || !(igi_msl_is(r, index - 1, "(") || igi_msl_is(r, index - 1, ","))) return;
    size_t end = index + 1;
    while (end < r->tokens.count && igi_msl_at(r, end)->kind == IGI_TOKEN_STRING) end++;
    if (!igi_msl_is(r, end, ",") && !igi_msl_is(r, end, ")")) return;
    if (!calls_function(r, parenthesis_around(r, index - 1, end))) return;
    igi_msl_rewriter_edit(r, igi_msl_at(r, index)->offset, 0, igi_strdup("__IG_CONSTANT_STRING("));
    igi_msl_rewriter_edit(r, igi_msl_end_of(r, end - 1), 0, igi_strdup(")"));
}

// ---- Words ----

// Replaced by a name that <__ingot_keywords> declares unavailable, so that clang refuses it only where it is used.
static void rewrite_double(igi_msl_rewriter *r, size_t index) {
    size_t first = index;
    while (first > 0 && igi_msl_is(r, first - 1, "long") && !igi_msl_at(r, first - 1)->done) first--;
    igi_msl_rewriter_replace(r, first, index + 1, "__metal_double");
}

// Likewise, with all words of the type: `unsigned long long int`.
static bool rewrite_long_long(igi_msl_rewriter *r, size_t index) {
    static const char *const words[] = {"long", "int", "unsigned", "signed", NULL};
    size_t first = index, end = index + 2;
    if (!igi_msl_is(r, index, "long") || !igi_msl_is(r, index + 1, "long") || igi_msl_is(r, index + 2, "double"))
        return false;
    while (first > 0 && igi_msl_token_in(&r->tokens, first - 1, words) && !igi_msl_at(r, first - 1)->done) first--;
    while (igi_msl_token_in(&r->tokens, end, words)) end++;
    igi_msl_rewriter_replace(r, first, end, "__metal_long_long");
    return true;
}

// ---- half and bfloat ----

// A type of the file that is `half` or `bfloat` under another name: `typedef bfloat bf16;`, `using bf16 = bfloat;`.
static void note_short_float(igi_msl_rewriter *r, size_t index) {
    static const char *const types[] = {"half", "bfloat", NULL};
    size_t name = 0;
    if (igi_msl_is(r, index, "typedef") && igi_msl_token_in(&r->tokens, index + 1, types) &&
        igi_msl_is(r, index + 3, ";"))
        name = index + 2;
    if (igi_msl_is(r, index, "using") && igi_msl_is(r, index + 2, "=") &&
        igi_msl_token_in(&r->tokens, index + 3, types) && igi_msl_is(r, index + 4, ";"))
        name = index + 1;
    if (name && igi_msl_token_is_word(&r->tokens, name) && r->short_float_count < IGI_MSL_SHORT_FLOATS)
        r->short_floats[r->short_float_count++] = name;
}

static bool is_short_float(const igi_msl_rewriter *r, size_t index) {
    if (igi_msl_is(r, index, "half") || igi_msl_is(r, index, "bfloat")) return true;
    if (!igi_msl_token_is_word(&r->tokens, index)) return false;
    const igi_msl_token *token = igi_msl_at(r, index);
    for (size_t i = 0; i < r->short_float_count; i++) {
        const igi_msl_token *name = igi_msl_at(r, r->short_floats[i]);
        if (name->length == token->length &&
            memcmp(r->tokens.text + name->offset, r->tokens.text + token->offset, token->length) == 0)
            return true;
    }
    return false;
}

// To half or bfloat, or to a type that may turn out to be one; see <__ingot_cast>.
static void rewrite_cast(igi_msl_rewriter *r, size_t index) {
    static const char *const plain[] = {"bool",    "char",    "uchar",   "short",    "ushort",    "int",      "uint",
                                        "long",    "ulong",   "float",   "size_t",   "ptrdiff_t", "int8_t",   "int16_t",
                                        "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t",  "uint64_t", NULL};
    bool known = igi_msl_is(r, index + 3, ">") && igi_msl_token_in(&r->tokens, index + 2, plain);
    if (igi_msl_is(r, index + 1, "<") && !known) igi_msl_rewriter_replace(r, index, index + 1, "__ig_cast");
}

// bfloat(x) and half(x), likewise. After the parenthesis of `half (*p)[4]` and `half (&f)(int)` comes another bracket.
static bool rewrite_conversion(igi_msl_rewriter *r, size_t index) {
    static const char *const before[] = {"operator", "class", "typename", NULL}, *const after[] = {"[", "(", "{", NULL};
    if (!is_short_float(r, index) || !igi_msl_is(r, index + 1, "(")) return false;
    size_t close = igi_msl_at(r, index + 1)->partner;
    if (close < index + 3 || igi_msl_token_in(&r->tokens, close + 1, after)) return false;
    if (index > 0 && igi_msl_token_in(&r->tokens, index - 1, before)) return false;
    char *cast =
        igi_format("__ig_cast<%.*s>", (int)igi_msl_at(r, index)->length, r->tokens.text + igi_msl_at(r, index)->offset);
    if (cast)
        igi_msl_rewriter_replace(r, index, index + 1, cast);
    else
        r->failed = true;
    free(cast);
    return true;
}

// (bfloat)x and (half)x, by way of float: the operand's end is unknown.
static void rewrite_c_cast(igi_msl_rewriter *r, size_t index) {
    static const char *const signs[] = {"(", "*", "-", "+", "~", "!", NULL};
    static const char *const statements[] = {"return", "case", "else", NULL}, *const ends[] = {")", "]", ">", NULL};
    if (index < 2 || !is_short_float(r, index) || !igi_msl_is(r, index - 1, "(") || !igi_msl_is(r, index + 1, ")"))
        return;
    bool called = igi_msl_token_is_word(&r->tokens, index - 2) && !igi_msl_token_in(&r->tokens, index - 2, statements);
    bool operand = igi_msl_token_is_word(&r->tokens, index + 2) || igi_msl_token_in(&r->tokens, index + 2, signs);
    if (called || !operand || igi_msl_token_in(&r->tokens, index - 2, ends)) return;
    igi_msl_rewriter_edit(r, igi_msl_end_of(r, index + 1), 0, igi_strdup("(float)"));
}

// What C++ has and MSL has not. clang says so itself, where the text is not skipped: headers shared with a host's C++
// have such things in parts of their own.
static bool refuse_word(igi_msl_rewriter *r, size_t index) {
    static const char *const words[] = {"goto", "virtual", "dynamic_cast", "typeid", "new", "delete", NULL};
    static const char *const exceptions[] = {"try", "throw", NULL};
    bool exception = igi_msl_token_in(&r->tokens, index, exceptions);
    if (!igi_msl_token_in(&r->tokens, index, words) && !exception) return false;
    // Not `= delete`, nor the name of an operator.
    if (index > 0 &&
        (igi_msl_is(r, index - 1, "=") ? igi_msl_is(r, index, "delete") : igi_msl_is(r, index - 1, "operator")))
        return false;
    const igi_msl_token *token = igi_msl_at(r, index);
    const char *word = r->tokens.text + token->offset;
    igi_msl_rewriter_edit(r, token->offset, 0,
                          igi_format("_Pragma(\"GCC error \\\"'%.*s' is not supported in Metal%s\\\"\") ",
                                     (int)token->length, word, exception ? ", which has no exceptions" : ""));
    return true;
}

// The coherence of a texture, texture2d<uint, access::read, memory_coherence_device>: memory here is coherent for everyone.
static bool drop_coherence(igi_msl_rewriter *r, size_t index) {
    static const char *const names[] = {"memory_coherence_device", "memory_coherence_threadgroup", NULL};
    if (!igi_msl_token_in(&r->tokens, index, names) || !igi_msl_is(r, index + 1, ">")) return false;
    size_t comma = index;
    while (comma > 0 && (igi_msl_is(r, comma - 1, ":") || igi_msl_is(r, comma - 1, "metal") ||
                         igi_msl_is(r, comma - 1, "memory_coherence")))
        comma--;
    if (comma == 0 || !igi_msl_is(r, comma - 1, ",")) return false;
    igi_msl_rewriter_replace(r, comma - 1, index + 1, "");
    return true;
}

// `coherent device T *` and `device coherent T *`.
static bool is_coherent_without_scope(const igi_msl_rewriter *r, size_t index) {
    if (!igi_msl_is(r, index, "coherent") || !igi_msl_token_is_word(&r->tokens, index + 1)) return false;
    return igi_msl_address_space(&r->tokens, index + 1) || (index > 0 && igi_msl_address_space(&r->tokens, index - 1));
}

static void rewrite_word(igi_msl_rewriter *r, size_t index) {
    if (refuse_word(r, index) || rewrite_long_long(r, index) || drop_coherence(r, index)) return;
    if (igi_msl_is(r, index, "double")) {
        rewrite_double(r, index);
    } else if (is_coherent_without_scope(r, index)) {
        igi_msl_rewriter_replace(r, index, index + 1, "");  // coherent(device), with its default
    } else if (igi_msl_is(r, index, "static_cast")) {
        rewrite_cast(r, index);
    } else if (r->out->has_bfloat && rewrite_conversion(r, index)) {
        return;
    } else if (r->out->has_bfloat && igi_msl_is(r, index + 1, ")")) {
        rewrite_c_cast(r, index);
    } else if (igi_msl_address_space(&r->tokens, index)) {
        igi_msl_space_role role = igi_msl_address_space_role(&r->tokens, index);
        if (role == IGI_SPACE_OF_OBJECT) igi_msl_rewriter_replace(r, index, index + 1, "");
        if (role == IGI_SPACE_CONSTANT_OBJECT) igi_msl_rewriter_replace(r, index, index + 1, "const");
    }
}

// Where an expression may begin, and neither a subscript, an attribute nor a list of names.
static bool is_lambda(const igi_msl_rewriter *r, size_t index) {
    static const char *const before[] = {"=", "(", ",", "{", ";", "?", ":", "return", NULL};
    return index > 0 && igi_msl_is(r, index, "[") && !igi_msl_is(r, index + 1, "[") &&
           igi_msl_token_in(&r->tokens, index - 1, before) && igi_msl_at(r, index)->partner > index;
}

static void mark_lambda(igi_msl_rewriter *r, size_t index) {
    size_t after = igi_msl_at(r, index)->partner + 1;
    bool body = igi_msl_is(r, after, "(") || igi_msl_is(r, after, "{");
    if (body) igi_msl_rewriter_edit(r, igi_msl_at(r, index)->offset, 0, igi_strdup("__IG_LAMBDA "));
}

void igi_msl_rewrite_spellings(igi_msl_rewriter *r) {
    for (size_t i = 0; i < r->tokens.count && !r->out->has_bfloat; i++) r->out->has_bfloat = igi_msl_is(r, i, "bfloat");
    for (size_t i = 0; i < r->tokens.count && r->out->has_bfloat; i++)
        if (igi_msl_at(r, i)->kind == IGI_TOKEN_WORD) note_short_float(r, i);
    for (size_t i = 0; i < r->tokens.count && !r->failed; i++) {
        const igi_msl_token *token = igi_msl_at(r, i);
        if (token->done || token->region == IGI_REGION_DIRECTIVE) continue;
        if (token->kind == IGI_TOKEN_NUMBER) rewrite_literal(r, i);
        if (token->kind == IGI_TOKEN_WORD) rewrite_word(r, i);
        if (token->kind == IGI_TOKEN_PUNCT && is_lambda(r, i)) mark_lambda(r, i);
        if (token->kind == IGI_TOKEN_STRING) rewrite_string(r, i);
    }
}
