// SPDX-License-Identifier: Apache-2.0
// Memory in a separate mapping, with inaccessible address space on both sides.
#ifndef INGOT_CORE_GUARDED_H
#define INGOT_CORE_GUARDED_H

#include <stdbool.h>
#include <stdint.h>

// How much of the remaining address space to use for each guard: gigabytes on a 64-bit system.
typedef enum igi_guard_size {
    IGI_GUARD_LARGE = 1024,  // initially 32 GiB: a 32-bit index stays inside, whatever the element size
    IGI_GUARD_HUGE = 128,    // 256 GiB: also if the elements of many threads are interleaved
} igi_guard_size;

typedef struct igi_guarded {
    char *memory;    // page-aligned, and aligned to a huge page if it is that large; NULL: none
    uint64_t bytes;  // a multiple of the page size
    char *reservation;
    uint64_t reserved;  // bytes of the reservation that contains `memory`
} igi_guarded;

uint64_t igi_page_bytes(void);

// Zeros without guards, for munmap; pages take up memory once they are touched. NULL if address space is short.
void *igi_map_zeros(uint64_t bytes);

// At least `bytes` of zeros; pages take up memory once they are touched. Guards are smaller under a limit (ulimit -v),
// or if there are very many. Returns false, with *guarded empty, if memory or address space is short.
bool igi_guarded_open(igi_guarded *guarded, uint64_t bytes, igi_guard_size guard);
void igi_guarded_close(igi_guarded *guarded);  // leaves it empty; an empty one may be closed too

// Whether the address is in the memory or its guards.
bool igi_guarded_surrounds(const igi_guarded *guarded, uint64_t address);

#endif
