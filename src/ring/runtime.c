// SPDX-License-Identifier: Apache-2.0
// The kernels of a device, and what they share.
#include <string.h>
#include <unistd.h>

#include "device/backend.h"
#include "ring/rings.h"

enum {
    DEFAULT_KERNELS = 64,
    DEFAULT_HOPS = 8,
    DEFAULT_PENDING_MS = 5000,
    DEFAULT_STOP_MS = 5000,
    MOST_DISPATCHERS = 4,  // by default
    MAX_DISPATCHERS = 1024
};

// ---- Kernels by number and by name ----

static bool is_over(ig_ring_kernel *kernel) {
    return atomic_load(&kernel->state) == IG_RING_TERMINATED;
}

// Whether it has its memory.
static bool is_launched(ig_ring_kernel *kernel) {
    return atomic_load(&kernel->state) >= IG_RING_LAUNCHED;
}

// Closes all routes to this number. Call with the lock held.
static void close_routes_to(ig_ring_runtime *runtime, uint32_t index) {
    assert(igi_ring_is_locked(&runtime->lock));
    for (uint32_t k = 0; k < runtime->kernel_count; k++) {
        ig_ring_kernel *other = runtime->kernels[k];
        if (!other || !is_launched(other)) continue;
        ig_k2k_routing_table *routes = &other->block->routes;
        for (uint32_t i = 0; i < igi_ring_route_count(routes); i++)
            if (routes->routes[i].dest == index) igi_ring_store_release(&routes->routes[i].is_active, 0);
    }
}

void igi_ring_close_routes(ig_ring_runtime *runtime, uint32_t index) {
    pthread_mutex_lock(&runtime->lock);
    close_routes_to(runtime, index);
    pthread_mutex_unlock(&runtime->lock);
}

// A thread whose handler does not return is detached: it holds references to what it needs, and drops them when it
// ends.
static void reap(ig_ring_kernel *kernel) {
    if (kernel->has_thread && (is_over(kernel) || !is_launched(kernel)))
        pthread_join(kernel->thread, NULL);
    else if (kernel->has_thread)
        pthread_detach(kernel->thread);
    kernel->has_thread = false;
    ig_ring_kernel_release(kernel);
}

// Finds a number that was never used, or that of a kernel that has ended, which is then *old. Call with the lock held.
static bool find_place(ig_ring_runtime *runtime, uint32_t *index, ig_ring_kernel **old) {
    assert(igi_ring_is_locked(&runtime->lock));
    for (*index = 0; *index < runtime->kernel_count; ++*index) {
        *old = runtime->kernels[*index];
        if (!*old || is_over(*old)) return true;
    }
    *old = NULL;
    if (runtime->kernel_count == runtime->max_kernels) return false;
    runtime->kernel_count++;
    return true;
}

static ig_ring_kernel *find_alive(ig_ring_runtime *runtime, const char *name) {
    for (uint32_t i = 0; i < runtime->kernel_count; i++) {
        ig_ring_kernel *kernel = runtime->kernels[i];
        if (kernel && !is_over(kernel) && strcmp(kernel->name, name) == 0) return kernel;
    }
    return NULL;
}

ig_status igi_ring_register(ig_ring_runtime *runtime, ig_ring_kernel *kernel, ig_error *error) {
    ig_ring_kernel *old = NULL;
    ig_status status = IG_STATUS_OK;
    pthread_mutex_lock(&runtime->lock);
    if (runtime->ending)
        status = igi_error_set(error, IG_STATUS_WRONG_STATE, "the runtime is shut down");
    else if (find_alive(runtime, kernel->name))
        status = igi_error_set(error, IG_STATUS_INVALID_ARGUMENT, "a ring kernel '%s' already exists", kernel->name);
    else if (!find_place(runtime, &kernel->index, &old))
        status = igi_error_set(error, IG_STATUS_OUT_OF_RANGE, "the runtime has %u ring kernels, the maximum",
                               runtime->max_kernels);
    if (status == IG_STATUS_OK) {
        close_routes_to(runtime, kernel->index);
        runtime->kernels[kernel->index] = ig_ring_kernel_retain(kernel);
        pthread_cond_broadcast(&runtime->changed);
    }
    pthread_mutex_unlock(&runtime->lock);
    if (old) reap(old);
    return status;
}

