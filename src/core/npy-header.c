// SPDX-License-Identifier: Apache-2.0
// Reading and writing the dictionary text of a .npy header.
#include "core/npy-header.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/status-internal.h"

static const struct {
    const char *code;
    ig_type type;
} codes[] = {
    {"b1", IG_TYPE_BOOL}, {"i1", IG_TYPE_I8},  {"u1", IG_TYPE_U8},  {"i2", IG_TYPE_I16},
    {"u2", IG_TYPE_U16},  {"i4", IG_TYPE_I32}, {"u4", IG_TYPE_U32}, {"i8", IG_TYPE_I64},
    {"u8", IG_TYPE_U64},  {"f2", IG_TYPE_F16}, {"f4", IG_TYPE_F32},
};
enum { CODE_COUNT = sizeof codes / sizeof *codes };

typedef struct parser {
    const char *path;
    const char *at, *end;
    ig_error *error;
} parser;

static ig_status malformed(parser *p, const char *what) {
    return igi_error_set(p->error, IG_STATUS_BAD_FORMAT, "%s: the .npy header is malformed: %s", p->path, what);
}

static void skip_space(parser *p) {
    while (p->at < p->end && strchr(" \t\n\r", *p->at) && *p->at) p->at++;
}

static bool accept(parser *p, const char *token) {
    skip_space(p);
    size_t length = strlen(token);
    if ((size_t)(p->end - p->at) < length || memcmp(p->at, token, length) != 0) return false;
    p->at += length;
    return true;
}

// A quoted string of printable ASCII without escapes, which is all that NumPy writes for plain arrays.
static bool parse_string(parser *p, char *out, size_t capacity) {
    skip_space(p);
    if (p->at == p->end || (*p->at != '\'' && *p->at != '"')) return false;
    char quote = *p->at++;
    size_t length = 0;
    for (; p->at < p->end && *p->at != quote; p->at++) {
        if (*p->at < ' ' || *p->at > '~' || *p->at == '\\' || length + 1 >= capacity) return false;
        out[length++] = *p->at;
    }
    out[length] = '\0';
    return accept(p, quote == '"' ? "\"" : "'");
}

static ig_status parse_type(parser *p, ig_type *type) {
    char descr[64];
    if (accept(p, "["))
        return igi_error_set(p->error, IG_STATUS_UNSUPPORTED, "%s holds structures; only plain arrays can be used",
                             p->path);
    if (!parse_string(p, descr, sizeof descr)) return malformed(p, "'descr' is not a short ASCII string");
    bool has_order = descr[0] && strchr("<>=|", descr[0]);
    const char *code = descr + has_order;
    if (strcmp(code, "f8") == 0)
        return igi_error_set(p->error, IG_STATUS_UNSUPPORTED,
                             "%s holds float64 ('%s'), which Metal does not have; convert it with astype('float32')",
                             p->path, descr);
    for (size_t i = 0; i < CODE_COUNT; i++) {
        if (strcmp(codes[i].code, code) != 0) continue;
        if (descr[0] == '>' && code[1] != '1')
            return igi_error_set(p->error, IG_STATUS_UNSUPPORTED,
                                 "%s is big-endian ('%s'); convert it with astype('<%s')", p->path, descr, code);
        *type = codes[i].type;
        return IG_STATUS_OK;
    }
    return igi_error_set(p->error, IG_STATUS_UNSUPPORTED,
                         "%s holds '%s'; types that can be used are f2 f4 i1 u1 i2 u2 i4 u4 i8 u8 b1", p->path, descr);
}

static ig_status parse_order(parser *p, bool *fortran_order) {
    *fortran_order = accept(p, "True");
    if (!*fortran_order && !accept(p, "False")) return malformed(p, "'fortran_order' is neither True nor False");
    return IG_STATUS_OK;
}

static ig_status parse_dimension(parser *p, uint64_t *dimension) {
    uint64_t value = 0;
    skip_space(p);
    if (p->at == p->end || *p->at < '0' || *p->at > '9') return malformed(p, "'shape' is not a tuple of sizes");
    for (; p->at < p->end && *p->at >= '0' && *p->at <= '9'; p->at++) {
        if (__builtin_mul_overflow(value, 10u, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*p->at - '0'), &value))
            return igi_error_set(p->error, IG_STATUS_OVERFLOW, "%s: a dimension of the shape is too large", p->path);
    }
    *dimension = value;
    return IG_STATUS_OK;
}

