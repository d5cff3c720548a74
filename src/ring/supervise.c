// SPDX-License-Identifier: Apache-2.0
// A thread that sets the kernels' time, and stops handlers that run past their deadline.
#include "ring/rings.h"

static const uint64_t busy_tick_ns = 1000000, idle_tick_ns = 20000000;
// How long a handler may still run when its kernel must end at once.
static const uint64_t grace_ns = 200000000;

static bool must_end(ig_ring_kernel *kernel, uint64_t now) {
    if (!atomic_load(&kernel->dropping)) return false;
    uint64_t since = atomic_load(&kernel->dropping_since_ns);
    return now > since && now - since >= grace_ns;
}

// A loop whose queues a handler has overwritten might never end.
static void check_layout(ig_ring_kernel *kernel) {
    if (kernel->handler || pthread_mutex_trylock(&kernel->lock) != 0) return;
    if (kernel->running && !igi_ring_is_sound(kernel)) igi_ring_abort(kernel);
    pthread_mutex_unlock(&kernel->lock);
}

// A handler is late when `started` has had the same odd value for as long as the deadline.
static void check_deadline(ig_ring_kernel *kernel, uint64_t now) {
    uint32_t started = igi_ring_load_acquire(&kernel->block->started);
    bool changed = !(started & 1) || started != kernel->watched_message;
    bool late = !changed && kernel->deadline_ns && now - kernel->watched_since_ns >= kernel->deadline_ns;
    // must_end does not look at `started`: that memory may be damaged.
    if (must_end(kernel, now) || late) {
        igi_ring_abort(kernel);
    } else if (changed) {
        kernel->watched_message = started;
        kernel->watched_since_ns = now;
    }
}

// Returns true if some loop is running. Call with the lock held.
static bool look_at_all(ig_ring_runtime *runtime) {
    assert(igi_ring_is_locked(&runtime->lock));
    uint64_t now = igi_now_ns(), wall = igi_ring_now_us(), horizon = igi_ring_horizon_us();
    bool busy = false;
    for (uint32_t i = 0; i < runtime->kernel_count; i++) {
        ig_ring_kernel *kernel = runtime->kernels[i];
        if (!kernel || atomic_load(&kernel->state) < IG_RING_LAUNCHED) continue;
        if (!atomic_load(&kernel->running)) continue;
        busy = true;
        igi_ring_set_time(kernel, wall, horizon);
        check_deadline(kernel, now);
        check_layout(kernel);
    }
    return busy;
}

static void *supervise(void *argument) {
    ig_ring_runtime *runtime = argument;
    pthread_mutex_lock(&runtime->lock);
    while (!runtime->ending_supervision) {
        uint64_t tick = look_at_all(runtime) ? busy_tick_ns : idle_tick_ns;
        uint64_t until = runtime->kernel_count ? igi_deadline_ns(tick) : UINT64_MAX;
        igi_cond_wait_until(&runtime->changed, &runtime->lock, until);
    }
    pthread_mutex_unlock(&runtime->lock);
    return NULL;
}

ig_status igi_ring_start_supervisor(ig_ring_runtime *runtime) {
    runtime->has_supervisor = pthread_create(&runtime->supervisor, NULL, supervise, runtime) == 0;
    if (runtime->has_supervisor) return IG_STATUS_OK;
    return igi_fail_with(IG_STATUS_SYSTEM, "runtime_create: no thread can be started; the process may have too many");
}

void igi_ring_stop_supervisor(ig_ring_runtime *runtime) {
    if (!runtime->has_supervisor) return;
    pthread_mutex_lock(&runtime->lock);
    runtime->ending_supervision = true;
    pthread_cond_broadcast(&runtime->changed);
    pthread_mutex_unlock(&runtime->lock);
    pthread_join(runtime->supervisor, NULL);
    runtime->has_supervisor = false;
}
