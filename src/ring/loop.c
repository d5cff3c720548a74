// SPDX-License-Identifier: Apache-2.0
// Handlers in C: the loop around them, and what they call. The protocol itself is in loop.h and take.h.
#include "ring/rings.h"
#include "ring/take.h"

struct ig_ring_context {
    ig_ring_kernel *kernel;
    igi_ring_loop loop;
    igi_ring_words words;
};

// ---- The message ----

const ig_message_header *ig_ring_context_message(const ig_ring_context *c) {
    return c->loop.slot;
}

const void *ig_ring_context_payload(const ig_ring_context *c) {
    return c->loop.payload;
}

uint64_t ig_ring_context_count(const ig_ring_context *c) {
    return c->words.count;
}

const void *ig_ring_context_payload_at(const ig_ring_context *c, uint64_t which) {
    if (which >= c->words.count) return NULL;
    return c->loop.payload + which * igi_ring_pad((uint32_t)c->loop.slot->payload_size);
}

// ---- The kernel ----

void *ig_ring_context_state(const ig_ring_context *c, uint64_t *bytes) {
    if (bytes) *bytes = c->loop.block->state_bytes;
    return c->loop.arena + c->loop.block->state;
}

ig_hlc_timestamp ig_ring_context_now(ig_ring_context *c) {
    return igi_ring_tick(&c->loop);
}

void ig_ring_context_fail(ig_ring_context *c, uint32_t error) {
    c->words.error = error ? error : IG_RING_ERROR_INTERNAL;
}

// ---- Sending ----

static uint32_t put(ig_ring_context *c, uint64_t dest, uint64_t type, const void *payload, uint64_t bytes,
                    uint32_t flags) {
    char *room = igi_ring_open_or_dead(&c->loop, dest, bytes, flags);
    if (!room) return c->words.refusal;
    if (bytes) memcpy(room, payload, bytes);
    igi_ring_fill_header(&c->loop, type, bytes, flags);
    return igi_ring_publish(&c->loop);
}

uint32_t ig_ring_context_reply(ig_ring_context *c, uint64_t type, const void *payload, uint64_t bytes) {
    return put(c, c->loop.slot->source_kernel, type, payload, bytes, IG_MESSAGE_REPLY);
}

uint32_t ig_ring_context_send(ig_ring_context *c, uint64_t dest, uint64_t type, const void *payload, uint64_t bytes) {
    return put(c, dest, type, payload, bytes, 0);
}

// Sends as many messages as fit into a slot; returns 0 if they must be sent one by one.
static uint32_t put_packet(ig_ring_context *c, uint64_t dest, uint64_t type, const char *payloads, uint64_t bytes,
                           uint64_t count) {
    uint32_t packed = igi_ring_open_packet(&c->loop, dest, type, bytes, count);
    if (!packed) return 0;
    for (uint32_t i = 0; i < packed; i++) {
        const char *payload = payloads + i * bytes;
        if (bytes) memcpy(igi_ring_packet_payload(c->words.opened_slot, packed, i), payload, bytes);
        *igi_ring_packet_sum(c->words.opened_slot, i) = igi_ring_crc32(payload, bytes);
    }
    igi_ring_publish_packet(&c->loop);
    return packed;
}

uint64_t ig_ring_context_send_batch(ig_ring_context *c, uint64_t dest, uint64_t type, const void *payloads,
                                    uint64_t bytes, uint64_t count) {
    uint64_t taken = 0;
    while (taken < count) {
        const char *next = (const char *)payloads + taken * bytes;
        uint32_t packed = put_packet(c, dest, type, next, bytes, count - taken);
        if (!packed && put(c, dest, type, next, bytes, 0) > IG_DELIVERY_PENDING) break;
        taken += packed ? packed : 1;
    }
    return taken;
}

uint32_t ig_ring_context_broadcast(ig_ring_context *c, uint64_t type, const void *payload, uint64_t bytes) {
    const ig_k2k_routing_table *routes = &c->loop.block->routes;
    uint32_t worst = IG_DELIVERED;
    for (uint32_t i = 0; i < igi_ring_route_count(routes); i++) {
        if (!igi_ring_load_acquire(&routes->routes[i].is_active)) continue;
        uint64_t dest = (uint64_t)c->loop.block->node << 32 | igi_ring_load(&routes->routes[i].dest);
        uint32_t result = put(c, dest, type, payload, bytes, 0);
        if (result > worst) worst = result;
    }
    return worst;
}

uint32_t ig_ring_context_forward(ig_ring_context *c, uint64_t dest) {
    return igi_ring_forward(&c->loop, dest);
}

// ---- The loop ----

void igi_ring_run_handler(ig_ring_kernel *kernel) {
    ig_ring_context context = {.kernel = kernel, .loop = igi_ring_loop_of(kernel)};
    context.loop.words = &context.words;
    igi_ring_begin_loop(&context.loop);
    while (igi_ring_take(&context.loop)) {
        context.loop.slot = context.words.slot;
        context.loop.payload = context.words.payload;
        kernel->handler(&context, kernel->user);
        igi_ring_finish(&context.loop, context.words.error);
    }
}
