// SPDX-License-Identifier: Apache-2.0
// The lifecycle of a kernel: launched, active or not, terminated or failed; and figures about it.
#include <errno.h>

#include "ring/futex.h"
#include "ring/rings.h"

// ---- States ----

const char *ig_ring_state_name(ig_ring_state state) {
    static const char *const names[] = {"created",     "launched",   "active", "deactivated",
                                        "terminating", "terminated", "failed"};
    return (unsigned)state < sizeof names / sizeof *names ? names[state] : "unknown";
}

static ig_ring_state state_of(const ig_ring_kernel *kernel) {
    return (ig_ring_state)atomic_load(&((ig_ring_kernel *)kernel)->state);
}

void igi_ring_set_state(ig_ring_kernel *kernel, ig_ring_state state) {
    assert(igi_ring_is_locked(&kernel->lock));
    atomic_store(&kernel->state, (int)state);
    atomic_fetch_add(&kernel->version, 1);
    atomic_fetch_add(&kernel->signal, 1);
    igi_ring_futex_wake(&kernel->signal);
    pthread_cond_broadcast(&kernel->changed);
}

static ig_status wrong_state(ig_ring_kernel *kernel, const char *verb, const char *allowed) {
    igi_error_set(&kernel->error, IG_STATUS_WRONG_STATE, "ring kernel '%s' is %s; it can be %s only when %s",
                  kernel->name, ig_ring_state_name(state_of(kernel)), verb, allowed);
    return igi_fail_as(&kernel->error);
}

// Checks common to all calls on a kernel.
static ig_status check_kernel(const ig_ring_kernel *kernel) {
    if (!kernel) return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "ring kernel: the kernel must not be NULL");
    return igi_ring_is_inherited(kernel) ? igi_device_fail_forked() : IG_STATUS_OK;
}

ig_status ig_ring_activate(ig_ring_kernel *kernel) {
    ig_status status = check_kernel(kernel);
    if (status != IG_STATUS_OK) return status;
    pthread_mutex_lock(&kernel->lock);
    ig_ring_state state = state_of(kernel);
    if (state == IG_RING_LAUNCHED || state == IG_RING_DEACTIVATED || state == IG_RING_FAILED) {
        if (state == IG_RING_FAILED) kernel->restarts = 0;
        igi_ring_store_release(&kernel->control->is_active, 1);
        igi_ring_set_state(kernel, IG_RING_ACTIVE);
    } else {
        status = wrong_state(kernel, "activated", "launched, deactivated or failed");
    }
    pthread_mutex_unlock(&kernel->lock);
    if (status == IG_STATUS_OK) igi_ring_wake(kernel);
    return status;
}

ig_status igi_ring_note_stuck_handler(ig_ring_kernel *kernel) {
    assert(igi_ring_is_locked(&kernel->lock));
    igi_error_set(&kernel->error, IG_STATUS_TIMEOUT,
                  "the handler of ring kernel '%s' has not returned within %.3f s after the kernel was to stop%s",
                  kernel->name, (double)kernel->runtime->stop_ns * 1e-9,
                  kernel->handler ? "; a handler in C cannot be stopped" : "");
    return igi_fail_as(&kernel->error);
}

// Waits until no message is being handled. Call with the lock held.
static ig_status wait_for_handler(ig_ring_kernel *kernel) {
    assert(igi_ring_is_locked(&kernel->lock));
    uint64_t deadline = igi_deadline_ns(kernel->runtime->stop_ns);
    int failed = 0;
    while (kernel->running && state_of(kernel) == IG_RING_DEACTIVATED && failed != ETIMEDOUT)
        failed = igi_cond_wait_until(&kernel->changed, &kernel->lock, deadline);
    bool stuck = kernel->running && state_of(kernel) == IG_RING_DEACTIVATED;
    return stuck ? igi_ring_note_stuck_handler(kernel) : IG_STATUS_OK;
}

