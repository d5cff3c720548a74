// SPDX-License-Identifier: Apache-2.0
// Messages from the host into a kernel's input.
#include <inttypes.h>

#include "ring/checksum.h"
#include "ring/futex.h"
#include "ring/rings.h"

enum { SPINS = 1000 };

static bool is_active(ig_ring_kernel *kernel) {
    return atomic_load_explicit(&kernel->state, memory_order_acquire) == IG_RING_ACTIVE;
}

// ---- Sentences for what failed ----

static ig_status fail_no_message(void) {
    return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "sending: kernel and message must not be NULL");
}

// A full ring is common, so its message must be cheap.
static ig_status explain(ig_ring_kernel *kernel, ig_status status, uint64_t bytes) {
    if (status == IG_STATUS_QUEUE_FULL)
        return igi_fail_with(status,
                             "sending: the kernel's input ring is full; wait longer, or launch it with a larger "
                             "input_capacity");
    if (status == IG_STATUS_WRONG_STATE)
        return igi_fail(status, "sending: ring kernel '%s' is %s; it takes messages only while it is active",
                        kernel->name, ig_ring_state_name((ig_ring_state)atomic_load(&kernel->state)));
    if (status == IG_STATUS_OVERFLOW)
        return igi_fail(status,
                        "sending: a payload of %" PRIu64
                        " bytes is more than the %u that ring kernel '%s' takes; "
                        "launch it with a larger max_payload",
                        bytes, kernel->places[IGI_RING_INPUT].payload_limit, kernel->name);
    if (status == IG_STATUS_INVALID_ARGUMENT)
        return igi_fail(status, "sending: the payload is NULL, but payload_size is %" PRIu64, bytes);
    return status;
}

// ---- Claiming ----

static bool claim(ig_ring_kernel *kernel, uint32_t kind, uint32_t *position) {
    if (!igi_ring_claim(igi_ring_of(kernel, kind), position)) return false;
    // Positions have 32 bits; the upper half of the tail is counted here.
    if (kind == IGI_RING_INPUT && *position == UINT32_MAX)
        __atomic_fetch_add((uint32_t *)&kernel->control->input_tail + 1, 1, __ATOMIC_RELAXED);
    return true;
}

// Sleeps until the kernel has made room, the deadline has passed, or spuriously.
static void wait_for_room(ig_ring_kernel *kernel, uint32_t kind, uint64_t deadline) {
    igi_ring ring = igi_ring_of(kernel, kind);
    unsigned signal = atomic_load(&kernel->signal);
    igi_ring_announce(&kernel->block->senders);
    bool full =
        igi_ring_load_acquire(igi_ring_tail(ring)) - igi_ring_load_acquire(igi_ring_head(ring)) > ring.place->mask;
    uint64_t now = igi_now_ns();
    if (full && is_active(kernel) && now < deadline)
        igi_ring_futex_wait(&kernel->signal, signal, deadline == UINT64_MAX ? UINT64_MAX : deadline - now);
}

static ig_status claim_until(ig_ring_kernel *kernel, uint32_t kind, uint64_t timeout_ns, uint32_t *position) {
    if (!is_active(kernel)) return IG_STATUS_WRONG_STATE;
    if (claim(kernel, kind, position)) return IG_STATUS_OK;
    uint64_t deadline = timeout_ns ? igi_deadline_ns(timeout_ns) : 0;
    for (uint32_t tries = 0;; tries++) {
        if (!is_active(kernel)) return IG_STATUS_WRONG_STATE;
        if (claim(kernel, kind, position)) return IG_STATUS_OK;
        if (!timeout_ns || igi_now_ns() >= deadline) return IG_STATUS_QUEUE_FULL;
        if (igi_ring_assist(kernel)) continue;
        if (tries < SPINS)
            igi_pause();
        else
            wait_for_room(kernel, kind, deadline);
    }
}

// ---- Headers ----

