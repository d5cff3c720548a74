// SPDX-License-Identifier: Apache-2.0
// Randomly generated kernels, as text for start_ir. Their results are defined for every thread separately: threads
// communicate only across barriers, in sums without order, and in lane operations of lanes that are together.
//
// Arguments: 0 a record of RECORD bytes for each thread of the grid, 1 a table of TABLE words that are only read, 2
// CELLS words that are only added to, 3 WORDS words of results for each thread.
#ifndef INGOT_TESTS_SIMT_RANDOM_KERNEL_H
#define INGOT_TESTS_SIMT_RANDOM_KERNEL_H

#include <stdint.h>

enum { RECORD = 64, TABLE = 64, CELLS = 16, WORDS = 8, THREADGROUP_WORDS = 2 * 1024 + 16 };

typedef enum kernel_feature {
    KERNEL_BARRIERS = 1,
    KERNEL_LANES = 2,
    KERNEL_ATOMICS = 4,
    KERNEL_RETURNS = 8,   // threads that leave early
    KERNEL_RECORDS = 16,  // mostly loads and stores of the thread's record
    KERNEL_GRAPH = 32,    // blocks with arbitrary successors, instead of branches and loops
} kernel_feature;

// A generator of numbers that is the same everywhere.
typedef struct random_numbers {
    uint64_t state;
} random_numbers;
uint32_t random_below(random_numbers *r, uint32_t bound);

// owns: the caller's.
char *random_kernel(uint64_t seed, unsigned features);

#endif
