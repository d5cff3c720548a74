// SPDX-License-Identifier: Apache-2.0
// A reader of JSON texts (RFC 8259) from outside: depth and size are bounded, and every value is looked up with its type.
#ifndef INGOT_CORE_JSON_READ_H
#define INGOT_CORE_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/status-internal.h"

typedef enum igi_json_kind {
    IGI_JSON_NULL,
    IGI_JSON_BOOL,
    IGI_JSON_NUMBER,
    IGI_JSON_STRING,
    IGI_JSON_ARRAY,
    IGI_JSON_OBJECT,
} igi_json_kind;

typedef struct igi_json_value {
    igi_json_kind kind;
    bool boolean;
    const char *text;  // of a string, unescaped and NUL-terminated, without NULs in it; of a number, as it is written
    const char *key;   // in an object
    size_t count;      // of an array or object
    struct igi_json_value *first, *next;
} igi_json_value;

typedef struct igi_json_document {
    igi_arena arena;
    igi_json_value *root;
} igi_json_document;

// `name` is how messages call the text. owns: *document is the caller's; nothing is left to free on failure.
// errors: BAD_FORMAT, OUT_OF_MEMORY.
ig_status igi_json_parse(const char *name, const char *text, size_t length, igi_json_document *document,
                         ig_error *error);
void igi_json_document_free(igi_json_document *document);

// The member of an object; NULL when there is none or `object` is NULL or no object. Of equal keys, the first.
const igi_json_value *igi_json_member(const igi_json_value *object, const char *key);

// Each is false when the value is missing or of another type; a number must be whole and fit.
bool igi_json_get_u64(const igi_json_value *value, uint64_t *number);
bool igi_json_get_bool(const igi_json_value *value, bool *boolean);
const char *igi_json_get_string(const igi_json_value *value);  // NULL when it is none

#endif
