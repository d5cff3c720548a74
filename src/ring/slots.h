// SPDX-License-Identifier: Apache-2.0
// Slots of rings: where they are, taking and publishing them. The words are plain memory that kernels share, hence the
// compiler's atomics rather than C's.
#ifndef INGOT_RING_SLOTS_H
#define INGOT_RING_SLOTS_H

#include <string.h>

#include "ring/kernel.h"

// The memory one ring lies in.
typedef struct igi_ring {
    const igi_ring_place *place;
    char *base;      // offsets of the place count from here
    char *overflow;  // slot 0's
} igi_ring;

static inline uint32_t igi_word(const void *word) {
    return __atomic_load_n((const uint32_t *)word, __ATOMIC_ACQUIRE);
}
static inline void igi_set_word(void *word, uint32_t value) {
    __atomic_store_n((uint32_t *)word, value, __ATOMIC_RELEASE);
}

// A counter with one writer, which others read.
static inline void igi_count_more(uint64_t *counter, uint64_t count) {
    __atomic_store_n(counter, *counter + count, __ATOMIC_RELAXED);
}
static inline void igi_count(uint64_t *counter) {
    igi_count_more(counter, 1);
}
static inline uint64_t igi_counted(const uint64_t *counter) {
    return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

static inline igi_ring igi_inbox_ring(const ig_ring_runtime *runtime, uint32_t index) {
    const igi_ring_place *place = &runtime->inbox_place;
    uint64_t each = ((uint64_t)place->mask + 1) * place->overflow_stride;
    return (igi_ring){place, runtime->inboxes + IGI_INBOXES_OFFSET + (uint64_t)index * runtime->inbox_size,
                      runtime->inboxes + place->overflow + index * each};
}

static inline igi_ring igi_ring_of(const ig_ring_kernel *kernel, uint32_t ring) {
    if (ring == IGI_RING_INBOX) return igi_inbox_ring(kernel->runtime, kernel->index);
    const igi_ring_place *place = &kernel->places[ring];
    return (igi_ring){place, kernel->arena, kernel->overflow + place->overflow};
}

static inline uint32_t *igi_ring_head(igi_ring r) {
    return (uint32_t *)(r.base + r.place->head);
}
static inline uint32_t *igi_ring_tail(igi_ring r) {
    return (uint32_t *)(r.base + r.place->tail);
}
static inline uint64_t igi_ring_limit(igi_ring r) {
    return r.place->payload_limit;
}

static inline ig_message_header *igi_slot(igi_ring r, uint32_t position) {
    return (ig_message_header *)(r.base + r.place->slots + (uint64_t)(position & r.place->mask) * r.place->stride);
}

static inline char *igi_slot_payload(igi_ring r, const ig_message_header *slot, uint32_t position, uint64_t bytes) {
    if (bytes <= r.place->inline_bytes) return (char *)(slot + 1);
    return r.overflow + (uint64_t)(position & r.place->mask) * r.place->overflow_stride;
}

// The message at this position, once it is complete; NULL before.
static inline ig_message_header *igi_slot_ready(igi_ring r, uint32_t position) {
    ig_message_header *slot = igi_slot(r, position);
    return igi_word(&slot->sequence) == position + 1 ? slot : NULL;
}

// Between two uses of a slot lies the kernel, whose code the thread sanitizer does not see.
static inline void igi_see_last_use(const ig_message_header *slot) {
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
    igi_word(&slot->sequence);
#endif
#endif
    (void)slot;
}

// Gives the kernel the time.
static inline void igi_ring_set_time(ig_ring_kernel *kernel, uint64_t now_us, uint64_t horizon_us) {
    __atomic_store_n(&kernel->block->wall, now_us, __ATOMIC_RELAXED);
    __atomic_store_n(&kernel->block->horizon, horizon_us, __ATOMIC_RELAXED);
}

// The handler failed with this message; whose answer the host may wait for.
static inline void igi_ring_set_failed(igi_ring_block *block, const ig_message_header *slot) {
    uint64_t id = slot->source_kernel == IG_RING_HOST ? slot->message_id : 0;
    __atomic_store_n(&block->failed_id, id, __ATOMIC_RELEASE);
}

// Of a table in memory that handlers can overwrite.
static inline uint32_t igi_route_count(const ig_k2k_routing_table *routes) {
    uint32_t count = igi_word(&routes->route_count);
    return count < IG_K2K_MAX_ROUTES ? count : IG_K2K_MAX_ROUTES;
}

// Milliseconds, of which the lower bits are enough for what the outbox keeps.
static inline uint32_t igi_ring_wall_ms(const igi_ring_block *block) {
    return (uint32_t)(__atomic_load_n(&block->wall, __ATOMIC_RELAXED) / 1000);
}
static inline bool igi_ring_kept_too_long(const igi_ring_block *block, const ig_message_header *slot) {
    return igi_ring_wall_ms(block) - slot->kept_ms >= block->pending_ms;
}

// ---- Packets ----

static inline uint32_t igi_packet_count(const ig_message_header *slot) {
    return slot->flags >> IGI_PACKET_SHIFT;
}

static inline uint32_t *igi_packet_sum(ig_message_header *packet, uint32_t item) {
    return (uint32_t *)(packet + 1) + item;
}

static inline char *igi_packet_payload(ig_message_header *packet, uint32_t count, uint32_t item) {
    return (char *)(packet + 1) + igi_packet_sums(count) + (size_t)item * igi_pad((uint32_t)packet->payload_size);
}

// Makes a header of its own for one of the messages of a packet; `made` has been made for those before it.
static inline void igi_packet_header(const ig_message_header *packet, uint32_t item, ig_message_header *made) {
    if (!item) memcpy(made, packet, IGI_PACKET_HEADER);
    made->flags = packet->flags & ((1u << IGI_PACKET_SHIFT) - 1);
    made->message_id = packet->message_id + item;
    made->timestamp.logical = packet->timestamp.logical + item;
    made->checksum = *igi_packet_sum((ig_message_header *)packet, item);
}

// ---- Claiming and publishing ----

// Takes the next position of a ring with several producers; false when it is full.
static inline bool igi_ring_claim(igi_ring r, uint32_t *position) {
    uint32_t *tail = igi_ring_tail(r), at = __atomic_load_n(tail, __ATOMIC_RELAXED);
    do {
        if (at - igi_word(igi_ring_head(r)) > r.place->mask) return false;
    } while (!__atomic_compare_exchange_n(tail, &at, at + 1, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
    *position = at;
    igi_see_last_use(igi_slot(r, at));
    return true;
}

// The store and the look at who sleeps, which follows, must not change places: an exchange is a full barrier.
static inline void igi_slot_publish(ig_message_header *slot, uint32_t position) {
    __atomic_exchange_n(&slot->sequence, position + 1, __ATOMIC_SEQ_CST);
}

// Everything in the header but checksum, sequence and what the slot's history left there.
static inline void igi_header_copy(ig_message_header *to, const ig_message_header *from) {
    memcpy(to, from, offsetof(ig_message_header, checksum));
    to->timestamp = from->timestamp;
    to->deadline = from->deadline;
}

static inline void igi_void_slot(ig_message_header *slot, uint32_t position) {
    slot->flags = IG_MESSAGE_VOID;
    igi_slot_publish(slot, position);
}

#endif
