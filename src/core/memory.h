// SPDX-License-Identifier: Apache-2.0
// Allocation, reference counts, checked sizes and growing text. Every allocation of the library is made here, so that a
// test can make any of them fail.
#ifndef INGOT_CORE_MEMORY_H
#define INGOT_CORE_MEMORY_H

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

// All return NULL when memory is short; free() releases them. A size of zero gives a valid pointer.
void *igi_alloc(size_t bytes);
void *igi_calloc(size_t count, size_t bytes);
void *igi_realloc(void *memory, size_t bytes);
void *igi_aligned_alloc(size_t alignment, size_t bytes);
char *igi_strdup(const char *text);  // NULL for NULL
char *igi_strndup(const char *text, size_t length);
char *igi_vformat(const char *format, va_list arguments);
__attribute__((format(printf, 1, 2))) char *igi_format(const char *format, ...);

// Moves past the text if `*at` begins with it.
bool igi_skip(const char **at, const char *text);
bool igi_ends_with(const char *text, const char *end);

// For tests: the n-th allocation from now (1 is the next) and all after it fail; 0 turns that off.
// Returns the number of allocations requested since the last call.
uint64_t igi_alloc_fail_at(uint64_t n);
// Counts an allocation that does not come from the functions above; true: it must fail.
bool igi_alloc_is_refused(void);

typedef struct igi_refcount {
    atomic_uint_fast32_t count;
} igi_refcount;

static inline void igi_ref_init(igi_refcount *references) {
    atomic_init(&references->count, 1);
}
static inline void igi_ref_take(igi_refcount *references) {
    atomic_fetch_add_explicit(&references->count, 1, memory_order_relaxed);
}
// For those who have none: false if the last one was given up already.
static inline bool igi_ref_try_take(igi_refcount *references) {
    uint_fast32_t count = atomic_load_explicit(&references->count, memory_order_relaxed);
    while (count && !atomic_compare_exchange_weak_explicit(&references->count, &count, count + 1, memory_order_acquire,
                                                           memory_order_relaxed)) {
    }
    return count != 0;
}
// Returns true if that was the last reference.
static inline bool igi_ref_drop(igi_refcount *references) {
    return atomic_fetch_sub_explicit(&references->count, 1, memory_order_acq_rel) == 1;
}

// Returns false if the result does not fit.
static inline bool igi_mul(uint64_t a, uint64_t b, uint64_t *product) {
    return !__builtin_mul_overflow(a, b, product);
}
static inline bool igi_add(uint64_t a, uint64_t b, uint64_t *sum) {
    return !__builtin_add_overflow(a, b, sum);
}
static inline uint64_t igi_common_divisor(uint64_t a, uint64_t b) {
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}
// UINT64_MAX if the sum does not fit.
static inline uint64_t igi_add_clamped(uint64_t a, uint64_t b) {
    uint64_t sum;
    return igi_add(a, b, &sum) ? sum : UINT64_MAX;
}

static inline bool igi_is_power_of_two(uint64_t value) {
    return value && !(value & (value - 1));
}

static inline uint64_t igi_round_up(uint64_t value, uint64_t power_of_two) {
    return (value + power_of_two - 1) & ~(power_of_two - 1);
}
// Whether [offset, offset + length) is inside [0, size).
static inline bool igi_in_range(uint64_t offset, uint64_t length, uint64_t size) {
    return offset <= size && length <= size - offset;
}

// Growing text. A failed allocation sets `failed`, and later appends do nothing.
typedef struct igi_text {
    char *data;  // NUL-terminated once anything was appended
    size_t length, capacity;
    bool failed;
} igi_text;

void igi_text_append(igi_text *text, const char *bytes, size_t length);
void igi_text_add(igi_text *text, const char *string);
__attribute__((format(printf, 2, 3))) void igi_text_addf(igi_text *text, const char *format, ...);
// Hands over the string ("" if nothing was appended, NULL if memory ran short) and empties the text.
char *igi_text_take(igi_text *text);
void igi_text_free(igi_text *text);

// Grows an array by doubling: igi_grow((void **)&items, &capacity, count + 1, sizeof *items).
bool igi_grow(void **items, size_t *capacity, size_t needed, size_t item_bytes);

#endif