void igi_ring_unregister(ig_ring_runtime *runtime, ig_ring_kernel *kernel) {
    pthread_mutex_lock(&runtime->lock);
    bool known = kernel->index < runtime->kernel_count && runtime->kernels[kernel->index] == kernel;
    if (known) runtime->kernels[kernel->index] = NULL;
    pthread_mutex_unlock(&runtime->lock);
    if (known) reap(kernel);
}

ig_ring_kernel *igi_ring_kernel_at(ig_ring_runtime *runtime, uint32_t index) {
    pthread_mutex_lock(&runtime->lock);
    ig_ring_kernel *kernel = index < runtime->kernel_count ? runtime->kernels[index] : NULL;
    if (kernel && !is_launched(kernel)) kernel = NULL;
    ig_ring_kernel_retain(kernel);
    pthread_mutex_unlock(&runtime->lock);
    return kernel;
}

ig_ring_kernel *ig_ring_find(ig_ring_runtime *runtime, const char *name) {
    if (!runtime || !name) return NULL;
    pthread_mutex_lock(&runtime->lock);
    ig_ring_kernel *kernel = ig_ring_kernel_retain(find_alive(runtime, name));
    pthread_mutex_unlock(&runtime->lock);
    return kernel;
}

size_t ig_ring_list(ig_ring_runtime *runtime, ig_ring_kernel **kernels, size_t capacity) {
    size_t count = 0;
    if (!runtime) return 0;
    pthread_mutex_lock(&runtime->lock);
    for (uint32_t i = 0; i < runtime->kernel_count; i++) {
        if (!runtime->kernels[i] || is_over(runtime->kernels[i])) continue;
        if (count < capacity) kernels[count] = ig_ring_kernel_retain(runtime->kernels[i]);
        count++;
    }
    pthread_mutex_unlock(&runtime->lock);
    return count;
}

// ---- Life ----

static uint32_t count_cores(void) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores > 0 ? (uint32_t)cores : 1;
}

static ig_status open_runtime(ig_ring_runtime *runtime, const ig_ring_runtime_desc *desc) {
    runtime->node = desc->node;
    runtime->max_kernels = igi_ring_or_default(desc->max_kernels, DEFAULT_KERNELS);
    runtime->hop_limit = igi_ring_or_default(desc->hop_limit, DEFAULT_HOPS);
    runtime->pending_ms = igi_ring_or_default(desc->pending_ms, DEFAULT_PENDING_MS);
    runtime->stop_ns = (uint64_t)igi_ring_or_default(desc->stop_ms, DEFAULT_STOP_MS) * 1000000;
    runtime->cores = count_cores();
    uint32_t fitting = runtime->cores < MOST_DISPATCHERS ? runtime->cores : MOST_DISPATCHERS;
    runtime->dispatcher_limit = igi_ring_or_default(desc->dispatchers, fitting);
    if (runtime->max_kernels > IGI_RING_MAX_KERNELS)
        return igi_fail(IG_STATUS_INVALID_ARGUMENT, "runtime_create: max_kernels is %u; at most %d are possible",
                        runtime->max_kernels, IGI_RING_MAX_KERNELS);
    if (runtime->dispatcher_limit > MAX_DISPATCHERS)
        return igi_fail(IG_STATUS_INVALID_ARGUMENT, "runtime_create: dispatchers is %u; at most %d are possible",
                        runtime->dispatcher_limit, MAX_DISPATCHERS);
    runtime->kernels = igi_calloc(runtime->max_kernels, sizeof(ig_ring_kernel *));
    if (!runtime->kernels) return igi_fail_no_memory();
    ig_status status = ig_hlc_create(desc->node, &runtime->clock);
    if (status == IG_STATUS_OK) status = igi_ring_place_inboxes(runtime, desc);
    if (status == IG_STATUS_OK) status = igi_ring_start_supervisor(runtime);
    return status;
}

