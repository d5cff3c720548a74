// SPDX-License-Identifier: Apache-2.0
// The memory of one ring kernel, beyond what <ingot/ring-layout.h> promises. MSL includes this file too.
//
//   arena   control block | kernel block | slots of each ring | state
//   inboxes CRC tables | inbox of kernel 0 | inbox of kernel 1 | ...
//
// Every ring is an array of slots of one size. A slot is a message header followed by the payload; a payload too large
// for the slot lies in the overflow buffer, which has room for each slot. Producers claim a position by advancing the
// tail, and publish by writing position + 1 into the slot's sequence; the single consumer publishes its head now and
// then.
//
// A packet is a slot shared by several messages of one sender that were sent together and differ only in their payloads.
// The upper half of its flags is their number. Its header is that of the first message; ids and logical times of the
// others follow on. After the header come the checksums of all messages, padded to 8 bytes, and then their payloads, each
// padded likewise. The consumer makes a header for each message.
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
    IGI_RING_INBOX,  // in the memory of all inboxes; offsets count from the start of the kernel's inbox
    IGI_RING_COUNT,
    IGI_RING_NONE = IGI_RING_COUNT
};

// Offsets in bytes from the beginning of the arena.
typedef struct igi_ring_place {
    uint32_t head, tail;  // offsets of these words
    uint32_t slots;
    uint32_t stride;
    uint32_t mask;           // capacity - 1
    uint32_t inline_bytes;   // the largest payload that fits into the slot
    uint64_t overflow;       // offset of slot 0's payload in the overflow buffer
    uint32_t payload_limit;  // the largest payload accepted
    uint32_t overflow_stride;
} igi_ring_place;

// ---- Packets ----

enum {
    IGI_PACKET_SHIFT = 16,
    IGI_HEADER_BEFORE_CHECKSUM = 72,
    IGI_PACKET_HEADER = 128,  // the bytes of a header that are ever in use
    IGI_PACKET_MOST = 128     // messages in a slot, at most
};

static inline uint32_t igi_ring_pad(uint32_t bytes) {
    return (bytes + 7) & ~7u;
}
static inline uint32_t igi_ring_packet_sums(uint32_t count) {
    return igi_ring_pad(count * 4);
}
static inline uint32_t igi_ring_packet_bytes(uint32_t count, uint32_t payload) {
    return igi_ring_packet_sums(count) + count * igi_ring_pad(payload);
}
// Whether a slot can hold what its header says.
static inline bool igi_ring_packet_fits(uint32_t inline_bytes, uint32_t count, uint64_t payload) {
    return payload <= inline_bytes && igi_ring_packet_bytes(count, (uint32_t)payload) <= inline_bytes;
}
// How many messages fit into a slot.
static inline uint32_t igi_ring_packet_most(uint32_t inline_bytes, uint32_t payload) {
    uint32_t count = inline_bytes / (igi_ring_pad(payload) + 4);
    if (count > IGI_PACKET_MOST) count = IGI_PACKET_MOST;
    return count && !igi_ring_packet_fits(inline_bytes, count, payload) ? count - 1 : count;
}

// Why the kernel's loop ended.
enum {
    IGI_LEFT_IDLE = 1,     // there are no messages, or no room for answers
    IGI_LEFT_BUDGET = 2,   // it has handled its quota of messages
    IGI_LEFT_HELP = 4,     // the host must wake a kernel or a thread, or transfer messages to another device
    IGI_LEFT_FAILED = 8,   // the handler failed
    IGI_LEFT_STOPPED = 16  // deactivated or told to terminate
};

enum {
    IGI_RING_MAX_KERNELS = 1024,
    IGI_RING_BUFFERS = 4,
    IGI_CURSOR_GAP = 16,
    IGI_QUIET_LOOKS = 32,  // polls of empty rings before progress is published: senders need those cache lines
    IGI_RING_ENDS = 64,
    IGI_OUTBOX_RESERVE = 32,   // more than a broadcast needs
    IGI_INBOXES_OFFSET = 8192  // after the CRC tables
};

// A message of the host that ended without an answer, for the thread that waits for one. The last IGI_RING_ENDS are
// kept.
typedef struct igi_ring_end {
    uint32_t id_low, id_high, reason, padding;
} igi_ring_end;

typedef struct igi_ring_block {
    // Written by the host while the loop is not running.
    igi_ring_place rings[IGI_RING_COUNT];
    uint32_t self_id, node;
    uint32_t inbox_size;      // bytes from one inbox to the next
    uint32_t message_budget;  // messages to handle before the loop ends; 0: any number
    uint32_t idle_spins;
    uint32_t hop_limit;
    uint32_t pending_ms;  // how long the outbox keeps a message
    uint64_t state_bytes;
    uint32_t state;    // byte offset
    uint32_t batches;  // 1: the handler takes several messages at once
    uint32_t padding0[8];
    // Written by the host at any time, in a separate cache line.
    uint64_t wall;       // microseconds since 1970, by a clock that never jumps
    uint64_t horizon;    // the latest time that a message from another node may carry
    uint32_t receivers;  // 1: threads sleep until there is output
    uint32_t senders;    // 1: threads sleep until there is room for input
    uint32_t padding1[10];
    // Written by the kernel at any time.
    uint32_t heads[IGI_RING_COUNT];  // ahead of the published ones
    uint32_t output_tail, dead_tail, outbox_tail;
    uint32_t started;        // incremented when the handler is called and when it returns: odd while it runs
    uint32_t current_ring;   // where the handler's message is,
    uint32_t current_count;  // and how many messages of its packet the handler was called for
    uint32_t claimed_inbox;  // a slot claimed in another kernel's inbox and not yet published: that kernel + 1
    uint32_t claimed_position;
    uint32_t left;          // IGI_LEFT_*
    uint32_t pending_mask;  // destinations with messages in the outbox, by the lower bits of their number
    uint64_t processed, sent_id, expired, invalid, undelivered;
    uint32_t padding3[6];
    // Rarely written by the kernel.
    uint64_t failed, refused;   // messages that the handler failed on, and messages that it could not send
    uint64_t stopped, dropped;  // counted by the host: when a handler did not return; when the kernel was terminated
    uint64_t dead_lost;         // dead letters for which there was no room
    uint64_t failed_id;         // the last message that the handler failed on; 0: not one of the host's
    uint32_t end_count;         // entries of `ends` ever written
    uint32_t padding5[3];
    igi_ring_end ends[IGI_RING_ENDS];
    uint32_t wake[IGI_RING_MAX_KERNELS / 32];
    uint32_t items[IGI_RING_COUNT];  // messages of the next packet that were already handled
    uint32_t padding4[16 - IGI_RING_COUNT];
    ig_message_header unpacked[IGI_RING_COUNT];  // the header of the next message, if it is part of a packet
    // Heads and tails that are not in the control block, each in a separate cache line.
    uint32_t cursors[6][IGI_CURSOR_GAP];
    ig_k2k_routing_table routes;
} igi_ring_block;

#endif
