// SPDX-License-Identifier: Apache-2.0
// After fork() a child has what its parent had, but for the threads. What needs them must notice.
#ifndef INGOT_CORE_FORKED_H
#define INGOT_CORE_FORKED_H

#include <stdatomic.h>
#include <stdint.h>

extern atomic_uint igi_fork_count;

// The number of this process among its forebears; call it where something with threads is made, and keep the answer.
uint32_t igi_process_number(void);
// Whether something made under that number was made by a forebear.
static inline int igi_was_inherited(uint32_t number) {
    return atomic_load_explicit(&igi_fork_count, memory_order_relaxed) != number;
}

#endif
