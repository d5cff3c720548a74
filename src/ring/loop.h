// SPDX-License-Identifier: Apache-2.0
// The ring protocol, second part: the state of the loop around a handler, its clock, dead letters, and sending. C and
// MSL both include this file. <ingot/ring> and loop.c use it, and supply the functions that handlers call.
//
// Only the loop writes its counters, so it reads them without atomics.
#ifndef INGOT_RING_LOOP_H
#define INGOT_RING_LOOP_H

#ifndef __METAL_VERSION__
#include "ring/slots.h"
#endif

// State shared by the threads of a group. Only the leading thread writes it, apart from `error`. What only the leading
// thread needs is here too: a value in memory is the same for all lanes of a register, and the leader's code stays
// scalar.
typedef struct igi_ring_words {
    IGI_DEVICE ig_message_header *slot;  // the current message
    IGI_DEVICE char *payload;
    IGI_DEVICE const uint32_t *sum;  // its checksum, if it is part of a packet
    uint32_t go;                     // 1: there is a current message
    uint32_t error;                  // the error with which the handler failed, or 0
    uint32_t ring;                   // where the message came from
    uint32_t count;                  // messages that the handler is called for
    uint32_t items_left;             // messages of their packet that follow them
    uint32_t leaving;                // IGI_LEFT_*: why the loop will end
    uint32_t handled, turn, looks, output_limit;
    // A message that is being written: its slot is claimed but not published yet; NULL if there is none.
    IGI_DEVICE ig_message_header *opened_slot;
    IGI_DEVICE char *opened;
    uint64_t opened_dest;
    uint32_t opened_ring, opened_position;
    uint32_t refusal;  // why the last message was not delivered: IG_DELIVERY_*
} igi_ring_words;

// State of each thread.
typedef struct igi_ring_loop {
    IGI_DEVICE char *arena, *inboxes, *overflow;
    IGI_DEVICE ig_ring_control *control;
    IGI_DEVICE igi_ring_block *block;
    IGI_DEVICE const igi_ring_place *places;  // of each ring
    IGI_GROUP igi_ring_words *words;
    IGI_DEVICE ig_message_header *slot;  // the current message, as in `words`
    IGI_DEVICE char *payload;
} igi_ring_loop;

static inline void igi_ring_begin_loop(IGI_THREAD igi_ring_loop *loop) {
    IGI_GROUP igi_ring_words *w = loop->words;
    w->opened_slot = NULL;
    w->items_left = 0;
    w->leaving = w->handled = w->turn = w->looks = w->refusal = 0;
    w->output_limit = loop->block->output_tail;
}

// ---- Rings ----

// A ring of this kernel, or the inbox of another. Without branches, so that in MSL all lanes have the same addresses.
static inline igi_ring igi_ring_at(const IGI_THREAD igi_ring_loop *loop, uint32_t kind, uint32_t index) {
    bool is_inbox = kind == IGI_RING_INBOX;
    uint64_t offset = IGI_INBOXES_OFFSET + (uint64_t)index * loop->block->inbox_size;
    igi_ring ring = {&loop->places[kind], is_inbox ? loop->inboxes + offset : loop->arena,
                     is_inbox ? loop->inboxes : loop->overflow, is_inbox ? index : 0};
    return ring;
}
static inline igi_ring igi_ring_inbox(const IGI_THREAD igi_ring_loop *loop, uint32_t index) {
    return igi_ring_at(loop, IGI_RING_INBOX, index);
}
static inline igi_ring igi_ring_own(const IGI_THREAD igi_ring_loop *loop, uint32_t kind) {
    return igi_ring_at(loop, kind, loop->block->self_id);
}

// Whether the output has room for a message. This is checked before a message is taken, so that one answer always fits.
static inline bool igi_ring_has_room(IGI_THREAD igi_ring_loop *loop) {
    uint32_t tail = loop->block->output_tail;
    if (tail != loop->words->output_limit) return true;
    uint32_t head = igi_ring_load_acquire((IGI_DEVICE uint32_t *)&loop->control->output_head);
    loop->words->output_limit = head + loop->places[IGI_RING_OUTPUT].mask + 1;
    return tail != loop->words->output_limit;
}

