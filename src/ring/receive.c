// SPDX-License-Identifier: Apache-2.0
// Messages from a kernel's output to the host.
//
// Threads take turns. A message is taken by advancing `output_next`; its slot is free for the kernel again when it and
// all earlier messages have been consumed. A thread that looks for one answer puts the others into the stash.
#include "ring/checksum.h"
#include "ring/futex.h"
#include "ring/rings.h"

enum { SPINS = 2000 };
static const uint64_t look_ns = 20000000;

typedef struct igi_ring_stashed {
    ig_message message;
    struct igi_ring_stashed *next;
} igi_ring_stashed;

void ig_message_clear(ig_message *message) {
    if (message && message->payload_capacity) free(message->payload);
    if (message) *message = (ig_message){0};
}

// ---- Taking and consuming; with the receiving lock held ----

static ig_message_header *take(ig_ring_kernel *kernel, uint32_t *position) {
    ig_message_header *slot = igi_ring_ready_at(igi_ring_of(kernel, IGI_RING_OUTPUT), kernel->output_next);
    if (slot) *position = kernel->output_next++;
    return slot;
}

// A consumed slot carries its position, which is one less than before.
static void consume(ig_ring_kernel *kernel, ig_message_header *slot, uint32_t position) {
    igi_ring output = igi_ring_of(kernel, IGI_RING_OUTPUT);
    uint32_t *word = igi_ring_head(output), head = igi_ring_load_acquire(word), before = head;
    igi_ring_store_release(&slot->sequence, position);
    while (head != kernel->output_next && igi_ring_load_acquire(&igi_ring_slot_at(output, head)->sequence) == head)
        head++;
    if (head == before) return;
    if (head < before) __atomic_fetch_add(word + 1, 1, __ATOMIC_RELAXED);
    __atomic_store_n(word, head, __ATOMIC_SEQ_CST);
}

static bool copy_out(ig_ring_kernel *kernel, uint32_t kind, const ig_message_header *slot, uint32_t position,
                     ig_message *message) {
    igi_ring ring = igi_ring_of(kernel, kind);
    uint64_t bytes = slot->payload_size;
    if (bytes > ring.place->payload_limit) bytes = 0;  // never written by us
    if (bytes > message->payload_capacity) {
        void *larger = igi_realloc(message->payload_capacity ? message->payload : NULL, bytes);
        if (!larger) return false;
        message->payload = larger;
        message->payload_capacity = bytes;
    }
    message->header = *slot;
    message->header.payload_size = bytes;
    if (bytes) memcpy(message->payload, igi_ring_payload_at(ring, (ig_message_header *)slot, position, bytes), bytes);
    return true;
}

static void note_latency(ig_ring_kernel *kernel, const ig_message_header *header) {
    uint64_t sent = (uint64_t)header->sent_high << 16 | header->sent_low;
    uint64_t ns = (igi_ring_now_ns() - sent) & ((1ull << 48) - 1);
    if (!sent || !(header->flags & IG_MESSAGE_REPLY) || ns >> 47) return;
    int bucket = ns ? 63 - __builtin_clzll(ns) : 0;
    atomic_fetch_add_explicit(&kernel->latency[bucket < IG_RING_HISTOGRAM ? bucket : IG_RING_HISTOGRAM - 1], 1,
                              memory_order_relaxed);
}

// ---- The stash ----

static bool take_stashed(ig_ring_kernel *kernel, uint64_t id, ig_message *message) {
    for (igi_ring_stashed **link = &kernel->stash; *link; link = &(*link)->next) {
        igi_ring_stashed *found = *link;
        if (id && found->message.header.correlation_id != id) continue;
        *link = found->next;
        if (!*link) kernel->stash_end = link;
        ig_message_clear(message);
        *message = found->message;
        free(found);
        atomic_fetch_sub(&kernel->stashed, 1);
        return true;
    }
    return false;
}

static bool stash(ig_ring_kernel *kernel, const ig_message_header *slot, uint32_t position) {
    igi_ring_stashed *kept = igi_calloc(1, sizeof *kept);
    if (!kept || !copy_out(kernel, IGI_RING_OUTPUT, slot, position, &kept->message)) {
        free(kept);
        return false;
    }
    *kernel->stash_end = kept;
    kernel->stash_end = &kept->next;
    atomic_fetch_add(&kernel->stashed, 1);
    return true;
}

