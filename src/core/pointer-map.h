// SPDX-License-Identifier: Apache-2.0
// A map from pointers to integers, for numbering blocks and values.
#ifndef INGOT_CORE_POINTER_MAP_H
#define INGOT_CORE_POINTER_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct igi_pointer_map {
    const void **keys;
    uint32_t *values;
    size_t count, capacity;  // capacity is a power of two
} igi_pointer_map;

// Returns false when memory is short. NULL is not a valid key.
bool igi_map_set(igi_pointer_map *map, const void *key, uint32_t value);
bool igi_map_get(const igi_pointer_map *map, const void *key, uint32_t *value);
void igi_map_free(igi_pointer_map *map);

#endif
