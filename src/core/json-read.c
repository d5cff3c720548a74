// SPDX-License-Identifier: Apache-2.0
// Reading JSON: a value at a time, by recursion that is bounded.
#include "core/json-read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "core/visible.h"

typedef struct reader {
    const char *name, *start, *at, *end;
    igi_arena *arena;
    ig_error *error;
    ig_status status;
    uint32_t depth;
} reader;

static bool wrong(reader *r, const char *what) {
    uint32_t line = 1, column = 1;
    for (const char *c = r->start; c < r->at; c++) {
        column = *c == '\n' ? 1 : column + 1;
        line += *c == '\n';
    }
    if (r->status != IG_STATUS_OK) return false;
    r->status = igi_error_set(r->error, IG_STATUS_BAD_FORMAT, "%s:%u:%u: %s", r->name, line, column, what);
    if (r->error) r->error->line = line, r->error->column = column;
    return false;
}

static void *allocate(reader *r, size_t bytes) {
    void *memory = igi_arena_alloc(r->arena, bytes);
    if (!memory && r->status == IG_STATUS_OK) r->status = igi_error_no_memory(r->error);
    return memory;
}

static void skip_space(reader *r) {
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r')) r->at++;
}

static bool take(reader *r, char c) {
    skip_space(r);
    if (r->at == r->end || *r->at != c) return false;
    r->at++;
    return true;
}

// ---- Strings ----

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// The four digits after "\u".
static bool read_unit(reader *r, uint32_t *unit) {
    *unit = 0;
    if (r->end - r->at < 4) return wrong(r, "\\u needs four hexadecimal digits");
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(*r->at);
        if (digit < 0) return wrong(r, "\\u needs four hexadecimal digits");
        *unit = *unit * 16 + (uint32_t)digit;
        r->at++;
    }
    return true;
}

static bool read_code_point(reader *r, uint32_t *code) {
    uint32_t low;
    if (!read_unit(r, code)) return false;
    if (*code == 0) return wrong(r, "a string contains \\u0000");
    if (*code < 0xd800 || *code > 0xdfff) return true;
    bool paired = *code < 0xdc00 && r->end - r->at >= 2 && r->at[0] == '\\' && r->at[1] == 'u';
    if (!paired) return wrong(r, "a surrogate stands alone");
    r->at += 2;
    if (!read_unit(r, &low)) return false;
    if (low < 0xdc00 || low > 0xdfff) return wrong(r, "a surrogate stands alone");
    *code = 0x10000 + ((*code - 0xd800) << 10) + (low - 0xdc00);
    return true;
}

static bool read_escape(reader *r, char *to, size_t *used) {
    static const char letters[] = "\"\"\\\\//b\bf\fn\nr\rt\t";
    if (r->at == r->end) return wrong(r, "the text ends inside of a string");
    char c = *r->at++;
    uint32_t code;
    if (c == 'u') {
        if (!read_code_point(r, &code)) return false;
        *used += igi_utf8_put(code, to + *used);
        return true;
    }
    for (size_t i = 0; letters[i]; i += 2)
        if (letters[i] == c) return to[(*used)++] = letters[i + 1], true;
    return wrong(r, "there is no such escape in JSON");
}

static bool read_plain(reader *r, char *to, size_t *used) {
    if ((unsigned char)*r->at < 0x20) return wrong(r, "a control character in a string must be escaped");
    size_t length = igi_utf8_sequence(r->at, (size_t)(r->end - r->at));
    if (!length) return wrong(r, "a string is not UTF-8");
    memcpy(to + *used, r->at, length);
    *used += length;
    r->at += length;
    return true;
}

// From after the opening quote. Unescaping never makes a string longer.
static const char *read_string(reader *r) {
    const char *close = r->at;
    while (close < r->end && *close != '"') close += *close == '\\' && r->end - close > 1 ? 2 : 1;
    char *text = allocate(r, (size_t)(close - r->at) + 1);
    size_t used = 0;
    while (text && r->at < r->end && *r->at != '"') {
        bool escaped = *r->at == '\\';
        r->at += escaped;
        if (!(escaped ? read_escape(r, text, &used) : read_plain(r, text, &used))) return NULL;
    }
    if (!text) return NULL;
    if (r->at == r->end) return wrong(r, "the text ends inside of a string"), NULL;
    r->at++;
    text[used] = '\0';
    return text;
}

// ---- Numbers and words ----

static size_t digits(reader *r) {
    const char *start = r->at;
    while (r->at < r->end && *r->at >= '0' && *r->at <= '9') r->at++;
    return (size_t)(r->at - start);
}

