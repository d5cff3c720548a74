// SPDX-License-Identifier: Apache-2.0
// The pool of buffers: power-of-two buckets; the exact bucket is tried first, then the next.
#include "device/buffer-pool.h"

#include <assert.h>

#include "core/settings.h"
#include "device/backend.h"

enum { SMALLEST_BLOCK = 64 };

static uint32_t bucket_of(uint64_t capacity) {
    return 63 - (uint32_t)__builtin_clzll(capacity);
}

uint64_t igi_device_block_bytes(uint64_t length, uint64_t max_bytes) {
    if (length <= SMALLEST_BLOCK) return SMALLEST_BLOCK;
    uint32_t power = 64 - (uint32_t)__builtin_clzll(length - 1);
    uint64_t bytes = power < 64 ? 1ull << power : length;
    return bytes <= max_bytes ? bytes : length;
}

void igi_device_buffer_pool_init(igi_device_buffer_pool *pool, uint64_t device_bytes) {
    *pool = (igi_device_buffer_pool){.limit = igi_setting_number(IGI_SETTING_POOL_BYTES, device_bytes / 4)};
    pthread_mutex_init(&pool->lock, NULL);
}

void igi_device_buffer_pool_destroy(igi_device_buffer_pool *pool) {
    assert(pool->stats.used_bytes == 0);
    igi_device_buffer_pool_trim(pool, 0);
    pthread_mutex_destroy(&pool->lock);
}

// Call with the lock held.
static ig_buffer *pop(igi_device_buffer_pool *pool, uint32_t bucket) {
    ig_buffer *buffer = pool->idle[bucket];
    pool->idle[bucket] = buffer->next_idle;
    pool->stats.idle_bytes -= buffer->capacity;
    pool->stats.idle_count--;
    return buffer;
}

static bool fits(const ig_buffer *buffer, uint64_t capacity) {
    return buffer && buffer->capacity >= capacity;
}

ig_buffer *igi_device_buffer_pool_take(igi_device_buffer_pool *pool, uint64_t capacity) {
    uint32_t bucket = bucket_of(capacity);
    ig_buffer *buffer = NULL;
    pthread_mutex_lock(&pool->lock);
    if (fits(pool->idle[bucket], capacity))
        buffer = pop(pool, bucket);
    else if (bucket + 1 < IGI_BUCKETS && pool->idle[bucket + 1])
        buffer = pop(pool, bucket + 1);
    if (buffer) {
        pool->stats.hits++;
        pool->stats.used_bytes += buffer->capacity;
    } else {
        pool->stats.misses++;
    }
    pthread_mutex_unlock(&pool->lock);
    return buffer;
}

void igi_device_buffer_pool_add(igi_device_buffer_pool *pool, uint64_t capacity) {
    pthread_mutex_lock(&pool->lock);
    ig_pool_stats *stats = &pool->stats;
    stats->used_bytes += capacity;
    stats->total_bytes += capacity;
    if (stats->total_bytes > stats->peak_bytes) stats->peak_bytes = stats->total_bytes;
    pthread_mutex_unlock(&pool->lock);
}

static void destroy_list(ig_buffer *buffer) {
    while (buffer) {
        ig_buffer *next = buffer->next_idle;
        igi_device_addresses_remove(buffer);
        buffer->device->backend->buffer_close(buffer);
        free(buffer);
        buffer = next;
    }
}

// Removes idle blocks, largest first. Call with the lock held; the caller frees the list without it.
static ig_buffer *shrink(igi_device_buffer_pool *pool, uint64_t keep_bytes) {
    ig_buffer *freed = NULL;
    for (uint32_t bucket = IGI_BUCKETS; bucket-- > 0;)
        while (pool->stats.idle_bytes > keep_bytes && pool->idle[bucket]) {
            ig_buffer *buffer = pop(pool, bucket);
            pool->stats.total_bytes -= buffer->capacity;
            buffer->next_idle = freed;
            freed = buffer;
        }
    return freed;
}

void igi_device_buffer_pool_put(igi_device_buffer_pool *pool, ig_buffer *buffer) {
    uint32_t bucket = bucket_of(buffer->capacity);
    pthread_mutex_lock(&pool->lock);
    pool->stats.used_bytes -= buffer->capacity;
    pool->stats.idle_bytes += buffer->capacity;
    pool->stats.idle_count++;
    buffer->next_idle = pool->idle[bucket];
    pool->idle[bucket] = buffer;
    ig_buffer *freed = pool->stats.idle_bytes > pool->limit ? shrink(pool, pool->limit) : NULL;
    pthread_mutex_unlock(&pool->lock);
    destroy_list(freed);
}

void igi_device_buffer_pool_trim(igi_device_buffer_pool *pool, uint64_t keep_bytes) {
    pthread_mutex_lock(&pool->lock);
    ig_buffer *freed = shrink(pool, keep_bytes);
    pthread_mutex_unlock(&pool->lock);
    destroy_list(freed);
}

void ig_device_get_pool_stats(ig_device *device, ig_pool_stats *stats) {
    igi_device_buffer_pool *pool = &device->buffers;
    pthread_mutex_lock(&pool->lock);
    *stats = pool->stats;
    pthread_mutex_unlock(&pool->lock);
    uint64_t requests = stats->hits + stats->misses;
    stats->hit_rate = requests ? (double)stats->hits / (double)requests : 0;
}

void ig_device_trim_pool(ig_device *device, uint64_t keep_bytes) {
    igi_device_buffer_pool_trim(&device->buffers, keep_bytes);
}
