// SPDX-License-Identifier: Apache-2.0
// Laying out the memory of kernels and inboxes.
#include <sys/mman.h>

#include "core/guarded.h"
#include "ring/checksum.h"
#include "ring/rings.h"

// Small payloads are stored in the slot. Together with the header, a slot is an odd number of cache lines, so that
// slots use all sets of a cache.
enum { INLINE_BYTES = 1088, LINE = 64, URGENT_CAPACITY = 64, OUTBOX_CAPACITY = 1024, MAX_CAPACITY = 1 << 20 };
_Static_assert(IGI_INBOXES_OFFSET == sizeof(igi_ring_crc_tables), "inboxes begin after the tables");
_Static_assert(sizeof(ig_message_header) == 256, "size of the contract");
_Static_assert(sizeof(ig_ring_control) == 128, "size of the contract");
_Static_assert(sizeof(ig_k2k_inbox_header) == 64, "size of the contract");
_Static_assert(sizeof(ig_k2k_route) == 32, "size of the contract");
_Static_assert(sizeof(ig_k2k_routing_table) == 864, "size of the contract");
_Static_assert(sizeof(ig_k2k_halo_message) == 32, "size of the contract");
_Static_assert(offsetof(ig_message_header, checksum) == IGI_HEADER_BEFORE_CHECKSUM, "what headers are copied by");
_Static_assert(offsetof(igi_ring_block, wall) % LINE == 0, "a line of its own");
_Static_assert(offsetof(igi_ring_block, heads) % LINE == 0, "a line of its own");
_Static_assert(offsetof(igi_ring_block, cursors) % LINE == 0, "a line of its own");

static bool is_capacity(uint32_t capacity) {
    return capacity && capacity <= MAX_CAPACITY && (capacity & (capacity - 1)) == 0;
}

typedef struct layout {
    uint64_t arena, overflow;  // bytes so far
} layout;

// Rings whose messages come in batches have room for packets in their slots, however small their payloads are.
static void place_ring(igi_ring_place *place, uint32_t capacity, uint32_t payload, bool packets, layout *at) {
    bool small = payload <= INLINE_BYTES;
    uint64_t rounded = igi_round_up(payload, LINE), inside = small && !packets ? rounded : INLINE_BYTES;
    *place = (igi_ring_place){.slots = (uint32_t)at->arena,
                              .stride = (uint32_t)(sizeof(ig_message_header) + inside),
                              .mask = capacity - 1,
                              .inline_bytes = (uint32_t)inside,
                              .overflow = at->overflow,
                              .payload_limit = (uint32_t)rounded,
                              .overflow_stride = small ? 0 : (uint32_t)rounded};
    at->arena += (uint64_t)capacity * place->stride;
    at->overflow += (uint64_t)capacity * place->overflow_stride;
}

// ---- Inboxes ----

ig_status igi_ring_place_inboxes(ig_ring_runtime *runtime, const ig_ring_runtime_desc *desc) {
    uint32_t capacity = desc->inbox_capacity ? desc->inbox_capacity : 128;
    uint32_t payload = desc->inbox_payload ? desc->inbox_payload : IG_MESSAGE_MAX_PAYLOAD;
    if (!is_capacity(capacity))
        return igi_fail(IG_STATUS_INVALID_ARGUMENT,
                        "runtime_create: inbox_capacity is %u; it must be a power of two, at most %d", capacity,
                        MAX_CAPACITY);
    if (payload > IG_MESSAGE_MAX_PAYLOAD)
        return igi_fail(IG_STATUS_INVALID_ARGUMENT,
                        "runtime_create: inbox_payload is %u; at most %u bytes are possible", payload,
                        IG_MESSAGE_MAX_PAYLOAD);
    layout at = {.arena = sizeof(ig_k2k_inbox_header)};
    place_ring(&runtime->inbox_place, capacity, payload, true, &at);
    runtime->inbox_place.head = offsetof(ig_k2k_inbox_header, head);
    runtime->inbox_place.tail = offsetof(ig_k2k_inbox_header, tail);
    uint64_t all = at.arena * runtime->max_kernels;
    if (all > UINT32_MAX)  // routes have 32 bits for offsets
        return igi_fail(IG_STATUS_OVERFLOW,
                        "runtime_create: %u inboxes of %u messages need more than 4 GiB; lower max_kernels, "
                        "inbox_capacity or inbox_payload",
                        runtime->max_kernels, capacity);
    runtime->inbox_size = (uint32_t)at.arena;
    runtime->inbox_place.overflow = IGI_INBOXES_OFFSET + all;
    ig_buffer_desc memory = {.length = runtime->inbox_place.overflow + at.overflow * runtime->max_kernels,
                             .label = "inboxes of ring kernels"};
    ig_status status = ig_buffer_create(runtime->device, &memory, &runtime->inbox_buffer);
    if (status != IG_STATUS_OK) return status;
    runtime->inboxes = ig_buffer_contents(runtime->inbox_buffer);
    memcpy(runtime->inboxes, igi_ring_crc_get_tables(), sizeof(igi_ring_crc_tables));
    for (uint32_t i = 0; i < runtime->max_kernels; i++)
        ((ig_k2k_inbox_header *)igi_ring_inbox_of(runtime, i).base)->max_messages = capacity;
    return IG_STATUS_OK;
}