void igi_ring_drop_stash(ig_ring_kernel *kernel) {
    ig_message message = {0};
    while (take_stashed(kernel, 0, &message)) ig_message_clear(&message);
}

// ---- Waiting ----

static bool can_produce(ig_ring_kernel *kernel) {
    int state = atomic_load(&kernel->state);
    return state != IG_RING_TERMINATED && state != IG_RING_FAILED;
}

static bool has_output(ig_ring_kernel *kernel) {
    return igi_ring_ready_at(igi_ring_of(kernel, IGI_RING_OUTPUT), kernel->output_next) != NULL;
}

// The kernel checks `receivers` after it has published; this thread checks the ring after it has set `receivers`.
static void sleep_for_output(ig_ring_kernel *kernel, uint64_t deadline) {
    unsigned signal = atomic_load(&kernel->signal);
    igi_ring_announce(&kernel->block->receivers);
    pthread_mutex_lock(&kernel->receiving);
    bool empty = !has_output(kernel);
    pthread_mutex_unlock(&kernel->receiving);
    uint64_t now = igi_now_ns();
    if (empty && can_produce(kernel) && now < deadline)
        igi_ring_futex_wait(&kernel->signal, signal, deadline == UINT64_MAX ? UINT64_MAX : deadline - now);
}

// What a thread waits for: any message, or the answer to one.
typedef struct awaited {
    uint64_t id;     // 0: any
    uint32_t ends;   // checked so far
    bool has_place;  // whether the slot of the question is known:
    uint32_t ring, position;
    bool explained;  // the reason why there is no answer was reported
} awaited;

static ig_status status_of_end(uint32_t reason) {
    switch (reason) {
        case IG_DEAD_HANDLER: return IG_STATUS_INVALID_ARGUMENT;
        case IG_DEAD_DEADLINE:
        case IG_DEAD_EXPIRED: return IG_STATUS_TIMEOUT;
        case IG_DEAD_FAULT: return IG_STATUS_KERNEL_FAULT;
        case IG_DEAD_CLOCK_SKEW: return IG_STATUS_CLOCK_SKEW;
        case IG_DEAD_DROPPED: return IG_STATUS_WRONG_STATE;
        default: return IG_STATUS_BAD_FORMAT;
    }
}

// There will be no answer. If the handler failed, the kernel's error already has more details.
static ig_status explain_end(ig_ring_kernel *kernel, uint32_t reason) {
    static const char sentence[] = "ring kernel '%s' did not handle the message: %s";
    const char *why = ig_dead_reason_text((ig_dead_reason)reason);
    ig_status status = status_of_end(reason);
    if (reason != IG_DEAD_HANDLER && reason != IG_DEAD_DEADLINE && reason != IG_DEAD_FAULT) {
        pthread_mutex_lock(&kernel->lock);
        igi_error_set(&kernel->error, status, sentence, kernel->name, why);
        pthread_mutex_unlock(&kernel->lock);
    }
    return igi_fail(status, sentence, kernel->name, why);
}

static ig_status explain_silence(ig_ring_kernel *kernel) {
    pthread_mutex_lock(&kernel->lock);
    igi_error_set(&kernel->error, IG_STATUS_NOT_FOUND,
                  "the handler of ring kernel '%s' handled the message and did not answer: it must call reply",
                  kernel->name);
    igi_fail_as(&kernel->error);
    pthread_mutex_unlock(&kernel->lock);
    return IG_STATUS_NOT_FOUND;
}

// Nothing came. Many programs poll, so the message of a timeout must be cheap.
static ig_status explain_nothing(ig_ring_kernel *kernel, ig_status status) {
    if (status == IG_STATUS_TIMEOUT)
        return igi_fail_with(status, "receiving: no message came from the ring kernel within the timeout");
    if (status == IG_STATUS_OUT_OF_MEMORY) return igi_fail_no_memory();
    return igi_fail(status, "receiving: ring kernel '%s' is %s, and nothing more can come from it", kernel->name,
                    ig_ring_state_name((ig_ring_state)atomic_load(&kernel->state)));
}

// The question was handled, and no answer waits for room: handlers answer a message only while they handle it. If the
// handler failed, the end is recorded before `failed_id` is cleared.
static bool is_handled(const ig_ring_kernel *kernel, const awaited *w) {
    const igi_ring_block *block = kernel->block;
    return w->has_place && (int32_t)(igi_ring_load_acquire(&block->heads[w->ring]) - w->position) > 0 &&
           !(igi_ring_load_acquire(&block->pending_mask) & 1) &&
           __atomic_load_n(&block->failed_id, __ATOMIC_ACQUIRE) != w->id;
}

