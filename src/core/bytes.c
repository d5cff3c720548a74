// SPDX-License-Identifier: Apache-2.0
// Numbers and strings as bytes.
#include "core/bytes.h"

#include <string.h>

void igi_put_u32(igi_text *bytes, uint32_t value) {
    igi_text_append(bytes, (const char *)&value, sizeof value);
}

void igi_put_u64(igi_text *bytes, uint64_t value) {
    igi_text_append(bytes, (const char *)&value, sizeof value);
}

void igi_put_block(igi_text *bytes, const void *block, size_t length) {
    if (length > UINT32_MAX) bytes->failed = true;
    igi_put_u32(bytes, (uint32_t)length);
    igi_text_append(bytes, block, length);
}

void igi_put_string(igi_text *bytes, const char *string) {
    igi_put_block(bytes, string, strlen(string));
}

static void take(igi_reader *reader, void *target, size_t length) {
    memset(target, 0, length);
    if (reader->failed || igi_bytes_left(reader) < length) {
        reader->failed = true;
        return;
    }
    memcpy(target, reader->at, length);
    reader->at += length;
}

uint32_t igi_get_u32(igi_reader *reader) {
    uint32_t value;
    take(reader, &value, sizeof value);
    return value;
}

uint64_t igi_get_u64(igi_reader *reader) {
    uint64_t value;
    take(reader, &value, sizeof value);
    return value;
}

uint32_t igi_get_count(igi_reader *reader, size_t bytes) {
    uint32_t count = igi_get_u32(reader);
    if (count > igi_bytes_left(reader) / bytes) reader->failed = true;
    return reader->failed ? 0 : count;
}

const char *igi_get_block(igi_reader *reader, size_t *length) {
    const char *block = NULL;
    *length = igi_get_count(reader, 1);
    if (reader->failed) return NULL;
    block = reader->at;
    reader->at += *length;
    return block;
}

char *igi_get_string(igi_reader *reader) {
    size_t length;
    const char *block = igi_get_block(reader, &length);
    char *string = block ? igi_strndup(block, length) : NULL;
    igi_reader_needs(reader, string);
    return string;
}