// The first of `count` consecutive ids.
static uint64_t new_ids(ig_ring_runtime *runtime, uint32_t count) {
    enum { BLOCK = 2 * IGI_PACKET_MOST };
    // Threads take ids in blocks, so that they seldom contend.
    static _Thread_local uint64_t next, end, generation;
    if (end - next < count || generation != runtime->generation) {
        generation = runtime->generation;
        next = atomic_fetch_add(&runtime->message_ids, BLOCK) + 1;
        end = next + BLOCK;
    }
    next += count;
    return next - count;
}

static void stamp(ig_ring_kernel *kernel, ig_message_header *header, uint64_t deadline_us, uint32_t count) {
    uint64_t now = igi_ring_now_ns();
    header->magic = IG_MESSAGE_MAGIC;
    header->version = IG_MESSAGE_VERSION;
    header->flags = deadline_us ? IG_MESSAGE_DEADLINE : 0;
    header->message_id = new_ids(kernel->runtime, count);
    header->source_kernel = IG_RING_HOST;
    header->dest_kernel = ig_ring_kernel_id(kernel);
    if (!header->priority) header->priority = IG_PRIORITY_NORMAL;
    header->hops = 0;
    header->sent_low = (uint16_t)now;
    header->sent_high = (uint32_t)(now >> 16);
    header->timestamp = igi_ring_hlc_tick_many_at(kernel->runtime->clock, now / 1000, count);
    header->deadline = (ig_hlc_timestamp){0};
    if (!deadline_us) return;
    if (!igi_add(now / 1000, deadline_us, &header->deadline.physical)) header->deadline.physical = UINT64_MAX;
}

static void publish(ig_message_header *slot, uint32_t position, const void *payload) {
    slot->checksum = igi_ring_crc32(payload, slot->payload_size);
    igi_ring_publish_slot(slot, position);
}

// ---- Calls ----

static uint32_t ring_for(const ig_message_header *header) {
    return header->priority >= IG_PRIORITY_HIGH ? IGI_RING_URGENT : IGI_RING_INPUT;
}

// The part of a header that the caller sets.
static void describe(ig_message_header *slot, const ig_message_header *wanted) {
    slot->correlation_id = wanted->correlation_id;
    slot->message_type = wanted->message_type;
    slot->priority = wanted->priority;
    slot->payload_size = wanted->payload_size;
}

static ig_status send_one(ig_ring_kernel *kernel, const ig_message *message, uint64_t timeout_ns, igi_ring_sent *sent) {
    uint32_t kind = ring_for(&message->header), position;
    uint64_t bytes = message->header.payload_size;
    igi_ring ring = igi_ring_of(kernel, kind);
    if (bytes > ring.place->payload_limit) return IG_STATUS_OVERFLOW;
    if (bytes && !message->payload) return IG_STATUS_INVALID_ARGUMENT;
    ig_status status = claim_until(kernel, kind, timeout_ns, &position);
    if (status != IG_STATUS_OK) return status;
    ig_message_header *slot = igi_ring_slot_at(ring, position);
    char *payload = igi_ring_payload_at(ring, slot, position, bytes);
    describe(slot, &message->header);
    if (bytes) memcpy(payload, message->payload, bytes);
    stamp(kernel, slot, message->deadline_us, 1);
    if (sent) *sent = (igi_ring_sent){slot->message_id, kind, position};
    publish(slot, position, payload);
    return IG_STATUS_OK;
}

ig_status igi_ring_send_at(ig_ring_kernel *kernel, const ig_message *message, uint64_t timeout_ns,
                           igi_ring_sent *sent) {
    if (igi_ring_is_inherited(kernel)) return igi_device_fail_forked();
    ig_status status = send_one(kernel, message, timeout_ns, sent);
    if (status != IG_STATUS_OK) return explain(kernel, status, message->header.payload_size);
    igi_ring_wake(kernel);
    return IG_STATUS_OK;
}

