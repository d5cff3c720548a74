// SPDX-License-Identifier: Apache-2.0
// A streaming JSON writer, to a file or into memory.
//
// Commas and colons are written automatically: begin, key, value, end. A sticky flag remembers the first failure, so only
// the end needs checking. Text that is not UTF-8 has its bad bytes replaced by U+FFFD.
#ifndef INGOT_CORE_JSON_H
#define INGOT_CORE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "core/memory.h"

enum { IGI_JSON_MAX_DEPTH = 64 };

typedef struct igi_json {
    FILE *file;  // NULL: into text
    igi_text text;
    uint32_t depth;
    uint64_t has_items;  // bit d: the container at depth d is not empty
    bool after_key;
    bool failed;
} igi_json;

// Borrows the file.
void igi_json_to_file(igi_json *json, FILE *file);
void igi_json_to_memory(igi_json *json);
// owns: the text becomes the caller's; NULL when something failed.
char *igi_json_take_text(igi_json *json);
void igi_json_free(igi_json *json);

void igi_json_begin_object(igi_json *json);
void igi_json_end_object(igi_json *json);
void igi_json_begin_array(igi_json *json);
void igi_json_end_array(igi_json *json);
void igi_json_key(igi_json *json, const char *key);

void igi_json_string(igi_json *json, const char *text);  // NULL is written as null
void igi_json_string_n(igi_json *json, const char *text, size_t length);
void igi_json_u64(igi_json *json, uint64_t value);
void igi_json_i64(igi_json *json, int64_t value);
void igi_json_double(igi_json *json, double value);  // shortest text that reads back the same; NaN, inf: null
void igi_json_float(igi_json *json, float value);    // likewise, shortest for a float
void igi_json_bool(igi_json *json, bool value);
void igi_json_null(igi_json *json);

// Ends a row: a newline between top-level values. Returns false if anything has failed so far.
bool igi_json_end_row(igi_json *json);

// Key and value in one call.
void igi_json_put_string(igi_json *json, const char *key, const char *text);
void igi_json_put_u64(igi_json *json, const char *key, uint64_t value);
void igi_json_put_double(igi_json *json, const char *key, double value);
void igi_json_put_bool(igi_json *json, const char *key, bool value);

#endif