static bool read_number(reader *r, igi_json_value *value) {
    const char *start = r->at;
    if (*r->at == '-') r->at++;
    const char *whole = r->at;
    size_t count = digits(r);
    if (!count || (count > 1 && *whole == '0')) return wrong(r, "this is not a number");
    if (r->at < r->end && *r->at == '.') {
        r->at++;
        if (!digits(r)) return wrong(r, "digits are missing after the point");
    }
    if (r->at < r->end && (*r->at == 'e' || *r->at == 'E')) {
        r->at++;
        if (r->at < r->end && (*r->at == '+' || *r->at == '-')) r->at++;
        if (!digits(r)) return wrong(r, "the exponent has no digits");
    }
    size_t length = (size_t)(r->at - start);
    char *text = allocate(r, length + 1);
    if (!text) return false;
    memcpy(text, start, length);
    text[length] = '\0';
    value->kind = IGI_JSON_NUMBER;
    value->text = text;
    return true;
}

static bool read_word(reader *r, igi_json_value *value) {
    static const struct {
        const char *word;
        igi_json_kind kind;
        bool boolean;
    } words[] = {{"true", IGI_JSON_BOOL, true}, {"false", IGI_JSON_BOOL, false}, {"null", IGI_JSON_NULL, false}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t length = strlen(words[i].word);
        if ((size_t)(r->end - r->at) < length || memcmp(r->at, words[i].word, length) != 0) continue;
        value->kind = words[i].kind;
        value->boolean = words[i].boolean;
        r->at += length;
        return true;
    }
    return wrong(r, "a value is expected here");
}

// ---- Containers ----

static bool read_value(reader *r, igi_json_value *value);

static bool read_item(reader *r, bool keyed, igi_json_value *item) {
    if (keyed) {
        if (!take(r, '"')) return wrong(r, "a key in quotation marks is expected here");
        item->key = read_string(r);
        if (!item->key) return false;
        if (!take(r, ':')) return wrong(r, "':' is expected here");
    }
    return read_value(r, item);
}

// From after the opening bracket.
static bool read_items(reader *r, igi_json_value *value, char close) {
    igi_json_value **link = &value->first;
    if (r->depth == IGI_JSON_MAX_DEPTH) return wrong(r, "the text is nested too deeply");
    if (take(r, close)) return true;
    r->depth++;
    do {
        igi_json_value *item = allocate(r, sizeof *item);
        if (!item) return false;
        *item = (igi_json_value){0};
        if (!read_item(r, close == '}', item)) return false;
        *link = item;
        link = &item->next;
        value->count++;
    } while (take(r, ','));
    r->depth--;
    return take(r, close) || wrong(r, close == '}' ? "',' or '}' is expected here" : "',' or ']' is expected here");
}

static bool read_value(reader *r, igi_json_value *value) {
    skip_space(r);
    if (r->at == r->end) return wrong(r, "the text ends where a value is expected");
    if (*r->at == '-' || (*r->at >= '0' && *r->at <= '9')) return read_number(r, value);
    if (take(r, '"')) {
        value->kind = IGI_JSON_STRING;
        value->text = read_string(r);
        return value->text != NULL;
    }
    bool object = take(r, '{');
    if (!object && !take(r, '[')) return read_word(r, value);
    value->kind = object ? IGI_JSON_OBJECT : IGI_JSON_ARRAY;
    return read_items(r, value, object ? '}' : ']');
}

// ---- Public ----

ig_status igi_json_parse(const char *name, const char *text, size_t length, igi_json_document *document,
                         ig_error *error) {
    igi_json_document made = {0};
    reader r = {.name = name, .start = text, .at = text, .end = text + length, .arena = &made.arena, .error = error};
    igi_json_value *root = allocate(&r, sizeof *root);
    if (root) {
        *root = (igi_json_value){0};
        bool read = read_value(&r, root);
        skip_space(&r);
        if (read && r.at != r.end) wrong(&r, "there is more after the end of the value");
    }
    if (r.status != IG_STATUS_OK) {
        igi_arena_free(&made.arena);
        return r.status;
    }
    made.root = root;
    *document = made;
    return IG_STATUS_OK;
}

void igi_json_document_free(igi_json_document *document) {
    igi_arena_free(&document->arena);
    *document = (igi_json_document){0};
}

const igi_json_value *igi_json_member(const igi_json_value *object, const char *key) {
    if (!object || object->kind != IGI_JSON_OBJECT) return NULL;
    const igi_json_value *item = object->first;
    while (item && strcmp(item->key, key) != 0) item = item->next;
    return item;
}

bool igi_json_get_u64(const igi_json_value *value, uint64_t *number) {
    if (!value || value->kind != IGI_JSON_NUMBER) return false;
    size_t length = strlen(value->text);
    if (strspn(value->text, "0123456789") != length) return false;
    errno = 0;
    unsigned long long read = strtoull(value->text, NULL, 10);
    if (errno == ERANGE) return false;
    *number = read;
    return true;
}

bool igi_json_get_bool(const igi_json_value *value, bool *boolean) {
    if (!value || value->kind != IGI_JSON_BOOL) return false;
    *boolean = value->boolean;
    return true;
}

const char *igi_json_get_string(const igi_json_value *value) {
    return value && value->kind == IGI_JSON_STRING ? value->text : NULL;
}
