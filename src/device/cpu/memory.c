// SPDX-License-Identifier: Apache-2.0
// Memory of the software device: whole pages between guards, and slabs for small pooled blocks.
#include "device/cpu/memory.h"

#include <assert.h>
#include <string.h>
#include <sys/mman.h>

#include "core/guarded.h"
#include "device/cpu/check.h"
#include "device/cpu/cpu.h"

// Every buffer is surrounded by inaccessible memory, so that running past its ends is a fault and does not damage other
// buffers. The neighbours of a block in a slab belong to the same pool.
enum { HUGE_PAGE = 2 << 20, SLAB_BYTES = 1 << 20, LARGEST_SLAB_BLOCK = 32 << 10, NEAR_BORROWED = 1 << 20 };

// ---- Pages ----

// Whole pages directly from the system: zeroed, aligned for any vector, and returned at once. Returns false when memory
// is short.
static bool map_pages(igi_guarded *pages, uint64_t length) {
    if (!igi_guarded_open(pages, length, IGI_GUARD_LARGE)) return false;
#ifdef MADV_HUGEPAGE
    // A page fault for every page of a large tensor costs more than computing it.
    if (pages->bytes >= HUGE_PAGE) madvise(pages->memory, pages->bytes, MADV_HUGEPAGE);
#endif
    return true;
}

// ---- Slabs ----

struct igi_device_slab {
    igi_guarded pages;
    uint64_t used;    // bytes given out, in order
    uint64_t blocks;  // not yet closed
};

void igi_device_slabs_init(igi_device_slabs *slabs) {
    slabs->current = NULL;
    pthread_mutex_init(&slabs->lock, NULL);
}

static void free_slab(igi_device_slab *slab) {
    if (!slab) return;
    igi_guarded_close(&slab->pages);
    free(slab);
}

void igi_device_slabs_destroy(igi_device_slabs *slabs) {
    assert(!slabs->current || slabs->current->blocks == 0);
    free_slab(slabs->current);
    pthread_mutex_destroy(&slabs->lock);
}

static igi_device_slab *make_slab(void) {
    igi_device_slab *slab = igi_calloc(1, sizeof *slab);
    if (slab && map_pages(&slab->pages, SLAB_BYTES)) return slab;
    free(slab);
    return NULL;
}

// A slab with room for the block becomes the current one. Call with the lock held.
static igi_device_slab *slab_with_room(igi_device_slabs *slabs, uint64_t bytes) {
    igi_device_slab *slab = slabs->current;
    if (slab && slab->used + bytes <= SLAB_BYTES) return slab;
    igi_device_slab *fresh = make_slab();
    if (!fresh) return NULL;
    if (slab && !slab->blocks) free_slab(slab);
    slabs->current = fresh;
    return fresh;
}

// The memory of a buffer that owns it.
typedef struct block {
    igi_device_slab *slab;  // NULL: pages of its own
    igi_guarded pages;      // of the buffer alone
} block;

static bool open_in_slab(igi_device_slabs *slabs, ig_buffer *buffer, block *b) {
    pthread_mutex_lock(&slabs->lock);
    igi_device_slab *slab = slab_with_room(slabs, buffer->capacity);
    if (slab) {
        buffer->memory = slab->pages.memory + slab->used;
        b->slab = slab;
        slab->used += buffer->capacity;
        slab->blocks++;
    }
    pthread_mutex_unlock(&slabs->lock);
    return slab != NULL;
}

static void close_in_slab(igi_device_slabs *slabs, igi_device_slab *slab) {
    pthread_mutex_lock(&slabs->lock);
    bool unused = --slab->blocks == 0;
    if (unused && slab == slabs->current)
        slab->used = 0;
    else if (unused)
        free_slab(slab);
    pthread_mutex_unlock(&slabs->lock);
}

// ---- Buffers ----

static bool open_block(ig_buffer *buffer, bool pooled, block *b) {
    if (pooled && buffer->capacity <= LARGEST_SLAB_BLOCK)
        return open_in_slab(&igi_cpu(buffer->device)->slabs, buffer, b);
    if (!map_pages(&b->pages, buffer->capacity)) return false;
    buffer->memory = b->pages.memory;
    return true;
}

ig_status igi_cpu_buffer_open(ig_buffer *buffer, const ig_buffer_desc *desc) {
    if (desc->no_copy) {
        buffer->memory = desc->no_copy;
    } else {
        block *b = igi_calloc(1, sizeof *b);
        if (!b || !open_block(buffer, desc->pooled, b)) {
            free(b);
            return IG_STATUS_OUT_OF_MEMORY;
        }
        buffer->state = b;
    }
    if (desc->bytes) memcpy(buffer->memory, desc->bytes, desc->length);
    buffer->address = (uint64_t)(uintptr_t)buffer->memory;
    if (igi_cpu_check_buffer(buffer, desc->bytes != NULL)) return IG_STATUS_OK;
    igi_cpu_buffer_close(buffer);
    return IG_STATUS_OUT_OF_MEMORY;
}

void igi_cpu_buffer_close(ig_buffer *buffer) {
    block *b = buffer->state;
    igi_cpu_uncheck_buffer(buffer);
    if (!b) return;  // borrowed
    if (b->slab)
        close_in_slab(&igi_cpu(buffer->device)->slabs, b->slab);
    else
        igi_guarded_close(&b->pages);
    free(b);
}

bool igi_cpu_is_near_buffer(const ig_buffer *buffer, uint64_t address) {
    const block *b = buffer->state;
    if (b) return igi_guarded_surrounds(b->slab ? &b->slab->pages : &b->pages, address);
    uint64_t begin = (uintptr_t)buffer->memory;
    return address - (begin - NEAR_BORROWED) < buffer->length + 2ull * NEAR_BORROWED;
}
