// SPDX-License-Identifier: Apache-2.0
// The rings of a kernel as the host sees them: with the host's own copy of the layout, not the one that handlers could
// overwrite.
#ifndef INGOT_RING_RINGS_H
#define INGOT_RING_RINGS_H

#include "ring/kernel.h"
#include "ring/loop.h"

static inline igi_ring igi_ring_inbox_of(const ig_ring_runtime *runtime, uint32_t index) {
    return (igi_ring){&runtime->inbox_place,
                      runtime->inboxes + IGI_INBOXES_OFFSET + (uint64_t)index * runtime->inbox_size, runtime->inboxes,
                      index};
}

static inline igi_ring igi_ring_of(const ig_ring_kernel *kernel, uint32_t kind) {
    if (kind == IGI_RING_INBOX) return igi_ring_inbox_of(kernel->runtime, kernel->index);
    return (igi_ring){&kernel->places[kind], kernel->arena, kernel->overflow, 0};
}

// For parts of the protocol that are also used outside of the loop: it has no words.
static inline igi_ring_loop igi_ring_loop_of(const ig_ring_kernel *kernel) {
    return (igi_ring_loop){.arena = kernel->arena,
                           .inboxes = kernel->runtime->inboxes,
                           .overflow = kernel->overflow,
                           .control = kernel->control,
                           .block = kernel->block,
                           .places = kernel->places};
}

// The store must precede the following check for sleeping threads: an exchange is a full barrier.
static inline void igi_ring_publish_slot(ig_message_header *slot, uint32_t position) {
    __atomic_exchange_n(&slot->sequence, position + 1, __ATOMIC_SEQ_CST);
}

static inline void igi_ring_void_slot(ig_message_header *slot, uint32_t position) {
    slot->flags = IG_MESSAGE_VOID;
    igi_ring_publish_slot(slot, position);
}

// Sets the kernel's time.
static inline void igi_ring_set_time(ig_ring_kernel *kernel, uint64_t now_us, uint64_t horizon_us) {
    igi_ring_write(&kernel->block->wall, now_us);
    igi_ring_write(&kernel->block->horizon, horizon_us);
}

#endif