ig_status ig_ring_deactivate(ig_ring_kernel *kernel) {
    ig_status status = check_kernel(kernel);
    if (status != IG_STATUS_OK) return status;
    pthread_mutex_lock(&kernel->lock);
    if (state_of(kernel) == IG_RING_ACTIVE) {
        igi_ring_store_release(&kernel->control->is_active, 0);
        igi_ring_set_state(kernel, IG_RING_DEACTIVATED);
        status = wait_for_handler(kernel);
    } else if (state_of(kernel) == IG_RING_DEACTIVATED && kernel->running) {
        status = wait_for_handler(kernel);
    } else {
        status = wrong_state(kernel, "deactivated", "active");
    }
    pthread_mutex_unlock(&kernel->lock);
    return status;
}

ig_status ig_ring_terminate(ig_ring_kernel *kernel, ig_ring_ending ending) {
    ig_status status = check_kernel(kernel);
    if (status != IG_STATUS_OK) return status;
    pthread_mutex_lock(&kernel->lock);
    ig_ring_state state = state_of(kernel);
    if (ending == IG_RING_DROP && !kernel->dropping) atomic_store(&kernel->dropping_since_ns, igi_now_ns());
    if (state == IG_RING_TERMINATING && ending == IG_RING_DROP) {
        kernel->dropping = true;
        pthread_cond_broadcast(&kernel->changed);
    } else if (state == IG_RING_TERMINATING || state == IG_RING_TERMINATED || state == IG_RING_CREATED) {
        status = wrong_state(kernel, "terminated", "launched, active, deactivated or failed");
    } else {
        kernel->dropping = ending == IG_RING_DROP;
        igi_ring_set_state(kernel, IG_RING_TERMINATING);
    }
    if (status == IG_STATUS_OK) {
        atomic_fetch_add(&kernel->version, 1);
        igi_ring_store_release(&kernel->control->should_terminate, 1);
    }
    pthread_mutex_unlock(&kernel->lock);
    if (status == IG_STATUS_OK) igi_ring_wake(kernel);
    return status;
}

static bool has_ended(const ig_ring_kernel *kernel) {
    return state_of(kernel) == IG_RING_TERMINATED || state_of(kernel) == IG_RING_FAILED;
}

// The latest time until which to wait for a kernel that drops its messages.
static uint64_t last_moment(ig_ring_kernel *kernel) {
    bool ending = state_of(kernel) == IG_RING_TERMINATING && kernel->dropping;
    return ending ? atomic_load(&kernel->dropping_since_ns) + kernel->runtime->stop_ns : UINT64_MAX;
}

// The status for how a wait ended. Call with the lock held.
static ig_status explain_wait(ig_ring_kernel *kernel, uint64_t now) {
    assert(igi_ring_is_locked(&kernel->lock));
    ig_ring_state state = state_of(kernel);
    if (state == IG_RING_TERMINATED) return IG_STATUS_OK;
    if (state == IG_RING_FAILED) return igi_fail_as(&kernel->error);
    if (now >= last_moment(kernel)) return igi_ring_note_stuck_handler(kernel);
    return igi_fail(IG_STATUS_TIMEOUT, "ring kernel '%s' is %s and has not ended within the timeout", kernel->name,
                    ig_ring_state_name(state));
}

ig_status ig_ring_wait(ig_ring_kernel *kernel, uint64_t timeout_ns) {
    ig_status status = check_kernel(kernel);
    if (status != IG_STATUS_OK) return status;
    uint64_t deadline = igi_deadline_ns(timeout_ns), now = igi_now_ns();
    pthread_mutex_lock(&kernel->lock);
    for (; !has_ended(kernel) && now < deadline && now < last_moment(kernel); now = igi_now_ns()) {
        uint64_t last = last_moment(kernel);
        igi_cond_wait_until(&kernel->changed, &kernel->lock, deadline < last ? deadline : last);
    }
    status = explain_wait(kernel, now);
    pthread_mutex_unlock(&kernel->lock);
    return status;
}

ig_status ig_ring_get_error(const ig_ring_kernel *kernel, ig_error *error) {
    if (!kernel) return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT, "ring_get_error: the kernel must not be NULL");
    if (igi_ring_is_inherited(kernel)) return igi_device_error_forked(error);
    ig_ring_kernel *mutable = (ig_ring_kernel *)kernel;
    pthread_mutex_lock(&mutable->lock);
    ig_status status = kernel->error.status;
    if (status == IG_STATUS_OK)
        ig_error_clear(error);
    else
        igi_error_copy(error, &kernel->error);
    pthread_mutex_unlock(&mutable->lock);
    return status;
}

