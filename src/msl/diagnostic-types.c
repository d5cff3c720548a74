// SPDX-License-Identifier: Apache-2.0
// Types in messages, as MSL names them. To clang they are templates: vec<float, 4>, matrix<_Float16, 2, 2>.
#include <ctype.h>
#include <string.h>

#include "core/memory.h"
#include "msl/diagnostic.h"

static const struct {
    const char *clang, *msl;
} scalars[] = {
    {"unsigned char", "uchar"}, {"unsigned short", "ushort"},
    {"unsigned int", "uint"},   {"unsigned long", "ulong"},
    {"signed char", "char"},    {"_Float16", "half"},
    {"__bf16", "bfloat"},       {"uchar", "uchar"},
    {"ushort", "ushort"},       {"uint", "uint"},
    {"ulong", "ulong"},         {"char", "char"},
    {"short", "short"},         {"int", "int"},
    {"long", "long"},           {"half", "half"},
    {"bfloat", "bfloat"},       {"float", "float"},
    {"bool", "bool"},
};
enum { SCALAR_COUNT = sizeof scalars / sizeof *scalars, SPELLED_OTHERWISE = 7 };

static const struct {
    const char *name, *prefix;
    int sizes;
} templates[] = {
    {"vec<", "", 1}, {"matrix<", "", 2}, {"simdgroup_matrix<", "simdgroup_", 2}, {"atomic<", "atomic_", 0}};

static bool is_word(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

// ", 4" or, where clang compares two types, ", 4 aka 4".
static bool read_size(const char **at, char *size) {
    if (!igi_skip(at, ", ") || **at < '1' || **at > '9') return false;
    *size = *(*at)++;
    if (igi_skip(at, " aka ") && *(*at)++ != *size) return false;
    return true;
}

static const char *read_scalar(const char **at) {
    for (size_t i = 0; i < SCALAR_COUNT; i++) {
        const char *end = *at;
        if (!igi_skip(&end, scalars[i].clang) || is_word(*end)) continue;
        *at = end;
        return scalars[i].msl;
    }
    return NULL;
}

// vec<float, 4> becomes float4. Returns what follows it, or NULL if there is no such type.
static const char *add_template(igi_text *text, const char *at) {
    igi_skip(&at, "metal::");
    for (size_t i = 0; i < sizeof templates / sizeof *templates; i++) {
        const char *end = at;
        char sizes[2] = "";
        if (!igi_skip(&end, templates[i].name)) continue;
        const char *scalar = read_scalar(&end);
        bool known = scalar != NULL;
        for (int k = 0; k < templates[i].sizes && known; k++) known = read_size(&end, &sizes[k]);
        if (!known || !igi_skip(&end, ">")) return NULL;
        igi_text_addf(text, "%s%s", templates[i].prefix, scalar);
        for (int k = 0; k < templates[i].sizes; k++) igi_text_addf(text, "%s%c", k ? "x" : "", sizes[k]);
        return end;
    }
    return NULL;
}

// packed<vec<float, 3>> becomes packed_float3.
static const char *add_packed(igi_text *text, const char *at) {
    igi_skip(&at, "metal::"), igi_skip(&at, "__ig::");
    igi_text inner = {0};
    const char *end = igi_skip(&at, "packed<") ? add_template(&inner, at) : NULL;
    if (end) igi_skip(&end, " ");
    bool closed = end && igi_skip(&end, ">");
    if (closed) igi_text_addf(text, "packed_%s", inner.data ? inner.data : "");
    igi_text_free(&inner);
    return closed ? end : NULL;
}

// Names that MSL does not have, as whole words.
static const char *add_foreign_scalar(igi_text *text, const char *at) {
    const char *const names[][2] = {{"_Float16", "half"}, {"__bf16", "bfloat"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *end = at;
        if (!igi_skip(&end, names[i][0]) || is_word(*end)) continue;
        igi_text_add(text, names[i][1]);
        return end;
    }
    return NULL;
}

// Address spaces are spelled as <__ingot_keywords> does. What users write themselves, which clang quotes alone, stays.
static const char *add_space(igi_text *text, const char *at) {
    static const struct {
        const char *clang, *msl;
    } spaces[] = {{"const __global_host", "constant"},
                  {"__global_host", "constant"},
                  {"__global_device", "device"},
                  {"__local", "threadgroup"},
                  {"default address space", "address space 'thread'"}};
    static const char in_space[] = "address space '";
    size_t before = strlen(in_space);
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++) {
        const char *end = at;
        if (!igi_skip(&end, spaces[i].clang) || is_word(*end)) continue;
        bool alone = *end == '\'' && text->length && text->data[text->length - 1] == '\'';
        bool told = text->length >= before && memcmp(text->data + text->length - before, in_space, before) == 0;
        if (alone && !told) return NULL;
        igi_text_add(text, spaces[i].msl);
        return end;
    }
    return NULL;
}

char *igi_msl_rename_types(const char *message) {
    igi_text text = {0};
    char before = ' ';
    while (*message) {
        bool begins = !is_word(before) && before != ':';
        const char *next = begins ? add_space(&text, message) : NULL;
        if (!next && begins) next = add_template(&text, message);
        if (!next && begins) next = add_packed(&text, message);
        if (!next && begins) next = add_foreign_scalar(&text, message);
        if (!next) {
            igi_text_append(&text, message, 1);
            next = message + 1;
        }
        before = next[-1];
        message = next;
    }
    return igi_text_take(&text);
}

// "unsigned int *" as MSL writes it, to find out whether two types are the same.
static char *shorten(const char *type, size_t length) {
    igi_text text = {0};
    for (const char *at = type, *end = type + length; at < end;) {
        bool begins = at == type || !is_word(at[-1]);
        size_t i = 0, size = 0;
        for (; begins && i < SPELLED_OTHERWISE; i++) {
            size = strlen(scalars[i].clang);
            if (size <= (size_t)(end - at) && memcmp(at, scalars[i].clang, size) == 0) break;
        }
        if (!begins || i == SPELLED_OTHERWISE) {
            igi_text_append(&text, at++, 1);
        } else {
            igi_text_add(&text, scalars[i].msl);
            at += size;
        }
    }
    return igi_text_take(&text);
}

// If "'float4' (aka 'float4')" names the same type twice, the length of the second; else 0.
static size_t repeated(const char *type, size_t length, const char *rest) {
    const char *other = rest;
    if (!igi_skip(&other, " (aka '")) return 0;
    const char *end = strstr(other, "')");
    char *short_type = end ? shorten(other, (size_t)(end - other)) : NULL;
    bool same = short_type && strlen(short_type) == length && memcmp(short_type, type, length) == 0;
    free(short_type);
    return same ? (size_t)(end + 2 - rest) : 0;
}

static char *drop_repetitions(const char *message) {
    igi_text text = {0};
    const char *quote = NULL;
    for (const char *at = message; *at;) {
        igi_text_append(&text, at, 1);
        bool closes = *at == '\'' && quote;
        size_t again = closes ? repeated(quote, (size_t)(at - quote), at + 1) : 0;
        if (*at == '\'') quote = closes ? NULL : at + 1;
        at += 1 + again;
    }
    return igi_text_take(&text);
}

char *igi_msl_diagnostic_plain_types(const char *message) {
    char *renamed = igi_msl_rename_types(message);
    char *plain = renamed ? drop_repetitions(renamed) : NULL;
    free(renamed);
    return plain;
}
