// SPDX-License-Identifier: Apache-2.0
// Who runs a kernel's loop, and when: a dedicated thread, or the dispatchers that event-driven kernels share.
//
// The word `parked` in the inbox is a token. It is 1 while no thread serves the kernel; a thread that changes it to 0
// must make sure that the kernel is served.

#include <errno.h>

#include "ring/futex.h"
#include "ring/rings.h"

enum { LONG_SPINS = 20000, SHORT_SPINS = 50 };
static const uint64_t retry_ns = 20000;

typedef enum verdict { GO_ON, SLEEP, RETRY, ENDED } verdict;

// ---- One stay in the loop ----

static bool has_room(const ig_ring_kernel *kernel) {
    igi_ring output = igi_ring_of(kernel, IGI_RING_OUTPUT);
    return igi_ring_load_acquire(&kernel->block->output_tail) - igi_ring_load_acquire(igi_ring_head(output)) <=
           output.place->mask;
}

static bool has_message(const ig_ring_kernel *kernel) {
    static const uint32_t inputs[] = {IGI_RING_URGENT, IGI_RING_INPUT, IGI_RING_INBOX};
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
        if (igi_ring_ready_at(igi_ring_of(kernel, inputs[i]), igi_ring_load_acquire(&kernel->block->heads[inputs[i]])))
            return true;
    return false;
}

// Only a guess if another thread is serving the kernel, which then checks again when it leaves.
static bool has_work(const ig_ring_kernel *kernel) {
    return has_message(kernel) && has_room(kernel);
}

static uint32_t choose_spins(const ig_ring_kernel *kernel) {
    if (kernel->mode == IG_RING_EVENT_DRIVEN || kernel->runtime->device->checked) return 0;
    if (kernel->idle_spins) return kernel->idle_spins;
    // The sender needs a core too.
    return atomic_load(&kernel->runtime->busy) < kernel->runtime->cores ? LONG_SPINS : SHORT_SPINS;
}

static void mark_terminated(ig_ring_kernel *kernel) {
    igi_ring_close_routes(kernel->runtime, kernel->index);
    __atomic_store_n(&kernel->control->has_terminated, 1, __ATOMIC_RELEASE);
    igi_ring_store_release(&kernel->control->is_active, 0);
    igi_ring_set_state(kernel, IG_RING_TERMINATED);
}

// Whether the loop should be entered now. Call with the lock held.
static verdict prepare(ig_ring_kernel *kernel) {
    assert(igi_ring_is_locked(&kernel->lock));
    switch (atomic_load(&kernel->state)) {
        case IG_RING_TERMINATED: return ENDED;
        case IG_RING_ACTIVE: break;
        case IG_RING_TERMINATING:
            if (kernel->dropping) igi_ring_drop_all(kernel);
            if (kernel->dropping || (!has_message(kernel) && !kernel->block->pending_mask)) {
                mark_terminated(kernel);
                return ENDED;
            }
            igi_ring_store_release(&kernel->control->should_terminate, 0);
            igi_ring_store_release(&kernel->control->is_active, 1);
            break;
        default: return SLEEP;
    }
    bool ending = atomic_load(&kernel->state) == IG_RING_TERMINATING;
    kernel->running = true;
    kernel->block->left = 0;
    kernel->block->idle_spins = ending ? 0 : choose_spins(kernel);
    igi_ring_set_time(kernel, igi_ring_now_us(), igi_ring_horizon_us());
    return GO_ON;
}

static void signal_waiters(ig_ring_kernel *kernel) {
    atomic_fetch_add(&kernel->signal, 1);
    igi_ring_futex_wake(&kernel->signal);
}

// Wakes the threads and kernels that the loop found asleep.
static void wake_others(ig_ring_kernel *kernel) {
    igi_ring_block *block = kernel->block;
    // All are woken; a thread that goes to sleep again sets its word again.
    bool receivers = __atomic_exchange_n(&block->receivers, 0, __ATOMIC_SEQ_CST);
    if (__atomic_exchange_n(&block->senders, 0, __ATOMIC_SEQ_CST) || receivers) signal_waiters(kernel);
    for (uint32_t w = 0; w < sizeof block->wake / sizeof *block->wake; w++) {
        for (uint32_t bits = block->wake[w]; bits; bits &= bits - 1)
            igi_ring_wake_index(kernel->runtime, w * 32 + (uint32_t)__builtin_ctz(bits));
        block->wake[w] = 0;
    }
}