ig_status ig_ring_runtime_create(ig_device *device, const ig_ring_runtime_desc *desc, ig_ring_runtime **runtime) {
    static const ig_ring_runtime_desc defaults;
    if (!device || !runtime)
        return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "runtime_create: device and runtime must not be NULL");
    if (igi_device_is_inherited(device)) return igi_device_fail_forked();
    ig_ring_runtime *made = igi_calloc(1, sizeof *made);
    if (!made) return igi_fail_no_memory();
    igi_ref_init(&made->references);
    igi_ref_init(&made->holders);
    static atomic_uint_fast64_t generations;
    made->generation = atomic_fetch_add(&generations, 1) + 1;
    made->device = ig_device_retain(device);
    made->device_runs_for_ever = device->backend->run_here != NULL;
    made->last_ready = &made->first_ready;
    pthread_mutex_init(&made->lock, NULL);
    pthread_mutex_init(&made->ready_lock, NULL);
    igi_monotonic_cond_init(&made->ready);
    igi_monotonic_cond_init(&made->changed);
    ig_status status = open_runtime(made, desc ? desc : &defaults);
    if (status == IG_STATUS_OK)
        *runtime = made;
    else
        igi_ring_runtime_drop(made);
    return status;
}

void igi_ring_runtime_drop(ig_ring_runtime *runtime) {
    if (!igi_ref_drop(&runtime->holders)) return;
    ig_buffer_release(runtime->inbox_buffer);
    ig_hlc_release(runtime->clock);
    ig_device_release(runtime->device);
    pthread_mutex_destroy(&runtime->lock);
    pthread_mutex_destroy(&runtime->ready_lock);
    pthread_cond_destroy(&runtime->changed);
    pthread_cond_destroy(&runtime->ready);
    free(runtime->kernels), free(runtime->dispatchers), free(runtime);
}

static void leave_peers(ig_ring_runtime *runtime) {
    for (uint32_t p = 0; p < runtime->peer_count; p++) {
        ig_ring_runtime *peer = runtime->peers[p];
        pthread_mutex_lock(&peer->lock);
        for (uint32_t i = 0; i < peer->peer_count; i++)
            if (peer->peers[i] == runtime) peer->peers[i--] = peer->peers[--peer->peer_count];
        pthread_mutex_unlock(&peer->lock);
    }
    runtime->peer_count = 0;
}

bool igi_ring_is_ending(ig_ring_runtime *runtime) {
    pthread_mutex_lock(&runtime->lock);
    bool ending = runtime->ending;
    pthread_mutex_unlock(&runtime->lock);
    return ending;
}

// Returns true when all kernels have ended. A kernel that is being launched can be terminated only once it is launched.
static bool end_kernels(ig_ring_runtime *runtime) {
    bool all = true;
    for (uint32_t i = 0; i < runtime->max_kernels; i++) {
        ig_ring_kernel *kernel = igi_ring_kernel_at(runtime, i);
        if (!kernel || is_over(kernel)) {
            ig_ring_kernel_release(kernel);
            continue;
        }
        if (!atomic_load(&kernel->dropping)) ig_ring_terminate(kernel, IG_RING_DROP);
        all = false;
        ig_ring_kernel_release(kernel);
    }
    return all;
}

static void wait_a_moment(ig_ring_runtime *runtime) {
    for (uint32_t i = 0; i < runtime->max_kernels; i++) {
        ig_ring_kernel *kernel = igi_ring_kernel_at(runtime, i);
        if (kernel && !is_over(kernel)) ig_ring_wait(kernel, 1000000);
        ig_ring_kernel_release(kernel);
    }
}

