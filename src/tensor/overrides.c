// SPDX-License-Identifier: Apache-2.0
// Parsing of INGOT_BACKEND.
#include "tensor/overrides.h"

#include <string.h>

static ig_status find_backend(const char *name, size_t length, ig_backend *backend, ig_error *error) {
    if (igi_tensor_backend_find(name, length, backend)) return IG_STATUS_OK;
    return igi_error_set(error, IG_STATUS_NOT_FOUND,
                         "unknown backend '%.*s'; choose from any, scalar, simd, blas and msl", (int)length, name);
}

static ig_status take_entry(const char *entry, size_t length, uint8_t forced[IG_OP_COUNT], ig_error *error) {
    ig_backend backend;
    ig_op op;
    const char *equals = memchr(entry, '=', length);
    if (!equals) {
        ig_status status = find_backend(entry, length, &backend, error);
        if (status == IG_STATUS_OK) memset(forced, backend, IG_OP_COUNT);
        return status;
    }
    size_t name = (size_t)(equals - entry);
    if (!igi_op_find(entry, name, &op))
        return igi_error_set(error, IG_STATUS_NOT_FOUND, "unknown op '%.*s'", (int)name, entry);
    ig_status status = find_backend(equals + 1, length - name - 1, &backend, error);
    if (status == IG_STATUS_OK) forced[op] = (uint8_t)backend;
    return status;
}

ig_status igi_tensor_overrides_parse(const char *text, uint8_t forced[IG_OP_COUNT], ig_error *error) {
    uint8_t parsed[IG_OP_COUNT] = {0};
    ig_status status = IG_STATUS_OK;
    while (*text && status == IG_STATUS_OK) {
        size_t length = strcspn(text, ",");
        if (length) status = take_entry(text, length, parsed, error);
        text += length + (text[length] == ',');
    }
    if (status == IG_STATUS_OK) memcpy(forced, parsed, sizeof parsed);
    return status;
}