// The device had no memory to start, or the supervisor was too late: no message is to blame.
static bool is_blameless(const ig_ring_kernel *kernel, ig_status status) {
    return (status == IG_STATUS_OUT_OF_MEMORY || status == IG_STATUS_TIMEOUT) && !(kernel->block->started & 1);
}

// The handler did not return: its message becomes a dead letter, and the control block has the error.
static uint32_t lose_message(ig_ring_kernel *kernel, ig_status status) {
    bool late = status == IG_STATUS_TIMEOUT;
    uint32_t reason = late ? IG_DEAD_DEADLINE : IG_DEAD_FAULT;
    igi_ring_recover(kernel, reason);
    igi_ring_store_release(&kernel->control->last_error, late ? IG_RING_ERROR_TIMEOUT : IG_RING_ERROR_FAULT);
    igi_ring_store_release(&kernel->control->error_count, kernel->control->error_count + 1);
    return reason;
}

static void describe_failure(ig_ring_kernel *kernel, ig_status status, ig_error *error) {
    if (status == IG_STATUS_OK)
        igi_error_set(error, IG_STATUS_INVALID_ARGUMENT, "the handler of ring kernel '%s' failed with code %u",
                      kernel->name, igi_ring_load_acquire(&kernel->control->last_error));
    else if (status == IG_STATUS_TIMEOUT && kernel->dropping)
        igi_error_set(error, status, "the handler of ring kernel '%s' was stopped because the kernel was terminated",
                      kernel->name);
    else if (status == IG_STATUS_TIMEOUT)
        igi_error_set(error, status,
                      "the handler of ring kernel '%s' was stopped: it ran past the deadline of %.3f s for a message",
                      kernel->name, (double)kernel->deadline_ns * 1e-9);
}

// Records how the loop ended, and the failure if there was one.
static void note_outcome(ig_ring_kernel *kernel, ig_status status, ig_error *error) {
    bool failed = status != IG_STATUS_OK || kernel->block->left & IGI_LEFT_FAILED;
    uint32_t reason = status == IG_STATUS_OK ? IG_DEAD_HANDLER : lose_message(kernel, status);
    if (failed) describe_failure(kernel, status, error);
    pthread_mutex_lock(&kernel->lock);
    kernel->running = false;
    igi_ring_take_findings(kernel);
    if (failed) igi_ring_note_failure(kernel, reason, error);
    pthread_cond_broadcast(&kernel->changed);
    pthread_mutex_unlock(&kernel->lock);
}

static ig_status check_layout(ig_ring_kernel *kernel, ig_status status, ig_error *error) {
    pthread_mutex_lock(&kernel->lock);
    bool sound = igi_ring_repair(kernel);
    pthread_mutex_unlock(&kernel->lock);
    if (sound || status == IG_STATUS_KERNEL_FAULT) return status;
    return igi_error_set(error, IG_STATUS_KERNEL_FAULT,
                         "the handler of ring kernel '%s' overwrote the layout of its own queues", kernel->name);
}

static verdict serve(ig_ring_kernel *kernel) {
    pthread_mutex_lock(&kernel->lock);
    verdict first = prepare(kernel);
    pthread_mutex_unlock(&kernel->lock);
    if (first != GO_ON) return first;
    ig_error error = {0};
    atomic_fetch_add(&kernel->dispatches, 1);
    ig_status status = igi_ring_run(kernel, &error);
    if (!kernel->handler) status = check_layout(kernel, status, &error);
    uint32_t left = kernel->block->left;
    bool stayed = kernel->block->pending_mask && igi_ring_carry_remote(kernel);
    if (is_blameless(kernel, status)) status = IG_STATUS_OK, stayed = true;
    note_outcome(kernel, status, &error);
    ig_error_clear(&error);
    wake_others(kernel);
    if (atomic_load(&kernel->state) == IG_RING_TERMINATING) return GO_ON;
    if (left & IGI_LEFT_IDLE) return stayed || kernel->block->pending_mask ? RETRY : SLEEP;
    return stayed ? RETRY : GO_ON;
}

// ---- Persistent kernels ----

static void sleep_until_woken(ig_ring_kernel *kernel, unsigned version, uint64_t timeout_ns) {
    uint32_t *parked = &kernel->inbox->parked;
    bool active = atomic_load(&kernel->state) == IG_RING_ACTIVE;
    atomic_fetch_sub(&kernel->runtime->busy, 1);
    igi_ring_announce(parked);
    if (!(active && has_work(kernel)) && atomic_load(&kernel->version) == version)
        igi_ring_futex_wait(parked, 1, timeout_ns);
    __atomic_exchange_n(parked, 0, __ATOMIC_SEQ_CST);
    atomic_fetch_add(&kernel->runtime->busy, 1);
}

