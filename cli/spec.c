// SPDX-License-Identifier: Apache-2.0
// Parsing of SPEC texts and filling memory from them.
#include "spec.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "console/options.h"
#include "console/output.h"
#include "core/status-internal.h"
#include "elements.h"

typedef struct text_error {
    const char *text;
    ig_error *error;
} text_error;

static ig_status wrong(const text_error *where, const char *what) {
    return igi_error_set(where->error, IG_STATUS_INVALID_ARGUMENT, "'%s': %s", where->text, what);
}

static ig_status too_large(const text_error *where) {
    return igi_error_set(where->error, IG_STATUS_OVERFLOW, "'%s': an array of this shape is too large for any memory",
                         where->text);
}

static ig_status parse_shape(const text_error *where, const char *text, size_t length, cli_spec *spec) {
    const char *at = text, *end = text + length;
    for (;;) {
        size_t digits = strcspn(at, ",]");
        if (spec->rank == IGI_NPY_MAX_RANK) return wrong(where, "more than 32 dimensions");
        bool parsed = cli_parse_u64(at, digits, &spec->shape[spec->rank]);
        if (!parsed && digits && strspn(at, "0123456789") == digits) return too_large(where);
        if (!parsed || spec->shape[spec->rank] == 0)
            return wrong(where, "a shape is sizes of at least 1 between brackets, like [64,32]");
        spec->rank++;
        at += digits;
        if (at == end) break;
        at++;
    }
    if (!igi_npy_array_bytes(spec->type, spec->rank, spec->shape, &spec->bytes)) return too_large(where);
    spec->count = spec->bytes / ig_type_size(spec->type);
    return IG_STATUS_OK;
}

static ig_status wrong_value(const text_error *where, cli_parse_result result, ig_type type, const char *at,
                             size_t length) {
    const char *why = result == CLI_ELEMENT_DOES_NOT_FIT ? "does not fit" : "is not a value of type";
    return igi_error_set(where->error, IG_STATUS_INVALID_ARGUMENT, "'%s': '%.*s' %s %s", where->text, (int)length, at,
                         why, ig_type_name(type));
}

static ig_status parse_values(const text_error *where, const char *text, cli_spec *spec) {
    size_t count = 1, size = ig_type_size(spec->type);
    for (const char *c = text; *c; c++) count += *c == ',';
    char *values = cli_alloc(count * size);
    for (size_t i = 0; i < count; i++) {
        size_t length = strcspn(text, ",");
        cli_parse_result result = cli_element_parse(spec->type, text, length, values + i * size);
        if (result != CLI_ELEMENT_OK) {
            free(values);
            return wrong_value(where, result, spec->type, text, length);
        }
        text += length + 1;
    }
    spec->fill = CLI_FILL_VALUES;
    spec->values = values;
    spec->value_count = count;
    return IG_STATUS_OK;
}

static ig_status parse_fill(const text_error *where, const char *text, cli_spec *spec) {
    if (strcmp(text, "iota") == 0) {
        spec->fill = CLI_FILL_IOTA;
        return IG_STATUS_OK;
    }
    if (strncmp(text, "random", 6) == 0 && (text[6] == '\0' || text[6] == ':')) {
        spec->fill = CLI_FILL_RANDOM;
        if (text[6] == '\0' || cli_parse_u64(text + 7, strlen(text + 7), &spec->seed)) return IG_STATUS_OK;
        return wrong(where, "the seed of random is a whole number, like random:7");
    }
    ig_status status = parse_values(where, text, spec);
    if (status != IG_STATUS_OK || spec->value_count == 1 || spec->value_count == spec->count) return status;
    return wrong(where, "needs one value, or as many as the shape has elements");
}

static ig_status parse_array(const text_error *where, const char *text, cli_spec *spec) {
    const char *close = strchr(text, ']');
    if (!close) return wrong(where, "the shape lacks its closing bracket");
    ig_status status = parse_shape(where, text, (size_t)(close - text), spec);
    if (status != IG_STATUS_OK || close[1] == '\0') return status;
    if (close[1] != ':') return wrong(where, "after the shape, only a colon and iota, random or a value may follow");
    return parse_fill(where, close + 2, spec);
}

