// SPDX-License-Identifier: Apache-2.0
// XXH3, 128 bits: fast enough to hash a source on every lookup, wide enough to trust the key.
#include "core/hash.h"

#include <stdio.h>
#include <string.h>
#include <xxhash.h>

static XXH3_state_t *state(igi_hasher *hasher) {
    return (XXH3_state_t *)hasher;
}

igi_hasher *igi_hasher_create(void) {
    igi_hasher *hasher = (igi_hasher *)XXH3_createState();
    if (hasher) XXH3_128bits_reset(state(hasher));
    return hasher;
}

void igi_hasher_add_u64(igi_hasher *hasher, uint64_t value) {
    if (hasher) XXH3_128bits_update(state(hasher), &value, sizeof value);
}

void igi_hasher_add(igi_hasher *hasher, const void *bytes, size_t length) {
    igi_hasher_add_u64(hasher, length);
    if (hasher && length) XXH3_128bits_update(state(hasher), bytes, length);
}

void igi_hasher_add_string(igi_hasher *hasher, const char *text) {
    if (text)
        igi_hasher_add(hasher, text, strlen(text));
    else
        igi_hasher_add_u64(hasher, UINT64_MAX);
}

igi_hash igi_hasher_finish(igi_hasher *hasher) {
    if (!hasher) return (igi_hash){0};
    XXH128_hash_t hash = XXH3_128bits_digest(state(hasher));
    XXH3_freeState(state(hasher));
    return (igi_hash){hash.low64, hash.high64};
}

igi_hash igi_hash_bytes(const void *bytes, size_t length) {
    XXH128_hash_t hash = XXH3_128bits(bytes, length);
    return (igi_hash){hash.low64, hash.high64};
}

void igi_hash_hex(igi_hash hash, char hex[33]) {
    snprintf(hex, 33, "%016llx%016llx", (unsigned long long)hash.high, (unsigned long long)hash.low);
}