static void *persist(void *argument) {
    ig_ring_kernel *kernel = argument;
    atomic_fetch_add(&kernel->runtime->busy, 1);
    for (;;) {
        unsigned version = atomic_load(&kernel->version);
        verdict next = serve(kernel);
        if (next == ENDED) break;
        if (next == SLEEP) sleep_until_woken(kernel, version, UINT64_MAX);
        if (next == RETRY) sleep_until_woken(kernel, version, retry_ns);
    }
    atomic_fetch_sub(&kernel->runtime->busy, 1);
    igi_ring_store_release(&kernel->inbox->parked, 0);
    ig_ring_kernel_release(kernel);
    return NULL;
}

// ---- Event-driven kernels ----

// Call with the ready lock held.
static void enqueue(ig_ring_kernel *kernel) {
    ig_ring_runtime *runtime = kernel->runtime;
    assert(igi_ring_is_locked(&runtime->ready_lock) && !kernel->queued);
    ig_ring_kernel_retain(kernel);  // until it has been served
    kernel->queued = true;
    kernel->next_ready = NULL;
    *runtime->last_ready = kernel;
    runtime->last_ready = &kernel->next_ready;
}

// A kernel whose launch coincided with the shutdown of its runtime is not queued, because no thread would take it from
// the queue.
static void make_ready(ig_ring_kernel *kernel) {
    ig_ring_runtime *runtime = kernel->runtime;
    pthread_mutex_lock(&runtime->ready_lock);
    if (!runtime->dispatching_ends || runtime->dispatchers_alive) enqueue(kernel);
    pthread_cond_signal(&runtime->ready);
    pthread_mutex_unlock(&runtime->ready_lock);
}

// Removes `wanted`, or the first kernel if that is NULL, from the queue. Call with the ready lock held.
static ig_ring_kernel *dequeue(ig_ring_runtime *runtime, const ig_ring_kernel *wanted) {
    for (ig_ring_kernel **link = &runtime->first_ready; *link; link = &(*link)->next_ready) {
        ig_ring_kernel *found = *link;
        if (wanted && found != wanted) continue;
        *link = found->next_ready;
        if (!*link) runtime->last_ready = link;
        found->queued = false;
        return found;
    }
    return NULL;
}

static void serve_event(ig_ring_kernel *kernel) {
    unsigned version = atomic_load(&kernel->version);
    verdict next = serve(kernel);
    uint32_t *parked = &kernel->inbox->parked;
    if (next == RETRY) igi_ring_futex_wait(&kernel->version, version, retry_ns);
    if (next == GO_ON || next == RETRY) {
        make_ready(kernel);
    } else if (next == SLEEP) {
        igi_ring_announce(parked);
        bool active = atomic_load(&kernel->state) == IG_RING_ACTIVE;
        bool again = (active && has_work(kernel)) || atomic_load(&kernel->version) != version;
        if (again && __atomic_exchange_n(parked, 0, __ATOMIC_SEQ_CST)) make_ready(kernel);
    }
    // After the kernel's end its inbox, and the token in it, may already belong to another kernel.
    ig_ring_kernel_release(kernel);
}

bool igi_ring_assist(ig_ring_kernel *kernel) {
    ig_ring_runtime *runtime = kernel->runtime;
    if (kernel->mode != IG_RING_EVENT_DRIVEN) return false;
    pthread_mutex_lock(&runtime->ready_lock);
    ig_ring_kernel *mine = kernel->queued ? dequeue(runtime, kernel) : NULL;
    pthread_mutex_unlock(&runtime->ready_lock);
    if (mine) serve_event(mine);
    return mine != NULL;
}

static ig_ring_kernel *take_first(ig_ring_runtime *runtime) {
    pthread_mutex_lock(&runtime->ready_lock);
    ig_ring_kernel *first = dequeue(runtime, NULL);
    pthread_mutex_unlock(&runtime->ready_lock);
    return first;
}

