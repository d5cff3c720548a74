// SPDX-License-Identifier: Apache-2.0
// Open addressing with linear probing, at most half full.
#include "core/pointer-map.h"

#include "core/memory.h"

static size_t slot_of(const igi_pointer_map *map, const void *key) {
    uint64_t hash = (uint64_t)(uintptr_t)key * 0x9E3779B97F4A7C15u;
    size_t slot = (size_t)(hash >> 20) & (map->capacity - 1);
    while (map->keys[slot] && map->keys[slot] != key) slot = (slot + 1) & (map->capacity - 1);
    return slot;
}

static bool rehash(igi_pointer_map *map) {
    igi_pointer_map larger = {.capacity = map->capacity ? map->capacity * 2 : 64};
    larger.keys = igi_calloc(larger.capacity, sizeof *larger.keys);
    larger.values = igi_calloc(larger.capacity, sizeof *larger.values);
    if (!larger.keys || !larger.values) {
        igi_map_free(&larger);
        return false;
    }
    for (size_t i = 0; i < map->capacity; i++)
        if (map->keys[i]) igi_map_set(&larger, map->keys[i], map->values[i]);
    igi_map_free(map);
    *map = larger;
    return true;
}

bool igi_map_set(igi_pointer_map *map, const void *key, uint32_t value) {
    if (map->count * 2 >= map->capacity && !rehash(map)) return false;
    size_t slot = slot_of(map, key);
    if (!map->keys[slot]) map->count++;
    map->keys[slot] = key;
    map->values[slot] = value;
    return true;
}

bool igi_map_get(const igi_pointer_map *map, const void *key, uint32_t *value) {
    if (!map->capacity) return false;
    size_t slot = slot_of(map, key);
    if (!map->keys[slot]) return false;
    *value = map->values[slot];
    return true;
}

void igi_map_free(igi_pointer_map *map) {
    free(map->keys), free(map->values);
    *map = (igi_pointer_map){0};
}
