// SPDX-License-Identifier: Apache-2.0
// What host and kernels share in memory: little-endian, the same on both sides. MSL includes this file too, through
// <ingot/ring>. Words that both sides write are 32 bits wide, because Metal has no larger atomics; a 64-bit counter has
// one writer.
#ifndef INGOT_RING_LAYOUT_H
#define INGOT_RING_LAYOUT_H

#ifndef __METAL_VERSION__
#include <stdint.h>
#endif

// ---- Time ----

// A timestamp of a hybrid logical clock, compared by physical, then logical, then node.
typedef struct ig_hlc_timestamp {
    uint64_t physical;  // microseconds since 1970
    uint64_t logical;
    uint64_t node;
} ig_hlc_timestamp;

// ---- Messages ----

#define IG_MESSAGE_MAGIC 0x52494E474B45524Eull  // begins every header
#define IG_MESSAGE_VERSION 1u                   // of the header
#define IG_MESSAGE_MAX_PAYLOAD 65536u           // bytes
#define IG_HLC_SKEW_US 60000000u                // how far a clock may be ahead
#define IG_RING_HOST 0xFFFFFFFFFFFFFFFFull      // as source or destination of a message

// Flags of a message.
enum {
    IG_MESSAGE_VOID = 1,     // an abandoned slot, which is skipped
    IG_MESSAGE_REPLY = 2,    // correlation_id is the message_id of the message that it answers
    IG_MESSAGE_DEADLINE = 4  // `deadline` is set
    // The upper half is used inside rings; it is 0 in every message that users see.
};

// Priorities of messages; values in between are allowed.
enum {
    IG_PRIORITY_LOW = 64,       // handled in order with normal ones
    IG_PRIORITY_NORMAL = 128,   // the default
    IG_PRIORITY_HIGH = 192,     // overtakes those below
    IG_PRIORITY_CRITICAL = 255  // in order with high ones
};

// Precedes every payload; 256 bytes.
typedef struct ig_message_header {
    uint64_t magic;
    uint32_t version;
    uint32_t flags;
    uint64_t message_id;
    uint64_t correlation_id;
    uint64_t source_kernel;
    uint64_t dest_kernel;
    uint64_t message_type;
    uint8_t priority;    // at IG_PRIORITY_HIGH and above, messages overtake others; 0 means normal
    uint8_t hops;        // how often it was forwarded
    uint16_t sent_low;   // when the host sent it, or the message it answers: nanoseconds modulo 2^48,
    uint32_t sent_high;  // for latencies
    uint64_t payload_size;
    uint32_t checksum;  // CRC-32 of the payload
    uint32_t sequence;  // used by the ring: position + 1 once the message is complete
    ig_hlc_timestamp timestamp;
    ig_hlc_timestamp deadline;  // physical part only, and only with IG_MESSAGE_DEADLINE
    uint32_t dead_reason;       // ig_dead_reason, in a dead letter
    uint32_t kept_ms;           // used by the ring: when the sender put it into its outbox
    uint32_t reserved[30];
} ig_message_header;

// Why a message was not handled.
typedef enum ig_dead_reason {
    IG_DEAD_NONE,         // it was handled, or waits
    IG_DEAD_HANDLER,      // the handler failed
    IG_DEAD_DEADLINE,     // it ran past the deadline of the kernel
    IG_DEAD_FAULT,        // it touched memory it does not own
    IG_DEAD_EXPIRED,      // the message's own deadline had passed
    IG_DEAD_BAD_HEADER,   // magic, version or size
    IG_DEAD_CHECKSUM,     // the payload does not match its checksum
    IG_DEAD_CLOCK_SKEW,   // its time is too far ahead
    IG_DEAD_UNDELIVERED,  // the receiver was full for too long
    IG_DEAD_DROPPED,      // the kernel was terminated
    IG_DEAD_NO_ROUTE,     // the sender has no route to the receiver, or the receiver has ended
    IG_DEAD_TOO_LARGE,    // for the receiver's inbox
    IG_DEAD_MAX_HOPS,     // forwarded too often
} ig_dead_reason;

// ---- Kernels ----

