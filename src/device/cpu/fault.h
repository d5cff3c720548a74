// SPDX-License-Identifier: Apache-2.0
// Kernels that touch memory they do not own fail their command buffer instead of the process.
#ifndef INGOT_DEVICE_CPU_FAULT_H
#define INGOT_DEVICE_CPU_FAULT_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct igi_fault_guard {
    sigjmp_buf back;
    uint64_t address;  // what was touched, once caught
    int signal;
} igi_fault_guard;

// Call once before the first guard; other handlers of the process keep working.
void igi_fault_install(void);
// The guard of this thread, NULL for none. A fault while it is set jumps to guard->back, with the value 1.
void igi_fault_set(igi_fault_guard *guard);

#endif
