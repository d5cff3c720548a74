// SPDX-License-Identifier: Apache-2.0
// The loop around handlers in C: what <ingot/ring> does in MSL, on the same memory.
#include "ring/checksum.h"
#include "ring/futex.h"
#include "ring/slots.h"

struct ig_ring_context {
    ig_ring_kernel *kernel;
    ig_ring_control *control;
    igi_ring_block *block;
    ig_message_header *slot;
    char *payload;
    uint32_t ring, error, leaving, handled, turn, looks, output_limit;
    uint32_t count;       // of messages that the handler is called for
    uint32_t items_left;  // of the packet that they are of, behind them
};

// A place for a message, taken and not yet published.
typedef struct opened {
    igi_ring ring;
    uint32_t kind, position;
    uint64_t dest;
    ig_message_header *slot;
    char *payload;
    uint32_t refusal;
} opened;

// ---- Clock ----

static uint64_t wall_us(const ig_ring_context *c) {
    return __atomic_load_n(&c->block->wall, __ATOMIC_RELAXED);
}

static uint64_t larger(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

static void set_clock(ig_ring_context *c, uint64_t physical, uint64_t logical) {
    __atomic_store_n(&c->control->hlc_physical, physical, __ATOMIC_RELAXED);
    __atomic_store_n(&c->control->hlc_logical, logical, __ATOMIC_RELAXED);
}

static void observe(ig_ring_context *c, ig_hlc_timestamp received) {
    uint64_t p = c->control->hlc_physical, l = c->control->hlc_logical;
    uint64_t latest = larger(wall_us(c), larger(p, received.physical)), logical = 0;
    if (p == latest) logical = l + 1;
    if (received.physical == latest) logical = larger(logical, received.logical + 1);
    set_clock(c, latest, logical);
}

ig_hlc_timestamp ig_ring_context_now(ig_ring_context *c) {
    uint64_t wall = wall_us(c), p = c->control->hlc_physical;
    ig_hlc_timestamp now = {larger(wall, p), wall > p ? 0 : c->control->hlc_logical + 1, c->block->node};
    set_clock(c, now.physical, now.logical);
    return now;
}

// ---- Places for messages ----

static bool has_room(ig_ring_context *c) {
    igi_ring output = igi_ring_of(c->kernel, IGI_RING_OUTPUT);
    if (c->block->output_tail != c->output_limit) return true;
    c->output_limit = igi_word(igi_ring_head(output)) + output.place->mask + 1;
    return c->block->output_tail != c->output_limit;
}

static bool refuse(opened *place, uint32_t why) {
    place->refusal = why;
    return false;
}

static bool place_at(opened *place, igi_ring ring, uint32_t kind, uint32_t position, uint64_t dest, uint64_t bytes) {
    ig_message_header *slot = igi_slot(ring, position);
    *place = (opened){ring, kind, position, dest, slot, igi_slot_payload(ring, slot, position, bytes), IG_DELIVERED};
    return true;
}

static bool open_outbox(ig_ring_context *c, uint64_t dest, uint64_t bytes, opened *place) {
    igi_ring outbox = igi_ring_of(c->kernel, IGI_RING_OUTBOX);
    uint32_t position = c->block->outbox_tail;
    if (bytes > igi_ring_limit(outbox)) return refuse(place, IG_DELIVERY_TOO_LARGE);
    if (position - c->block->heads[IGI_RING_OUTBOX] > outbox.place->mask) return refuse(place, IG_DELIVERY_QUEUE_FULL);
    return place_at(place, outbox, IGI_RING_OUTBOX, position, dest, bytes);
}

static bool open_output(ig_ring_context *c, uint64_t bytes, opened *place) {
    igi_ring output = igi_ring_of(c->kernel, IGI_RING_OUTPUT);
    if (bytes > igi_ring_limit(output)) return refuse(place, IG_DELIVERY_TOO_LARGE);
    if ((c->block->pending_mask & 1) || !has_room(c)) return open_outbox(c, IG_RING_HOST, bytes, place);
    return place_at(place, output, IGI_RING_OUTPUT, c->block->output_tail, IG_RING_HOST, bytes);
}

static bool open_inbox(ig_ring_context *c, uint32_t index, uint64_t bytes, opened *place) {
    igi_ring inbox = igi_inbox_ring(c->kernel->runtime, index);
    uint32_t position;
    if (!igi_ring_claim(inbox, &position)) return refuse(place, IG_DELIVERY_QUEUE_FULL);
    return place_at(place, inbox, IGI_RING_INBOX, position, (uint64_t)c->block->node << 32 | index, bytes);
}

static bool has_route(const ig_ring_context *c, uint32_t index) {
    const ig_k2k_routing_table *routes = &c->block->routes;
    for (uint32_t i = 0; i < igi_route_count(routes); i++)
        if (igi_word(&routes->routes[i].is_active) && igi_word(&routes->routes[i].dest) == index) return true;
    return false;
}

static bool open_place(ig_ring_context *c, uint64_t dest, uint64_t bytes, opened *place) {
    if (dest == IG_RING_HOST) return open_output(c, bytes, place);
    if (dest >> 32 != c->block->node) return open_outbox(c, dest, bytes, place);
    uint32_t index = (uint32_t)dest;
    if (!has_route(c, index)) return refuse(place, IG_DELIVERY_NOT_FOUND);
    if (bytes > igi_ring_limit(igi_inbox_ring(c->kernel->runtime, index))) return refuse(place, IG_DELIVERY_TOO_LARGE);
    if (c->block->pending_mask >> (index & 31) & 1) return open_outbox(c, dest, bytes, place);
    return open_inbox(c, index, bytes, place) || open_outbox(c, dest, bytes, place);
}

static bool is_remote(const ig_ring_context *c, uint64_t dest) {
    return dest != IG_RING_HOST && dest >> 32 != c->block->node;
}

static uint32_t pending_bit(const ig_ring_context *c, uint64_t dest) {
    return 1u << (dest == IG_RING_HOST || is_remote(c, dest) ? 0 : dest & 31);
}

static uint32_t dead_reason(uint32_t refusal) {
    switch (refusal) {
        case IG_DELIVERY_NOT_FOUND: return IG_DEAD_NO_ROUTE;
        case IG_DELIVERY_TOO_LARGE: return IG_DEAD_TOO_LARGE;
        case IG_DELIVERY_MAX_HOPS: return IG_DEAD_MAX_HOPS;
        default: return IG_DEAD_UNDELIVERED;
    }
}

// A message that was refused is a dead letter, unless the handler may keep it and try again later.
static bool open_dead(ig_ring_context *c, uint64_t dest, uint64_t bytes, uint32_t flags, opened *place) {
    uint32_t refusal = place->refusal;
    if (refusal == IG_DELIVERY_QUEUE_FULL && !(flags & IG_MESSAGE_REPLY)) return false;
    igi_count(&c->block->refused);
    igi_ring dead = igi_ring_of(c->kernel, IGI_RING_DEAD);
    if (bytes > igi_ring_limit(dead) || !igi_ring_has_dead_room(c->kernel)) {
        igi_count(&c->block->sent_id);
        igi_count(&c->block->dead_lost);
        return false;
    }
    place_at(place, dead, IGI_RING_DEAD, c->block->dead_tail, dest, bytes);
    place->slot->dead_reason = dead_reason(refusal);
    place->refusal = refusal;
    return true;
}

static uint32_t announce(ig_ring_context *c, const opened *place) {
    igi_slot_publish(place->slot, place->position);
    switch (place->kind) {
        case IGI_RING_DEAD: igi_set_word(&c->block->dead_tail, place->position + 1); return place->refusal;
        case IGI_RING_OUTPUT:
            igi_set_word(&c->block->output_tail, place->position + 1);
            if (igi_word(&c->block->receivers)) c->leaving |= IGI_LEFT_HELP;
            return IG_DELIVERED;
        case IGI_RING_OUTBOX:
            place->slot->kept_ms = igi_ring_wall_ms(c->block);
            igi_set_word(&c->block->outbox_tail, place->position + 1);
            igi_set_word(&c->block->pending_mask, c->block->pending_mask | pending_bit(c, place->dest));
            if (is_remote(c, place->dest)) c->leaving |= IGI_LEFT_HELP;
            return IG_DELIVERY_PENDING;
        default: {
            uint32_t index = (uint32_t)place->dest;
            ig_k2k_inbox_header *to = (ig_k2k_inbox_header *)place->ring.base;
            __atomic_store_n(&to->last_source, c->block->self_id, __ATOMIC_RELAXED);
            if (!__atomic_load_n(&to->parked, __ATOMIC_SEQ_CST)) return IG_DELIVERED;
            c->block->wake[index / 32] |= 1u << (index & 31);
            c->leaving |= IGI_LEFT_HELP;
            return IG_DELIVERED;
        }
    }
}

static uint32_t publish(ig_ring_context *c, const opened *place) {
    place->slot->checksum = igi_crc32(place->payload, place->slot->payload_size);
    return announce(c, place);
}

static void fill_header(ig_ring_context *c, const opened *place, uint64_t type, uint64_t bytes, uint32_t flags) {
    igi_count(&c->block->sent_id);
    ig_message_header made = {.magic = IG_MESSAGE_MAGIC,
                              .version = IG_MESSAGE_VERSION,
                              .flags = flags,
                              .message_id = (uint64_t)(c->block->self_id + 1) << 40 | c->block->sent_id,
                              .correlation_id = flags & IG_MESSAGE_REPLY ? c->slot->message_id : 0,
                              .source_kernel = (uint64_t)c->block->node << 32 | c->block->self_id,
                              .dest_kernel = place->dest,
                              .message_type = type,
                              .priority = c->slot->priority,
                              .sent_low = c->slot->sent_low,
                              .sent_high = c->slot->sent_high,
                              .payload_size = bytes,
                              .timestamp = ig_ring_context_now(c)};
    igi_header_copy(place->slot, &made);
}

static uint32_t put(ig_ring_context *c, uint64_t dest, uint64_t type, const void *payload, uint64_t bytes,
                    uint32_t flags) {
    opened place = {0};
    if (!open_place(c, dest, bytes, &place) && !open_dead(c, dest, bytes, flags, &place)) return place.refusal;
    if (bytes) memcpy(place.payload, payload, bytes);
    fill_header(c, &place, type, bytes, flags);
    return publish(c, &place);
}

// ---- What handlers call ----

const ig_message_header *ig_ring_context_message(const ig_ring_context *c) {
    return c->slot;
}

const void *ig_ring_context_payload(const ig_ring_context *c) {
    return c->payload;
}

uint64_t ig_ring_context_count(const ig_ring_context *c) {
    return c->count;
}

const void *ig_ring_context_payload_at(const ig_ring_context *c, uint64_t which) {
    return which < c->count ? c->payload + which * igi_pad((uint32_t)c->slot->payload_size) : NULL;
}

void *ig_ring_context_state(const ig_ring_context *c, uint64_t *bytes) {
    if (bytes) *bytes = c->block->state_bytes;
    return c->kernel->arena + c->block->state;
}

uint32_t ig_ring_context_reply(ig_ring_context *c, uint64_t type, const void *payload, uint64_t bytes) {
    return put(c, c->slot->source_kernel, type, payload, bytes, IG_MESSAGE_REPLY);
}

uint32_t ig_ring_context_send(ig_ring_context *c, uint64_t dest, uint64_t type, const void *payload, uint64_t bytes) {
    return put(c, dest, type, payload, bytes, 0);
}

// As many messages as share a slot; 0 when they must go one by one.
static uint32_t pack(ig_ring_context *c, uint64_t dest, uint64_t type, const char *payloads, uint64_t bytes,
                     uint64_t count) {
    opened place;
    const igi_ring_place *inbox = &c->kernel->runtime->inbox_place;
    uint32_t index = (uint32_t)dest, most = bytes > inbox->payload_limit || bytes > inbox->inline_bytes
                                                ? 0
                                                : igi_packet_most(inbox->inline_bytes, (uint32_t)bytes);
    if (most > count) most = (uint32_t)count;
    if (most < 2 || dest >> 32 != c->block->node || c->block->pending_mask >> (index & 31) & 1) return 0;
    if (!has_route(c, index) || !open_inbox(c, index, 0, &place)) return 0;
    fill_header(c, &place, type, bytes, most << IGI_PACKET_SHIFT);
    igi_count_more(&c->block->sent_id, most - 1);
    set_clock(c, c->control->hlc_physical, c->control->hlc_logical + most - 1);
    for (uint32_t i = 0; i < most; i++) {
        if (bytes) memcpy(igi_packet_payload(place.slot, most, i), payloads + i * bytes, bytes);
        *igi_packet_sum(place.slot, i) = igi_crc32(payloads + i * bytes, bytes);
    }
    announce(c, &place);
    return most;
}

uint64_t ig_ring_context_send_batch(ig_ring_context *c, uint64_t dest, uint64_t type, const void *payloads,
                                    uint64_t bytes, uint64_t count) {
    uint64_t taken = 0;
    while (taken < count) {
        const char *next = (const char *)payloads + taken * bytes;
        uint32_t packed = pack(c, dest, type, next, bytes, count - taken);
        if (!packed && put(c, dest, type, next, bytes, 0) > IG_DELIVERY_PENDING) break;
        taken += packed ? packed : 1;
    }
    return taken;
}

uint32_t ig_ring_context_broadcast(ig_ring_context *c, uint64_t type, const void *payload, uint64_t bytes) {
    uint32_t worst = IG_DELIVERED;
    for (uint32_t i = 0; i < igi_route_count(&c->block->routes); i++) {
        const ig_k2k_route *route = &c->block->routes.routes[i];
        uint64_t dest = (uint64_t)c->block->node << 32 | igi_word(&route->dest);
        uint32_t became = igi_word(&route->is_active) ? put(c, dest, type, payload, bytes, 0) : IG_DELIVERED;
        if (became > worst) worst = became;
    }
    return worst;
}

uint32_t ig_ring_context_forward(ig_ring_context *c, uint64_t dest) {
    opened place = {0};
    uint64_t bytes = c->slot->payload_size;
    bool is_open = c->slot->hops + 1u > c->block->hop_limit ? refuse(&place, IG_DELIVERY_MAX_HOPS)
                                                            : open_place(c, dest, bytes, &place);
    if (!is_open && !open_dead(c, dest, bytes, 0, &place)) return place.refusal;
    memcpy(place.payload, c->payload, bytes);
    fill_header(c, &place, c->slot->message_type, bytes, c->slot->flags);
    place.slot->message_id = c->slot->message_id;
    place.slot->correlation_id = c->slot->correlation_id;
    place.slot->source_kernel = c->slot->source_kernel;
    place.slot->hops = (uint8_t)(c->slot->hops + 1);
    place.slot->deadline = c->slot->deadline;
    return publish(c, &place);
}

void ig_ring_context_fail(ig_ring_context *c, uint32_t error) {
    c->error = error ? error : IG_RING_ERROR_INTERNAL;
}

// ---- Messages that wait for room ----

static bool give_up(ig_ring_context *c, ig_message_header *slot, const char *payload, bool is_closed) {
    bool is_late = slot->dest_kernel != IG_RING_HOST && igi_ring_kept_too_long(c->block, slot);
    if (!is_closed && !is_late) return false;
    igi_count(&c->block->undelivered);
    igi_ring_bury(c->kernel, slot, payload, is_closed ? IG_DEAD_NO_ROUTE : IG_DEAD_UNDELIVERED);
    return true;
}

static bool carry(ig_ring_context *c, ig_message_header *slot, const char *payload) {
    opened place;
    uint64_t bytes = slot->payload_size;
    bool open = false, is_closed = slot->dest_kernel != IG_RING_HOST && !has_route(c, (uint32_t)slot->dest_kernel);
    if (slot->dest_kernel != IG_RING_HOST)
        open = !is_closed && open_inbox(c, (uint32_t)slot->dest_kernel, bytes, &place);
    else if (has_room(c))
        open = place_at(&place, igi_ring_of(c->kernel, IGI_RING_OUTPUT), IGI_RING_OUTPUT, c->block->output_tail,
                        IG_RING_HOST, bytes);
    if (!open) return give_up(c, slot, payload, is_closed);
    igi_header_copy(place.slot, slot);
    memcpy(place.payload, payload, bytes);
    publish(c, &place);
    return true;
}

static void flush(ig_ring_context *c) {
    igi_ring outbox = igi_ring_of(c->kernel, IGI_RING_OUTBOX);
    uint32_t blocked = 0, tail = c->block->outbox_tail, from = c->block->heads[IGI_RING_OUTBOX];
    for (uint32_t position = from; position != tail; position++) {
        ig_message_header *slot = igi_slot(outbox, position);
        if (slot->flags & IG_MESSAGE_VOID) continue;
        uint64_t dest = slot->dest_kernel;
        uint32_t bit = pending_bit(c, dest);
        const char *payload = igi_slot_payload(outbox, slot, position, slot->payload_size);
        if (!(blocked & bit) && !is_remote(c, dest) && carry(c, slot, payload))
            slot->flags |= IG_MESSAGE_VOID;
        else
            blocked |= bit;
        if (is_remote(c, dest)) c->leaving |= IGI_LEFT_HELP;
    }
    while (from != tail && (igi_slot(outbox, from)->flags & IG_MESSAGE_VOID)) from++;
    igi_set_word(&c->block->heads[IGI_RING_OUTBOX], from);
    igi_set_word(&c->block->pending_mask, blocked);
}

// ---- Taking messages ----

static ig_message_header *ready(ig_ring_context *c, uint32_t ring) {
    ig_message_header *slot = igi_slot_ready(igi_ring_of(c->kernel, ring), c->block->heads[ring]);
    if (slot) c->ring = ring;
    return slot;
}

// Messages that wait in the outbox hold up the host's before those of other kernels, whose answers may be what
// everybody waits for. In the end the last places are left for what one message may cause.
static ig_message_header *find(ig_ring_context *c) {
    uint32_t kept = c->block->outbox_tail - c->block->heads[IGI_RING_OUTBOX];
    uint32_t capacity = c->block->rings[IGI_RING_OUTBOX].mask + 1;
    bool from_host = kept < capacity / 2, from_kernels = kept + IGI_OUTBOX_RESERVE <= capacity;
    ig_message_header *slot = from_host ? ready(c, IGI_RING_URGENT) : NULL;
    c->turn = !c->turn;
    if (!slot && from_kernels && c->turn) slot = ready(c, IGI_RING_INBOX);
    if (!slot && from_host) slot = ready(c, IGI_RING_INPUT);
    if (!slot && from_kernels && !c->turn) slot = ready(c, IGI_RING_INBOX);
    return slot;
}

static uint32_t unpack(ig_ring_context *c, ig_message_header *slot, uint32_t inline_bytes) {
    uint32_t item = c->block->items[c->ring], count = igi_packet_count(slot);
    if (!item && !igi_packet_fits(inline_bytes, count, slot->payload_size)) return IG_DEAD_BAD_HEADER;
    c->slot = &c->block->unpacked[c->ring];
    igi_packet_header(slot, item, c->slot);
    c->payload = igi_packet_payload(slot, count, item);
    c->items_left = count - item - 1;
    return 0;
}

// Where the message is that the slot has next.
static uint32_t look_into(ig_ring_context *c, ig_message_header *slot) {
    igi_ring ring = igi_ring_of(c->kernel, c->ring);
    uint64_t bytes = slot->payload_size;
    if (slot->magic != IG_MESSAGE_MAGIC || slot->version != IG_MESSAGE_VERSION) return IG_DEAD_BAD_HEADER;
    if (bytes > igi_ring_limit(ring)) return IG_DEAD_BAD_HEADER;
    if (igi_packet_count(slot)) return unpack(c, slot, ring.place->inline_bytes);
    c->payload = igi_slot_payload(ring, slot, c->block->heads[c->ring], bytes);
    return 0;
}

// Clocks of one node are one clock, however far it got; those of others may be wrong.
static bool is_too_far_ahead(const ig_ring_context *c, const ig_hlc_timestamp *at) {
    return at->node != c->block->node && at->physical > __atomic_load_n(&c->block->horizon, __ATOMIC_RELAXED) &&
           at->physical > c->control->hlc_physical;
}

static uint32_t judge(const ig_ring_context *c) {
    const ig_message_header *slot = c->slot;
    uint64_t wall = wall_us(c);
    if (igi_crc32(c->payload, slot->payload_size) != slot->checksum) return IG_DEAD_CHECKSUM;
    if ((slot->flags & IG_MESSAGE_DEADLINE) && slot->deadline.physical <= wall) return IG_DEAD_EXPIRED;
    return is_too_far_ahead(c, &slot->timestamp) ? IG_DEAD_CLOCK_SKEW : 0;
}

static void publish_head(ig_ring_context *c, uint32_t ring) {
    uint32_t *word = igi_ring_head(igi_ring_of(c->kernel, ring)), head = c->block->heads[ring];
    if (__atomic_load_n(word, __ATOMIC_RELAXED) == head) return;
    if (ring != IGI_RING_INPUT) {
        igi_set_word(word, head);
        return;
    }
    uint64_t old = c->control->input_head;
    __atomic_store_n(&c->control->input_head, old + (uint32_t)(head - (uint32_t)old), __ATOMIC_SEQ_CST);
}

// Threads that sleep for room are worth waking when there is a good deal of it.
static void look_for_senders(ig_ring_context *c) {
    if (__atomic_load_n(&c->block->senders, __ATOMIC_SEQ_CST)) c->leaving |= IGI_LEFT_HELP;
}

static void finish_message(ig_ring_context *c) {
    if (c->items_left) {
        c->block->items[c->ring] += c->count;
        return;
    }
    c->block->items[c->ring] = 0;
    uint32_t head = c->block->heads[c->ring] + 1;
    igi_set_word(&c->block->heads[c->ring], head);
    uint32_t quarter = (c->block->rings[c->ring].mask + 1) >> 2;
    if (!quarter) quarter = 1;
    if ((head & ((quarter < 32 ? quarter : 32) - 1)) == 0) publish_head(c, c->ring);
    if ((head & (quarter - 1)) == 0) look_for_senders(c);
}

// As many messages of the packet as are sound, from the one at hand on.
static void gather(ig_ring_context *c, ig_message_header *packet) {
    uint32_t next = c->block->items[c->ring] + 1;
    uint64_t bytes = packet->payload_size, padded = igi_pad((uint32_t)bytes);
    for (; c->items_left && igi_crc32(c->payload + c->count * padded, bytes) == *igi_packet_sum(packet, next); next++) {
        c->items_left--;
        c->count++;
    }
}

// The messages that the handler was called for.
static void bury_all(ig_ring_context *c) {
    igi_ring ring = igi_ring_of(c->kernel, c->ring);
    ig_message_header *packet = igi_slot(ring, c->block->heads[c->ring]);
    uint32_t first = c->block->items[c->ring];
    igi_ring_bury(c->kernel, c->slot, c->payload, IG_DEAD_HANDLER);
    for (uint32_t i = 1; i < c->count; i++) {
        igi_packet_header(packet, first + i, c->slot);
        igi_ring_bury(c->kernel, c->slot, ig_ring_context_payload_at(c, i), IG_DEAD_HANDLER);
    }
}

static bool accept(ig_ring_context *c, ig_message_header *slot) {
    bool is_void = slot->flags & IG_MESSAGE_VOID;
    c->slot = slot;
    c->items_left = 0;
    c->count = 1;
    uint32_t reason = is_void ? 0 : look_into(c, slot);
    if (!is_void && !reason) reason = judge(c);
    if (!is_void && !reason) {
        if (c->block->batches) gather(c, slot);
        ig_hlc_timestamp last = c->slot->timestamp;
        last.logical += c->count - 1;
        observe(c, last);
        __atomic_store_n(&c->block->current_ring, c->ring, __ATOMIC_RELAXED);
        __atomic_store_n(&c->block->current_count, c->count, __ATOMIC_RELAXED);
        igi_set_word(&c->block->started, c->block->started + 1);
        c->error = 0;
        return true;
    }
    if (reason == IG_DEAD_EXPIRED) igi_count(&c->block->expired);
    if (reason && reason != IG_DEAD_EXPIRED) igi_count(&c->block->invalid);
    if (reason) {
        igi_ring_bury(c->kernel, c->slot, reason == IG_DEAD_BAD_HEADER ? NULL : c->payload, reason);
        if (c->slot->source_kernel == IG_RING_HOST) igi_ring_note_end(c->block, c->slot->message_id, reason);
        if (__atomic_load_n(&c->block->receivers, __ATOMIC_SEQ_CST)) c->leaving |= IGI_LEFT_HELP;
    }
    finish_message(c);
    return false;
}

static void tell(ig_ring_context *c) {
    publish_head(c, IGI_RING_INPUT);
    publish_head(c, IGI_RING_URGENT);
    publish_head(c, IGI_RING_INBOX);
    look_for_senders(c);
    __atomic_store_n(&c->control->messages_processed, c->block->processed, __ATOMIC_RELAXED);
    uint32_t tail_word = igi_word(igi_ring_tail(igi_ring_of(c->kernel, IGI_RING_INPUT)));
    __atomic_store_n(&c->control->messages_in_flight, (uint32_t)(tail_word - c->block->heads[IGI_RING_INPUT]),
                     __ATOMIC_RELAXED);
    uint64_t tail = c->control->output_tail;
    __atomic_store_n(&c->control->output_tail, tail + (uint32_t)(c->block->output_tail - (uint32_t)tail),
                     __ATOMIC_RELAXED);
}

static bool take(ig_ring_context *c) {
    uint32_t spins = 0;
    for (;;) {
        if (c->block->pending_mask) flush(c);
        if (c->block->message_budget && c->handled >= c->block->message_budget) c->leaving |= IGI_LEFT_BUDGET;
        if ((c->looks++ & 63) == 0 && (!igi_word(&c->control->is_active) || igi_word(&c->control->should_terminate)))
            c->leaving |= IGI_LEFT_STOPPED;
        if (c->leaving) return false;
        ig_message_header *slot = has_room(c) ? find(c) : NULL;
        if (slot && accept(c, slot)) return true;
        if (slot) continue;
        if (spins == IGI_QUIET_LOOKS) tell(c);
        igi_pause();
        if (spins++ >= c->block->idle_spins) c->leaving |= IGI_LEFT_IDLE;
    }
}

static void done(ig_ring_context *c) {
    if (c->error) {
        igi_count_more(&c->block->failed, c->count);
        igi_ring_set_failed(c->block, c->slot);
        bury_all(c);
        __atomic_store_n(&c->control->last_error, c->error, __ATOMIC_RELAXED);
        __atomic_store_n(&c->control->error_count, c->control->error_count + 1, __ATOMIC_RELAXED);
        c->leaving |= IGI_LEFT_FAILED;
    }
    finish_message(c);
    igi_set_word(&c->block->started, c->block->started + 1);
    igi_count_more(&c->block->processed, c->count);
    c->handled += c->count;
}

void igi_ring_loop(ig_ring_kernel *kernel) {
    ig_ring_context context = {.kernel = kernel,
                               .control = kernel->control,
                               .block = kernel->block,
                               .output_limit = kernel->block->output_tail};
    while (take(&context)) {
        kernel->handler(&context, kernel->user);
        done(&context);
    }
    tell(&context);
    kernel->block->left |= context.leaving;
}
