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

static ig_status check(const ig_device *device, const ig_buffer_desc *desc) {
    if (desc->length == 0 || (unsigned)desc->storage > IG_STORAGE_MANAGED) return IG_STATUS_INVALID_ARGUMENT;
    if (desc->no_copy && (desc->bytes || desc->storage == IG_STORAGE_PRIVATE)) return IG_STATUS_INVALID_ARGUMENT;
    if (desc->deallocate && !desc->no_copy) return IG_STATUS_INVALID_ARGUMENT;
    return desc->length > device->properties.max_buffer_bytes ? IG_STATUS_OUT_OF_MEMORY : IG_STATUS_OK;
}

ig_status ig_buffer_create(ig_device *device, const ig_buffer_desc *desc, ig_buffer **buffer) {
    if (!device || !desc || !buffer) return IG_STATUS_INVALID_ARGUMENT;
    ig_status status = check(device, desc);
    if (status != IG_STATUS_OK) return status;
    ig_buffer *made = igi_calloc(1, sizeof *made);
    if (!made) return IG_STATUS_OUT_OF_MEMORY;
    igi_ref_init(&made->references);
    made->device = device;
    made->length = desc->length;
    made->storage = desc->storage;
    made->borrowed = desc->no_copy != NULL;
    made->deallocate = desc->deallocate;
    made->user = desc->user;
    made->label = igi_strdup(desc->label ? desc->label : "");
    status = made->label ? device->backend->buffer_open(made, desc) : IG_STATUS_OUT_OF_MEMORY;
    if (status != IG_STATUS_OK) {
        free(made->label);
        free(made);
        return status;
    }
    made->id = atomic_fetch_add(&last_id, 1) + 1;
    ig_device_retain(device);
    account(device, made->length);
    *buffer = made;
    return IG_STATUS_OK;
}

ig_buffer *ig_buffer_retain(ig_buffer *buffer) {
    if (buffer) igi_ref_take(&buffer->references);
    return buffer;
}

void ig_buffer_release(ig_buffer *buffer) {
    if (!buffer || !igi_ref_drop(&buffer->references)) return;
    ig_device *device = buffer->device;
    atomic_fetch_sub(&device->buffer_bytes, buffer->length);
    atomic_fetch_sub(&device->buffer_count, 1);
    void *memory = buffer->memory;
    device->backend->buffer_close(buffer);
    if (buffer->deallocate) buffer->deallocate(memory, buffer->length, buffer->user);
    free(buffer->label);
    free(buffer);
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
    return buffer->label;
}

uint64_t ig_buffer_device_address(const ig_buffer *buffer) {
    return buffer->address;
}

ig_status ig_buffer_did_modify(ig_buffer *buffer, uint64_t offset, uint64_t length) {
    if (!buffer) return IG_STATUS_INVALID_ARGUMENT;
    if (buffer->storage != IG_STORAGE_MANAGED) return IG_STATUS_WRONG_STATE;
    if (!igi_in_range(offset, length, buffer->length)) return IG_STATUS_OUT_OF_RANGE;
    if (buffer->device->backend->buffer_did_modify) buffer->device->backend->buffer_did_modify(buffer, offset, length);
    return IG_STATUS_OK;
}

static ig_status check_host_access(const ig_buffer *buffer, uint64_t offset, const void *bytes, uint64_t length) {
    if (!buffer || (length && !bytes)) return IG_STATUS_INVALID_ARGUMENT;
    if (buffer->storage == IG_STORAGE_PRIVATE) return IG_STATUS_WRONG_STATE;
    return igi_in_range(offset, length, buffer->length) ? IG_STATUS_OK : IG_STATUS_OUT_OF_RANGE;
}

ig_status ig_buffer_write(ig_buffer *buffer, uint64_t offset, const void *bytes, uint64_t length) {
    ig_status status = check_host_access(buffer, offset, bytes, length);
    if (status != IG_STATUS_OK || !length) return status;
    memcpy((char *)buffer->memory + offset, bytes, length);
    return buffer->storage == IG_STORAGE_MANAGED ? ig_buffer_did_modify(buffer, offset, length) : IG_STATUS_OK;
}

ig_status ig_buffer_read(const ig_buffer *buffer, uint64_t offset, void *bytes, uint64_t length) {
    ig_status status = check_host_access(buffer, offset, bytes, length);
    if (status == IG_STATUS_OK && length) memcpy(bytes, (const char *)buffer->memory + offset, length);
    return status;
}
