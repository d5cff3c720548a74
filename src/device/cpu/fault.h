// SPDX-License-Identifier: Apache-2.0
// Kernels that access memory they do not own fail their command buffer, not the process.
#ifndef INGOT_DEVICE_CPU_FAULT_H
#define INGOT_DEVICE_CPU_FAULT_H

#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/guarded.h"

typedef struct igi_device_fault_guard {
    sigjmp_buf back;
    // Once caught:
    int signal;
    bool has_address;
    uint64_t address;  // that was accessed
} igi_device_fault_guard;

// Call once before the first guard; other handlers of the process keep working.
void igi_device_fault_install(void);
// The guard of this thread, NULL for none. A fault while it is set jumps to guard->back, with the value 1.
// pre: the guard is in memory that kernels do not write.
void igi_device_fault_set(igi_device_fault_guard *guard);

// Leaves the kernel that runs on this thread as a fault would, without a signal: to guard->back. pre: a guard is set.
_Noreturn void igi_device_fault_leave(void);

// A stack for this thread's signal handlers. If the host has set one, it stays, or is replaced while kernels run if it
// is too small.
typedef struct igi_device_fault_stack {
    igi_guarded memory;  // empty: the host's is used
    bool in_turn;
    stack_t theirs;
} igi_device_fault_stack;

bool igi_device_fault_stack_open(igi_device_fault_stack *stack);   // false when memory is short
void igi_device_fault_stack_close(igi_device_fault_stack *stack);  // on the same thread; also an empty one
void igi_device_fault_stack_enter(igi_device_fault_stack *stack);
void igi_device_fault_stack_leave(igi_device_fault_stack *stack);

// "SIGSEGV", "SIGTRAP" and so on.
const char *igi_device_fault_signal_name(int number);

#endif
