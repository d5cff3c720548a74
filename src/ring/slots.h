// SPDX-License-Identifier: Apache-2.0
// The ring protocol, first part: where slots are, claiming and publishing them, and packets. C and MSL both include
// this file, after defining what it needs from the language: see words.h.
#ifndef INGOT_RING_SLOTS_H
#define INGOT_RING_SLOTS_H

#ifndef __METAL_VERSION__
#include "ring/words.h"
#endif

// ---- Slots ----

// One ring in memory.
typedef struct igi_ring {
    IGI_DEVICE const igi_ring_place *place;
    IGI_DEVICE char *base;      // offsets of the place count from here
    IGI_DEVICE char *overflow;  // the place's overflow offset counts from here
    uint32_t index;             // of an inbox, since the overflow of all inboxes is one array; otherwise 0
} igi_ring;

static inline IGI_DEVICE uint32_t *igi_ring_head(igi_ring ring) {
    return (IGI_DEVICE uint32_t *)(ring.base + ring.place->head);
}
static inline IGI_DEVICE uint32_t *igi_ring_tail(igi_ring ring) {
    return (IGI_DEVICE uint32_t *)(ring.base + ring.place->tail);
}

static inline IGI_DEVICE ig_message_header *igi_ring_slot_at(igi_ring ring, uint32_t position) {
    uint64_t offset = (uint64_t)(position & ring.place->mask) * ring.place->stride;
    return (IGI_DEVICE ig_message_header *)(ring.base + ring.place->slots + offset);
}

// The place of a payload of this size: in the slot, or in the overflow if it is too large for the slot.
static inline IGI_DEVICE char *igi_ring_payload_at(igi_ring ring, IGI_DEVICE ig_message_header *slot, uint32_t position,
                                                   uint64_t bytes) {
    IGI_DEVICE const igi_ring_place *place = ring.place;
    if (bytes <= place->inline_bytes) return (IGI_DEVICE char *)(slot + 1);
    uint64_t number = (uint64_t)ring.index * ((uint64_t)place->mask + 1) + (position & place->mask);
    return ring.overflow + place->overflow + number * place->overflow_stride;
}

// The message at this position, or NULL if it is not complete yet.
static inline IGI_DEVICE ig_message_header *igi_ring_ready_at(igi_ring ring, uint32_t position) {
    IGI_DEVICE ig_message_header *slot = igi_ring_slot_at(ring, position);
    return igi_ring_sees(&slot->sequence, position + 1) ? slot : NULL;
}

// ---- Claiming and publishing ----

// Claims the next position of a ring that has several producers; returns false if the ring is full.
static inline bool igi_ring_claim(igi_ring ring, IGI_THREAD uint32_t *position) {
    IGI_DEVICE uint32_t *tail = igi_ring_tail(ring), *head = igi_ring_head(ring);
    uint32_t at;
    do {
        at = igi_ring_load(tail);
        if (at - igi_ring_load_acquire(head) > ring.place->mask) return false;
    } while (!igi_ring_exchange_if(tail, at, at + 1));
    igi_ring_see_last_use(&igi_ring_slot_at(ring, at)->sequence);
    *position = at;
    return true;
}

// Copies a header, except for the checksum, the sequence and the reserved part.
static inline void igi_ring_copy_header(IGI_DEVICE ig_message_header *to, IGI_DEVICE const ig_message_header *from) {
    igi_ring_copy((IGI_DEVICE char *)to, (IGI_DEVICE const char *)from, IGI_HEADER_BEFORE_CHECKSUM);
    to->timestamp = from->timestamp;
    to->deadline = from->deadline;
}

// ---- Counters and routes ----

// A counter with one writer, which others read.
static inline void igi_ring_count(IGI_DEVICE uint64_t *counter, uint64_t count) {
    igi_ring_write(counter, *counter + count);
}

// The table is in memory that handlers can overwrite.
static inline uint32_t igi_ring_route_count(IGI_DEVICE const ig_k2k_routing_table *routes) {
    uint32_t count = igi_ring_load_acquire(&routes->route_count);
    return count < IG_K2K_MAX_ROUTES ? count : IG_K2K_MAX_ROUTES;
}

// ---- Packets ----

static inline uint32_t igi_ring_packet_count(IGI_DEVICE const ig_message_header *packet) {
    return packet->flags >> IGI_PACKET_SHIFT;
}

static inline IGI_DEVICE uint32_t *igi_ring_packet_sum(IGI_DEVICE ig_message_header *packet, uint32_t item) {
    return (IGI_DEVICE uint32_t *)(packet + 1) + item;
}

static inline IGI_DEVICE char *igi_ring_packet_payload(IGI_DEVICE ig_message_header *packet, uint32_t count,
                                                       uint32_t item) {
    // A packet is far smaller than 4 GiB: 32 bits are enough, and cheaper in a kernel.
    uint32_t offset = igi_ring_packet_sums(count) + item * igi_ring_pad((uint32_t)packet->payload_size);
    return (IGI_DEVICE char *)(packet + 1) + offset;
}

// Makes a header for one message of a packet. pre: `made` was made for the message before it, unless item is 0.
static inline void igi_ring_packet_header(IGI_DEVICE ig_message_header *packet, uint32_t item,
                                          IGI_DEVICE ig_message_header *made) {
    IGI_RING_ASSERT(item < igi_ring_packet_count(packet));
    if (item == 0) igi_ring_copy((IGI_DEVICE char *)made, (IGI_DEVICE const char *)packet, IGI_PACKET_HEADER);
    made->flags = packet->flags & ((1u << IGI_PACKET_SHIFT) - 1);
    made->message_id = packet->message_id + item;
    made->timestamp.logical = packet->timestamp.logical + item;
    made->checksum = *igi_ring_packet_sum(packet, item);
}

// Prefetches the cache lines of a slot that will soon be read, or written: those of the header and of as many bytes
// after it. They arrive together instead of one after the other.
static inline void igi_ring_expect_read(IGI_DEVICE const ig_message_header *slot, uint32_t bytes) {
    igi_ring_prefetch((IGI_DEVICE const char *)slot);
    for (uint32_t i = 0; i < bytes; i += 64) igi_ring_prefetch((IGI_DEVICE const char *)(slot + 1) + i);
}
static inline void igi_ring_expect_write(IGI_DEVICE const ig_message_header *slot, uint32_t bytes) {
    igi_ring_prefetch_for_write((IGI_DEVICE const char *)slot);
    igi_ring_prefetch_for_write((IGI_DEVICE const char *)slot + 64);
    for (uint32_t i = 0; i < bytes; i += 64) igi_ring_prefetch_for_write((IGI_DEVICE const char *)(slot + 1) + i);
}

#endif