// A restart clears the kernel's state memory and keeps its messages.
void igi_ring_note_failure(ig_ring_kernel *kernel, uint32_t reason, ig_error *error) {
    assert(igi_ring_is_locked(&kernel->lock));
    ig_error_clear(&kernel->error);
    kernel->error = *error;
    *error = (ig_error){0};
    atomic_fetch_add(&kernel->failures, 1);
    if (kernel->block->failed_id) igi_ring_note_end(kernel->block, kernel->block->failed_id, reason);
    __atomic_store_n(&kernel->block->failed_id, 0, __ATOMIC_RELEASE);
    if (state_of(kernel) == IG_RING_TERMINATING) return;
    memset(kernel->arena + kernel->state_offset, 0, kernel->state_bytes);
    if (kernel->restart == IG_RESTART_ON_FAILURE && kernel->restarts < kernel->max_restarts) {
        kernel->restarts++;
        return;
    }
    igi_ring_store_release(&kernel->control->is_active, 0);
    igi_ring_set_state(kernel, IG_RING_FAILED);
}

// ---- Launch ----

static ig_status check_desc(const ig_ring_launch_desc *desc, ig_error *error) {
    int ways = (desc->source != NULL) + (desc->path != NULL) + (desc->handler != NULL);
    if (!desc->name || !*desc->name)
        return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT, "a ring kernel needs a name");
    if (ways != 1)
        return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT,
                             "ring kernel '%s' needs exactly one of source, path and handler", desc->name);
    if (desc->grid > 1)
        return igi_error_set(error, IG_STATUS_UNSUPPORTED,
                             "ring kernel '%s' asks for %u threadgroups; messages are handled by one, of up to 1024 "
                             "threads: use a larger block",
                             desc->name, desc->grid);
    if (desc->shared_memory && desc->handler)
        return igi_error_set(error, IG_STATUS_UNSUPPORTED,
                             "ring kernel '%s' asks for shared memory, but its handler is in C: one thread runs it, "
                             "which has variables of its own",
                             desc->name);
    return IG_STATUS_OK;
}

static ig_status fill(ig_ring_kernel *kernel, const ig_ring_launch_desc *desc, ig_error *error) {
    bool endless = kernel->runtime->device_runs_for_ever || desc->handler;
    kernel->mode = endless ? desc->mode : IG_RING_EVENT_DRIVEN;
    kernel->deadline_ns = desc->deadline_ns;
    kernel->idle_spins = desc->idle_spins;
    kernel->restart = desc->restart;
    kernel->max_restarts = desc->max_restarts ? desc->max_restarts : 3;
    kernel->k2k = desc->k2k;
    ig_status status = igi_ring_make_arena(kernel, desc);
    if (status == IG_STATUS_INVALID_ARGUMENT)
        return igi_error_set(error, status,
                             "ring kernel '%s': capacities must be powers of two up to 2^20, and payloads at most %u "
                             "bytes",
                             desc->name, IG_MESSAGE_MAX_PAYLOAD);
    if (status != IG_STATUS_OK)
        return igi_error_set(error, status, "ring kernel '%s': its rings do not fit into memory", desc->name);
    // Findings are reported when the loop ends.
    bool stays = kernel->mode == IG_RING_PERSISTENT && !kernel->runtime->device->checked;
    kernel->message_budget = stays ? 0 : igi_ring_or_default(desc->message_budget, 64);
    kernel->block->message_budget = kernel->message_budget;
    return igi_ring_make_code(kernel, desc, error);
}

