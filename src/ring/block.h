// SPDX-License-Identifier: Apache-2.0
// The memory of one ring kernel, beyond what <ingot/ring-layout.h> promises. MSL includes this file too.
//
//   arena   control block | kernel block | slots of each ring | state
//   inboxes CRC tables | inbox of kernel 0 | inbox of kernel 1 | ...
//
// Every ring is an array of slots of one size. A slot is a message header and the payload behind it; a payload too
// large for that lies in the overflow buffer, at the slot's own place. Producers take a position by moving the tail,
// and publish by writing position + 1 into the slot's sequence; the one consumer publishes its head now and then.
//
// A packet is a slot that several messages share: of one sender, alike but for their payloads, sent together. The upper
// half of its flags says how many they are. Its header is the first one's; the others have the ids and the logical
// times that follow. Behind it lie the checksums of all, padded to 8 bytes, and then their payloads, each padded
// likewise. Whoever takes messages sees each with a header of its own.
#ifndef INGOT_RING_BLOCK_H
#define INGOT_RING_BLOCK_H

#include <ingot/ring-layout.h>
#ifndef __METAL_VERSION__
#include <stdbool.h>
#endif

enum {
    IGI_RING_INPUT,
    IGI_RING_URGENT,
    IGI_RING_OUTPUT,
    IGI_RING_DEAD,
    IGI_RING_OUTBOX,
    IGI_RING_INBOX,  // lies in the inboxes; offsets are from the beginning of the kernel's own
    IGI_RING_COUNT,
    IGI_RING_NONE = IGI_RING_COUNT
};

// Offsets in bytes from the beginning of the arena.
typedef struct igi_ring_place {
    uint32_t head, tail;  // of the words that count
    uint32_t slots;
    uint32_t stride;
    uint32_t mask;           // capacity - 1
    uint32_t inline_bytes;   // the largest payload that lies in the slot
    uint64_t overflow;       // in the overflow buffer: the place of slot 0
    uint32_t payload_limit;  // the largest of all
    uint32_t overflow_stride;
} igi_ring_place;

// ---- Packets ----

enum {
    IGI_PACKET_SHIFT = 16,
    IGI_HEADER_BEFORE_CHECKSUM = 72,
    IGI_PACKET_HEADER = 128,  // the bytes of a header that are ever in use
    IGI_PACKET_MOST = 128     // messages in a slot, however small
};

static inline uint32_t igi_pad(uint32_t bytes) {
    return (bytes + 7) & ~7u;
}
static inline uint32_t igi_packet_sums(uint32_t count) {
    return igi_pad(count * 4);
}
static inline uint32_t igi_packet_bytes(uint32_t count, uint32_t payload) {
    return igi_packet_sums(count) + count * igi_pad(payload);
}
// Whether a slot can hold what its header says.
static inline bool igi_packet_fits(uint32_t inline_bytes, uint32_t count, uint64_t payload) {
    return payload <= inline_bytes && igi_packet_bytes(count, (uint32_t)payload) <= inline_bytes;
}
// How many messages a slot takes.
static inline uint32_t igi_packet_most(uint32_t inline_bytes, uint32_t payload) {
    uint32_t count = inline_bytes / (igi_pad(payload) + 4);
    if (count > IGI_PACKET_MOST) count = IGI_PACKET_MOST;
    return count && !igi_packet_fits(inline_bytes, count, payload) ? count - 1 : count;
}

// Why the kernel's loop ended.
enum {
    IGI_LEFT_IDLE = 1,     // nothing to do, or no room for what it would do
    IGI_LEFT_BUDGET = 2,   // as many messages as it was given
    IGI_LEFT_HELP = 4,     // kernels are to be woken, or messages to be carried to another device
    IGI_LEFT_FAILED = 8,   // the handler said so
    IGI_LEFT_STOPPED = 16  // deactivated or told to terminate
};

enum {
    IGI_RING_MAX_KERNELS = 1024,
    IGI_RING_BUFFERS = 4,
    IGI_CURSOR_GAP = 16,
    IGI_QUIET_LOOKS = 32,  // at empty rings, before the kernel tells how far it is: senders need those lines
    IGI_RING_ENDS = 64,
    IGI_OUTBOX_RESERVE = 32,   // more than a broadcast needs
    IGI_INBOXES_OFFSET = 8192  // behind the CRC tables
};

// A message of the host that ended without an answer; who waits for that looks here. The last IGI_RING_ENDS are kept.
typedef struct igi_ring_end {
    uint32_t id_low, id_high, reason, padding;
} igi_ring_end;

typedef struct igi_ring_block {
    // Written by the host while the loop is not running.
    igi_ring_place rings[IGI_RING_COUNT];
    uint32_t self_id, node;
    uint32_t inbox_size;      // bytes from one inbox to the next
    uint32_t message_budget;  // 0: no end
    uint32_t idle_spins;
    uint32_t hop_limit;
    uint32_t pending_ms;  // how long the outbox keeps a message
    uint64_t state_bytes;
    uint32_t state;    // byte offset
    uint32_t batches;  // 1: the handler takes several messages at once
    uint32_t padding0[8];
    // Written by the host at any time, one line of its own.
    uint64_t wall;       // microseconds since 1970, by a clock that never jumps
    uint64_t horizon;    // the latest time that a message of another node may carry
    uint32_t receivers;  // 1: threads sleep until there is output
    uint32_t senders;    // 1: threads sleep until there is room for input
    uint32_t padding1[10];
    // Written by the kernel at any time.
    uint32_t heads[IGI_RING_COUNT];  // ahead of the published ones
    uint32_t output_tail, dead_tail, outbox_tail;
    uint32_t started;        // counts messages given to the handler; odd while one is with it
    uint32_t current_ring;   // where that message is,
    uint32_t current_count;  // and how many of its packet are with the handler
    uint32_t claimed_inbox;  // a place taken in another's inbox and not yet published: its kernel + 1
    uint32_t claimed_position;
    uint32_t left;          // IGI_LEFT_*
    uint32_t pending_mask;  // destinations with messages in the outbox, by the lower bits of their number
    uint64_t processed, sent_id, expired, invalid, undelivered;
    uint32_t padding3[6];
    // Rarely written by the kernel.
    uint64_t failed, refused;   // messages that the handler failed; that it sent and nobody took
    uint64_t stopped, dropped;  // by the host: with a handler that did not return; when the kernel was terminated
    uint64_t dead_lost;         // dead letters that had no room
    uint64_t failed_id;         // the host's message that the handler failed last; 0: not the host's
    uint32_t end_count;         // of `ends`, ever
    uint32_t padding5[3];
    igi_ring_end ends[IGI_RING_ENDS];
    uint32_t wake[IGI_RING_MAX_KERNELS / 32];
    uint32_t items[IGI_RING_COUNT];  // messages already handled of the packet that is next
    uint32_t padding4[16 - IGI_RING_COUNT];
    ig_message_header unpacked[IGI_RING_COUNT];  // the header of the message that is next, if it is one of a packet
    // Words of the rings that have none in the control block, each on a line of its own.
    uint32_t cursors[6][IGI_CURSOR_GAP];
    ig_k2k_routing_table routes;
} igi_ring_block;

#endif
