// SPDX-License-Identifier: Apache-2.0
// After fork() a child has everything its parent had except threads. Objects that need threads must detect that.
#ifndef INGOT_CORE_FORKED_H
#define INGOT_CORE_FORKED_H

#include <stdatomic.h>
#include <stdint.h>

extern atomic_uint igi_fork_count;

// The number of forks up to this process; call it when an object with threads is created, and keep the result.
uint32_t igi_process_number(void);
// Whether an object created under that number belongs to a parent process.
static inline int igi_was_inherited(uint32_t number) {
    return atomic_load_explicit(&igi_fork_count, memory_order_relaxed) != number;
}

#endif