// ---- Kernels ----

static uint32_t cursor_offset(uint32_t number) {
    return (uint32_t)(sizeof(ig_ring_control) + offsetof(igi_ring_block, cursors) +
                      (size_t)number * IGI_CURSOR_GAP * 4);
}

static void place_cursors(igi_ring_place *rings) {
    rings[IGI_RING_INPUT].head = offsetof(ig_ring_control, input_head);
    rings[IGI_RING_INPUT].tail = offsetof(ig_ring_control, input_tail);
    rings[IGI_RING_OUTPUT].head = offsetof(ig_ring_control, output_head);
    rings[IGI_RING_OUTPUT].tail = offsetof(ig_ring_control, output_tail);
    rings[IGI_RING_URGENT].head = cursor_offset(0);
    rings[IGI_RING_URGENT].tail = cursor_offset(1);
    rings[IGI_RING_DEAD].head = cursor_offset(2);
    rings[IGI_RING_DEAD].tail = cursor_offset(3);
    rings[IGI_RING_OUTBOX].head = cursor_offset(4);
    rings[IGI_RING_OUTBOX].tail = cursor_offset(5);
}

static ig_status place_rings(igi_ring_block *block, const ig_ring_launch_desc *desc, layout *at) {
    const uint32_t capacities[] = {[IGI_RING_INPUT] = igi_ring_or_default(desc->input_capacity, 1024),
                                   [IGI_RING_URGENT] = URGENT_CAPACITY,
                                   [IGI_RING_OUTPUT] = igi_ring_or_default(desc->output_capacity, 1024),
                                   [IGI_RING_DEAD] = igi_ring_or_default(desc->dead_letter_capacity, 64),
                                   [IGI_RING_OUTBOX] = OUTBOX_CAPACITY};
    uint32_t payload = igi_ring_or_default(desc->max_payload, IG_MESSAGE_MAX_PAYLOAD);
    if (payload > IG_MESSAGE_MAX_PAYLOAD) return IG_STATUS_INVALID_ARGUMENT;
    for (int i = 0; i < IGI_RING_INBOX; i++) {
        if (!is_capacity(capacities[i])) return IG_STATUS_INVALID_ARGUMENT;
        place_ring(&block->rings[i], capacities[i], payload, i == IGI_RING_INPUT || i == IGI_RING_URGENT, at);
    }
    place_cursors(block->rings);
    return IG_STATUS_OK;
}

static void write_layout(ig_ring_kernel *kernel, const igi_ring_block *plan) {
    ig_ring_control *control = kernel->control;
    *kernel->block = *plan;
    control->input_mask = plan->rings[IGI_RING_INPUT].mask;
    control->output_mask = plan->rings[IGI_RING_OUTPUT].mask;
    control->input_capacity = control->input_mask + 1;
    control->output_capacity = control->output_mask + 1;
}

// A later kernel with the same number reuses the inbox; it skips messages that came too late for its predecessor.
static void adopt_inbox(ig_ring_kernel *kernel) {
    igi_ring inbox = igi_ring_of(kernel, IGI_RING_INBOX);
    kernel->inbox = (ig_k2k_inbox_header *)inbox.base;
    kernel->block->heads[IGI_RING_INBOX] = igi_ring_load_acquire(igi_ring_tail(inbox));
    igi_ring_store_release(igi_ring_head(inbox), kernel->block->heads[IGI_RING_INBOX]);
}

// Where kernels run in this process, a handler that overruns its state, in either direction, must not reach the queues
// or other memory: there are inaccessible pages on both sides, the second one directly after the state.
static bool place_guarded_state(uint64_t queues, uint64_t bytes, uint64_t *state, uint64_t *total) {
    uint64_t page = igi_page_bytes(), pages, rounded = igi_round_up(bytes, 16);
    if (rounded < bytes || !igi_add(rounded, page - 1, &pages)) return false;
    pages = pages / page * page;
    uint64_t guard = igi_round_up(queues, page);
    *state = guard + page + pages - rounded;
    return igi_add(guard + 2 * page, pages, total) && *state <= UINT32_MAX;
}

static void unmap(void *memory, uint64_t bytes, void *user) {
    (void)user;
    munmap(memory, bytes);
}