static ig_status parse_constant(const text_error *where, const char *text, cli_spec *spec) {
    ig_status status = parse_values(where, text, spec);
    if (status != IG_STATUS_OK) return status;
    spec->is_constant = true;
    spec->rank = 1;
    spec->shape[0] = spec->count = spec->value_count;
    spec->bytes = spec->count * ig_type_size(spec->type);
    return IG_STATUS_OK;
}

static bool names_a_file(const char *text) {
    size_t length = strlen(text);
    return (length > 4 && strcmp(text + length - 4, ".npy") == 0) || strchr(text, '/');
}

static ig_status not_a_spec(const text_error *where) {
    return igi_error_set(where->error, IG_STATUS_INVALID_ARGUMENT,
                         "'%s' is neither FILE.npy nor TYPE[SHAPE] nor TYPE:VALUE; types are %s", where->text,
                         cli_type_names());
}

static ig_status parse(const text_error *where, cli_spec *spec, bool only_constant) {
    size_t name = strcspn(where->text, "[:");
    char mark = where->text[name];
    bool typed = mark && cli_type_named(where->text, name, &spec->type);
    if (typed && mark == ':') return parse_constant(where, where->text + name + 1, spec);
    if (only_constant)
        return igi_error_set(where->error, IG_STATUS_INVALID_ARGUMENT, "'%s' is not TYPE:VALUE; types are %s",
                             where->text, cli_type_names());
    if (typed) return parse_array(where, where->text + name + 1, spec);
    if (!names_a_file(where->text)) return not_a_spec(where);
    spec->fill = CLI_FILL_FILE;
    spec->path = where->text;
    return IG_STATUS_OK;
}

static ig_status parse_whole(const char *text, cli_spec *spec, bool only_constant, ig_error *error) {
    cli_spec parsed = {0};
    ig_status status = parse(&(text_error){text, error}, &parsed, only_constant);
    if (status == IG_STATUS_OK) {
        *spec = parsed;
    } else {
        cli_spec_free(&parsed);
    }
    return status;
}

ig_status cli_spec_parse(const char *text, cli_spec *spec, ig_error *error) {
    return parse_whole(text, spec, false, error);
}

ig_status cli_constant_parse(const char *text, cli_spec *spec, ig_error *error) {
    return parse_whole(text, spec, true, error);
}

ig_status cli_spec_load(cli_spec *spec, ig_error *error) {
    if (spec->fill != CLI_FILL_FILE || spec->file.data) return IG_STATUS_OK;
    ig_status status = igi_npy_load(spec->path, &spec->file, error);
    if (status != IG_STATUS_OK) return status;
    if (spec->file.bytes == 0)
        return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT, "%s has no elements", spec->path);
    spec->type = spec->file.type;
    spec->rank = spec->file.rank;
    memcpy(spec->shape, spec->file.shape, sizeof spec->shape);
    spec->bytes = spec->file.bytes;
    spec->count = spec->bytes / ig_type_size(spec->type);
    return IG_STATUS_OK;
}

static void fill_values(const cli_spec *spec, char *memory) {
    size_t size = ig_type_size(spec->type);
    if (spec->value_count == spec->count) {
        memcpy(memory, spec->values, spec->bytes);
        return;
    }
    for (uint64_t i = 0; i < spec->count; i++) memcpy(memory + i * size, spec->values, size);
}

void cli_spec_fill(const cli_spec *spec, void *memory) {
    assert(spec->fill != CLI_FILL_FILE || spec->file.data);
    switch (spec->fill) {
        case CLI_FILL_ZEROS: memset(memory, 0, spec->bytes); break;
        case CLI_FILL_RANDOM: cli_fill_random(spec->type, memory, spec->count, spec->seed); break;
        case CLI_FILL_IOTA: cli_fill_iota(spec->type, memory, spec->count); break;
        case CLI_FILL_VALUES: fill_values(spec, memory); break;
        case CLI_FILL_FILE: memcpy(memory, spec->file.data, spec->bytes); break;
    }
}

void cli_spec_free(cli_spec *spec) {
    free(spec->values);
    igi_npy_free(&spec->file);
    *spec = (cli_spec){0};
}

bool cli_split_index(const char *text, uint32_t *index, const char **rest) {
    size_t digits = strcspn(text, "=");
    uint64_t value;
    if (text[digits] != '=' || !cli_parse_u64(text, digits, &value) || value > UINT32_MAX) return false;
    *index = (uint32_t)value;
    *rest = text + digits + 1;
    return true;
}