// ig_ring_control.last_error.
enum {
    IG_RING_ERROR_NONE,             // nothing failed yet
    IG_RING_ERROR_INPUT_OVERFLOW,   // the input was full
    IG_RING_ERROR_OUTPUT_OVERFLOW,  // the output was full
    IG_RING_ERROR_INVALID_MESSAGE,  // bad header, checksum or time
    IG_RING_ERROR_ALLOCATION,       // not enough memory
    IG_RING_ERROR_SERIALIZATION,    // the payload is not what the handler expects
    IG_RING_ERROR_TIMEOUT,          // the handler ran past its deadline
    IG_RING_ERROR_INTERNAL,         // a bug in Ingot
    IG_RING_ERROR_FAULT,            // the handler touched memory it does not own
    IG_RING_ERROR_USER = 256        // codes of handlers begin here
};

// The host writes is_active and should_terminate; the kernel updates its counters when it becomes idle and every few
// messages. Heads and tails count slots, which messages of a batch may share; of those that several producers advance,
// only the lower 32 bits change.
typedef struct ig_ring_control {
    uint32_t is_active;
    uint32_t should_terminate;
    uint32_t has_terminated;
    uint32_t reserved0;
    uint64_t messages_processed;
    uint64_t messages_in_flight;
    uint64_t input_head, input_tail;
    uint64_t output_head, output_tail;
    uint32_t input_capacity, output_capacity;
    uint32_t input_mask, output_mask;
    uint64_t hlc_physical, hlc_logical;
    uint32_t last_error;
    uint32_t error_count;
    uint32_t reserved1[6];
} ig_ring_control;

// ---- Kernel to kernel ----

// Neighbours of a kernel or a tile in a grid.
typedef enum ig_neighbourhood {
    IG_NEIGHBOURS_FACES,  // 4 in a plane: N, S, W, E; 6 in space: -X, +X, -Y, +Y, -Z, +Z
    IG_NEIGHBOURS_ALL,    // 8 or 26, with edges and corners; faces first, then by offset
} ig_neighbourhood;

#define IG_K2K_MAX_ROUTES 26  // as many neighbours as a cell has in space

// Precedes the inbox of a kernel.
typedef struct ig_k2k_inbox_header {
    uint32_t message_count;  // queued when the receiver last looked
    uint32_t max_messages;
    uint32_t head, tail;
    uint32_t last_source;
    uint32_t lock;      // never taken: the inbox is lock-free
    uint32_t sequence;  // messages taken so far
    uint32_t parked;    // 1: the receiver sleeps and must be woken
    uint32_t reserved[8];
} ig_k2k_inbox_header;

// A way to another kernel.
typedef struct ig_k2k_route {
    uint32_t dest;
    uint32_t inbox_offset;
    uint32_t is_active;
    uint32_t hops;
    uint32_t bandwidth_hint;
    uint32_t priority;  // 0 is the highest
    uint32_t reserved[2];
} ig_k2k_route;

// All kernels that a kernel can send to.
typedef struct ig_k2k_routing_table {
    uint32_t self_id;
    uint32_t route_count;
    uint32_t grid_x, grid_y, grid_z;
    uint32_t reserved[3];
    ig_k2k_route routes[IG_K2K_MAX_ROUTES];
} ig_k2k_routing_table;

// Precedes the cells of a face in messages of the halo exchange template.
typedef struct ig_k2k_halo_message {
    uint32_t source;
    uint32_t direction;
    uint32_t width, height, depth;
    uint32_t element_size;
    uint32_t sequence;
    uint32_t flags;
} ig_k2k_halo_message;

// What became of a message between kernels.
enum {
    IG_DELIVERED,            // it is in the receiver's inbox
    IG_DELIVERY_PENDING,     // the receiver's inbox is full: the sender keeps it and tries again
    IG_DELIVERY_NOT_FOUND,   // no route
    IG_DELIVERY_QUEUE_FULL,  // and the sender has no room to keep it
    IG_DELIVERY_TIMEOUT,     // the receiver was full for too long
    IG_DELIVERY_MAX_HOPS,    // forwarded too often
    IG_DELIVERY_TOO_LARGE    // for the receiver's inbox
};

#endif
