// SPDX-License-Identifier: Apache-2.0
// The ring protocol, third part: taking messages, one after the other, and ending the loop. C and MSL both include this
// file.
//
//   while (igi_ring_take(loop)) {
//       handler();
//       igi_ring_finish(loop, error);
//   }
#ifndef INGOT_RING_TAKE_H
#define INGOT_RING_TAKE_H

#ifndef __METAL_VERSION__
#include "ring/loop.h"
#endif

// ---- How far the loop is ----

static inline void igi_ring_publish_head(IGI_THREAD igi_ring_loop *loop, uint32_t kind) {
    uint32_t head = loop->block->heads[kind];
    IGI_DEVICE uint32_t *word = igi_ring_head(igi_ring_own(loop, kind));
    if (igi_ring_load(word) == head) return;
    if (kind != IGI_RING_INPUT) {
        igi_ring_store_release(word, head);
        return;
    }
    uint64_t old = loop->control->input_head;
    igi_ring_write_release(&loop->control->input_head, old + (uint32_t)(head - (uint32_t)old));
}

// It pays to wake threads that wait for room only when there is a good deal of it.
static inline void igi_ring_look_for_senders(IGI_THREAD igi_ring_loop *loop) {
    if (igi_ring_load_after_stores(&loop->block->senders)) loop->words->leaving |= IGI_LEFT_HELP;
}

// Publishes what other threads may need to know.
static inline void igi_ring_publish_progress(IGI_THREAD igi_ring_loop *loop) {
    IGI_DEVICE igi_ring_block *block = loop->block;
    IGI_DEVICE ig_ring_control *control = loop->control;
    IGI_DEVICE ig_k2k_inbox_header *in = (IGI_DEVICE ig_k2k_inbox_header *)igi_ring_own(loop, IGI_RING_INBOX).base;
    uint32_t taken = block->heads[IGI_RING_INBOX];
    igi_ring_publish_head(loop, IGI_RING_INPUT);
    igi_ring_publish_head(loop, IGI_RING_URGENT);
    igi_ring_look_for_senders(loop);
    if (igi_ring_load(&in->head) != taken) {
        igi_ring_publish_head(loop, IGI_RING_INBOX);
        igi_ring_store(&in->message_count, igi_ring_load(&in->tail) - taken);
        igi_ring_store(&in->sequence, taken);
    }
    igi_ring_write(&control->messages_processed, block->processed);
    uint32_t input_tail = igi_ring_load((IGI_DEVICE uint32_t *)&control->input_tail);
    igi_ring_write(&control->messages_in_flight, (uint32_t)(input_tail - block->heads[IGI_RING_INPUT]));
    uint64_t output_tail = control->output_tail;
    igi_ring_write(&control->output_tail, output_tail + (uint32_t)(block->output_tail - (uint32_t)output_tail));
}

static inline void igi_ring_leave(IGI_THREAD igi_ring_loop *loop) {
    igi_ring_publish_progress(loop);
    igi_ring_store_release(&loop->block->left, loop->block->left | loop->words->leaving);
}

// The current message, or all messages that the handler was called for, are finished.
static inline void igi_ring_finish_slot(IGI_THREAD igi_ring_loop *loop) {
    IGI_GROUP igi_ring_words *w = loop->words;
    IGI_DEVICE igi_ring_block *block = loop->block;
    if (w->items_left) {
        block->items[w->ring] += w->count;
        return;
    }
    block->items[w->ring] = 0;
    uint32_t head = block->heads[w->ring] + 1, quarter = (loop->places[w->ring].mask + 1) >> 2;
    igi_ring_store_release(&block->heads[w->ring], head);
    if (!quarter) quarter = 1;
    if ((head & ((quarter < 32 ? quarter : 32) - 1)) == 0) igi_ring_publish_head(loop, w->ring);
    if ((head & (quarter - 1)) == 0) igi_ring_look_for_senders(loop);
}

// ---- Looking into a slot ----