typedef ig_status (*attempt)(ig_ring_kernel *kernel, uint64_t id, void *result);

// Tries once; returns false if it is worth trying again. If the question ended before the attempt, its answer is in the
// output.
static bool try_now(ig_ring_kernel *kernel, attempt try_once, awaited *w, bool patient, void *result,
                    ig_status *status) {
    bool last = !can_produce(kernel);
    bool handled = !patient && is_handled(kernel, w);
    uint32_t reason = w->id ? igi_ring_find_end(kernel->block, w->id, &w->ends) : IG_DEAD_NONE;
    *status = try_once(kernel, w->id, result);
    if (*status != IG_STATUS_TIMEOUT) return true;
    if (reason)
        *status = explain_end(kernel, reason), w->explained = true;
    else if (handled)
        *status = explain_silence(kernel);
    else if (last)
        *status = explain_nothing(kernel, IG_STATUS_WRONG_STATE);
    return reason || handled || last;
}

// Tries until it gets something other than TIMEOUT, or time is up. The reason has been reported then.
static ig_status wait_until(ig_ring_kernel *kernel, attempt try_once, awaited *w, void *result, uint64_t timeout_ns) {
    ig_status status = try_once(kernel, w->id, result);
    if (status != IG_STATUS_TIMEOUT || (!timeout_ns && !w->id)) return status;
    uint64_t deadline = igi_deadline_ns(timeout_ns);
    for (uint32_t tries = 0;; tries++) {
        if (try_now(kernel, try_once, w, tries < SPINS, result, &status) || !timeout_ns) return status;
        if (igi_ring_assist(kernel)) continue;
        if (tries < SPINS && (tries & 63)) {
            igi_pause();
            continue;
        }
        uint64_t now = igi_now_ns();
        if (now >= deadline) return IG_STATUS_TIMEOUT;
        // Only output is always signalled; the end of a message must be checked for now and then.
        bool look_again = w->id && deadline - now > look_ns;
        if (tries >= SPINS) sleep_for_output(kernel, look_again ? now + look_ns : deadline);
    }
}

static ig_status try_until(ig_ring_kernel *kernel, attempt try_once, awaited *w, void *result, uint64_t timeout_ns) {
    if (igi_ring_is_inherited(kernel)) return igi_device_fail_forked();
    ig_status status = wait_until(kernel, try_once, w, result, timeout_ns);
    // Other failures were explained where they were found, but a timeout has several causes.
    bool is_bare = status == IG_STATUS_OUT_OF_MEMORY || (status == IG_STATUS_TIMEOUT && !w->explained);
    return is_bare ? explain_nothing(kernel, status) : status;
}

// ---- Calls ----

static ig_status fail_no_message(void) {
    return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "receiving: kernel and message must not be NULL");
}

static ig_status receive_once(ig_ring_kernel *kernel, uint64_t id, void *result) {
    ig_message *message = result;
    uint32_t position;
    ig_status status = IG_STATUS_TIMEOUT;
    bool consumed = false;
    pthread_mutex_lock(&kernel->receiving);
    if (atomic_load(&kernel->stashed) && take_stashed(kernel, id, message)) status = IG_STATUS_OK;
    while (status == IG_STATUS_TIMEOUT) {
        ig_message_header *slot = take(kernel, &position);
        if (!slot) break;
        bool wanted = !id || slot->correlation_id == id;
        if (!(wanted ? copy_out(kernel, IGI_RING_OUTPUT, slot, position, message) : stash(kernel, slot, position))) {
            kernel->output_next = position;  // so nothing is lost
            status = IG_STATUS_OUT_OF_MEMORY;
            break;
        }
        consume(kernel, slot, position);
        consumed = true;
        if (wanted) status = IG_STATUS_OK;
    }
    pthread_mutex_unlock(&kernel->receiving);
    if (consumed) igi_ring_wake(kernel);  // it may be waiting for room
    if (status == IG_STATUS_OK) note_latency(kernel, &message->header);
    return status;
}

ig_status ig_ring_receive(ig_ring_kernel *kernel, ig_message *message, uint64_t timeout_ns) {
    if (!kernel || !message) return fail_no_message();
    return try_until(kernel, receive_once, &(awaited){0}, message, timeout_ns);
}

