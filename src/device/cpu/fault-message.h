// SPDX-License-Identifier: Apache-2.0
// A description of what a kernel did when it was stopped.
#ifndef INGOT_DEVICE_CPU_FAULT_MESSAGE_H
#define INGOT_DEVICE_CPU_FAULT_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/objects.h"

typedef struct cpu_fault {
    int signal;
    bool has_address;
    uint64_t address;       // that was accessed
    const char *memory;     // memory of the thread that ran the kernel, if the address is near it: "private memory"
    uint64_t begin, end;    // of the part that the kernel may use; equal if that is not known
    uint64_t group, batch;  // the threadgroup, and the number of groups in its batch
} cpu_fault;

// "touched address 0x7f0000001000 (SIGSEGV), 4 bytes past the end of buffer 1 'weights'".
void igi_cpu_describe_fault(const cpu_fault *fault, const igi_device_dispatch *dispatch, char *text, size_t capacity);

#endif