// The next packet is prefetched while this one is handled, if it is complete; otherwise its sender still needs the
// lines.
static inline void igi_ring_expect_next(IGI_THREAD igi_ring_loop *loop, uint32_t bytes) {
    uint32_t kind = loop->words->ring, position = loop->block->heads[kind] + 1;
    IGI_DEVICE ig_message_header *slot = igi_ring_slot_at(igi_ring_own(loop, kind), position);
    if (igi_ring_load(&slot->sequence) == position + 1) igi_ring_expect_read(slot, bytes);
}

static inline uint32_t igi_ring_unpack(IGI_THREAD igi_ring_loop *loop, IGI_DEVICE ig_message_header *packet,
                                       uint32_t count) {
    IGI_GROUP igi_ring_words *w = loop->words;
    uint32_t item = loop->block->items[w->ring], bytes = (uint32_t)packet->payload_size;
    if (item >= count) return IG_DEAD_BAD_HEADER;
    if (item == 0) {
        if (!igi_ring_packet_fits(loop->places[w->ring].inline_bytes, count, bytes)) return IG_DEAD_BAD_HEADER;
        igi_ring_expect_read(packet, igi_ring_packet_bytes(count, bytes));
        igi_ring_expect_next(loop, igi_ring_packet_bytes(count, bytes));
    }
    w->slot = &loop->block->unpacked[w->ring];
    igi_ring_packet_header(packet, item, w->slot);
    w->sum = igi_ring_packet_sum(packet, item);
    w->payload = igi_ring_packet_payload(packet, count, item);
    w->items_left = count - item - 1;
    return 0;
}

// Finds the next message in a slot. Returns 0, or the reason why there is none: IG_DEAD_*.
static inline uint32_t igi_ring_locate(IGI_THREAD igi_ring_loop *loop, IGI_DEVICE ig_message_header *slot) {
    IGI_GROUP igi_ring_words *w = loop->words;
    igi_ring ring = igi_ring_own(loop, w->ring);
    uint64_t bytes = slot->payload_size;
    if (slot->magic != IG_MESSAGE_MAGIC || slot->version != IG_MESSAGE_VERSION) return IG_DEAD_BAD_HEADER;
    if (bytes > ring.place->payload_limit) return IG_DEAD_BAD_HEADER;
    uint32_t count = igi_ring_packet_count(slot);
    if (count) return igi_ring_unpack(loop, slot, count);
    w->payload = igi_ring_payload_at(ring, slot, loop->block->heads[w->ring], bytes);
    return 0;
}

// Returns 0, or the reason why the handler must not see the message: IG_DEAD_*.
static inline uint32_t igi_ring_check(IGI_THREAD igi_ring_loop *loop) {
    IGI_DEVICE const ig_message_header *slot = loop->words->slot;
    if (igi_ring_checksum(loop->inboxes, loop->words->payload, (uint32_t)slot->payload_size) != slot->checksum)
        return IG_DEAD_CHECKSUM;
    if ((slot->flags & IG_MESSAGE_DEADLINE) && slot->deadline.physical <= igi_ring_read(&loop->block->wall))
        return IG_DEAD_EXPIRED;
    return igi_ring_is_too_far_ahead(loop, slot->timestamp) ? IG_DEAD_CLOCK_SKEW : 0;
}

// Goes on to the next message of the packet.
static inline void igi_ring_step(IGI_THREAD igi_ring_loop *loop) {
    IGI_GROUP igi_ring_words *w = loop->words;
    IGI_DEVICE ig_message_header *slot = w->slot;
    slot->message_id++;
    slot->timestamp.logical++;
    slot->checksum = *++w->sum;
    w->payload += igi_ring_pad((uint32_t)slot->payload_size);
}

// ---- Taking a message ----

// Counts how many of the packet's next messages have the right checksum, for one call of the handler.
static inline void igi_ring_gather(IGI_THREAD igi_ring_loop *loop) {
    IGI_GROUP igi_ring_words *w = loop->words;
    uint32_t bytes = (uint32_t)w->slot->payload_size, padded = igi_ring_pad(bytes), left = w->items_left, more = 0;
    IGI_DEVICE const char *payload = w->payload + padded;
    IGI_DEVICE const uint32_t *sum = w->sum + 1;
    for (uint32_t offset = 0; more < left; more++, offset += padded)
        if (igi_ring_checksum(loop->inboxes, payload + offset, bytes) != sum[more]) break;
    w->count += more;
    w->items_left -= more;
}