ig_status ig_ring_send(ig_ring_kernel *kernel, const ig_message *message, uint64_t timeout_ns, uint64_t *id) {
    if (!kernel || !message) return fail_no_message();
    igi_ring_sent sent;
    ig_status status = igi_ring_send_at(kernel, message, timeout_ns, &sent);
    if (status == IG_STATUS_OK && id) *id = sent.id;
    return status;
}

// ---- Batches ----

// Messages with separate payloads, or one message whose payload holds the payloads of all, adjacent in memory.
typedef struct batch {
    const ig_message *messages;
    size_t count;
    bool is_array;
} batch;

static ig_status send_alone(ig_ring_kernel *kernel, const batch *b, size_t which, uint64_t timeout_ns) {
    if (!b->is_array) return send_one(kernel, &b->messages[which], timeout_ns, NULL);
    ig_message made = *b->messages;
    if (made.payload) made.payload = (char *)made.payload + which * made.header.payload_size;
    return send_one(kernel, &made, timeout_ns, NULL);
}

static bool are_alike(const ig_message *a, const ig_message *b) {
    return a->header.payload_size == b->header.payload_size && a->header.message_type == b->header.message_type &&
           a->header.correlation_id == b->header.correlation_id && a->header.priority == b->header.priority &&
           a->deadline_us == b->deadline_us && (b->payload || !b->header.payload_size);
}

// How many messages can share a slot with the first of the remaining ones; 0 if that one cannot share.
static uint32_t count_alike(igi_ring ring, const batch *b, size_t from) {
    const ig_message *first = &b->messages[b->is_array ? 0 : from];
    uint64_t bytes = first->header.payload_size;
    if (bytes > ring.place->payload_limit || bytes > ring.place->inline_bytes || (bytes && !first->payload)) return 0;
    size_t left = b->count - from;
    uint32_t most = igi_ring_packet_most(ring.place->inline_bytes, (uint32_t)bytes), alike = 1;
    if (most > left) most = (uint32_t)left;
    if (b->is_array) return most;
    while (alike < most && are_alike(first, &first[alike])) alike++;
    return alike;
}

static void copy_small(char *to, const char *from, uint64_t bytes) {
    if (bytes % 8) {
        memcpy(to, from, bytes);
        return;
    }
    for (uint64_t i = 0; i < bytes; i += 8) memcpy(to + i, from + i, 8);  // without a call
}

static void fill_packet(ig_message_header *slot, const batch *b, size_t from, uint32_t count) {
    uint64_t bytes = slot->payload_size, padded = igi_ring_pad((uint32_t)bytes);
    const char *array = bytes ? b->messages->payload : "";  // an empty payload may be NULL
    uint32_t *sums = igi_ring_packet_sum(slot, 0);
    char *payload = igi_ring_packet_payload(slot, count, 0);
    // The kernel had these cache lines: prefetched, they arrive together instead of one after the other.
    for (uint32_t i = 0; i < igi_ring_packet_bytes(count, (uint32_t)bytes); i += 64)
        __builtin_prefetch((char *)(slot + 1) + i, 1);
    for (uint32_t i = 0; i < count; i++, payload += padded) {
        const char *source = b->is_array ? array + (from + i) * bytes : (const char *)b->messages[from + i].payload;
        sums[i] = igi_ring_crc32(source, bytes);
        copy_small(payload, source, bytes);
    }
}

