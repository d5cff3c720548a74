// SPDX-License-Identifier: Apache-2.0
// What a kernel did when it was stopped, in words.
#ifndef INGOT_DEVICE_CPU_FAULT_MESSAGE_H
#define INGOT_DEVICE_CPU_FAULT_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/objects.h"

typedef struct cpu_fault {
    int signal;
    bool has_address;
    uint64_t address;       // what was touched
    const char *memory;     // of the thread that ran the kernel, if the address is near that: "private memory"
    uint64_t begin, end;    // of what the kernel has of it; the same where nobody knows
    uint64_t group, batch;  // the threadgroup, and of how many it was the first
} cpu_fault;

// "touched address 0x7f0000001000 (SIGSEGV), 4 bytes past the end of buffer 1 'weights'".
void igi_cpu_describe_fault(const cpu_fault *fault, const igi_device_dispatch *dispatch, char *text, size_t capacity);

#endif