static ig_status make_guarded_arena(ig_ring_kernel *kernel, uint64_t queues, uint64_t bytes) {
    uint64_t page = igi_page_bytes(), guard = igi_round_up(queues, page);
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return IG_STATUS_OUT_OF_MEMORY;
    bool guarded =
        mprotect(memory + guard, page, PROT_NONE) == 0 && mprotect(memory + bytes - page, page, PROT_NONE) == 0;
    ig_buffer_desc desc = {.length = bytes, .no_copy = memory, .deallocate = unmap, .label = kernel->name};
    ig_status status =
        guarded ? ig_buffer_create(kernel->runtime->device, &desc, &kernel->arena_buffer) : IG_STATUS_OUT_OF_MEMORY;
    if (status != IG_STATUS_OK) munmap(memory, bytes);
    return status;
}

// The queues, followed by the state.
static ig_status make_memory(ig_ring_kernel *kernel, uint64_t queues, igi_ring_block *plan) {
    uint64_t state = queues, total;
    bool guards = kernel->runtime->device_runs_for_ever;
    bool fits = guards ? place_guarded_state(queues, plan->state_bytes, &state, &total)
                       : igi_add(queues, plan->state_bytes, &total) && queues <= UINT32_MAX;
    if (!fits) return IG_STATUS_OVERFLOW;
    plan->state = (uint32_t)state;
    if (guards) return make_guarded_arena(kernel, queues, total);
    return ig_buffer_create(kernel->runtime->device, &(ig_buffer_desc){.length = total, .label = kernel->name},
                            &kernel->arena_buffer);
}

bool igi_ring_is_sound(const ig_ring_kernel *kernel) {
    assert(igi_ring_is_locked((pthread_mutex_t *)&kernel->lock));
    const igi_ring_block *block = kernel->block;
    const ig_ring_runtime *runtime = kernel->runtime;
    return memcmp(block->rings, kernel->places, sizeof block->rings) == 0 && block->state == kernel->state_offset &&
           block->state_bytes == kernel->state_bytes && block->self_id == kernel->index &&
           block->node == runtime->node && block->inbox_size == runtime->inbox_size;
}

bool igi_ring_repair(ig_ring_kernel *kernel) {
    igi_ring_block *block = kernel->block;
    const ig_ring_runtime *runtime = kernel->runtime;
    if (igi_ring_is_sound(kernel)) return true;
    memcpy(block->rings, kernel->places, sizeof block->rings);
    block->state = kernel->state_offset, block->state_bytes = kernel->state_bytes;
    block->self_id = kernel->index, block->node = runtime->node;
    block->inbox_size = runtime->inbox_size, block->hop_limit = runtime->hop_limit;
    block->pending_ms = runtime->pending_ms;
    block->batches = block->batches == 1, block->message_budget = kernel->message_budget;
    return false;
}

ig_status igi_ring_make_arena(ig_ring_kernel *kernel, const ig_ring_launch_desc *desc) {
    const ig_ring_runtime *runtime = kernel->runtime;
    igi_ring_block plan = {.self_id = kernel->index,
                           .node = runtime->node,
                           .inbox_size = runtime->inbox_size,
                           .hop_limit = runtime->hop_limit,
                           .pending_ms = runtime->pending_ms,
                           .batches = desc->batches,
                           .state_bytes = desc->state_bytes ? desc->state_bytes : 64};
    layout at = {.arena = igi_round_up(sizeof(ig_ring_control) + sizeof plan, LINE)};
    ig_status status = place_rings(&plan, desc, &at);
    if (status != IG_STATUS_OK) return status;
    plan.rings[IGI_RING_INBOX] = runtime->inbox_place;
    plan.routes.self_id = kernel->index;
    status = make_memory(kernel, at.arena, &plan);
    if (status == IG_STATUS_OK && at.overflow)
        status = ig_buffer_create(runtime->device, &(ig_buffer_desc){.length = at.overflow, .label = kernel->name},
                                  &kernel->overflow_buffer);
    if (status != IG_STATUS_OK) return status;
    kernel->arena = ig_buffer_contents(kernel->arena_buffer);
    kernel->overflow = kernel->overflow_buffer ? ig_buffer_contents(kernel->overflow_buffer) : kernel->arena;
    kernel->control = (ig_ring_control *)kernel->arena;
    kernel->block = (igi_ring_block *)(kernel->arena + sizeof(ig_ring_control));
    memcpy(kernel->places, plan.rings, sizeof kernel->places);
    kernel->state_offset = plan.state, kernel->state_bytes = plan.state_bytes;
    write_layout(kernel, &plan);
    adopt_inbox(kernel);
    return IG_STATUS_OK;
}
