// SPDX-License-Identifier: Apache-2.0
// Metal's buffers.
#include <string.h>
#include <unistd.h>

#include "device/metal/metal.h"

static const MTLResourceOptions options_of[] = {
    [IG_STORAGE_SHARED] = MTLResourceStorageModeShared,
    [IG_STORAGE_PRIVATE] = MTLResourceStorageModePrivate,
    [IG_STORAGE_MANAGED] = MTLResourceStorageModeManaged,
};

// ---- All of a device ----

static void add_to_list(metal_device *metal, metal_buffer *made) {
    pthread_mutex_lock(&metal->lock);
    made->next = metal->buffers;
    made->link = &metal->buffers;
    if (made->next) made->next->link = &made->next;
    metal->buffers = made;
    pthread_mutex_unlock(&metal->lock);
}

static void remove_from_list(metal_device *metal, metal_buffer *buffer) {
    pthread_mutex_lock(&metal->lock);
    *buffer->link = buffer->next;
    if (buffer->next) buffer->next->link = buffer->link;
    pthread_mutex_unlock(&metal->lock);
}

void igi_metal_use_addressed_buffers(metal_device *metal, id<MTLComputeCommandEncoder> encoder) {
    pthread_mutex_lock(&metal->lock);
    for (metal_buffer *b = metal->buffers; b; b = b->next)
        if (atomic_load_explicit(&b->owner->addressed, memory_order_relaxed))
            [encoder useResource:b->buffer usage:MTLResourceUsageRead | MTLResourceUsageWrite];
    pthread_mutex_unlock(&metal->lock);
}

// ---- Making ----

// Metal takes only whole pages; the pages around the caller's memory are mapped anyway.
static id<MTLBuffer> borrow(id<MTLDevice> device, const ig_buffer_desc *desc, uint64_t *base) {
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uintptr_t start = (uintptr_t)desc->no_copy & ~(uintptr_t)(page - 1);
    *base = (uintptr_t)desc->no_copy - start;
    uint64_t length = igi_round_up(*base + desc->length, page);
    return [device newBufferWithBytesNoCopy:(void *)start
                                     length:length
                                    options:options_of[desc->storage]
                                deallocator:nil];
}

static id<MTLCommandQueue> upload_queue(metal_device *metal) {
    pthread_mutex_lock(&metal->lock);
    if (!metal->uploads) metal->uploads = [metal->device newCommandQueue];
    pthread_mutex_unlock(&metal->lock);
    return metal->uploads;
}

// For memory that only the device can write. Both ends have room for copies in multiples of four bytes.
static ig_status upload(metal_device *metal, id<MTLBuffer> target, const void *bytes, uint64_t length) {
    uint64_t size = igi_round_up(length, 4);
    id<MTLBuffer> staging = [metal->device newBufferWithLength:size options:MTLResourceStorageModeShared];
    if (!staging) return IG_STATUS_OUT_OF_MEMORY;
    memcpy([staging contents], bytes, length);
    id<MTLCommandBuffer> commands = [upload_queue(metal) commandBuffer];
    id<MTLBlitCommandEncoder> blit = [commands blitCommandEncoder];
    [blit copyFromBuffer:staging sourceOffset:0 toBuffer:target destinationOffset:0 size:size];
    [blit endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    [staging release];
    return [commands status] == MTLCommandBufferStatusCompleted ? IG_STATUS_OK : IG_STATUS_OUT_OF_MEMORY;
}

static id<MTLBuffer> make(metal_device *metal, const ig_buffer *buffer, const ig_buffer_desc *desc, uint64_t *base) {
    if (desc->no_copy) return borrow(metal->device, desc, base);
    if (desc->bytes && desc->storage != IG_STORAGE_PRIVATE)
        return [metal->device newBufferWithBytes:desc->bytes length:desc->length options:options_of[desc->storage]];
    // A length that allows copies in units of four bytes.
    uint64_t length = igi_round_up(buffer->capacity, 4);
    return [metal->device newBufferWithLength:length options:options_of[desc->storage]];
}

ig_status igi_metal_buffer_open(ig_buffer *buffer, const ig_buffer_desc *desc) {
    metal_device *metal = igi_metal(buffer->device);
    metal_buffer *made = igi_calloc(1, sizeof *made);
    if (!made) return IG_STATUS_OUT_OF_MEMORY;
    @autoreleasepool {
        made->buffer = make(metal, buffer, desc, &made->base);
        ig_status status = made->buffer ? IG_STATUS_OK : IG_STATUS_OUT_OF_MEMORY;
        if (made->buffer && desc->bytes && desc->storage == IG_STORAGE_PRIVATE)
            status = upload(metal, made->buffer, desc->bytes, desc->length);
        if (status != IG_STATUS_OK) {
            [made->buffer release];
            free(made);
            return status;
        }
        if (desc->label) [made->buffer setLabel:igi_metal_string(desc->label)];
        buffer->memory = desc->storage == IG_STORAGE_PRIVATE ? NULL : (char *)[made->buffer contents] + made->base;
        buffer->address = [made->buffer gpuAddress] + made->base;
    }
    buffer->state = made;
    made->owner = buffer;
    add_to_list(metal, made);
    return IG_STATUS_OK;
}

void igi_metal_buffer_close(ig_buffer *buffer) {
    metal_buffer *made = igi_metal_buffer(buffer);
    remove_from_list(igi_metal(buffer->device), made);
    @autoreleasepool {
        [made->buffer release];
    }
    free(made);
}

void igi_metal_buffer_did_modify(ig_buffer *buffer, uint64_t offset, uint64_t length) {
    metal_buffer *made = igi_metal_buffer(buffer);
    @autoreleasepool {
        [made->buffer didModifyRange:NSMakeRange(made->base + offset, length)];
    }
}