// Records the reason with each kernel that has not ended; returns TIMEOUT.
static ig_status note_stuck_handlers(ig_ring_runtime *runtime) {
    igi_fail_with(IG_STATUS_TIMEOUT, "runtime_shutdown: a kernel has not ended within stop_ms");
    for (uint32_t i = 0; i < runtime->max_kernels; i++) {
        ig_ring_kernel *kernel = igi_ring_kernel_at(runtime, i);
        if (!kernel) continue;
        pthread_mutex_lock(&kernel->lock);
        if (!is_over(kernel)) igi_ring_note_stuck_handler(kernel);
        pthread_mutex_unlock(&kernel->lock);
        ig_ring_kernel_release(kernel);
    }
    return IG_STATUS_TIMEOUT;
}

static ig_status shut_down(ig_ring_runtime *runtime) {
    pthread_mutex_lock(&runtime->lock);
    bool first = !runtime->ending;
    runtime->ending = true;
    pthread_mutex_unlock(&runtime->lock);
    if (!first) return IG_STATUS_OK;
    uint64_t deadline = igi_deadline_ns(runtime->stop_ns);
    // All are terminated before any is waited for, so that none waits for a message from another.
    bool all = end_kernels(runtime);
    while (!all && igi_now_ns() < deadline) {
        wait_a_moment(runtime);
        all = end_kernels(runtime);
    }
    ig_status status = all ? IG_STATUS_OK : note_stuck_handlers(runtime);
    igi_ring_stop_dispatchers(runtime, all ? UINT64_MAX : deadline);
    igi_ring_stop_supervisor(runtime);
    leave_peers(runtime);
    for (uint32_t i = 0; i < runtime->max_kernels; i++) {
        ig_ring_kernel *kernel = igi_ring_kernel_at(runtime, i);
        if (kernel) igi_ring_unregister(runtime, kernel);
        ig_ring_kernel_release(kernel);
    }
    return status;
}

ig_ring_runtime *ig_ring_runtime_retain(ig_ring_runtime *runtime) {
    if (runtime) igi_ref_take(&runtime->references);
    return runtime;
}

void ig_ring_runtime_release(ig_ring_runtime *runtime) {
    if (!runtime || igi_device_is_inherited(runtime->device) || !igi_ref_drop(&runtime->references)) return;
    shut_down(runtime);
    igi_ring_runtime_drop(runtime);
}

ig_status ig_ring_runtime_shutdown(ig_ring_runtime *runtime) {
    if (!runtime) return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "runtime_shutdown: the runtime must not be NULL");
    if (igi_device_is_inherited(runtime->device)) return igi_device_fail_forked();
    ig_status status = shut_down(runtime);
    ig_ring_runtime_release(runtime);
    return status;
}

ig_hlc *ig_ring_runtime_clock(ig_ring_runtime *runtime) {
    return runtime->clock;
}

static ig_status add_peer(ig_ring_runtime *runtime, ig_ring_runtime *peer) {
    pthread_mutex_lock(&runtime->lock);
    ig_status status = IG_STATUS_OK;
    for (uint32_t i = 0; i < runtime->peer_count; i++)
        if (runtime->peers[i]->node == peer->node)
            status = igi_fail(IG_STATUS_INVALID_ARGUMENT, "runtime_join: node %u is joined with a node %u already",
                              runtime->node, peer->node);
    if (status == IG_STATUS_OK && runtime->peer_count == IGI_MAX_PEERS)
        status = igi_fail(IG_STATUS_OVERFLOW, "runtime_join: node %u is joined with %d others, the maximum",
                          runtime->node, IGI_MAX_PEERS);
    if (status == IG_STATUS_OK) runtime->peers[runtime->peer_count++] = peer;
    pthread_mutex_unlock(&runtime->lock);
    return status;
}

ig_status ig_ring_runtime_join(ig_ring_runtime *a, ig_ring_runtime *b) {
    if (!a || !b) return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "runtime_join: neither runtime may be NULL");
    if (a->node == b->node)
        return igi_fail(IG_STATUS_INVALID_ARGUMENT,
                        "runtime_join: both runtimes have node %u; create them with different ones", a->node);
    ig_status status = add_peer(a, b);
    return status == IG_STATUS_OK ? add_peer(b, a) : status;
}
