// SPDX-License-Identifier: Apache-2.0
// What kernels log: read from the memory they wrote it to, and passed to the callback or the log.
#ifndef INGOT_DEVICE_MESSAGES_H
#define INGOT_DEVICE_MESSAGES_H

#include "device/objects.h"
#include "msl/log-layout.h"

enum { IGI_MESSAGES_DEFAULT_BYTES = 1 << 20, IGI_MESSAGES_LEAST_BYTES = 1024, IGI_MESSAGES_MOST_BYTES = 1 << 30 };

// Bytes of memory for messages with this descriptor, header included.
uint64_t igi_device_messages_bytes(const ig_kernel_log_desc *desc);
// Makes the memory ready for a dispatch; what it holds is all zeros, or was cleared by deliver.
void igi_device_messages_begin(uint32_t *log, uint64_t bytes);
// Hands over all messages in the memory, in order, and clears it. Returns how many were lost.
uint64_t igi_device_messages_deliver(uint32_t *log, uint64_t bytes, const char *kernel, const ig_kernel_log_desc *desc);

#endif