// Sends the messages that share a slot with the one at `from`; *sent is how many.
static ig_status send_some(ig_ring_kernel *kernel, const batch *b, size_t from, uint64_t timeout_ns, size_t *sent) {
    const ig_message *first = &b->messages[b->is_array ? 0 : from];
    uint32_t kind = ring_for(&first->header), position;
    igi_ring ring = igi_ring_of(kernel, kind);
    uint32_t count = count_alike(ring, b, from);
    *sent = count < 2 ? 1 : count;
    if (count < 2) return send_alone(kernel, b, from, timeout_ns);
    ig_status status = claim_until(kernel, kind, timeout_ns, &position);
    if (status != IG_STATUS_OK) return status;
    ig_message_header *slot = igi_ring_slot_at(ring, position);
    describe(slot, &first->header);
    fill_packet(slot, b, from, count);
    stamp(kernel, slot, first->deadline_us, count);
    slot->flags |= count << IGI_PACKET_SHIFT;
    igi_ring_publish_slot(slot, position);
    return IG_STATUS_OK;
}

static ig_status send_all(ig_ring_kernel *kernel, const batch *b, uint64_t timeout_ns, size_t *sent) {
    if (!kernel || (b->count && !b->messages)) return fail_no_message();
    if (igi_ring_is_inherited(kernel)) return igi_device_fail_forked();
    ig_status status = IG_STATUS_OK;
    size_t done = 0, some;
    while (done < b->count) {
        status = send_some(kernel, b, done, 0, &some);
        if (status == IG_STATUS_QUEUE_FULL && timeout_ns) {
            igi_ring_wake(kernel);
            status = send_some(kernel, b, done, timeout_ns, &some);
        }
        if (status != IG_STATUS_OK) break;
        done += some;
    }
    if (done) igi_ring_wake(kernel);
    if (sent) *sent = done;
    if (status == IG_STATUS_OK) return status;
    return explain(kernel, status, b->messages[b->is_array ? 0 : done].header.payload_size);
}

ig_status ig_ring_send_batch(ig_ring_kernel *kernel, const ig_message *messages, size_t count, uint64_t timeout_ns,
                             size_t *sent) {
    return send_all(kernel, &(batch){messages, count, false}, timeout_ns, sent);
}

ig_status ig_ring_send_array(ig_ring_kernel *kernel, const ig_message *message, size_t count, uint64_t timeout_ns,
                             size_t *sent) {
    return send_all(kernel, &(batch){message, count, true}, timeout_ns, sent);
}

// ---- Writing in place ----

ig_status ig_ring_reserve(ig_ring_kernel *kernel, uint64_t bytes, uint64_t timeout_ns, ig_ring_slot *slot) {
    if (!kernel || !slot)
        return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "ring_reserve: kernel and slot must not be NULL");
    if (igi_ring_is_inherited(kernel)) return igi_device_fail_forked();
    igi_ring ring = igi_ring_of(kernel, IGI_RING_INPUT);
    if (bytes > ring.place->payload_limit) return explain(kernel, IG_STATUS_OVERFLOW, bytes);
    uint32_t position;
    ig_status status = claim_until(kernel, IGI_RING_INPUT, timeout_ns, &position);
    if (status != IG_STATUS_OK) return explain(kernel, status, bytes);
    ig_message_header *header = igi_ring_slot_at(ring, position);
    header->payload_size = bytes;
    header->message_type = header->correlation_id = 0;
    header->priority = 0;
    *slot = (ig_ring_slot){header, igi_ring_payload_at(ring, header, position, bytes), IGI_RING_INPUT, position};
    return IG_STATUS_OK;
}

void ig_ring_commit(ig_ring_kernel *kernel, ig_ring_slot *slot) {
    if (!kernel || !slot || !slot->header) return;
    igi_ring ring = igi_ring_of(kernel, slot->ring);
    stamp(kernel, slot->header, 0, 1);
    publish(slot->header, slot->position,
            igi_ring_payload_at(ring, slot->header, slot->position, slot->header->payload_size));
    *slot = (ig_ring_slot){0};
    igi_ring_wake(kernel);
}

void ig_ring_cancel(ig_ring_kernel *kernel, ig_ring_slot *slot) {
    if (!kernel || !slot || !slot->header) return;
    igi_ring_void_slot(slot->header, slot->position);
    *slot = (ig_ring_slot){0};
    igi_ring_wake(kernel);
}