// ---- Clock ----

static inline uint64_t igi_ring_later(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

static inline void igi_ring_set_clock(IGI_THREAD igi_ring_loop *loop, uint64_t physical, uint64_t logical) {
    igi_ring_write(&loop->control->hlc_physical, physical);
    igi_ring_write(&loop->control->hlc_logical, logical);
}

static inline void igi_ring_observe(IGI_THREAD igi_ring_loop *loop, ig_hlc_timestamp received) {
    uint64_t physical = loop->control->hlc_physical, logical = loop->control->hlc_logical;
    uint64_t latest = igi_ring_later(igi_ring_read(&loop->block->wall), igi_ring_later(physical, received.physical));
    uint64_t ours = latest == physical ? logical + 1 : 0;
    uint64_t theirs = latest == received.physical ? received.logical + 1 : 0;
    igi_ring_set_clock(loop, latest, igi_ring_later(ours, theirs));
}

static inline ig_hlc_timestamp igi_ring_tick(IGI_THREAD igi_ring_loop *loop) {
    uint64_t wall = igi_ring_read(&loop->block->wall), physical = loop->control->hlc_physical;
    ig_hlc_timestamp now = {igi_ring_later(wall, physical), wall > physical ? 0 : loop->control->hlc_logical + 1,
                            loop->block->node};
    igi_ring_set_clock(loop, now.physical, now.logical);
    return now;
}

// All clocks of one node are the same clock, however far ahead it is; those of other nodes may be wrong.
static inline bool igi_ring_is_too_far_ahead(const IGI_THREAD igi_ring_loop *loop, ig_hlc_timestamp at) {
    return at.node != loop->block->node && at.physical > igi_ring_read(&loop->block->horizon) &&
           at.physical > loop->control->hlc_physical;
}

// Milliseconds; 32 bits are enough for how long the outbox keeps messages.
static inline uint32_t igi_ring_wall_ms(IGI_DEVICE const igi_ring_block *block) {
    return (uint32_t)(igi_ring_read(&block->wall) / 1000);
}
// Several threads set a kernel's time, and a thread that was delayed sets it late, so the time may go back a little.
static inline bool igi_ring_was_kept_too_long(IGI_DEVICE const igi_ring_block *block,
                                              IGI_DEVICE const ig_message_header *slot) {
    uint32_t kept = igi_ring_wall_ms(block) - slot->kept_ms;
    return kept <= INT32_MAX && kept >= block->pending_ms;
}

// ---- Messages that end without an answer ----

static inline bool igi_ring_has_dead_room(const IGI_THREAD igi_ring_loop *loop) {
    igi_ring dead = igi_ring_own(loop, IGI_RING_DEAD);
    return loop->block->dead_tail - igi_ring_load_acquire(igi_ring_head(dead)) <= dead.place->mask;
}

static inline void igi_ring_publish_dead(const IGI_THREAD igi_ring_loop *loop, IGI_DEVICE ig_message_header *slot,
                                         uint32_t position, uint32_t reason) {
    slot->dead_reason = reason;
    igi_ring_store_release(&slot->sequence, position + 1);
    igi_ring_store(&loop->block->dead_tail, position + 1);
}

// Copies a message to the dead letters. If they have no room, it is only counted; a payload that is too large for them,
// as one of the inbox may be, is left out.
static inline void igi_ring_add_dead_letter(const IGI_THREAD igi_ring_loop *loop,
                                            IGI_DEVICE const ig_message_header *slot, IGI_DEVICE const char *payload,
                                            uint32_t reason) {
    igi_ring dead = igi_ring_own(loop, IGI_RING_DEAD);
    uint32_t position = loop->block->dead_tail;
    if (!igi_ring_has_dead_room(loop)) {
        igi_ring_count(&loop->block->dead_lost, 1);
        return;
    }
    IGI_DEVICE ig_message_header *made = igi_ring_slot_at(dead, position);
    igi_ring_copy_header(made, slot);
    made->checksum = slot->checksum;
    uint32_t bytes = payload && slot->payload_size <= dead.place->payload_limit ? (uint32_t)slot->payload_size : 0;
    made->payload_size = bytes;
    if (bytes) igi_ring_copy(igi_ring_payload_at(dead, made, position, bytes), payload, bytes);
    igi_ring_publish_dead(loop, made, position, reason);
}

// For the host's threads that wait for the answer to a message.
static inline void igi_ring_note_end(IGI_DEVICE igi_ring_block *block, uint64_t id, uint32_t reason) {
    uint32_t count = block->end_count;
    IGI_DEVICE igi_ring_end *end = &block->ends[count % IGI_RING_ENDS];
    igi_ring_store(&end->id_low, (uint32_t)id);
    igi_ring_store(&end->id_high, (uint32_t)(id >> 32));
    igi_ring_store(&end->reason, reason);
    igi_ring_store_release(&block->end_count, count + 1);
}

// The handler failed with this message, and the host may be waiting for its answer.
static inline void igi_ring_set_failed(IGI_DEVICE igi_ring_block *block, IGI_DEVICE const ig_message_header *slot) {
    igi_ring_write_release(&block->failed_id, slot->source_kernel == IG_RING_HOST ? slot->message_id : 0);
}

// ---- Opening a slot for a message ----

// Each returns the place for the payload, or NULL with the reason in `refusal`.

static inline IGI_DEVICE char *igi_ring_refuse(IGI_THREAD igi_ring_loop *loop, uint32_t refusal) {
    loop->words->refusal = refusal;
    return NULL;
}

static inline IGI_DEVICE char *igi_ring_open_slot(IGI_THREAD igi_ring_loop *loop, igi_ring ring, uint32_t kind,
                                                  uint32_t position, uint64_t dest, uint64_t bytes) {
    IGI_GROUP igi_ring_words *w = loop->words;
    IGI_DEVICE ig_message_header *slot = igi_ring_slot_at(ring, position);
    w->opened_ring = kind;
    w->opened_position = position;
    w->opened_dest = dest;
    w->opened_slot = slot;
    return igi_ring_payload_at(ring, slot, position, bytes);
}

static inline IGI_DEVICE char *igi_ring_open_outbox(IGI_THREAD igi_ring_loop *loop, uint64_t dest, uint64_t bytes) {
    igi_ring outbox = igi_ring_own(loop, IGI_RING_OUTBOX);
    uint32_t position = loop->block->outbox_tail;
    if (bytes > outbox.place->payload_limit) return igi_ring_refuse(loop, IG_DELIVERY_TOO_LARGE);
    if (position - loop->block->heads[IGI_RING_OUTBOX] > outbox.place->mask)
        return igi_ring_refuse(loop, IG_DELIVERY_QUEUE_FULL);
    return igi_ring_open_slot(loop, outbox, IGI_RING_OUTBOX, position, dest, bytes);
}

// pre: the output has room.
static inline IGI_DEVICE char *igi_ring_open_output_slot(IGI_THREAD igi_ring_loop *loop, uint64_t bytes) {
    IGI_RING_ASSERT(loop->block->output_tail != loop->words->output_limit);
    return igi_ring_open_slot(loop, igi_ring_own(loop, IGI_RING_OUTPUT), IGI_RING_OUTPUT, loop->block->output_tail,
                              IG_RING_HOST, bytes);
}

// A second answer may find no room, and messages in the outbox go first.
static inline IGI_DEVICE char *igi_ring_open_output(IGI_THREAD igi_ring_loop *loop, uint64_t bytes) {
    if (bytes > loop->places[IGI_RING_OUTPUT].payload_limit) return igi_ring_refuse(loop, IG_DELIVERY_TOO_LARGE);
    if ((loop->block->pending_mask & 1) || !igi_ring_has_room(loop))
        return igi_ring_open_outbox(loop, IG_RING_HOST, bytes);
    return igi_ring_open_output_slot(loop, bytes);
}

// The claim is recorded, so that the host can release the slot if the handler does not return.
static inline IGI_DEVICE char *igi_ring_open_inbox(IGI_THREAD igi_ring_loop *loop, uint32_t index, uint64_t bytes) {
    igi_ring inbox = igi_ring_inbox(loop, index);
    uint32_t position;
    if (!igi_ring_claim(inbox, &position)) return igi_ring_refuse(loop, IG_DELIVERY_QUEUE_FULL);
    igi_ring_store(&loop->block->claimed_position, position);
    igi_ring_store(&loop->block->claimed_inbox, index + 1);
    return igi_ring_open_slot(loop, inbox, IGI_RING_INBOX, position, (uint64_t)loop->block->node << 32 | index, bytes);
}

// The host may change routes at any time: a route's destination is valid only while the route is active.
static inline bool igi_ring_has_route(const IGI_THREAD igi_ring_loop *loop, uint32_t index) {
    IGI_DEVICE const ig_k2k_routing_table *routes = &loop->block->routes;
    uint32_t count = igi_ring_route_count(routes);
    for (uint32_t i = 0; i < count; i++)
        if (igi_ring_load_acquire(&routes->routes[i].is_active) && igi_ring_load(&routes->routes[i].dest) == index)
            return true;
    return false;
}

static inline bool igi_ring_is_pending(const IGI_THREAD igi_ring_loop *loop, uint32_t index) {
    return loop->block->pending_mask >> (index & 31) & 1;
}

// pre: no slot is open.
static inline IGI_DEVICE char *igi_ring_open_closed(IGI_THREAD igi_ring_loop *loop, uint64_t dest, uint64_t bytes) {
    IGI_RING_ASSERT(!loop->words->opened_slot);
    uint32_t index = (uint32_t)dest;
    loop->words->refusal = IG_DELIVERED;
    if (dest == IG_RING_HOST) return igi_ring_open_output(loop, bytes);
    if ((uint32_t)(dest >> 32) != loop->block->node) return igi_ring_open_outbox(loop, dest, bytes);
    if (!igi_ring_has_route(loop, index)) return igi_ring_refuse(loop, IG_DELIVERY_NOT_FOUND);
    if (bytes > loop->places[IGI_RING_INBOX].payload_limit) return igi_ring_refuse(loop, IG_DELIVERY_TOO_LARGE);
    if (igi_ring_is_pending(loop, index)) return igi_ring_open_outbox(loop, dest, bytes);
    IGI_DEVICE char *room = igi_ring_open_inbox(loop, index, bytes);
    return room ? room : igi_ring_open_outbox(loop, dest, bytes);
}

// A message that was refused becomes a dead letter. One that found a queue full does not, because the handler can keep
// it and try again; but a reply does, because handlers seldom check.
static inline IGI_DEVICE char *igi_ring_open_dead(IGI_THREAD igi_ring_loop *loop, uint64_t dest, uint64_t bytes,
                                                  uint32_t flags) {
    igi_ring dead = igi_ring_own(loop, IGI_RING_DEAD);
    if (loop->words->refusal == IG_DELIVERY_QUEUE_FULL && !(flags & IG_MESSAGE_REPLY)) return NULL;
    igi_ring_count(&loop->block->refused, 1);
    if (bytes > dead.place->payload_limit || !igi_ring_has_dead_room(loop)) {
        igi_ring_count(&loop->block->sent_id, 1);
        igi_ring_count(&loop->block->dead_lost, 1);
        return NULL;
    }
    return igi_ring_open_slot(loop, dead, IGI_RING_DEAD, loop->block->dead_tail, dest, bytes);
}

static inline uint32_t igi_ring_dead_reason(uint32_t refusal) {
    return refusal == IG_DELIVERY_NOT_FOUND   ? IG_DEAD_NO_ROUTE
           : refusal == IG_DELIVERY_TOO_LARGE ? IG_DEAD_TOO_LARGE
           : refusal == IG_DELIVERY_MAX_HOPS  ? IG_DEAD_MAX_HOPS
                                              : IG_DEAD_UNDELIVERED;
}

// ---- Filling and publishing it ----

// Fills the header of the opened slot, except for the checksum and the sequence.
static inline void igi_ring_fill_header(IGI_THREAD igi_ring_loop *loop, uint64_t type, uint64_t bytes, uint32_t flags) {
    IGI_DEVICE ig_message_header *made = loop->words->opened_slot;
    IGI_DEVICE igi_ring_block *block = loop->block;
    IGI_RING_ASSERT(made);
    igi_ring_count(&block->sent_id, 1);
    made->magic = IG_MESSAGE_MAGIC;
    made->version = IG_MESSAGE_VERSION;
    made->flags = flags;
    made->message_id = (uint64_t)(block->self_id + 1) << 40 | block->sent_id;
    made->correlation_id = flags & IG_MESSAGE_REPLY ? loop->slot->message_id : 0;
    made->source_kernel = (uint64_t)block->node << 32 | block->self_id;
    made->dest_kernel = loop->words->opened_dest;
    made->message_type = type;
    made->priority = loop->slot->priority;
    made->hops = 0;
    made->sent_low = loop->slot->sent_low;
    made->sent_high = loop->slot->sent_high;
    made->payload_size = bytes;
    made->timestamp = igi_ring_tick(loop);
}

static inline bool igi_ring_is_remote(const IGI_THREAD igi_ring_loop *loop, uint64_t dest) {
    return dest != IG_RING_HOST && (uint32_t)(dest >> 32) != loop->block->node;
}

// Messages to the host and to other devices share bit 0 with kernels 0, 32 and so on, which only costs time.
static inline uint32_t igi_ring_pending_bit(const IGI_THREAD igi_ring_loop *loop, uint64_t dest) {
    return 1u << (dest == IG_RING_HOST || igi_ring_is_remote(loop, dest) ? 0 : (uint32_t)dest & 31);
}

// The receiver may be asleep; the host wakes it when the loop has ended.
static inline void igi_ring_publish_in_inbox(IGI_THREAD igi_ring_loop *loop, IGI_DEVICE ig_message_header *slot,
                                             uint32_t index, uint32_t position) {
    IGI_DEVICE ig_k2k_inbox_header *to = (IGI_DEVICE ig_k2k_inbox_header *)igi_ring_inbox(loop, index).base;
    uint32_t parked = igi_ring_store_then_load(&slot->sequence, position + 1, &to->parked);
    igi_ring_store(&loop->block->claimed_inbox, 0);
    igi_ring_store(&to->last_source, loop->block->self_id);
    if (!parked) return;
    loop->block->wake[index / 32] |= 1u << (index & 31);
    loop->words->leaving |= IGI_LEFT_HELP;
}

static inline void igi_ring_publish_in_output(IGI_THREAD igi_ring_loop *loop, IGI_DEVICE ig_message_header *slot,
                                              uint32_t position) {
    uint32_t receivers = igi_ring_store_then_load(&slot->sequence, position + 1, &loop->block->receivers);
    igi_ring_store(&loop->block->output_tail, position + 1);
    if (receivers) loop->words->leaving |= IGI_LEFT_HELP;
}

static inline void igi_ring_publish_in_outbox(IGI_THREAD igi_ring_loop *loop, IGI_DEVICE ig_message_header *slot,
                                              uint32_t position, uint64_t dest) {
    slot->kept_ms = igi_ring_wall_ms(loop->block);
    igi_ring_store(&slot->sequence, position + 1);
    igi_ring_store(&loop->block->outbox_tail, position + 1);
    igi_ring_store(&loop->block->pending_mask, loop->block->pending_mask | igi_ring_pending_bit(loop, dest));
    if (igi_ring_is_remote(loop, dest)) loop->words->leaving |= IGI_LEFT_HELP;
}

// Publishes the opened slot and returns the fate of the message: IG_DELIVERED and the like.
static inline uint32_t igi_ring_publish(IGI_THREAD igi_ring_loop *loop) {
    IGI_GROUP igi_ring_words *w = loop->words;
    IGI_DEVICE ig_message_header *made = w->opened_slot;
    uint32_t position = w->opened_position, kind = w->opened_ring, bytes = (uint32_t)made->payload_size;
    uint64_t dest = w->opened_dest;
    IGI_RING_ASSERT(made && kind < IGI_RING_COUNT);
    igi_ring ring = igi_ring_at(loop, kind, (uint32_t)dest);
    made->checksum = igi_ring_checksum(loop->inboxes, igi_ring_payload_at(ring, made, position, bytes), bytes);
    w->opened_slot = NULL;
    if (kind == IGI_RING_INBOX) {
        igi_ring_publish_in_inbox(loop, made, (uint32_t)dest, position);
        return IG_DELIVERED;
    }
    if (kind == IGI_RING_DEAD) {
        igi_ring_publish_dead(loop, made, position, igi_ring_dead_reason(w->refusal));
        return w->refusal;
    }
    if (kind == IGI_RING_OUTPUT) {
        igi_ring_publish_in_output(loop, made, position);
        return IG_DELIVERED;
    }
    igi_ring_publish_in_outbox(loop, made, position, dest);
    return IG_DELIVERY_PENDING;
}

// A handler may open a slot and leave publishing it to the next call, or to its own return.
static inline void igi_ring_publish_opened(IGI_THREAD igi_ring_loop *loop) {
    if (loop->words->opened_slot) igi_ring_publish(loop);
}

static inline IGI_DEVICE char *igi_ring_open(IGI_THREAD igi_ring_loop *loop, uint64_t dest, uint64_t bytes) {
    igi_ring_publish_opened(loop);
    return igi_ring_open_closed(loop, dest, bytes);
}

// The same, but a refused message goes to the dead letters if possible.
static inline IGI_DEVICE char *igi_ring_open_or_dead(IGI_THREAD igi_ring_loop *loop, uint64_t dest, uint64_t bytes,
                                                     uint32_t flags) {
    IGI_DEVICE char *room = igi_ring_open(loop, dest, bytes);
    return room ? room : igi_ring_open_dead(loop, dest, bytes, flags);
}

// ---- Several messages in one slot ----

// Opens a slot for as many messages as fit into one, and fills its header. Returns how many, or 0 if they must be sent
// one by one. The caller writes each payload and its checksum, then publishes the packet.
static inline uint32_t igi_ring_open_packet(IGI_THREAD igi_ring_loop *loop, uint64_t dest, uint64_t type,
                                            uint64_t bytes, uint64_t count) {
    IGI_DEVICE const igi_ring_place *place = &loop->places[IGI_RING_INBOX];
    uint32_t index = (uint32_t)dest;
    igi_ring_publish_opened(loop);
    if (bytes > place->payload_limit || bytes > place->inline_bytes) return 0;
    uint32_t most = igi_ring_packet_most(place->inline_bytes, (uint32_t)bytes);
    if (most > count) most = (uint32_t)count;
    if (most < 2 || (uint32_t)(dest >> 32) != loop->block->node || igi_ring_is_pending(loop, index)) return 0;
    uint32_t all = igi_ring_packet_bytes(most, (uint32_t)bytes);
    if (!igi_ring_has_route(loop, index) || !igi_ring_open_inbox(loop, index, all)) return 0;
    igi_ring_expect_write(loop->words->opened_slot, all);
    igi_ring_fill_header(loop, type, bytes, most << IGI_PACKET_SHIFT);
    igi_ring_count(&loop->block->sent_id, most - 1);
    igi_ring_write(&loop->control->hlc_logical, loop->control->hlc_logical + most - 1);
    return most;
}

static inline void igi_ring_publish_packet(IGI_THREAD igi_ring_loop *loop) {
    IGI_GROUP igi_ring_words *w = loop->words;
    IGI_DEVICE ig_message_header *packet = w->opened_slot;
    w->opened_slot = NULL;
    igi_ring_publish_in_inbox(loop, packet, (uint32_t)w->opened_dest, w->opened_position);
}

// ---- Forwarding ----

// Forwards the current message, with one more hop.
static inline uint32_t igi_ring_forward(IGI_THREAD igi_ring_loop *loop, uint64_t dest) {
    IGI_DEVICE const ig_message_header *from = loop->slot;
    uint32_t bytes = (uint32_t)from->payload_size;
    igi_ring_publish_opened(loop);
    IGI_DEVICE char *room = from->hops + 1u > loop->block->hop_limit ? igi_ring_refuse(loop, IG_DELIVERY_MAX_HOPS)
                                                                     : igi_ring_open_closed(loop, dest, bytes);
    if (!room) room = igi_ring_open_dead(loop, dest, bytes, 0);
    if (!room) return loop->words->refusal;
    igi_ring_copy(room, loop->payload, bytes);
    igi_ring_fill_header(loop, from->message_type, bytes, from->flags);
    IGI_DEVICE ig_message_header *made = loop->words->opened_slot;
    made->message_id = from->message_id;
    made->correlation_id = from->correlation_id;
    made->source_kernel = from->source_kernel;
    made->hops = (uint8_t)(from->hops + 1);
    made->deadline = from->deadline;
    return igi_ring_publish(loop);
}

// ---- Messages that wait in the outbox ----

// Gives up a message whose receiver has ended, or was full for too long; messages to the host are kept.
static inline bool igi_ring_give_up_kept(IGI_THREAD igi_ring_loop *loop, IGI_DEVICE ig_message_header *slot,
                                         IGI_DEVICE const char *payload, bool is_closed) {
    bool is_late = slot->dest_kernel != IG_RING_HOST && igi_ring_was_kept_too_long(loop->block, slot);
    if (!is_closed && !is_late) return false;
    igi_ring_count(&loop->block->undelivered, 1);
    igi_ring_add_dead_letter(loop, slot, payload, is_closed ? IG_DEAD_NO_ROUTE : IG_DEAD_UNDELIVERED);
    return true;
}

// Delivers a message, or gives it up; returns false if it must stay.
static inline bool igi_ring_deliver_kept(IGI_THREAD igi_ring_loop *loop, IGI_DEVICE ig_message_header *slot,
                                         IGI_DEVICE const char *payload) {
    uint32_t bytes = (uint32_t)slot->payload_size, index = (uint32_t)slot->dest_kernel;
    bool to_host = slot->dest_kernel == IG_RING_HOST, is_closed = !to_host && !igi_ring_has_route(loop, index);
    IGI_DEVICE char *room = NULL;
    if (!to_host && !is_closed) room = igi_ring_open_inbox(loop, index, bytes);
    if (to_host && igi_ring_has_room(loop)) room = igi_ring_open_output_slot(loop, bytes);
    if (!room) return igi_ring_give_up_kept(loop, slot, payload, is_closed);
    igi_ring_copy_header(loop->words->opened_slot, slot);
    igi_ring_copy(room, payload, bytes);
    igi_ring_publish(loop);
    return true;
}

// Messages to one receiver stay in order: once one has to stay, the following ones stay too.
static inline void igi_ring_deliver_outbox(IGI_THREAD igi_ring_loop *loop) {
    igi_ring outbox = igi_ring_own(loop, IGI_RING_OUTBOX);
    uint32_t blocked = 0, tail = loop->block->outbox_tail, from = loop->block->heads[IGI_RING_OUTBOX];
    for (uint32_t position = from; position != tail; position++) {
        IGI_DEVICE ig_message_header *slot = igi_ring_slot_at(outbox, position);
        if (slot->flags & IG_MESSAGE_VOID) continue;
        uint32_t bit = igi_ring_pending_bit(loop, slot->dest_kernel);
        bool remote = igi_ring_is_remote(loop, slot->dest_kernel);
        IGI_DEVICE const char *payload = igi_ring_payload_at(outbox, slot, position, slot->payload_size);
        if (!(blocked & bit) && !remote && igi_ring_deliver_kept(loop, slot, payload))
            slot->flags |= IG_MESSAGE_VOID;
        else
            blocked |= bit;
        if (remote) loop->words->leaving |= IGI_LEFT_HELP;
    }
    while (from != tail && (igi_ring_slot_at(outbox, from)->flags & IG_MESSAGE_VOID)) from++;
    igi_ring_store_release(&loop->block->heads[IGI_RING_OUTBOX], from);
    igi_ring_store_release(&loop->block->pending_mask, blocked);  // after the answers that left the outbox
}

#endif
