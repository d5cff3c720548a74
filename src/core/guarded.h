// SPDX-License-Identifier: Apache-2.0
// Memory in a separate mapping, with inaccessible address space on both sides.
#ifndef INGOT_CORE_GUARDED_H
#define INGOT_CORE_GUARDED_H

#include <stdbool.h>
#include <stdint.h>

// How much of the remaining address space to use for each guard: gigabytes on a 64-bit system.
typedef enum igi_guard_size {
    IGI_GUARD_LARGE = 1024,  // 32 GiB at first: an index of 32 bits stays inside, whatever the element
    IGI_GUARD_HUGE = 128,    // 256 GiB: also where the elements of many threads lie side by side
} igi_guard_size;

typedef struct igi_guarded {
    char *memory;    // begins at a page, and at a huge page where it is as large as one; NULL: none
    uint64_t bytes;  // of it, whole pages
    char *reservation;
    uint64_t reserved;  // bytes of the reservation, in which `memory` lies
} igi_guarded;

uint64_t igi_page_bytes(void);

// Zeros without guards, for munmap; pages take up memory once they are touched. NULL when address space is short.
void *igi_map_zeros(uint64_t bytes);

// At least `bytes` of zeros; pages take up memory once they are touched. Guards are smaller under a limit (ulimit -v),
// and beside very many others. False, and *guarded empty, when memory or address space is short.
bool igi_guarded_open(igi_guarded *guarded, uint64_t bytes, igi_guard_size guard);
void igi_guarded_close(igi_guarded *guarded);  // also of an empty one, which it is afterwards

// Whether the address lies in the memory or its guards.
bool igi_guarded_surrounds(const igi_guarded *guarded, uint64_t address);

#endif
