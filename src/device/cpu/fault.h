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
    uint64_t address;  // what was touched
} igi_device_fault_guard;

// Call once before the first guard; other handlers of the process keep working.
void igi_device_fault_install(void);
// The guard of this thread, NULL for none. A fault while it is set jumps to guard->back, with the value 1.
// pre: the guard lies where kernels do not write.
void igi_device_fault_set(igi_device_fault_guard *guard);
// As a fault does, without one. pre: this thread has a guard.
_Noreturn void igi_device_fault_leave(void);

// A stack for this thread's signal handlers. One of the host's is left in place, or, if it is too small, taken out
// while kernels run.
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
