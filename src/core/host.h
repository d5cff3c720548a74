// SPDX-License-Identifier: Apache-2.0
// The machine this runs on.
#ifndef INGOT_CORE_HOST_H
#define INGOT_CORE_HOST_H

#include <stddef.h>
#include <stdint.h>

// Cores this process may run on, which taskset or a container can make fewer than there are.
uint32_t igi_host_cores(void);
uint64_t igi_host_memory_bytes(void);
void igi_host_cpu_name(char *name, size_t capacity);  // "CPU" when it is not known

#endif
