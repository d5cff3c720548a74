// SPDX-License-Identifier: Apache-2.0
// Sleeping until a word changes, within one process.
#ifndef INGOT_RING_FUTEX_H
#define INGOT_RING_FUTEX_H

#include <stdint.h>

// Returns at once if the word has another value; otherwise when woken, after timeout_ns (UINT64_MAX: never), or
// spuriously.
void igi_ring_futex_wait(const void *word, uint32_t value, uint64_t timeout_ns);
// Wakes all that wait for the word. pre: it was changed before, with release order or stronger.
void igi_ring_futex_wake(const void *word);

#endif
