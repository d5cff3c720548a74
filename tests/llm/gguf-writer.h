// SPDX-License-Identifier: Apache-2.0
// Writes GGUF files for tests. Ends the program if memory or disk space runs out.
#ifndef INGOT_TESTS_GGUF_WRITER_H
#define INGOT_TESTS_GGUF_WRITER_H

#include <ingot/llm.h>

typedef struct gguf_bytes {
    char *data;
    size_t length, capacity;
} gguf_bytes;

// Starts zeroed: version 3, alignment 32.
typedef struct gguf_writer {
    uint32_t version, alignment;
    uint64_t pair_count, tensor_count;
    gguf_bytes pairs, tensors, data;
} gguf_writer;

// A number or bool, of as many bytes as its kind has.
void gguf_add(gguf_writer *writer, const char *key, ig_gguf_kind kind, const void *bytes);
void gguf_add_u32(gguf_writer *writer, const char *key, uint32_t value);
void gguf_add_f32(gguf_writer *writer, const char *key, float value);
void gguf_add_bool(gguf_writer *writer, const char *key, bool value);
void gguf_add_string(gguf_writer *writer, const char *key, const char *value);
// An array of numbers or bools.
void gguf_add_array(gguf_writer *writer, const char *key, ig_gguf_kind kind, uint64_t count, const void *elements);
void gguf_add_strings(gguf_writer *writer, const char *key, uint64_t count, const char *const *strings);
// Before any tensor.
void gguf_set_alignment(gguf_writer *writer, uint32_t alignment);
// The shape is outermost first. Data begins at the next multiple of the alignment.
void gguf_add_tensor(gguf_writer *writer, const char *name, uint32_t type, uint32_t rank, const uint64_t *shape,
                     const void *data, size_t bytes);

// The whole file, which ends where the last tensor ends; owns: the caller frees it. The writer is unchanged.
char *gguf_file(const gguf_writer *writer, size_t *length);
void gguf_save(const gguf_writer *writer, const char *path);
void gguf_write_file(const char *path, const void *bytes, size_t length);
void gguf_free(gguf_writer *writer);

#endif
