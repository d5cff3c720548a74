// SPDX-License-Identifier: Apache-2.0
// 128-bit content hashes, the keys of every cache.
#ifndef INGOT_CORE_HASH_H
#define INGOT_CORE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct igi_hash {
    uint64_t low, high;
} igi_hash;

typedef struct igi_hasher igi_hasher;

// A hasher whose allocation failed is NULL; the calls below accept it and igi_hasher_finish gives zeros,
// which igi_hash_valid distinguishes from a real hash.
igi_hasher *igi_hasher_create(void);
// Lengths go in as well, so that ("ab","c") and ("a","bc") differ.
void igi_hasher_add(igi_hasher *hasher, const void *bytes, size_t length);
void igi_hasher_add_string(igi_hasher *hasher, const char *text);  // NULL differs from ""
void igi_hasher_add_u64(igi_hasher *hasher, uint64_t value);
igi_hash igi_hasher_finish(igi_hasher *hasher);  // frees it

igi_hash igi_hash_bytes(const void *bytes, size_t length);
static inline bool igi_hash_equal(igi_hash a, igi_hash b) {
    return a.low == b.low && a.high == b.high;
}
static inline bool igi_hash_valid(igi_hash hash) {
    return hash.low || hash.high;
}
void igi_hash_hex(igi_hash hash, char hex[33]);

#endif
