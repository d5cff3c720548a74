// SPDX-License-Identifier: Apache-2.0
// The JSON writer: placing commas, escaping strings, printing numbers that read back the same.
#include "core/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/visible.h"

void igi_json_to_file(igi_json *json, FILE *file) {
    *json = (igi_json){.file = file};
}

void igi_json_to_memory(igi_json *json) {
    *json = (igi_json){0};
}

void igi_json_free(igi_json *json) {
    igi_text_free(&json->text);
    *json = (igi_json){0};
}

char *igi_json_take_text(igi_json *json) {
    char *text = json->failed ? NULL : igi_text_take(&json->text);
    igi_json_free(json);
    return text;
}

static void emit(igi_json *json, const char *bytes, size_t length) {
    if (json->failed) return;
    if (json->file) {
        json->failed = fwrite(bytes, 1, length, json->file) != length;
    } else {
        igi_text_append(&json->text, bytes, length);
        json->failed = json->text.failed;
    }
}

static void emit_text(igi_json *json, const char *text) {
    emit(json, text, strlen(text));
}

static void begin_value(igi_json *json) {
    uint64_t bit = UINT64_C(1) << json->depth;
    if (json->depth > 0 && !json->after_key && (json->has_items & bit)) emit(json, ",", 1);
    json->has_items |= bit;
    json->after_key = false;
}

static void begin_container(igi_json *json, const char *open) {
    begin_value(json);
    if (json->depth + 1 >= IGI_JSON_MAX_DEPTH) {
        json->failed = true;
        return;
    }
    emit_text(json, open);
    json->depth++;
    json->has_items &= ~(UINT64_C(1) << json->depth);
}

static void end_container(igi_json *json, const char *close) {
    if (json->depth == 0) {
        json->failed = true;
        return;
    }
    emit_text(json, close);
    json->depth--;
}

void igi_json_begin_object(igi_json *json) {
    begin_container(json, "{");
}

void igi_json_end_object(igi_json *json) {
    end_container(json, "}");
}

void igi_json_begin_array(igi_json *json) {
    begin_container(json, "[");
}

void igi_json_end_array(igi_json *json) {
    end_container(json, "]");
}

static void emit_ascii(igi_json *json, unsigned char c) {
    static const char letters[] = "\"\"\\\\\bb\ff\nn\rr\tt";
    for (size_t i = 0; letters[i]; i += 2) {
        if ((unsigned char)letters[i] != c) continue;
        emit(json, (const char[]){'\\', letters[i + 1]}, 2);
        return;
    }
    char escape[8];
    if (c >= 0x20 && c < 0x7f) {
        emit(json, (const char[]){(char)c}, 1);
    } else {
        emit(json, escape, (size_t)snprintf(escape, sizeof escape, "\\u%04x", c));
    }
}

// Terminals also interpret U+0080 to U+009F.
static void emit_character(igi_json *json, const char *text, size_t length) {
    bool control = length == 2 && (unsigned char)text[0] == 0xc2 && (unsigned char)text[1] < 0xa0;
    if (control)
        emit_ascii(json, (unsigned char)text[1]);
    else
        emit(json, text, length);
}

static void emit_quoted(igi_json *json, const char *text, size_t length) {
    emit(json, "\"", 1);
    for (size_t i = 0; i < length;) {
        size_t sequence = igi_utf8_sequence(text + i, length - i);
        if (sequence == 1) {
            emit_ascii(json, (unsigned char)text[i]);
        } else if (sequence > 1) {
            emit_character(json, text + i, sequence);
        } else {
            emit_text(json, "\xef\xbf\xbd");
        }
        i += sequence ? sequence : 1;
    }
    emit(json, "\"", 1);
}

void igi_json_key(igi_json *json, const char *key) {
    begin_value(json);
    emit_quoted(json, key, strlen(key));
    emit(json, ":", 1);
    json->after_key = true;
}

void igi_json_string(igi_json *json, const char *text) {
    if (text) {
        igi_json_string_n(json, text, strlen(text));
    } else {
        igi_json_null(json);
    }
}

void igi_json_string_n(igi_json *json, const char *text, size_t length) {
    begin_value(json);
    emit_quoted(json, text, length);
}

static void emit_value(igi_json *json, const char *text) {
    begin_value(json);
    emit_text(json, text);
}

void igi_json_u64(igi_json *json, uint64_t value) {
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, value);
    emit_value(json, text);
}

void igi_json_i64(igi_json *json, int64_t value) {
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, value);
    emit_value(json, text);
}

// The locale may have put a decimal comma (or something else) where JSON wants a point.
static void use_decimal_point(char *text) {
    char *out = text;
    bool in_separator = false;
    for (const char *c = text; *c; c++) {
        bool numeric = strchr("0123456789+-eE", *c) != NULL;
        if (numeric) *out++ = *c;
        if (!numeric && !in_separator) *out++ = '.';
        in_separator = !numeric;
    }
    *out = '\0';
}

static void format_shortest(double value, bool single, char *text, size_t capacity) {
    if (fabs(value) < 1e15 && value == trunc(value)) {
        snprintf(text, capacity, "%.0f", value);
        return;
    }
    for (int precision = 1; precision <= 17; precision++) {
        snprintf(text, capacity, "%.*g", precision, value);
        if (single ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value) return;
    }
}

static void emit_number(igi_json *json, double value, bool single) {
    if (!isfinite(value)) {
        igi_json_null(json);
        return;
    }
    char text[40];
    format_shortest(value, single, text, sizeof text);
    use_decimal_point(text);
    emit_value(json, text);
}

void igi_json_double(igi_json *json, double value) {
    emit_number(json, value, false);
}

void igi_json_float(igi_json *json, float value) {
    emit_number(json, (double)value, true);
}

void igi_json_bool(igi_json *json, bool value) {
    emit_value(json, value ? "true" : "false");
}

void igi_json_null(igi_json *json) {
    emit_value(json, "null");
}

bool igi_json_end_row(igi_json *json) {
    if (json->depth > 0) json->failed = true;
    emit(json, "\n", 1);
    return !json->failed;
}

void igi_json_put_string(igi_json *json, const char *key, const char *text) {
    igi_json_key(json, key);
    igi_json_string(json, text);
}

void igi_json_put_u64(igi_json *json, const char *key, uint64_t value) {
    igi_json_key(json, key);
    igi_json_u64(json, value);
}

void igi_json_put_double(igi_json *json, const char *key, double value) {
    igi_json_key(json, key);
    igi_json_double(json, value);
}

void igi_json_put_bool(igi_json *json, const char *key, bool value) {
    igi_json_key(json, key);
    igi_json_bool(json, value);
}