static void *dispatch(void *argument) {
    ig_ring_runtime *runtime = argument;
    pthread_mutex_lock(&runtime->ready_lock);
    for (;;) {
        ig_ring_kernel *kernel = dequeue(runtime, NULL);
        if (!kernel && runtime->dispatching_ends) break;
        if (!kernel) {
            pthread_cond_wait(&runtime->ready, &runtime->ready_lock);
            continue;
        }
        pthread_mutex_unlock(&runtime->ready_lock);
        serve_event(kernel);
        pthread_mutex_lock(&runtime->ready_lock);
    }
    runtime->dispatchers_alive--;
    pthread_cond_broadcast(&runtime->ready);
    pthread_mutex_unlock(&runtime->ready_lock);
    igi_ring_runtime_drop(runtime);
    return NULL;
}

static bool start_dispatcher(ig_ring_runtime *runtime) {
    igi_ref_take(&runtime->holders);  // the thread's
    if (pthread_create(&runtime->dispatchers[runtime->dispatcher_count], NULL, dispatch, runtime) != 0) {
        igi_ring_runtime_drop(runtime);
        return false;
    }
    runtime->dispatcher_count++;
    runtime->dispatchers_alive++;
    return true;
}

static ig_status start_dispatchers(ig_ring_runtime *runtime) {
    pthread_mutex_lock(&runtime->ready_lock);
    if (!runtime->dispatchers) runtime->dispatchers = igi_calloc(runtime->dispatcher_limit, sizeof(pthread_t));
    ig_status status = runtime->dispatchers ? IG_STATUS_OK : IG_STATUS_OUT_OF_MEMORY;
    if (runtime->dispatching_ends) status = IG_STATUS_WRONG_STATE;
    while (status == IG_STATUS_OK && runtime->dispatcher_count < runtime->dispatcher_limit)
        if (!start_dispatcher(runtime)) break;
    if (status == IG_STATUS_OK && !runtime->dispatcher_count) status = IG_STATUS_SYSTEM;
    pthread_mutex_unlock(&runtime->ready_lock);
    return status;
}

void igi_ring_stop_dispatchers(ig_ring_runtime *runtime, uint64_t deadline_ns) {
    int failed = 0;
    pthread_mutex_lock(&runtime->ready_lock);
    runtime->dispatching_ends = true;
    pthread_cond_broadcast(&runtime->ready);
    while (runtime->dispatchers_alive && failed != ETIMEDOUT)
        failed = igi_cond_wait_until(&runtime->ready, &runtime->ready_lock, deadline_ns);
    bool all = !runtime->dispatchers_alive;
    uint32_t count = runtime->dispatcher_count;
    runtime->dispatcher_count = 0;
    pthread_mutex_unlock(&runtime->ready_lock);
    for (uint32_t i = 0; i < count; i++)
        if (!all || pthread_join(runtime->dispatchers[i], NULL) != 0) pthread_detach(runtime->dispatchers[i]);
    for (ig_ring_kernel *left; (left = take_first(runtime));) ig_ring_kernel_release(left);
}

// ---- For the rest ----

ig_status igi_ring_start(ig_ring_kernel *kernel) {
    if (kernel->mode == IG_RING_EVENT_DRIVEN) {
        igi_ring_store_release(&kernel->inbox->parked, 1);
        return start_dispatchers(kernel->runtime);
    }
    ig_ring_kernel_retain(kernel);  // the thread's
    if (pthread_create(&kernel->thread, NULL, persist, kernel) != 0) {
        ig_ring_kernel_release(kernel);
        return IG_STATUS_SYSTEM;
    }
    kernel->has_thread = true;
    return IG_STATUS_OK;
}

void igi_ring_wake(ig_ring_kernel *kernel) {
    uint32_t *parked = &kernel->inbox->parked;
    if (!__atomic_load_n(parked, __ATOMIC_SEQ_CST) || !__atomic_exchange_n(parked, 0, __ATOMIC_SEQ_CST)) return;
    // Only the owner of the token can end a kernel. If this one has ended, the token belongs to the next kernel with its
    // number.
    bool over = atomic_load(&kernel->state) == IG_RING_TERMINATED;
    ig_ring_kernel *owner = over ? igi_ring_kernel_at(kernel->runtime, kernel->index) : ig_ring_kernel_retain(kernel);
    if (owner && owner->mode == IG_RING_EVENT_DRIVEN)
        make_ready(owner);
    else
        igi_ring_futex_wake(parked);
    ig_ring_kernel_release(owner);
}

void igi_ring_wake_index(ig_ring_runtime *runtime, uint32_t index) {
    ig_ring_kernel *kernel = igi_ring_kernel_at(runtime, index);
    if (kernel) igi_ring_wake(kernel);
    ig_ring_kernel_release(kernel);
}
