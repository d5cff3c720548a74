// SPDX-License-Identifier: Apache-2.0
// Additions to device memory that come late: a thread of the host keeps what its threadgroups add atomically at their
// very end, and adds the sums when the last of them has ended, as if all had waited with it until then. Cores then
// compete for those cache lines once for many threadgroups.
#ifndef INGOT_SIMT_LATE_H
#define INGOT_SIMT_LATE_H

#include <stdint.h>

typedef struct igi_simt_late igi_simt_late;

igi_simt_late *igi_simt_late_create(void);  // NULL when memory is short
void igi_simt_late_free(igi_simt_late *late);

// Between these, what this thread of the host runs may add late. `end` adds what was kept; `forget` drops it, after a
// fault. Both do nothing without a `begin`.
void igi_simt_late_begin(igi_simt_late *late);
void igi_simt_late_end(void);
void igi_simt_late_forget(void);

// Generated code calls this as "ig.late": adds values to neighbouring elements, late, and returns 1. If it returns 0,
// the caller must add them: so it does for lines of memory that are new, where a fault then belongs to the caller.
uint32_t igi_simt_late_add(uint32_t *elements, const uint32_t *values, uint32_t count);

#endif
