// SPDX-License-Identifier: Apache-2.0
// Compiled libraries as bytes.
#include "msl/packed.h"

#include <string.h>

#include "msl/reflect-store.h"

void igi_msl_packed_write(const igi_msl_packed *library, igi_text *bytes) {
    uint64_t log_length = strlen(library->log);
    igi_msl_reflection_write(&library->reflection, bytes);
    igi_text_append(bytes, (const char *)&log_length, sizeof log_length);
    igi_text_append(bytes, library->log, log_length);
    igi_text_append(bytes, library->bitcode, library->bitcode_length);
}

bool igi_msl_packed_read(const char *bytes, size_t length, igi_msl_packed *library) {
    size_t used;
    uint64_t log_length;
    *library = (igi_msl_packed){0};
    if (!igi_msl_reflection_read(bytes, length, &used, &library->reflection)) return false;
    bytes += used, length -= used;
    if (length >= sizeof log_length) {
        memcpy(&log_length, bytes, sizeof log_length);
        bytes += sizeof log_length, length -= sizeof log_length;
        if (log_length <= length) {
            library->log = igi_strndup(bytes, log_length);
            library->bitcode_length = length - log_length;
            library->bitcode = igi_strndup(bytes + log_length, library->bitcode_length);
        }
    }
    if (library->log && library->bitcode) return true;
    free(library->log), free(library->bitcode);
    igi_msl_reflection_free(&library->reflection);
    return false;
}
