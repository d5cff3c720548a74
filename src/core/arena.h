// SPDX-License-Identifier: Apache-2.0
// Memory that is given out in small pieces and freed all at once. Pieces do not move.
#ifndef INGOT_CORE_ARENA_H
#define INGOT_CORE_ARENA_H

#include <stddef.h>
#include <stdint.h>

typedef struct igi_arena {
    struct igi_arena_chunk *chunks;  // newest first
} igi_arena;

// Aligned to 64 bytes. NULL when memory is short.
void *igi_arena_alloc(igi_arena *arena, uint64_t bytes);
void igi_arena_free(igi_arena *arena);

#endif
