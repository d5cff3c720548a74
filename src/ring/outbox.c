// SPDX-License-Identifier: Apache-2.0
// What the host does with a kernel's messages while its loop is not running.
#include "ring/checksum.h"
#include "ring/slots.h"

// ---- Dead letters ----

// When there is no room for them the counters still tell.
void igi_ring_bury(ig_ring_kernel *kernel, const ig_message_header *slot, const char *payload, uint32_t reason) {
    igi_ring dead = igi_ring_of(kernel, IGI_RING_DEAD);
    uint32_t position = kernel->block->dead_tail;
    if (position - igi_word(igi_ring_head(dead)) > dead.place->mask) return;
    ig_message_header *made = igi_slot(dead, position);
    igi_header_copy(made, slot);
    made->checksum = slot->checksum;
    made->dead_reason = reason;
    uint64_t bytes = payload ? slot->payload_size : 0;
    made->payload_size = bytes;
    if (bytes) memcpy(igi_slot_payload(dead, made, position, bytes), payload, bytes);
    igi_slot_publish(made, position);
    __atomic_store_n(&kernel->block->dead_tail, position + 1, __ATOMIC_RELEASE);
}

static void publish_heads(ig_ring_kernel *kernel) {
    static const uint32_t inputs[] = {IGI_RING_INPUT, IGI_RING_URGENT, IGI_RING_INBOX};
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
        igi_set_word(igi_ring_head(igi_ring_of(kernel, inputs[i])), kernel->block->heads[inputs[i]]);
}

// Another kernel's inbox must not keep a place that will never be filled.
static void give_up_claim(ig_ring_kernel *kernel) {
    igi_ring_block *block = kernel->block;
    if (!block->claimed_inbox) return;
    uint32_t index = block->claimed_inbox - 1;
    igi_ring inbox = igi_inbox_ring(kernel->runtime, index);
    igi_void_slot(igi_slot(inbox, block->claimed_position), block->claimed_position);
    block->claimed_inbox = 0;
    igi_ring_wake_index(kernel->runtime, index);
}

// The next message of a ring becomes a dead letter.
static void bury_next(ig_ring_kernel *kernel, uint32_t kind, ig_message_header *slot, uint32_t reason) {
    igi_ring ring = igi_ring_of(kernel, kind);
    uint32_t *head = &kernel->block->heads[kind], *item = &kernel->block->items[kind], count = igi_packet_count(slot);
    bool sound = slot->payload_size <= igi_ring_limit(ring);
    if (sound && count && igi_packet_fits(ring.place->inline_bytes, count, slot->payload_size)) {
        ig_message_header *made = &kernel->block->unpacked[kind];
        igi_packet_header(slot, *item, made);
        igi_ring_bury(kernel, made, igi_packet_payload(slot, count, *item), reason);
        if (++*item < count) return;
    } else if (!(slot->flags & IG_MESSAGE_VOID)) {
        sound = sound && !count;
        igi_ring_bury(kernel, slot, sound ? igi_slot_payload(ring, slot, *head, slot->payload_size) : NULL, reason);
    }
    *item = 0;
    igi_set_word(head, *head + 1);
}

void igi_ring_recover(ig_ring_kernel *kernel, uint32_t reason) {
    igi_ring_block *block = kernel->block;
    give_up_claim(kernel);
    igi_ring ring = igi_ring_of(kernel, block->current_ring);
    uint32_t position = block->heads[block->current_ring];
    ig_message_header *slot = block->started & 1 ? igi_slot_ready(ring, position) : NULL;
    if (slot) {
        for (uint32_t i = 0; i < block->current_count; i++) bury_next(kernel, block->current_ring, slot, reason);
        igi_set_word(&block->started, block->started + 1);
    }
    publish_heads(kernel);
}

static void drop_ring(ig_ring_kernel *kernel, uint32_t kind) {
    igi_ring ring = igi_ring_of(kernel, kind);
    uint32_t *head = &kernel->block->heads[kind];
    for (ig_message_header *slot; (slot = igi_slot_ready(ring, *head));) bury_next(kernel, kind, slot, IG_DEAD_DROPPED);
}

void igi_ring_drop_all(ig_ring_kernel *kernel) {
    drop_ring(kernel, IGI_RING_URGENT);
    drop_ring(kernel, IGI_RING_INPUT);
    drop_ring(kernel, IGI_RING_INBOX);
    publish_heads(kernel);
}

// ---- Other devices ----

static ig_ring_runtime *find_peer(ig_ring_runtime *runtime, uint32_t node) {
    ig_ring_runtime *found = NULL;
    pthread_mutex_lock(&runtime->lock);
    for (uint32_t i = 0; i < runtime->peer_count && !found; i++)
        if (runtime->peers[i]->node == node) found = runtime->peers[i];
    pthread_mutex_unlock(&runtime->lock);
    return found;
}

typedef enum carried { CARRIED, NO_ROOM, NOWHERE } carried;

static carried hand_over(ig_ring_runtime *peer, const ig_message_header *slot, const char *payload) {
    uint32_t index = (uint32_t)slot->dest_kernel, position;
    ig_ring_kernel *receiver = igi_ring_kernel_at(peer, index);
    if (!receiver) return NOWHERE;
    igi_ring inbox = igi_inbox_ring(peer, index);
    carried result = slot->payload_size > igi_ring_limit(inbox) ? NOWHERE : NO_ROOM;
    if (result == NO_ROOM && igi_ring_claim(inbox, &position)) {
        ig_message_header *made = igi_slot(inbox, position);
        igi_header_copy(made, slot);
        memcpy(igi_slot_payload(inbox, made, position, slot->payload_size), payload, slot->payload_size);
        made->checksum = slot->checksum;
        igi_ring_set_time(receiver, igi_ring_now_us(), igi_ring_horizon_us());
        igi_slot_publish(made, position);
        igi_ring_wake(receiver);
        result = CARRIED;
    }
    ig_ring_kernel_release(receiver);
    return result;
}

bool igi_ring_carry_remote(ig_ring_kernel *kernel) {
    igi_ring outbox = igi_ring_of(kernel, IGI_RING_OUTBOX);
    igi_ring_block *block = kernel->block;
    bool stayed = false;
    for (uint32_t position = block->heads[IGI_RING_OUTBOX]; position != block->outbox_tail; position++) {
        ig_message_header *slot = igi_slot(outbox, position);
        uint64_t dest = slot->dest_kernel;
        if ((slot->flags & IG_MESSAGE_VOID) || dest == IG_RING_HOST || dest >> 32 == block->node) continue;
        const char *payload = igi_slot_payload(outbox, slot, position, slot->payload_size);
        ig_ring_runtime *peer = find_peer(kernel->runtime, (uint32_t)(dest >> 32));
        carried result = stayed ? NO_ROOM : peer ? hand_over(peer, slot, payload) : NOWHERE;
        bool late = igi_ring_kept_too_long(block, slot);
        if (result == NOWHERE || (result == NO_ROOM && late)) {
            igi_count(&block->undelivered);
            igi_ring_bury(kernel, slot, payload, IG_DEAD_UNDELIVERED);
            result = CARRIED;
        }
        if (result == CARRIED) slot->flags |= IG_MESSAGE_VOID;
        stayed = stayed || result == NO_ROOM;
    }
    return stayed;
}
