// SPDX-License-Identifier: Apache-2.0
// What kernels can name by a number in memory: buffers by an address, pipelines by a resource id. Such numbers may be
// wrong, or of something that was released meanwhile.
#ifndef INGOT_DEVICE_ADDRESSES_H
#define INGOT_DEVICE_ADDRESSES_H

#include <ingot/device.h>
#include <pthread.h>

struct igi_device_span;
struct igi_device_place;

typedef struct igi_device_addresses {
    pthread_mutex_t lock;  // guards all
    ig_buffer *buffers;    // all that have memory, idle ones of the pool too
    size_t buffer_count;
    struct igi_device_span *spans;  // of them, by address
    size_t span_count, span_capacity;
    bool sorted;                      // spans are those of the list
    struct igi_device_place *places;  // of pipelines
    size_t place_count, place_capacity;
} igi_device_addresses;

void igi_device_addresses_init(igi_device_addresses *addresses);
void igi_device_addresses_destroy(igi_device_addresses *addresses);

// Memory was opened, and is about to be closed.
void igi_device_addresses_add(ig_buffer *buffer);
void igi_device_addresses_remove(ig_buffer *buffer);
// The buffer in which the address is, with a reference for the caller; NULL if there is none. errors: OUT_OF_MEMORY.
ig_status igi_device_find_buffer(ig_device *device, uint64_t address, ig_buffer **buffer, uint64_t *offset);

// The pipeline with this resource id, with a reference for the caller; NULL if there is none.
ig_pipeline *igi_device_find_pipeline(ig_device *device, uint64_t id);
// A pipeline is about to be destroyed.
void igi_device_forget_pipeline(ig_pipeline *pipeline);

#endif
