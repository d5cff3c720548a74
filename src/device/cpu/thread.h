// SPDX-License-Identifier: Apache-2.0
// What each thread of the host needs to run kernels: memory for them, and a stack for the handler of their faults.
#ifndef INGOT_DEVICE_CPU_THREAD_H
#define INGOT_DEVICE_CPU_THREAD_H

#include "device/cpu/fault.h"
#include "simt/run.h"

typedef struct cpu_thread {
    igi_simt_scratch scratch;
    igi_device_fault_stack handlers;
} cpu_thread;

// Of the calling thread, until it ends. NULL when memory is short.
cpu_thread *igi_cpu_this_thread(void);

#endif
