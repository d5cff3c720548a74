// SPDX-License-Identifier: Apache-2.0
// What the host does with a kernel's messages while its loop is not running.
#include "ring/checksum.h"
#include "ring/rings.h"

// ---- Messages that end here ----

static void add_dead_letter(const ig_ring_kernel *kernel, const ig_message_header *slot, const char *payload,
                            uint32_t reason) {
    igi_ring_loop loop = igi_ring_loop_of(kernel);
    igi_ring_add_dead_letter(&loop, slot, payload, reason);
}

uint32_t igi_ring_find_end(const igi_ring_block *block, uint64_t id, uint32_t *seen) {
    uint32_t count = igi_ring_load_acquire(&block->end_count);
    uint32_t from = count - *seen > IGI_RING_ENDS ? count - IGI_RING_ENDS : *seen;
    *seen = count;
    for (; from != count; from++) {
        const igi_ring_end *end = &block->ends[from % IGI_RING_ENDS];
        uint64_t found = (uint64_t)__atomic_load_n(&end->id_high, __ATOMIC_RELAXED) << 32 |
                         __atomic_load_n(&end->id_low, __ATOMIC_RELAXED);
        uint32_t reason = __atomic_load_n(&end->reason, __ATOMIC_RELAXED);
        if (found == id) return reason;
    }
    return IG_DEAD_NONE;
}

static void publish_heads(ig_ring_kernel *kernel) {
    static const uint32_t inputs[] = {IGI_RING_INPUT, IGI_RING_URGENT, IGI_RING_INBOX};
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
        igi_ring_store_release(igi_ring_head(igi_ring_of(kernel, inputs[i])), kernel->block->heads[inputs[i]]);
}

// Another kernel's inbox must not hold a slot that will never be filled.
static void give_up_claim(ig_ring_kernel *kernel) {
    igi_ring_block *block = kernel->block;
    uint32_t index = block->claimed_inbox - 1;
    if (index >= kernel->runtime->max_kernels) return;  // none
    igi_ring inbox = igi_ring_inbox_of(kernel->runtime, index);
    igi_ring_void_slot(igi_ring_slot_at(inbox, block->claimed_position), block->claimed_position);
    block->claimed_inbox = 0;
    igi_ring_wake_index(kernel->runtime, index);
}

static void count_end(ig_ring_kernel *kernel, const ig_message_header *slot, uint32_t reason) {
    igi_ring_count(reason == IG_DEAD_DROPPED ? &kernel->block->dropped : &kernel->block->stopped, 1);
    if (reason == IG_DEAD_DROPPED && slot->source_kernel == IG_RING_HOST)
        igi_ring_note_end(kernel->block, slot->message_id, reason);
}

// The next message of a ring becomes a dead letter.
static void drop_next(ig_ring_kernel *kernel, uint32_t kind, ig_message_header *slot, uint32_t reason) {
    igi_ring ring = igi_ring_of(kernel, kind);
    uint32_t *head = &kernel->block->heads[kind], *item = &kernel->block->items[kind],
             count = igi_ring_packet_count(slot);
    bool sound = slot->payload_size <= ring.place->payload_limit;
    if (sound && count && *item < count && igi_ring_packet_fits(ring.place->inline_bytes, count, slot->payload_size)) {
        ig_message_header *made = &kernel->block->unpacked[kind];
        igi_ring_packet_header(slot, *item, made);
        add_dead_letter(kernel, made, igi_ring_packet_payload(slot, count, *item), reason);
        count_end(kernel, made, reason);
        if (++*item < count) return;
    } else if (!(slot->flags & IG_MESSAGE_VOID)) {
        sound = sound && !count;
        add_dead_letter(kernel, slot, sound ? igi_ring_payload_at(ring, slot, *head, slot->payload_size) : NULL,
                        reason);
        count_end(kernel, slot, reason);
    }
    *item = 0;
    igi_ring_store_release(head, *head + 1);
}

void igi_ring_recover(ig_ring_kernel *kernel, uint32_t reason) {
    igi_ring_block *block = kernel->block;
    give_up_claim(kernel);
    bool is_input = block->current_ring == IGI_RING_INPUT || block->current_ring == IGI_RING_URGENT;
    uint32_t kind = is_input ? block->current_ring : IGI_RING_INBOX;
    uint32_t position = block->heads[kind], count = block->current_count;
    igi_ring ring = igi_ring_of(kernel, kind);
    ig_message_header *slot = block->started & 1 ? igi_ring_ready_at(ring, position) : NULL;
    if (slot) {
        igi_ring_set_failed(block, slot);
        for (uint32_t i = 0; i < count && i < IGI_PACKET_MOST && block->heads[kind] == position; i++)
            drop_next(kernel, kind, slot, reason);
        igi_ring_store_release(&block->started, block->started + 1);
    }
    publish_heads(kernel);
}

