// SPDX-License-Identifier: Apache-2.0
// Writes GGUF files for tests.
#include "gguf-writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void need(bool condition, const char *what) {
    if (condition) return;
    fprintf(stderr, "gguf-writer: %s\n", what);
    abort();
}

// ---- Pieces ----

static void append(gguf_bytes *bytes, const void *more, size_t length) {
    if (bytes->length + length > bytes->capacity) {
        bytes->capacity = 2 * (bytes->length + length);
        char *larger = realloc(bytes->data, bytes->capacity);
        need(larger, "out of memory");
        bytes->data = larger;
    }
    if (length) memcpy(bytes->data + bytes->length, more, length);
    bytes->length += length;
}

static void append_u32(gguf_bytes *bytes, uint32_t number) {
    append(bytes, &number, sizeof number);
}

static void append_u64(gguf_bytes *bytes, uint64_t number) {
    append(bytes, &number, sizeof number);
}

static void append_string(gguf_bytes *bytes, const char *string) {
    append_u64(bytes, strlen(string));
    append(bytes, string, strlen(string));
}

static void pad(gguf_bytes *bytes, size_t alignment) {
    while (bytes->length % alignment) append(bytes, "", 1);
}

static size_t alignment_of(const gguf_writer *writer) {
    return writer->alignment ? writer->alignment : 32;
}

// ---- Values ----

static const size_t kind_bytes[] = {
#define BYTES(id, name, bytes) bytes,
    IG_GGUF_KIND_LIST(BYTES)
#undef BYTES
};

static void begin_pair(gguf_writer *writer, const char *key, ig_gguf_kind kind) {
    append_string(&writer->pairs, key);
    append_u32(&writer->pairs, kind);
    writer->pair_count++;
}

void gguf_add(gguf_writer *writer, const char *key, ig_gguf_kind kind, const void *bytes) {
    begin_pair(writer, key, kind);
    append(&writer->pairs, bytes, kind_bytes[kind]);
}

void gguf_add_u32(gguf_writer *writer, const char *key, uint32_t value) {
    gguf_add(writer, key, IG_GGUF_U32, &value);
}

void gguf_add_f32(gguf_writer *writer, const char *key, float value) {
    gguf_add(writer, key, IG_GGUF_F32, &value);
}

void gguf_add_bool(gguf_writer *writer, const char *key, bool value) {
    gguf_add(writer, key, IG_GGUF_BOOL, &(uint8_t){value});
}

void gguf_add_string(gguf_writer *writer, const char *key, const char *value) {
    begin_pair(writer, key, IG_GGUF_STRING);
    append_string(&writer->pairs, value);
}

static void begin_array(gguf_writer *writer, const char *key, ig_gguf_kind kind, uint64_t count) {
    begin_pair(writer, key, IG_GGUF_ARRAY);
    append_u32(&writer->pairs, kind);
    append_u64(&writer->pairs, count);
}

void gguf_add_array(gguf_writer *writer, const char *key, ig_gguf_kind kind, uint64_t count, const void *elements) {
    begin_array(writer, key, kind, count);
    append(&writer->pairs, elements, count * kind_bytes[kind]);
}

void gguf_add_strings(gguf_writer *writer, const char *key, uint64_t count, const char *const *strings) {
    begin_array(writer, key, IG_GGUF_STRING, count);
    for (uint64_t i = 0; i < count; i++) append_string(&writer->pairs, strings[i]);
}

void gguf_set_alignment(gguf_writer *writer, uint32_t alignment) {
    need(writer->tensor_count == 0, "the alignment is set too late");
    writer->alignment = alignment;
    gguf_add_u32(writer, "general.alignment", alignment);
}

// ---- Tensors ----

void gguf_add_tensor(gguf_writer *writer, const char *name, uint32_t type, uint32_t rank, const uint64_t *shape,
                     const void *data, size_t bytes) {
    pad(&writer->data, alignment_of(writer));
    append_string(&writer->tensors, name);
    append_u32(&writer->tensors, rank);
    for (uint32_t i = rank; i-- > 0;) append_u64(&writer->tensors, shape[i]);
    append_u32(&writer->tensors, type);
    append_u64(&writer->tensors, writer->data.length);
    append(&writer->data, data, bytes);
    writer->tensor_count++;
}

// ---- The whole ----

char *gguf_file(const gguf_writer *writer, size_t *length) {
    gguf_bytes file = {0};
    append(&file, "GGUF", 4);
    append_u32(&file, writer->version ? writer->version : 3);
    append_u64(&file, writer->tensor_count);
    append_u64(&file, writer->pair_count);
    append(&file, writer->pairs.data, writer->pairs.length);
    append(&file, writer->tensors.data, writer->tensors.length);
    if (writer->tensor_count) pad(&file, alignment_of(writer));
    append(&file, writer->data.data, writer->data.length);
    *length = file.length;
    return file.data;
}

void gguf_write_file(const char *path, const void *bytes, size_t length) {
    FILE *file = fopen(path, "wb");
    need(file, "the file cannot be made");
    need(fwrite(bytes, 1, length, file) == length, "the file cannot be written");
    need(fclose(file) == 0, "the file cannot be written");
}

void gguf_save(const gguf_writer *writer, const char *path) {
    size_t length;
    char *bytes = gguf_file(writer, &length);
    gguf_write_file(path, bytes, length);
    free(bytes);
}

void gguf_free(gguf_writer *writer) {
    free(writer->pairs.data);
    free(writer->tensors.data);
    free(writer->data.data);
    *writer = (gguf_writer){0};
}
