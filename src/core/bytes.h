// SPDX-License-Identifier: Apache-2.0
// Numbers and strings as bytes, for caches and for messages between processes of one machine: native byte order,
// 32-bit lengths before strings. Readers check everything.
#ifndef INGOT_CORE_BYTES_H
#define INGOT_CORE_BYTES_H

#include "core/memory.h"

void igi_put_u32(igi_text *bytes, uint32_t value);
void igi_put_u64(igi_text *bytes, uint64_t value);
// pre: length < 2^32; a longer block makes `bytes` fail.
void igi_put_block(igi_text *bytes, const void *block, size_t length);
void igi_put_string(igi_text *bytes, const char *string);

// Past the end, or after memory ran short, everything reads as zero and `failed` stays set.
typedef struct igi_reader {
    const char *at, *end;
    bool failed;
    bool no_memory;  // why it failed; otherwise the bytes are damaged
} igi_reader;

static inline igi_reader igi_read_from(const char *bytes, size_t length) {
    return (igi_reader){.at = bytes, .end = bytes + length};
}
static inline size_t igi_bytes_left(const igi_reader *reader) {
    return (size_t)(reader->end - reader->at);
}

// For readers built on this one: marks the reader as out of memory if `memory` is NULL.
static inline void igi_reader_needs(igi_reader *reader, const void *memory) {
    if (memory || reader->failed) return;
    reader->failed = reader->no_memory = true;
}

uint32_t igi_get_u32(igi_reader *reader);
uint64_t igi_get_u64(igi_reader *reader);
// Reads a count of items that take at least `bytes` each; a count that cannot fit is refused early.
uint32_t igi_get_count(igi_reader *reader, size_t bytes);
// In place; valid as long as the bytes are.
const char *igi_get_block(igi_reader *reader, size_t *length);
// owns: the string is the caller's, NUL-terminated. NULL on failure.
char *igi_get_string(igi_reader *reader);

#endif
