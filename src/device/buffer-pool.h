// SPDX-License-Identifier: Apache-2.0
// Idle memory of a device, by size.
#ifndef INGOT_DEVICE_BUFFER_POOL_H
#define INGOT_DEVICE_BUFFER_POOL_H

#include <ingot/device.h>
#include <pthread.h>

enum { IGI_BUCKETS = 64 };

typedef struct igi_device_buffer_pool {
    pthread_mutex_t lock;          // guards what follows
    ig_buffer *idle[IGI_BUCKETS];  // by log2 of capacity, newest first
    uint64_t limit;                // of idle bytes
    ig_pool_stats stats;           // all but hit_rate
} igi_device_buffer_pool;

void igi_device_buffer_pool_init(igi_device_buffer_pool *pool, uint64_t device_bytes);
// Frees idle buffers. pre: no buffer of the pool is in use.
void igi_device_buffer_pool_destroy(igi_device_buffer_pool *pool);

// The block size for a request: the next power of two, at least a cache line, or the request itself if the power of two
// would not fit into max_bytes.
uint64_t igi_device_block_bytes(uint64_t length, uint64_t max_bytes);

// An idle buffer of this capacity or twice it; NULL when there is none. Counts a hit or a miss.
ig_buffer *igi_device_buffer_pool_take(igi_device_buffer_pool *pool, uint64_t capacity);
// Counts a buffer that was created for the pool because take had none.
void igi_device_buffer_pool_add(igi_device_buffer_pool *pool, uint64_t capacity);
// The buffer has no references left; it is kept, or freed if enough is kept already.
void igi_device_buffer_pool_put(igi_device_buffer_pool *pool, ig_buffer *buffer);
void igi_device_buffer_pool_trim(igi_device_buffer_pool *pool, uint64_t keep_bytes);

#endif
