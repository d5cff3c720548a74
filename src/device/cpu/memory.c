// SPDX-License-Identifier: Apache-2.0
// Memory of the software device: whole pages with a guard behind them, and slabs for small pooled blocks.
#include "device/cpu/memory.h"

#include <string.h>
#include <sys/mman.h>

#include "device/cpu/cpu.h"

// Behind every buffer lies memory that nobody may touch, so that running past the end is a fault and not a surprise
// for the neighbour. Blocks of a slab have neighbours of the same pool instead.
enum { PAGE = 4096, GUARD_BYTES = 16 << 20, HUGE_PAGE = 2 << 20, SLAB_BYTES = 1 << 20, LARGEST_SLAB_BLOCK = 32 << 10 };

// ---- Pages ----

static uint64_t whole_pages(uint64_t length) {
    return igi_round_up(length, PAGE);
}

// Room for pages, none of it usable yet. Large room begins where a huge page does. NULL when short.
static char *reserve(uint64_t bytes) {
    uint64_t slack = bytes >= HUGE_PAGE ? HUGE_PAGE : 0;
    char *room = mmap(NULL, bytes + slack, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) return NULL;
    uint64_t before = slack ? igi_round_up((uintptr_t)room, HUGE_PAGE) - (uintptr_t)room : 0;
    if (before) munmap(room, before);
    if (slack - before) munmap(room + before + bytes, slack - before);
    return room + before;
}

// Whole pages straight from the system: zero, aligned for any vector, and given back at once. NULL when short.
static void *map_pages(uint64_t length) {
    uint64_t bytes;
    if (!igi_add(length, PAGE + GUARD_BYTES + HUGE_PAGE, &bytes)) return NULL;
    bytes = whole_pages(length);
    char *memory = reserve(bytes + GUARD_BYTES);
    if (!memory) return NULL;
    if (mprotect(memory, bytes, PROT_READ | PROT_WRITE) != 0) {
        munmap(memory, bytes + GUARD_BYTES);
        return NULL;
    }
#ifdef MADV_HUGEPAGE
    // A page fault for every 4 KiB of a large tensor costs more than computing it.
    if (bytes >= HUGE_PAGE) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
    return memory;
}

static void unmap_pages(void *memory, uint64_t length) {
    munmap(memory, whole_pages(length) + GUARD_BYTES);
}

// ---- Slabs ----

struct igi_slab {
    char *memory;
    uint64_t used;    // bytes given out, in order
    uint64_t blocks;  // not yet closed
};

void igi_slabs_init(igi_slabs *slabs) {
    slabs->current = NULL;
    pthread_mutex_init(&slabs->lock, NULL);
}

static void free_slab(igi_slab *slab) {
    if (!slab) return;
    unmap_pages(slab->memory, SLAB_BYTES);
    free(slab);
}

void igi_slabs_destroy(igi_slabs *slabs) {
    free_slab(slabs->current);
    pthread_mutex_destroy(&slabs->lock);
}

static igi_slab *make_slab(void) {
    igi_slab *slab = igi_calloc(1, sizeof *slab);
    if (slab) slab->memory = map_pages(SLAB_BYTES);
    if (slab && slab->memory) return slab;
    free(slab);
    return NULL;
}

// A slab with room for the block becomes the current one. Call with the lock held.
static igi_slab *slab_with_room(igi_slabs *slabs, uint64_t bytes) {
    igi_slab *slab = slabs->current;
    if (slab && slab->used + bytes <= SLAB_BYTES) return slab;
    igi_slab *fresh = make_slab();
    if (!fresh) return NULL;
    if (slab && !slab->blocks) free_slab(slab);
    slabs->current = fresh;
    return fresh;
}

static ig_status open_in_slab(igi_slabs *slabs, ig_buffer *buffer) {
    pthread_mutex_lock(&slabs->lock);
    igi_slab *slab = slab_with_room(slabs, buffer->capacity);
    if (slab) {
        buffer->memory = slab->memory + slab->used;
        buffer->state = slab;
        slab->used += buffer->capacity;
        slab->blocks++;
    }
    pthread_mutex_unlock(&slabs->lock);
    return slab ? IG_STATUS_OK : IG_STATUS_OUT_OF_MEMORY;
}

static void close_in_slab(igi_slabs *slabs, igi_slab *slab) {
    pthread_mutex_lock(&slabs->lock);
    bool unused = --slab->blocks == 0;
    if (unused && slab == slabs->current)
        slab->used = 0;
    else if (unused)
        free_slab(slab);
    pthread_mutex_unlock(&slabs->lock);
}

// ---- Buffers ----

ig_status igi_cpu_buffer_open(ig_buffer *buffer, const ig_buffer_desc *desc) {
    if (desc->no_copy) {
        buffer->memory = desc->no_copy;
    } else if (desc->pooled && buffer->capacity <= LARGEST_SLAB_BLOCK) {
        ig_status status = open_in_slab(&igi_cpu(buffer->device)->slabs, buffer);
        if (status != IG_STATUS_OK) return status;
    } else {
        buffer->memory = map_pages(buffer->capacity);
        if (!buffer->memory) return IG_STATUS_OUT_OF_MEMORY;
    }
    if (desc->bytes) memcpy(buffer->memory, desc->bytes, desc->length);
    buffer->address = (uint64_t)(uintptr_t)buffer->memory;
    return IG_STATUS_OK;
}

void igi_cpu_buffer_close(ig_buffer *buffer) {
    if (buffer->borrowed) return;
    if (buffer->state)
        close_in_slab(&igi_cpu(buffer->device)->slabs, buffer->state);
    else
        unmap_pages(buffer->memory, buffer->capacity);
}
