// SPDX-License-Identifier: Apache-2.0
// What the streams of a device share: the filled op table with validation results, and the backends' state.
#ifndef INGOT_TENSOR_RUNTIME_H
#define INGOT_TENSOR_RUNTIME_H

#include <pthread.h>

#include "core/disk-cache.h"
#include "core/hash.h"
#include "core/pool.h"
#include "tensor/op-table.h"

typedef struct igi_tensor_slot {
    const igi_tensor_implementation *row;  // NULL: absent
    atomic_int state;                      // ig_op_state; VALIDATED and REJECTED are final
    _Atomic uint64_t threshold;
    char reason[120];
} igi_tensor_slot;

typedef struct igi_tensor_runtime {
    uint32_t references;  // guarded by the registry's lock
    bool shared;          // in the registry
    ig_device *device;
    ig_queue *queue;        // for validation of backends that encode
    igi_pool *workers;      // never NULL
    bool owns_workers;      // the device has none to lend
    bool software_device;   // kernels run on the same cores as host code
    bool device_products;   // the device multiplies matrices natively
    igi_disk_cache *cache;  // of verdicts; may be NULL
    bool keeps_verdicts;    // false if tests supply their own backends
    igi_tensor_slot slots[IG_OP_COUNT][IG_BACKEND_COUNT];
    const igi_op_backend *backends[IG_BACKEND_COUNT];  // NULL: not available, see unavailable
    char unavailable[IG_BACKEND_COUNT][120];
    void *states[IG_BACKEND_COUNT];
    struct igi_tensor_fusion_table *fusion;  // of chains; may be NULL
    char identities[IG_BACKEND_COUNT][64];   // from open: what determines a backend's behaviour besides its code
    pthread_mutex_t lock;                    // validation: one at a time
    struct igi_tensor_runtime *next;
} igi_tensor_runtime;

// The runtime of a device; created on first use, destroyed with its last stream.
ig_status igi_tensor_runtime_get(ig_device *device, igi_tensor_runtime **runtime, ig_error *error);
// A separate runtime with these backends, for tests; the list ends with NULL.
ig_status igi_tensor_runtime_create(ig_device *device, const igi_op_backend *const *backends,
                                    igi_tensor_runtime **runtime, ig_error *error);
void igi_tensor_runtime_release(igi_tensor_runtime *runtime);

// ---- Choosing ----

// The order of preference for an op: best first, ends with IG_BACKEND_ANY.
const ig_backend *igi_tensor_preference(ig_op op);

// The best implementation for a call that passed validation on this machine; validates those that are needed for the
// first time. `forced`: this backend if possible, else those below it. `only`: this backend or NULL.
const igi_tensor_implementation *igi_tensor_choose(igi_tensor_runtime *runtime, const igi_tensor_call *call,
                                                   ig_backend forced, ig_backend only, ig_backend *chosen);
// Why `only` returned NULL. Returns UNSUPPORTED.
ig_status igi_tensor_explain_refusal(igi_tensor_runtime *runtime, const igi_tensor_call *call, ig_backend only,
                                     ig_error *error);

// ---- Validation ----

// VALIDATED or REJECTED: compares the row with the scalar reference on sample inputs, unless that was done before.
// ABSENT if there is no row; UNTRIED if there is too little memory to find out.
ig_op_state igi_tensor_validate(igi_tensor_runtime *runtime, ig_op op, ig_backend backend);
// Good results of validation are kept in the disk cache, for ops or anything else that `what` names.
igi_hash igi_tensor_verdict_key(const igi_tensor_runtime *runtime, const char *what, ig_backend backend);
bool igi_tensor_verdict_is_good(const igi_tensor_runtime *runtime, igi_hash key);
void igi_tensor_verdict_keep(const igi_tensor_runtime *runtime, igi_hash key);

// ---- Work for several threads ----

// Calls body(context, begin, end) over [0, count), in pieces of at least `grain`; on this thread alone if there is
// little work.
void igi_tensor_parallel(const igi_tensor_runtime *runtime, uint64_t count, uint64_t grain, igi_loop_body body,
                         void *context);
// The same, if one thread would need about this long.
void igi_tensor_parallel_lasting(const igi_tensor_runtime *runtime, uint64_t count, uint64_t grain,
                                 uint64_t nanoseconds, igi_loop_body body, void *context);

#endif