static ig_ring_kernel *make(ig_ring_runtime *runtime, const char *name) {
    ig_ring_kernel *kernel = igi_calloc(1, sizeof *kernel);
    if (!kernel) return NULL;
    kernel->name = igi_strdup(name);
    if (!kernel->name) {
        free(kernel);
        return NULL;
    }
    igi_ref_init(&kernel->references);
    igi_ref_take(&runtime->holders);
    kernel->runtime = runtime;
    kernel->launched_ns = igi_now_ns();
    kernel->stash_end = &kernel->stash;
    pthread_mutex_init(&kernel->lock, NULL);
    pthread_mutex_init(&kernel->receiving, NULL);
    igi_monotonic_cond_init(&kernel->changed);
    return kernel;
}

static ig_status bring_up(ig_ring_kernel *kernel, const ig_ring_launch_desc *desc, ig_error *error) {
    ig_status status = fill(kernel, desc, error);
    if (status != IG_STATUS_OK) return status;
    status = igi_ring_start(kernel);
    if (status != IG_STATUS_OK)
        return igi_error_set(error, status, "ring kernel '%s': no thread can be started for it", desc->name);
    pthread_mutex_lock(&kernel->lock);
    igi_ring_set_state(kernel, IG_RING_LAUNCHED);
    pthread_mutex_unlock(&kernel->lock);
    status = desc->start_inactive ? IG_STATUS_OK : ig_ring_activate(kernel);
    return status == IG_STATUS_OK ? status : ig_ring_get_error(kernel, error);
}

ig_status ig_ring_launch(ig_ring_runtime *runtime, const ig_ring_launch_desc *desc, ig_ring_kernel **kernel,
                         ig_error *error) {
    if (!runtime || !desc || !kernel)
        return igi_error_set(error, IG_STATUS_INVALID_ARGUMENT,
                             "ring_launch: runtime, desc and kernel must not be NULL");
    if (igi_device_is_inherited(runtime->device)) return igi_device_error_forked(error);
    ig_status status = check_desc(desc, error);
    if (status != IG_STATUS_OK) return status;
    ig_ring_kernel *made = make(runtime, desc->name);
    if (!made) return igi_error_no_memory(error);
    status = igi_ring_register(runtime, made, error);
    if (status == IG_STATUS_OK) status = bring_up(made, desc, error);
    if (status == IG_STATUS_OK && igi_ring_is_ending(runtime)) {
        ig_ring_terminate(made, IG_RING_DROP);
        status = igi_error_set(error, IG_STATUS_WRONG_STATE, "the runtime was shut down during the launch");
    }
    if (status == IG_STATUS_OK) {
        *kernel = made;
    } else {
        igi_ring_unregister(runtime, made);
        ig_ring_kernel_release(made);
    }
    return status;
}

ig_ring_kernel *ig_ring_kernel_retain(ig_ring_kernel *kernel) {
    if (kernel) igi_ref_take(&kernel->references);
    return kernel;
}

void ig_ring_kernel_release(ig_ring_kernel *kernel) {
    if (!kernel || igi_ring_is_inherited(kernel) || !igi_ref_drop(&kernel->references)) return;
    igi_ring_drop_stash(kernel);
    ig_commands_release(kernel->commands);
    ig_queue_release(kernel->queue);
    ig_pipeline_release(kernel->pipeline);
    ig_library_release(kernel->library);
    for (int i = 0; i < IGI_RING_BUFFERS; i++) ig_buffer_release(kernel->buffers[i]);
    ig_buffer_release(kernel->arena_buffer);
    ig_buffer_release(kernel->overflow_buffer);
    ig_error_clear(&kernel->error);
    igi_ring_free_findings(kernel);
    pthread_mutex_destroy(&kernel->lock);
    pthread_mutex_destroy(&kernel->receiving);
    pthread_cond_destroy(&kernel->changed);
    ig_ring_runtime *runtime = kernel->runtime;
    free(kernel->name), free(kernel->wanted);
    free(kernel);
    igi_ring_runtime_drop(runtime);
}

// ---- Figures ----

uint64_t ig_ring_kernel_id(const ig_ring_kernel *kernel) {
    return (uint64_t)kernel->runtime->node << 32 | kernel->index;
}

const char *ig_ring_kernel_name(const ig_ring_kernel *kernel) {
    return kernel->name;
}

