// SPDX-License-Identifier: Apache-2.0
// What the ring protocol (slots.h, loop.h, take.h) needs from its language, in C. <ingot/ring> supplies the same in
// MSL.
//
// Rings are in plain memory that kernels share, so these are the compiler's atomics rather than C's. Where MSL combines
// a relaxed access with a fence, C uses one ordered access, because the thread sanitizer does not understand fences.
#ifndef INGOT_RING_WORDS_H
#define INGOT_RING_WORDS_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/pause.h"
#include "ring/block.h"
#include "ring/checksum.h"

// Address spaces, which C does not have.
#define IGI_DEVICE
#define IGI_GROUP
#define IGI_THREAD
#define IGI_RING_ASSERT(condition) assert(condition)

// ---- 32-bit words that several threads use at the same time ----

static inline uint32_t igi_ring_load(const uint32_t *word) {
    return __atomic_load_n(word, __ATOMIC_RELAXED);
}
static inline uint32_t igi_ring_load_acquire(const uint32_t *word) {
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}
// Whether the word has this value; an acquire load if it has.
static inline bool igi_ring_sees(const uint32_t *word, uint32_t value) {
    return __atomic_load_n(word, __ATOMIC_ACQUIRE) == value;
}
static inline void igi_ring_store(uint32_t *word, uint32_t value) {
    __atomic_store_n(word, value, __ATOMIC_RELAXED);
}
static inline void igi_ring_store_release(uint32_t *word, uint32_t value) {
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
}
// May fail spuriously.
static inline bool igi_ring_exchange_if(uint32_t *word, uint32_t expected, uint32_t value) {
    return __atomic_compare_exchange_n(word, &expected, value, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}
// Publishes by storing to one word, then loads another. If two threads do this with the words exchanged, at least one
// sees the other's store.
static inline uint32_t igi_ring_store_then_load(uint32_t *word, uint32_t value, const uint32_t *other) {
    __atomic_exchange_n(word, value, __ATOMIC_SEQ_CST);
    return __atomic_load_n(other, __ATOMIC_SEQ_CST);
}
// The same, for stores that were already made.
static inline uint32_t igi_ring_load_after_stores(const uint32_t *word) {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}
// Announces that this thread is going to wait. It then looks whether it has to: either it sees what another thread stored
// before that one looked at the word, or the other one sees the announcement. Without the fence the loads that follow,
// which only acquire, may be done first (tests/ring/litmus).
static inline void igi_ring_announce(uint32_t *word) {
    __atomic_exchange_n(word, 1, __ATOMIC_SEQ_CST);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

// ---- 64-bit words with one writer ----

static inline uint64_t igi_ring_read(const uint64_t *word) {
    return __atomic_load_n(word, __ATOMIC_RELAXED);
}
static inline void igi_ring_write(uint64_t *word, uint64_t value) {
    __atomic_store_n(word, value, __ATOMIC_RELAXED);
}
static inline void igi_ring_write_release(uint64_t *word, uint64_t value) {
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

// ---- Bytes ----

static inline void igi_ring_copy(char *to, const char *from, uint32_t bytes) {
    memcpy(to, from, bytes);
}
static inline uint32_t igi_ring_checksum(const char *inboxes, const char *bytes, uint32_t count) {
    (void)inboxes;  // where MSL has the tables
    return igi_ring_crc32(bytes, count);
}
static inline void igi_ring_prefetch(const char *line) {
    __builtin_prefetch(line);
}
static inline void igi_ring_prefetch_for_write(const char *line) {
    __builtin_prefetch(line, 1);
}

// ---- The loop ----

static inline void igi_ring_rest(const uint32_t *word, uint32_t spins) {
    (void)word, (void)spins;
    igi_pause();
}

// The thread sanitizer does not see the code of kernels in MSL, which use a slot between two uses by the host.
static inline void igi_ring_see_last_use(const uint32_t *sequence) {
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
    igi_ring_load_acquire(sequence);
#endif
#endif
    (void)sequence;
}

#endif
