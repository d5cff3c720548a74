// SPDX-License-Identifier: Apache-2.0
// Allocation with failure injection; growing text and arrays.
#include "core/memory.h"

#include <stdio.h>
#include <string.h>

static atomic_uint_fast64_t asked;
static atomic_uint_fast64_t fail_at;

uint64_t igi_alloc_fail_at(uint64_t n) {
    atomic_store(&fail_at, n);
    return atomic_exchange(&asked, 0);
}

bool igi_alloc_is_refused(void) {
    uint64_t limit = atomic_load_explicit(&fail_at, memory_order_relaxed);
    uint64_t nth = atomic_fetch_add_explicit(&asked, 1, memory_order_relaxed) + 1;
    return limit != 0 && nth >= limit;
}

void *igi_alloc(size_t bytes) {
    return igi_alloc_is_refused() ? NULL : malloc(bytes ? bytes : 1);
}

void *igi_calloc(size_t count, size_t bytes) {
    return igi_alloc_is_refused() ? NULL : calloc(count ? count : 1, bytes ? bytes : 1);
}

void *igi_realloc(void *memory, size_t bytes) {
    return igi_alloc_is_refused() ? NULL : realloc(memory, bytes ? bytes : 1);
}

void *igi_aligned_alloc(size_t alignment, size_t bytes) {
    void *memory = NULL;
    if (igi_alloc_is_refused() || posix_memalign(&memory, alignment, bytes ? bytes : alignment)) return NULL;
    return memory;
}

char *igi_strndup(const char *text, size_t length) {
    char *copy = igi_alloc(length + 1);
    if (!copy) return NULL;
    memcpy(copy, text, length);
    copy[length] = 0;
    return copy;
}

char *igi_strdup(const char *text) {
    return text ? igi_strndup(text, strlen(text)) : NULL;
}

bool igi_ends_with(const char *text, const char *end) {
    size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

bool igi_skip(const char **at, const char *text) {
    size_t length = strlen(text);
    if (strncmp(*at, text, length) != 0) return false;
    *at += length;
    return true;
}

char *igi_vformat(const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    char *text = length < 0 ? NULL : igi_alloc((size_t)length + 1);
    if (text) vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

char *igi_format(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *text = igi_vformat(format, arguments);
    va_end(arguments);
    return text;
}

bool igi_grow(void **items, size_t *capacity, size_t needed, size_t item_bytes) {
    if (needed <= *capacity) return true;
    size_t wanted = *capacity ? *capacity : 8;
    while (wanted < needed) {
        if (wanted > SIZE_MAX / 2) return false;
        wanted *= 2;
    }
    uint64_t bytes;
    if (!igi_mul(wanted, item_bytes, &bytes)) return false;
    void *grown = igi_realloc(*items, bytes);
    if (!grown) return false;
    *items = grown;
    *capacity = wanted;
    return true;
}

void igi_text_append(igi_text *text, const char *bytes, size_t length) {
    if (text->failed) return;
    if (!igi_grow((void **)&text->data, &text->capacity, text->length + length + 1, 1)) {
        text->failed = true;
        return;
    }
    if (length) memcpy(text->data + text->length, bytes, length);
    text->length += length;
    text->data[text->length] = 0;
}

void igi_text_add(igi_text *text, const char *string) {
    igi_text_append(text, string, strlen(string));
}

void igi_text_addf(igi_text *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *piece = igi_vformat(format, arguments);
    va_end(arguments);
    if (piece)
        igi_text_add(text, piece);
    else
        text->failed = true;
    free(piece);
}

char *igi_text_take(igi_text *text) {
    igi_text_append(text, "", 0);
    char *string = text->failed ? NULL : text->data;
    if (text->failed) free(text->data);
    *text = (igi_text){0};
    return string;
}

void igi_text_free(igi_text *text) {
    free(text->data);
    *text = (igi_text){0};
}
