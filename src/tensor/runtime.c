// SPDX-License-Identifier: Apache-2.0
// Runtimes: filling the op table.
#include "tensor/runtime.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/status-internal.h"
#include "device/backend.h"
#include "tensor/fusion.h"
#include "tensor/thresholds.h"

const igi_op_backend *const igi_op_backends[] = {&igi_ops_scalar, &igi_ops_simd, &igi_ops_blas, &igi_ops_msl, NULL};

// ---- Filling ----

static void add_rows(igi_tensor_runtime *runtime, const igi_op_backend *backend) {
    for (size_t i = 0; i < backend->row_count; i++) {
        const igi_tensor_implementation *row = &backend->rows[i];
        igi_tensor_slot *slot = &runtime->slots[row->op][backend->id];
        assert(!slot->row);
        slot->row = row;
        uint64_t least = row->threshold_here ? row->threshold_here() : row->threshold;
        // Device work on the host's own cores is not faster by default; only measurements may show otherwise.
        slot->threshold = backend->encodes && runtime->software_device ? UINT64_MAX : least;
        atomic_init(&slot->state, backend->id == IG_BACKEND_SCALAR ? IG_OP_VALIDATED : IG_OP_UNTRIED);
    }
}

static void add_backend(igi_tensor_runtime *runtime, const igi_op_backend *backend) {
    char *reason = runtime->unavailable[backend->id];
    if (backend->open && !backend->open(runtime, &runtime->states[backend->id], reason)) {
        igi_log(IG_LOG_INFO, "op backend '%s' is not used: %s", ig_backend_name(backend->id), reason);
        return;
    }
    runtime->backends[backend->id] = backend;
    add_rows(runtime, backend);
}

static ig_status find_workers(igi_tensor_runtime *runtime, ig_error *error) {
    const igi_device_backend *backend = runtime->device->backend;
    runtime->workers = backend->workers ? backend->workers(runtime->device) : NULL;
    if (runtime->workers) return IG_STATUS_OK;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    runtime->workers = igi_pool_create(cores > 0 ? (uint32_t)cores : 1);
    runtime->owns_workers = true;
    return runtime->workers ? IG_STATUS_OK : igi_error_set(error, IG_STATUS_SYSTEM, "cannot start worker threads");
}

static void destroy(igi_tensor_runtime *runtime) {
    for (int b = 0; b < IG_BACKEND_COUNT; b++)
        if (runtime->backends[b] && runtime->backends[b]->close) runtime->backends[b]->close(runtime->states[b]);
    igi_tensor_fusion_table_destroy(runtime->fusion);
    if (runtime->owns_workers) igi_pool_destroy(runtime->workers);
    ig_queue_release(runtime->queue);
    ig_device_release(runtime->device);
    pthread_mutex_destroy(&runtime->lock);
    free(runtime);
}

ig_status igi_tensor_runtime_create(ig_device *device, const igi_op_backend *const *backends,
                                    igi_tensor_runtime **runtime, ig_error *error) {
    igi_tensor_runtime *made = igi_calloc(1, sizeof *made);
    if (!made) {
        igi_error_no_memory(error);
        return IG_STATUS_OUT_OF_MEMORY;
    }
    made->references = 1;
    made->device = ig_device_retain(device);
    made->software_device = strcmp(device->properties.backend, "cpu") == 0;
    made->device_products = igi_device_has_products(device);
    made->cache = device->cache;
    pthread_mutex_init(&made->lock, NULL);
    ig_status status = find_workers(made, error);
    if (status == IG_STATUS_OK) status = ig_queue_create(device, &made->queue);
    if (status == IG_STATUS_OUT_OF_MEMORY) igi_error_no_memory(error);
    for (size_t i = 0; status == IG_STATUS_OK && backends[i]; i++) add_backend(made, backends[i]);
    if (status == IG_STATUS_OK) {
        igi_tensor_thresholds_load(made);
        made->fusion = igi_tensor_fusion_table_create();
        *runtime = made;
    } else {
        destroy(made);
    }
    return status;
}

// ---- Sharing ----

static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static igi_tensor_runtime *registry;  // guarded by registry_lock

ig_status igi_tensor_runtime_get(ig_device *device, igi_tensor_runtime **runtime, ig_error *error) {
    ig_status status = IG_STATUS_OK;
    pthread_mutex_lock(&registry_lock);
    igi_tensor_runtime *found = registry;
    while (found && found->device != device) found = found->next;
    if (found) {
        found->references++;
    } else if ((status = igi_tensor_runtime_create(device, igi_op_backends, &found, error)) == IG_STATUS_OK) {
        found->shared = found->keeps_verdicts = true;
        found->next = registry;
        registry = found;
    }
    pthread_mutex_unlock(&registry_lock);
    if (status == IG_STATUS_OK) *runtime = found;
    return status;
}

void igi_tensor_runtime_release(igi_tensor_runtime *runtime) {
    if (!runtime) return;
    pthread_mutex_lock(&registry_lock);
    bool last = --runtime->references == 0;
    igi_tensor_runtime **link = &registry;
    while (last && runtime->shared && *link != runtime) link = &(*link)->next;
    if (last && runtime->shared) *link = runtime->next;
    pthread_mutex_unlock(&registry_lock);
    if (last) destroy(runtime);
}

// ---- Parallel loops ----

typedef struct pieces {
    igi_loop_body body;
    void *context;
    uint64_t count, grain;
} pieces;

static void run_pieces(void *context, uint64_t begin, uint64_t end) {
    const pieces *p = context;
    uint64_t first = begin * p->grain, last = end * p->grain;
    p->body(p->context, first, last < p->count ? last : p->count);
}

void igi_tensor_parallel_lasting(const igi_tensor_runtime *runtime, uint64_t count, uint64_t grain,
                                 uint64_t nanoseconds, igi_loop_body body, void *context) {
    if (count <= grain) {
        if (count) body(context, 0, count);
        return;
    }
    pieces p = {body, context, count, grain};
    igi_pool_loop_lasting(runtime->workers, count / grain + (count % grain != 0), nanoseconds, run_pieces, &p);
}

void igi_tensor_parallel(const igi_tensor_runtime *runtime, uint64_t count, uint64_t grain, igi_loop_body body,
                         void *context) {
    igi_tensor_parallel_lasting(runtime, count, grain, 0, body, context);
}
