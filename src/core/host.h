// SPDX-License-Identifier: Apache-2.0
// The machine this runs on.
#ifndef INGOT_CORE_HOST_H
#define INGOT_CORE_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Cores this process may run on; taskset or a container can restrict them.
uint32_t igi_host_cores(void);
uint64_t igi_host_memory_bytes(void);
// The memory available without swapping, within the limits of a container; UINT64_MAX when that is not known.
uint64_t igi_host_available_bytes(void);
// The most memory that this process has had so far.
uint64_t igi_host_peak_bytes(void);
void igi_host_cpu_name(char *name, size_t capacity);  // "CPU" if it is not known

// Extensions of 64-bit ARM; other CPUs have none of them. x86-64 has __builtin_cpu_supports.
typedef enum igi_host_feature {
    IGI_HOST_CRC32,
    IGI_HOST_DOT_PRODUCT,      // of bytes
    IGI_HOST_HALF_ARITHMETIC,  // FP16
    IGI_HOST_BFLOAT,
} igi_host_feature;
bool igi_host_has_feature(igi_host_feature feature);

// The core this thread currently runs on; -1 if that is not known.
int igi_host_this_core(void);
// Moves this thread to a core other than `core` if it may use one, without binding it there. Returns false if it stays.
bool igi_host_leave_core(int core);

#endif
