// SPDX-License-Identifier: Apache-2.0
// Sequences of short loops: each would end before a sleeping worker has started, but together they are worth waking it.
#ifndef INGOT_CORE_LOOP_ROW_H
#define INGOT_CORE_LOOP_ROW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { IGI_ROW_GAP_NS = 50000, IGI_ROW_WORTH_WAKING_NS = 30000 };

typedef struct igi_loop_row {
    atomic_uint_fast64_t total_ns;  // of its loops so far
    atomic_uint_fast64_t until;     // a loop that begins later starts a new row
} igi_loop_row;

// Counts a loop for which no worker was woken. Returns true when the sequence has become worth waking one, and starts
// counting again. Threads that count at the same time may lose a loop.
static inline bool igi_loop_row_add(igi_loop_row *row, uint64_t now, uint64_t loop_ns) {
    bool continues = now < atomic_load_explicit(&row->until, memory_order_relaxed);
    uint64_t total = loop_ns + (continues ? atomic_load_explicit(&row->total_ns, memory_order_relaxed) : 0);
    bool worth_it = total > IGI_ROW_WORTH_WAKING_NS;
    atomic_store_explicit(&row->total_ns, worth_it ? 0 : total, memory_order_relaxed);
    atomic_store_explicit(&row->until, now + IGI_ROW_GAP_NS, memory_order_relaxed);
    return worth_it;
}

#endif