static ig_status parse_shape(parser *p, igi_npy_header *header) {
    if (!accept(p, "(")) return malformed(p, "'shape' is not a tuple of sizes");
    header->rank = 0;
    while (!accept(p, ")")) {
        if (header->rank == IGI_NPY_MAX_RANK)
            return igi_error_set(p->error, IG_STATUS_UNSUPPORTED, "%s has more than %d dimensions", p->path,
                                 IGI_NPY_MAX_RANK);
        ig_status status = parse_dimension(p, &header->shape[header->rank]);
        if (status != IG_STATUS_OK) return status;
        header->rank++;
        if (accept(p, ",")) continue;
        if (header->rank == 1 || !accept(p, ")")) return malformed(p, "'shape' is not a tuple of sizes");
        break;
    }
    return IG_STATUS_OK;
}

enum { KEY_DESCR = 1, KEY_ORDER = 2, KEY_SHAPE = 4, KEY_ALL = 7 };

static unsigned key_named(const char *name) {
    if (strcmp(name, "descr") == 0) return KEY_DESCR;
    if (strcmp(name, "fortran_order") == 0) return KEY_ORDER;
    return strcmp(name, "shape") == 0 ? KEY_SHAPE : 0;
}

static ig_status parse_entry(parser *p, igi_npy_header *header, unsigned *seen) {
    char name[32];
    if (!parse_string(p, name, sizeof name)) return malformed(p, "a key is not a short ASCII string");
    unsigned key = key_named(name);
    if (!key) return malformed(p, "it has a key other than 'descr', 'fortran_order' and 'shape'");
    if (*seen & key) return malformed(p, "it has the same key twice");
    *seen |= key;
    if (!accept(p, ":")) return malformed(p, "a key has no value");
    if (key == KEY_DESCR) return parse_type(p, &header->type);
    if (key == KEY_ORDER) return parse_order(p, &header->fortran_order);
    return parse_shape(p, header);
}

ig_status igi_npy_header_parse(const char *path, const char *text, size_t length, igi_npy_header *header,
                               ig_error *error) {
    parser p = {.path = path, .at = text, .end = text + length, .error = error};
    igi_npy_header parsed = {0};
    unsigned seen = 0;
    if (!accept(&p, "{")) return malformed(&p, "it is not a dictionary");
    while (!accept(&p, "}")) {
        ig_status status = parse_entry(&p, &parsed, &seen);
        if (status != IG_STATUS_OK) return status;
        if (accept(&p, ",")) continue;
        if (!accept(&p, "}")) return malformed(&p, "its dictionary does not end");
        break;
    }
    skip_space(&p);
    if (p.at != p.end) return malformed(&p, "something follows its dictionary");
    if (seen != KEY_ALL) return malformed(&p, "it lacks 'descr', 'fortran_order' or 'shape'");
    *header = parsed;
    return IG_STATUS_OK;
}

static const char *code_of(ig_type type) {
    if (type == IG_TYPE_BF16) return "u2";
    for (size_t i = 0; i < CODE_COUNT; i++)
        if (codes[i].type == type) return codes[i].code;
    return "?";
}

size_t igi_npy_header_format(const igi_npy_header *header, char preamble[IGI_NPY_PREAMBLE_MAX]) {
    enum { FIXED = 10, ALIGNMENT = 64 };
    const char *code = code_of(header->type);
    size_t used = FIXED;
    used += (size_t)snprintf(preamble + used, IGI_NPY_PREAMBLE_MAX - used,
                             "{'descr': '%c%s', 'fortran_order': %s, 'shape': (", code[1] == '1' ? '|' : '<', code,
                             header->fortran_order ? "True" : "False");
    for (uint32_t i = 0; i < header->rank; i++)
        used += (size_t)snprintf(preamble + used, IGI_NPY_PREAMBLE_MAX - used, "%s%" PRIu64 "%s", i ? " " : "",
                                 header->shape[i], i + 1 < header->rank || header->rank == 1 ? "," : "");
    used += (size_t)snprintf(preamble + used, IGI_NPY_PREAMBLE_MAX - used, "), }");
    size_t total = (used + 1 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    memset(preamble + used, ' ', total - used);
    preamble[total - 1] = '\n';
    memcpy(preamble, "\x93NUMPY\x01\x00", 8);
    preamble[8] = (char)((total - FIXED) & 0xff);
    preamble[9] = (char)((total - FIXED) >> 8);
    return total;
}
