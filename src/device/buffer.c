// SPDX-License-Identifier: Apache-2.0
// Buffers.
#include <string.h>

#include "device/backend.h"

static atomic_uint_fast64_t last_id;

static void account(ig_device *device, uint64_t bytes) {
    uint64_t now = atomic_fetch_add(&device->buffer_bytes, bytes) + bytes;
    atomic_fetch_add(&device->buffer_count, 1);
    uint64_t peak = atomic_load(&device->peak_buffer_bytes);
    while (now > peak && !atomic_compare_exchange_weak(&device->peak_buffer_bytes, &peak, now)) {
    }
}

static ig_status refuse(const char *why) {
    return igi_fail(IG_STATUS_INVALID_ARGUMENT, "buffer_create: %s", why);
}

static ig_status check(const ig_device *device, const ig_buffer_desc *desc) {
    if (desc->length == 0) return refuse("the length is 0; a buffer has at least one byte");
    if ((unsigned)desc->storage > IG_STORAGE_MANAGED) return refuse("the storage must be shared, private or managed");
    if (desc->no_copy && desc->bytes) return refuse("give either bytes to copy or no_copy memory, not both");
    if (desc->no_copy && desc->storage == IG_STORAGE_PRIVATE) return refuse("no_copy memory cannot be private");
    if (desc->deallocate && !desc->no_copy) return refuse("deallocate is for no_copy memory only");
    if (desc->pooled && desc->no_copy) return refuse("no_copy memory cannot be pooled");
    if (desc->pooled && desc->storage != IG_STORAGE_SHARED) return refuse("pooled buffers must have shared storage");
    if (desc->length <= device->properties.max_buffer_bytes) return IG_STATUS_OK;
    return igi_fail(IG_STATUS_OUT_OF_MEMORY,
                    "buffer_create: %llu bytes are more than the device allows for a buffer, %llu",
                    (unsigned long long)desc->length, (unsigned long long)device->properties.max_buffer_bytes);
}

static ig_status open_new(ig_device *device, const ig_buffer_desc *desc, uint64_t capacity, ig_buffer **buffer) {
    ig_buffer *made = igi_calloc(1, sizeof *made);
    if (!made) return IG_STATUS_OUT_OF_MEMORY;
    made->device = device;
    made->capacity = capacity;
    made->pooled = desc->pooled;
    made->storage = desc->storage;
    made->borrowed = desc->no_copy != NULL;
    made->deallocate = desc->deallocate;
    made->user = desc->user;
    ig_status status = device->backend->buffer_open(made, desc);
    // Memory that is only kept for later use must not make anything fail now.
    if (status == IG_STATUS_OUT_OF_MEMORY) {
        igi_device_buffer_pool_trim(&device->buffers, 0);
        status = device->backend->buffer_open(made, desc);
    }
    if (status != IG_STATUS_OK) {
        free(made);
        return status;
    }
    igi_device_addresses_add(made);
    *buffer = made;
    return IG_STATUS_OK;
}

static ig_status open_pooled(ig_device *device, const ig_buffer_desc *desc, ig_buffer **buffer) {
    uint64_t capacity = igi_device_block_bytes(desc->length + desc->tail, device->properties.max_buffer_bytes);
    *buffer = igi_device_buffer_pool_take(&device->buffers, capacity);
    if (!*buffer) {
        ig_buffer_desc without_bytes = *desc;
        without_bytes.bytes = NULL;
        ig_status status = open_new(device, &without_bytes, capacity, buffer);
        if (status != IG_STATUS_OK) return status;
        igi_device_buffer_pool_add(&device->buffers, capacity);
    }
    if (desc->bytes) memcpy((*buffer)->memory, desc->bytes, desc->length);
    uint64_t room = (*buffer)->capacity - desc->length;
    memset((char *)(*buffer)->memory + desc->length, 0, room < desc->tail ? room : desc->tail);
    return IG_STATUS_OK;
}

ig_status ig_buffer_create(ig_device *device, const ig_buffer_desc *desc, ig_buffer **buffer) {
    if (!device || !desc || !buffer) return refuse("device, desc and buffer must not be NULL");
    if (igi_device_is_inherited(device)) return igi_device_fail_forked();
    ig_status status = check(device, desc);
    if (status != IG_STATUS_OK) return status;
    char *label = igi_strdup(desc->label);
    if (desc->label && !label) return igi_fail_no_memory();
    ig_buffer *made = NULL;
    status = desc->pooled ? open_pooled(device, desc, &made) : open_new(device, desc, desc->length + desc->tail, &made);
    if (status != IG_STATUS_OK) {
        free(label);
        return igi_fail(status, "buffer_create: no memory for %llu bytes: %s", (unsigned long long)desc->length,
                        ig_status_text(status));
    }
    made->length = desc->length;
    made->label = label;
    made->id = atomic_fetch_add(&last_id, 1) + 1;
    // From now on its address may be looked up.
    atomic_store_explicit(&made->references.count, 1, memory_order_release);
    ig_device_retain(device);
    account(device, made->length);
    *buffer = made;
    return IG_STATUS_OK;
}