static inline void igi_ring_begin_message(IGI_THREAD igi_ring_loop *loop) {
    IGI_GROUP igi_ring_words *w = loop->words;
    ig_hlc_timestamp last = w->slot->timestamp;
    last.logical += w->count - 1;
    igi_ring_observe(loop, last);
    igi_ring_store(&loop->block->current_count, w->count);
    igi_ring_store(&loop->block->started, loop->block->started + 1);
    w->error = 0;
}

// The handler does not see the current message.
static inline void igi_ring_reject(IGI_THREAD igi_ring_loop *loop, uint32_t reason) {
    IGI_GROUP igi_ring_words *w = loop->words;
    igi_ring_count(reason == IG_DEAD_EXPIRED ? &loop->block->expired : &loop->block->invalid, 1);
    igi_ring_add_dead_letter(loop, w->slot, reason == IG_DEAD_BAD_HEADER ? NULL : w->payload, reason);
    if (w->slot->source_kernel != IG_RING_HOST) return;
    igi_ring_note_end(loop->block, w->slot->message_id, reason);
    if (igi_ring_load_after_stores(&loop->block->receivers)) w->leaving |= IGI_LEFT_HELP;
}

// Returns true if the next message of the slot is for the handler; otherwise that message is finished.
static inline bool igi_ring_accept(IGI_THREAD igi_ring_loop *loop, IGI_DEVICE ig_message_header *slot) {
    IGI_GROUP igi_ring_words *w = loop->words;
    bool is_void = slot->flags & IG_MESSAGE_VOID;
    w->slot = slot;
    w->items_left = 0;
    w->count = 1;
    uint32_t reason = is_void ? 0 : igi_ring_locate(loop, slot);
    if (!is_void && !reason) reason = igi_ring_check(loop);
    if (!is_void && !reason) {
        igi_ring_store(&loop->block->current_ring, w->ring);
        if (loop->block->batches && w->items_left) igi_ring_gather(loop);
        igi_ring_begin_message(loop);
        return true;
    }
    if (reason) igi_ring_reject(loop, reason);
    igi_ring_finish_slot(loop);
    return false;
}

static inline bool igi_ring_is_urgent(IGI_THREAD igi_ring_loop *loop) {
    uint32_t position = loop->block->heads[IGI_RING_URGENT];
    IGI_DEVICE ig_message_header *slot = igi_ring_slot_at(igi_ring_own(loop, IGI_RING_URGENT), position);
    return igi_ring_load(&slot->sequence) == position + 1;
}

// After a message of a packet, the next one is already known; only an urgent message goes first. A message that the
// handler must not see is left to igi_ring_accept.
static inline bool igi_ring_take_next_of_packet(IGI_THREAD igi_ring_loop *loop) {
    IGI_GROUP igi_ring_words *w = loop->words;
    IGI_DEVICE igi_ring_block *block = loop->block;
    if (!w->items_left || w->leaving || block->pending_mask || block->message_budget || !igi_ring_has_room(loop))
        return false;
    if (block->batches || (++w->looks & 63) == 0 || igi_ring_is_urgent(loop)) return false;
    igi_ring_step(loop);
    w->items_left--;
    if (igi_ring_check(loop)) return false;
    igi_ring_begin_message(loop);
    return true;
}

static inline IGI_DEVICE ig_message_header *igi_ring_ready(IGI_THREAD igi_ring_loop *loop, uint32_t kind) {
    IGI_DEVICE ig_message_header *slot = igi_ring_ready_at(igi_ring_own(loop, kind), loop->block->heads[kind]);
    if (slot) loop->words->ring = kind;
    return slot;
}

