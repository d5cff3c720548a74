// SPDX-License-Identifier: Apache-2.0
// Memory of tensors and its hazards.
#include "tensor/storage.h"

#include "core/status-internal.h"
#include "tensor/batch.h"

igi_tensor_storage *igi_tensor_storage_of(ig_buffer *buffer) {
    igi_tensor_storage *storage = igi_alloc(sizeof *storage);
    if (!storage) {
        ig_buffer_release(buffer);
        return NULL;
    }
    igi_ref_init(&storage->references);
    storage->device = NULL;
    storage->buffer = buffer;
    storage->memory = ig_buffer_contents(buffer);
    storage->writer = storage->reader = NULL;
    atomic_init(&storage->busy, false);
    pthread_mutex_init(&storage->lock, NULL);
    return storage;
}

ig_status igi_tensor_storage_make(ig_device *device, uint64_t bytes, igi_tensor_storage **storage) {
    ig_buffer *buffer = NULL;
    ig_buffer_desc desc = {.length = bytes ? bytes : 1, .pooled = true};
    ig_status status = ig_buffer_create(device, &desc, &buffer);
    if (status != IG_STATUS_OK) return status;
    igi_tensor_storage *made = igi_tensor_storage_of(buffer);
    if (!made) return igi_fail_no_memory();
    made->device = device;
    *storage = made;
    return IG_STATUS_OK;
}

igi_tensor_storage *igi_tensor_storage_retain(igi_tensor_storage *storage) {
    if (storage) igi_ref_take(&storage->references);
    return storage;
}

void igi_tensor_storage_release(igi_tensor_storage *storage) {
    if (!storage || !igi_ref_drop(&storage->references)) return;
    igi_tensor_batch_release(storage->writer);
    igi_tensor_batch_release(storage->reader);
    pthread_mutex_destroy(&storage->lock);
    ig_buffer_release(storage->buffer);
    free(storage);
}

// ---- Waiting ----

// The batch is done: nobody needs to wait for it again, unless it failed, which each reader should find out.
static void forget(igi_tensor_storage *storage, igi_tensor_batch *batch) {
    pthread_mutex_lock(&storage->lock);
    igi_tensor_batch *writer = storage->writer == batch ? batch : NULL,
                     *reader = storage->reader == batch ? batch : NULL;
    if (writer) storage->writer = NULL;
    if (reader) storage->reader = NULL;
    atomic_store(&storage->busy, storage->writer || storage->reader);
    pthread_mutex_unlock(&storage->lock);
    igi_tensor_batch_release(writer);
    igi_tensor_batch_release(reader);
}

static igi_tensor_batch *current(igi_tensor_storage *storage, igi_tensor_batch *const *user) {
    pthread_mutex_lock(&storage->lock);
    igi_tensor_batch *batch = igi_tensor_batch_retain(*user);
    pthread_mutex_unlock(&storage->lock);
    return batch;
}

// A failure there becomes the failure of the call that waits.
static void report(igi_tensor_batch *batch) {
    ig_error why = {0};
    igi_tensor_batch_get_error(batch, &why);
    igi_fail_as(&why);
    ig_error_clear(&why);
}

// Waits for the batch and releases the caller's reference to it, which may be NULL.
static ig_status wait_and_release(igi_tensor_storage *storage, igi_tensor_batch *batch) {
    ig_status status = batch ? igi_tensor_batch_wait(batch) : IG_STATUS_OK;
    if (status != IG_STATUS_OK) report(batch);
    if (batch && status == IG_STATUS_OK) forget(storage, batch);
    igi_tensor_batch_release(batch);
    return status;
}

static ig_status wait_for(igi_tensor_storage *storage, igi_tensor_batch *const *user, const igi_tensor_batch *unless) {
    igi_tensor_batch *batch = current(storage, user);
    if (!batch || !unless || !igi_tensor_batch_same_stream(batch, unless)) return wait_and_release(storage, batch);
    igi_tensor_batch_release(batch);
    return IG_STATUS_OK;
}

ig_status igi_tensor_storage_wait_to_read(igi_tensor_storage *storage) {
    if (!atomic_load_explicit(&storage->busy, memory_order_acquire)) return IG_STATUS_OK;
    return wait_for(storage, &storage->writer, NULL);
}

ig_status igi_tensor_storage_wait_to_write(igi_tensor_storage *storage) {
    if (!atomic_load_explicit(&storage->busy, memory_order_acquire)) return IG_STATUS_OK;
    ig_status status = wait_for(storage, &storage->writer, NULL);
    // Failed readers do not affect what will be written.
    wait_for(storage, &storage->reader, NULL);
    return status;
}

ig_status igi_tensor_storage_prepare(igi_tensor_storage *storage, igi_tensor_batch *batch, bool writes) {
    if (!atomic_load_explicit(&storage->busy, memory_order_acquire)) return IG_STATUS_OK;
    ig_status status = wait_for(storage, &storage->writer, batch);
    // Only one reader is remembered, so the reader of another stream must be done before it is replaced.
    wait_for(storage, &storage->reader, batch);
    (void)writes;
    return status;
}

ig_status igi_tensor_storage_settle(igi_tensor_storage *storage, const igi_tensor_batch *batch) {
    if (!atomic_load_explicit(&storage->busy, memory_order_acquire)) return IG_STATUS_OK;
    igi_tensor_batch *writer = current(storage, &storage->writer), *reader = current(storage, &storage->reader);
    ig_status status = IG_STATUS_OK;
    if (writer != batch)
        status = wait_and_release(storage, writer);
    else
        igi_tensor_batch_release(writer);
    if (reader != batch)
        wait_and_release(storage, reader);
    else
        igi_tensor_batch_release(reader);
    return status;
}

void igi_tensor_storage_used_by(igi_tensor_storage *storage, igi_tensor_batch *batch, bool writes) {
    pthread_mutex_lock(&storage->lock);
    igi_tensor_batch **user = writes ? &storage->writer : &storage->reader, *before = *user;
    *user = igi_tensor_batch_retain(batch);
    atomic_store_explicit(&storage->busy, true, memory_order_release);
    pthread_mutex_unlock(&storage->lock);
    igi_tensor_batch_release(before);
}