ig_buffer *ig_buffer_retain(ig_buffer *buffer) {
    if (buffer) igi_ref_take(&buffer->references);
    return buffer;
}

static void destroy(ig_buffer *buffer) {
    void *memory = buffer->memory;
    igi_device_addresses_remove(buffer);
    buffer->device->backend->buffer_close(buffer);
    if (buffer->deallocate) buffer->deallocate(memory, buffer->length, buffer->user);
    free(buffer);
}

void ig_buffer_release(ig_buffer *buffer) {
    if (!buffer || igi_device_is_inherited(buffer->device) || !igi_ref_drop(&buffer->references)) return;
    ig_device *device = buffer->device;
    atomic_fetch_sub(&device->buffer_bytes, buffer->length);
    atomic_fetch_sub(&device->buffer_count, 1);
    free(buffer->label);
    buffer->label = NULL;
    if (buffer->pooled)
        igi_device_buffer_pool_put(&device->buffers, buffer);
    else
        destroy(buffer);
    ig_device_release(device);
}

void *ig_buffer_contents(const ig_buffer *buffer) {
    return buffer->storage == IG_STORAGE_PRIVATE ? NULL : buffer->memory;
}

uint64_t ig_buffer_length(const ig_buffer *buffer) {
    return buffer->length;
}

uint64_t ig_buffer_id(const ig_buffer *buffer) {
    return buffer->id;
}

ig_storage ig_buffer_storage(const ig_buffer *buffer) {
    return buffer->storage;
}

const char *ig_buffer_label(const ig_buffer *buffer) {
    return buffer->label ? buffer->label : "";
}

uint64_t ig_buffer_device_address(const ig_buffer *buffer) {
    atomic_store_explicit(&((ig_buffer *)buffer)->addressed, true, memory_order_relaxed);
    return buffer->address;
}

static ig_status check_range(const char *call, const ig_buffer *buffer, uint64_t offset, uint64_t length) {
    if (igi_in_range(offset, length, buffer->length)) return IG_STATUS_OK;
    return igi_fail(IG_STATUS_OUT_OF_RANGE, "%s: %llu bytes at offset %llu are outside a buffer of %llu bytes", call,
                    (unsigned long long)length, (unsigned long long)offset, (unsigned long long)buffer->length);
}

ig_status ig_buffer_did_modify(ig_buffer *buffer, uint64_t offset, uint64_t length) {
    if (!buffer) return igi_fail_with(IG_STATUS_INVALID_ARGUMENT, "buffer_did_modify: the buffer is NULL");
    if (buffer->storage != IG_STORAGE_MANAGED)
        return igi_fail_with(IG_STATUS_WRONG_STATE, "buffer_did_modify: the buffer's storage is not managed");
    ig_status status = check_range("buffer_did_modify", buffer, offset, length);
    if (status != IG_STATUS_OK) return status;
    if (buffer->device->backend->buffer_did_modify) buffer->device->backend->buffer_did_modify(buffer, offset, length);
    return IG_STATUS_OK;
}

static ig_status check_host_access(const char *call, const ig_buffer *buffer, uint64_t offset, const void *bytes,
                                   uint64_t length) {
    if (!buffer || (length && !bytes))
        return igi_fail(IG_STATUS_INVALID_ARGUMENT, "%s: buffer and bytes must not be NULL", call);
    if (buffer->storage == IG_STORAGE_PRIVATE)
        return igi_fail(IG_STATUS_WRONG_STATE, "%s: the host has no access to a private buffer; copy it on the device",
                        call);
    return check_range(call, buffer, offset, length);
}

ig_status ig_buffer_write(ig_buffer *buffer, uint64_t offset, const void *bytes, uint64_t length) {
    ig_status status = check_host_access("buffer_write", buffer, offset, bytes, length);
    if (status != IG_STATUS_OK || !length) return status;
    memcpy((char *)buffer->memory + offset, bytes, length);
    return buffer->storage == IG_STORAGE_MANAGED ? ig_buffer_did_modify(buffer, offset, length) : IG_STATUS_OK;
}

ig_status ig_buffer_read(const ig_buffer *buffer, uint64_t offset, void *bytes, uint64_t length) {
    ig_status status = check_host_access("buffer_read", buffer, offset, bytes, length);
    if (status == IG_STATUS_OK && length) memcpy(bytes, (const char *)buffer->memory + offset, length);
    return status;
}
