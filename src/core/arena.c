// SPDX-License-Identifier: Apache-2.0
// Memory that is given out in small pieces and freed all at once.
#include "core/arena.h"

#include "core/memory.h"

enum { ALIGNMENT = 64, CHUNK_BYTES = 8192 };

typedef struct igi_arena_chunk {
    struct igi_arena_chunk *next;
    uint64_t used, capacity;
    _Alignas(ALIGNMENT) char bytes[];
} igi_arena_chunk;

void *igi_arena_alloc(igi_arena *arena, uint64_t bytes) {
    if (bytes > UINT64_MAX / 2) return NULL;
    bytes = igi_round_up(bytes ? bytes : 1, ALIGNMENT);
    igi_arena_chunk *chunk = arena->chunks;
    if (!chunk || chunk->capacity - chunk->used < bytes) {
        uint64_t capacity = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
        igi_arena_chunk *fresh = igi_aligned_alloc(ALIGNMENT, sizeof *fresh + capacity);
        if (!fresh) return NULL;
        *fresh = (igi_arena_chunk){.next = chunk, .capacity = capacity};
        arena->chunks = chunk = fresh;
    }
    void *piece = chunk->bytes + chunk->used;
    chunk->used += bytes;
    return piece;
}

void igi_arena_free(igi_arena *arena) {
    while (arena->chunks) {
        igi_arena_chunk *next = arena->chunks->next;
        free(arena->chunks);
        arena->chunks = next;
    }
}