ig_status ig_ring_receive_correlated(ig_ring_kernel *kernel, uint64_t id, ig_message *message, uint64_t timeout_ns) {
    if (!kernel || !message) return fail_no_message();
    if (!id) return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "receiving: the id is 0, which no message has");
    return try_until(kernel, receive_once, &(awaited){.id = id}, message, timeout_ns);
}

ig_status ig_ring_receive_batch(ig_ring_kernel *kernel, ig_message *messages, size_t count, uint64_t timeout_ns,
                                size_t *received) {
    if (!kernel || (count && !messages)) return fail_no_message();
    ig_status status = count ? ig_ring_receive(kernel, &messages[0], timeout_ns) : IG_STATUS_OK;
    size_t done = count && status == IG_STATUS_OK;
    while (done && done < count && receive_once(kernel, 0, &messages[done]) == IG_STATUS_OK) done++;
    if (received) *received = done;
    return done ? IG_STATUS_OK : status;
}

ig_status ig_ring_request(ig_ring_kernel *kernel, const ig_message *question, ig_message *answer, uint64_t timeout_ns) {
    if (!kernel || !question || !answer)
        return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "ring_request: kernel, question and answer must not be NULL");
    uint64_t deadline = igi_deadline_ns(timeout_ns);
    igi_ring_sent sent;
    ig_status status = igi_ring_send_at(kernel, question, timeout_ns, &sent);
    if (status != IG_STATUS_OK) return status;
    uint64_t now = deadline == UINT64_MAX ? 0 : igi_now_ns();
    awaited w = {.id = sent.id, .has_place = true, .ring = sent.ring, .position = sent.position};
    return try_until(kernel, receive_once, &w, answer, deadline > now ? deadline - now : 0);
}

static ig_status peek_once(ig_ring_kernel *kernel, uint64_t id, void *result) {
    ig_ring_slot *slot = result;
    uint32_t position;
    (void)id;
    pthread_mutex_lock(&kernel->receiving);
    ig_message_header *header = take(kernel, &position);
    pthread_mutex_unlock(&kernel->receiving);
    if (!header) return IG_STATUS_TIMEOUT;
    igi_ring output = igi_ring_of(kernel, IGI_RING_OUTPUT);
    if (header->payload_size > output.place->payload_limit) header->payload_size = 0;  // never written by us
    *slot = (ig_ring_slot){header, igi_ring_payload_at(output, header, position, header->payload_size), IGI_RING_OUTPUT,
                           position};
    note_latency(kernel, header);
    return IG_STATUS_OK;
}

ig_status ig_ring_peek(ig_ring_kernel *kernel, uint64_t timeout_ns, ig_ring_slot *slot) {
    if (!kernel || !slot)
        return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "ring_peek: kernel and slot must not be NULL");
    return try_until(kernel, peek_once, &(awaited){0}, slot, timeout_ns);
}

void ig_ring_consume(ig_ring_kernel *kernel, ig_ring_slot *slot) {
    if (!kernel || !slot || !slot->header) return;
    pthread_mutex_lock(&kernel->receiving);
    consume(kernel, slot->header, slot->position);
    pthread_mutex_unlock(&kernel->receiving);
    *slot = (ig_ring_slot){0};
    igi_ring_wake(kernel);
}

ig_status ig_ring_receive_dead(ig_ring_kernel *kernel, ig_message *message) {
    if (!kernel || !message) return fail_no_message();
    igi_ring dead = igi_ring_of(kernel, IGI_RING_DEAD);
    ig_status status = IG_STATUS_TIMEOUT;
    pthread_mutex_lock(&kernel->receiving);
    uint32_t head = igi_ring_load_acquire(igi_ring_head(dead));
    ig_message_header *slot = igi_ring_ready_at(dead, head);
    if (slot) status = copy_out(kernel, IGI_RING_DEAD, slot, head, message) ? IG_STATUS_OK : IG_STATUS_OUT_OF_MEMORY;
    if (status == IG_STATUS_OK) igi_ring_store_release(igi_ring_head(dead), head + 1);
    pthread_mutex_unlock(&kernel->receiving);
    if (status == IG_STATUS_TIMEOUT) return igi_fail_with(status, "receiving: the kernel has no dead letters");
    return status == IG_STATUS_OK ? status : igi_fail_no_memory();
}