// The number of slots between two positions of a ring; 0 if a handler has overwritten the positions.
static uint64_t between(const ig_ring_kernel *kernel, uint32_t kind, uint32_t head, uint32_t tail) {
    return tail - head <= igi_ring_of(kernel, kind).place->mask + 1 ? tail - head : 0;
}

static uint64_t depth(const ig_ring_kernel *kernel, uint32_t kind) {
    igi_ring ring = igi_ring_of(kernel, kind);
    uint32_t head = igi_ring_load_acquire(igi_ring_head(ring));
    return between(kernel, kind, head, igi_ring_load_acquire(igi_ring_tail(ring)));
}

void ig_ring_get_status(const ig_ring_kernel *kernel, ig_ring_status *status) {
    ig_ring_kernel *k = (ig_ring_kernel *)kernel;
    const igi_ring_block *block = kernel->block;
    *status = (ig_ring_status){
        .state = state_of(kernel),
        .mode = kernel->mode,
        .input_depth = depth(kernel, IGI_RING_INPUT) + depth(kernel, IGI_RING_URGENT),
        .output_depth = depth(kernel, IGI_RING_OUTPUT) + atomic_load(&k->stashed),
        .inbox_depth = depth(kernel, IGI_RING_INBOX),
        .dead_letters =
            between(kernel, IGI_RING_DEAD, igi_ring_load_acquire(igi_ring_head(igi_ring_of(kernel, IGI_RING_DEAD))),
                    igi_ring_load_acquire(&block->dead_tail)),
        .processed = igi_ring_read(&block->processed),
        .in_flight = igi_ring_load_acquire(&block->started) & 1,
        .errors = atomic_load(&k->failures),
        .expired = igi_ring_read(&block->expired),
        .invalid = igi_ring_read(&block->invalid),
        .undelivered = igi_ring_read(&block->undelivered),
        .failed = igi_ring_read(&block->failed),
        .stopped = igi_ring_read(&block->stopped),
        .dropped = igi_ring_read(&block->dropped),
        .refused = igi_ring_read(&block->refused),
        .sent = igi_ring_read(&block->sent_id) - igi_ring_read(&block->refused),
        .dead_lost = igi_ring_read(&block->dead_lost),
        .outbox_depth = between(kernel, IGI_RING_OUTBOX, igi_ring_load_acquire(&block->heads[IGI_RING_OUTBOX]),
                                igi_ring_load_acquire(&block->outbox_tail)),
        .dispatches = atomic_load(&k->dispatches),
        .uptime_ns = igi_now_ns() - kernel->launched_ns,
        .last_error = igi_ring_load_acquire(&kernel->control->last_error),
        .clock = {igi_ring_read(&kernel->control->hlc_physical), igi_ring_read(&kernel->control->hlc_logical),
                  kernel->runtime->node}};
    for (int i = 0; i < IG_RING_HISTOGRAM; i++) status->latency[i] = atomic_load(&k->latency[i]);
    pthread_mutex_lock(&k->lock);
    status->restarts = k->restarts;
    pthread_mutex_unlock(&k->lock);
}

uint64_t ig_ring_latency_quantile(const ig_ring_status *status, double fraction) {
    uint64_t total = 0, below = 0;
    for (int i = 0; i < IG_RING_HISTOGRAM; i++) total += status->latency[i];
    for (int i = 0; i < IG_RING_HISTOGRAM && total; i++) {
        below += status->latency[i];
        if ((double)below >= fraction * (double)total) return 1ull << (i + 1 < 63 ? i + 1 : 63);
    }
    return 0;
}

const char *ig_dead_reason_text(ig_dead_reason reason) {
    static const char *const texts[] = {"none",
                                        "the handler failed",
                                        "the handler ran past its deadline",
                                        "the handler touched memory it does not own",
                                        "the message's deadline had passed",
                                        "the header is not valid",
                                        "the checksum does not match",
                                        "the sender's clock is too far ahead",
                                        "the receiver was full for too long",
                                        "the kernel was terminated",
                                        "there is no route to the receiver",
                                        "the message is too large for the receiver",
                                        "the message was forwarded too often"};
    return (unsigned)reason < sizeof texts / sizeof *texts ? texts[reason] : "unknown";
}