// Messages that wait in the outbox first hold up messages of the host, and those of other kernels only when the outbox
// is nearly full, because their answers may be what everybody waits for. The last slots are reserved for what the
// handling of one message may send.
static inline IGI_DEVICE ig_message_header *igi_ring_find(IGI_THREAD igi_ring_loop *loop) {
    IGI_GROUP igi_ring_words *w = loop->words;
    IGI_DEVICE igi_ring_block *block = loop->block;
    uint32_t kept = block->pending_mask ? block->outbox_tail - block->heads[IGI_RING_OUTBOX] : 0;
    uint32_t capacity = loop->places[IGI_RING_OUTBOX].mask + 1;
    bool from_host = kept < capacity / 2, from_kernels = kept + IGI_OUTBOX_RESERVE <= capacity;
    IGI_DEVICE ig_message_header *slot = from_host ? igi_ring_ready(loop, IGI_RING_URGENT) : NULL;
    w->turn = !w->turn;
    if (!slot && from_kernels && w->turn) slot = igi_ring_ready(loop, IGI_RING_INBOX);
    if (!slot && from_host) slot = igi_ring_ready(loop, IGI_RING_INPUT);
    if (!slot && from_kernels && !w->turn) slot = igi_ring_ready(loop, IGI_RING_INBOX);
    return slot;
}

static inline bool igi_ring_is_to_stop(IGI_THREAD igi_ring_loop *loop) {
    return !igi_ring_load(&loop->control->is_active) || igi_ring_load(&loop->control->should_terminate);
}

// Waits for the next message to handle; returns false when the loop has ended.
static inline bool igi_ring_take(IGI_THREAD igi_ring_loop *loop) {
    IGI_GROUP igi_ring_words *w = loop->words;
    IGI_DEVICE igi_ring_block *block = loop->block;
    if (igi_ring_take_next_of_packet(loop)) return true;
    uint32_t spins = 0;
    for (;;) {
        if (block->pending_mask) igi_ring_deliver_outbox(loop);
        if (block->message_budget && w->handled >= block->message_budget) w->leaving |= IGI_LEFT_BUDGET;
        if ((w->looks++ & 63) == 0 && igi_ring_is_to_stop(loop)) w->leaving |= IGI_LEFT_STOPPED;
        if (w->leaving) {
            igi_ring_leave(loop);
            return false;
        }
        IGI_DEVICE ig_message_header *slot = igi_ring_has_room(loop) ? igi_ring_find(loop) : NULL;
        if (slot && igi_ring_accept(loop, slot)) return true;
        if (slot) continue;
        if (spins == IGI_QUIET_LOOKS) igi_ring_publish_progress(loop);
        igi_ring_rest(&block->left, spins);
        if (spins++ >= block->idle_spins) w->leaving |= IGI_LEFT_IDLE;
    }
}

// ---- After the handler ----

// The handler failed: the messages that it was called for become dead letters.
static inline void igi_ring_fail(IGI_THREAD igi_ring_loop *loop, uint32_t error) {
    IGI_GROUP igi_ring_words *w = loop->words;
    igi_ring_store(&loop->control->last_error, error);
    igi_ring_store(&loop->control->error_count, loop->control->error_count + 1);
    igi_ring_count(&loop->block->failed, w->count);
    igi_ring_set_failed(loop->block, w->slot);
    igi_ring_add_dead_letter(loop, w->slot, w->payload, IG_DEAD_HANDLER);
    for (uint32_t i = 1; i < w->count; i++) {
        igi_ring_step(loop);
        igi_ring_add_dead_letter(loop, w->slot, w->payload, IG_DEAD_HANDLER);
    }
    w->leaving |= IGI_LEFT_FAILED;
}

static inline void igi_ring_finish(IGI_THREAD igi_ring_loop *loop, uint32_t error) {
    IGI_GROUP igi_ring_words *w = loop->words;
    igi_ring_publish_opened(loop);
    if (error) igi_ring_fail(loop, error);
    igi_ring_finish_slot(loop);
    igi_ring_store(&loop->block->started, loop->block->started + 1);
    igi_ring_count(&loop->block->processed, w->count);
    w->handled += w->count;
}

#endif