static void drop_ring(ig_ring_kernel *kernel, uint32_t kind) {
    igi_ring ring = igi_ring_of(kernel, kind);
    uint32_t *head = &kernel->block->heads[kind];
    for (ig_message_header *slot; (slot = igi_ring_ready_at(ring, *head));)
        drop_next(kernel, kind, slot, IG_DEAD_DROPPED);
}

// Drops messages that the kernel has sent and no receiver has taken yet.
static void drop_outbox(ig_ring_kernel *kernel) {
    igi_ring outbox = igi_ring_of(kernel, IGI_RING_OUTBOX);
    uint32_t *head = &kernel->block->heads[IGI_RING_OUTBOX], tail = kernel->block->outbox_tail;
    if (tail - *head > outbox.place->mask + 1) igi_ring_store_release(head, tail);  // overwritten by a handler
    for (; *head != tail; igi_ring_store_release(head, *head + 1)) {
        ig_message_header *slot = igi_ring_slot_at(outbox, *head);
        if (slot->flags & IG_MESSAGE_VOID) continue;
        igi_ring_count(&kernel->block->undelivered, 1);
        add_dead_letter(kernel, slot, igi_ring_payload_at(outbox, slot, *head, slot->payload_size), IG_DEAD_DROPPED);
    }
    igi_ring_store_release(&kernel->block->pending_mask, 0);
}

void igi_ring_drop_all(ig_ring_kernel *kernel) {
    drop_outbox(kernel);
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

static carried deliver_to_peer(ig_ring_runtime *peer, const ig_message_header *slot, const char *payload) {
    uint32_t index = (uint32_t)slot->dest_kernel, position;
    ig_ring_kernel *receiver = igi_ring_kernel_at(peer, index);
    if (!receiver) return NOWHERE;
    if (atomic_load(&receiver->state) == IG_RING_TERMINATED) {
        ig_ring_kernel_release(receiver);
        return NOWHERE;
    }
    igi_ring inbox = igi_ring_inbox_of(peer, index);
    carried result = slot->payload_size > inbox.place->payload_limit ? NOWHERE : NO_ROOM;
    if (result == NO_ROOM && igi_ring_claim(inbox, &position)) {
        ig_message_header *made = igi_ring_slot_at(inbox, position);
        igi_ring_copy_header(made, slot);
        memcpy(igi_ring_payload_at(inbox, made, position, slot->payload_size), payload, slot->payload_size);
        made->checksum = slot->checksum;
        igi_ring_set_time(receiver, igi_ring_now_us(), igi_ring_horizon_us());
        igi_ring_publish_slot(made, position);
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
    uint32_t tail = block->outbox_tail, from = block->heads[IGI_RING_OUTBOX];
    if (tail - from > outbox.place->mask + 1) from = tail;  // overwritten by a handler
    for (uint32_t position = from; position != tail; position++) {
        ig_message_header *slot = igi_ring_slot_at(outbox, position);
        uint64_t dest = slot->dest_kernel;
        if ((slot->flags & IG_MESSAGE_VOID) || dest == IG_RING_HOST || dest >> 32 == block->node) continue;
        bool sound = slot->payload_size <= outbox.place->payload_limit;
        const char *payload = sound ? igi_ring_payload_at(outbox, slot, position, slot->payload_size) : NULL;
        ig_ring_runtime *peer = find_peer(kernel->runtime, (uint32_t)(dest >> 32));
        carried result = stayed ? NO_ROOM : peer && sound ? deliver_to_peer(peer, slot, payload) : NOWHERE;
        bool late = igi_ring_was_kept_too_long(block, slot);
        if (result == NOWHERE || (result == NO_ROOM && late)) {
            igi_ring_count(&block->undelivered, 1);
            add_dead_letter(kernel, slot, payload, result == NOWHERE ? IG_DEAD_NO_ROUTE : IG_DEAD_UNDELIVERED);
            result = CARRIED;
        }
        if (result == CARRIED) slot->flags |= IG_MESSAGE_VOID;
        stayed = stayed || result == NO_ROOM;
    }
    return stayed;
}
