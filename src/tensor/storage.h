// SPDX-License-Identifier: Apache-2.0
// Memory of tensors, shared by their views, and the device work that still uses it.
#ifndef INGOT_TENSOR_STORAGE_H
#define INGOT_TENSOR_STORAGE_H

#include <ingot/device.h>
#include <pthread.h>

#include "core/memory.h"

struct igi_tensor_batch;

// Device work that is not known to be finished. A host op waits for `writer` before it reads, and for both before it
// writes; likewise a batch of another stream before it is given work.
typedef struct igi_tensor_storage {
    igi_refcount references;
    ig_device *device;  // kept alive by the buffer
    ig_buffer *buffer;
    char *memory;
    atomic_bool busy;      // false: neither writer nor reader, without taking the lock
    pthread_mutex_t lock;  // guards what follows
    struct igi_tensor_batch *writer, *reader;
} igi_tensor_storage;

// owns: takes over the caller's reference to the buffer, also on failure. NULL when memory is short.
igi_tensor_storage *igi_tensor_storage_of(ig_buffer *buffer);
// Fresh memory from the pool, undefined. `bytes` may be 0.
ig_status igi_tensor_storage_make(ig_device *device, uint64_t bytes, igi_tensor_storage **storage);
igi_tensor_storage *igi_tensor_storage_retain(igi_tensor_storage *storage);
void igi_tensor_storage_release(igi_tensor_storage *storage);

// Wait until the host may read, or write. Return the status of the device work that was waited for.
ig_status igi_tensor_storage_wait_to_read(igi_tensor_storage *storage);
ig_status igi_tensor_storage_wait_to_write(igi_tensor_storage *storage);
// Waits until only `batch` uses it. Returns the status of the work that should have written it.
ig_status igi_tensor_storage_settle(igi_tensor_storage *storage, const struct igi_tensor_batch *batch);
// Records that `batch` will read or write. pre: the storage was prepared with igi_tensor_storage_prepare for the same
// batch.
void igi_tensor_storage_used_by(igi_tensor_storage *storage, struct igi_tensor_batch *batch, bool writes);
// Waits for work of other streams that must precede what `batch` will do.
ig_status igi_tensor_storage_prepare(igi_tensor_storage *storage, struct igi_tensor_batch *batch, bool writes);

#endif
