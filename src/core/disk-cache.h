// SPDX-License-Identifier: Apache-2.0
// Blobs on disk by key. Safe with any number of processes that may be killed at any moment; damaged entries are misses.
#ifndef INGOT_CORE_DISK_CACHE_H
#define INGOT_CORE_DISK_CACHE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/hash.h"

typedef struct igi_disk_cache igi_disk_cache;

// owns: the cache directory: the one wanted, else INGOT_CACHE_DIR, else the user's; NULL: the cache is turned off, or
// other users could write there (trust.h), which is logged.
char *igi_cache_dir(const char *wanted);
// max_bytes 0: 512 MiB. NULL `directory` gives NULL, which every call accepts as a cache that is always empty.
igi_disk_cache *igi_disk_cache_create(const char *directory, uint64_t max_bytes);
void igi_disk_cache_destroy(igi_disk_cache *cache);

// owns: *data is the caller's. Returns false if there is no valid entry.
bool igi_disk_cache_get(igi_disk_cache *cache, igi_hash key, char **data, size_t *length);
// Best effort: an entry larger than a quarter of the limit is not kept, and after a failure (a full disk, a directory
// that cannot be written) the next run only takes longer.
void igi_disk_cache_put(igi_disk_cache *cache, igi_hash key, const char *data, size_t length);

#endif
