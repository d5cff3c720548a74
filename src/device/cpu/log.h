// SPDX-License-Identifier: Apache-2.0
// The memory into which kernels of a queue log messages: made for the first one that does.
#ifndef INGOT_DEVICE_CPU_LOG_H
#define INGOT_DEVICE_CPU_LOG_H

#include "device/objects.h"

typedef struct cpu_log {
    ig_buffer *buffer;  // NULL: no kernel has logged yet
    uint64_t bytes;     // of it that the dispatch under way may use; 0: there is none
} cpu_log;

// Of the queue; its runner alone uses it.
cpu_log *igi_cpu_queue_log(ig_queue *queue);

// For a dispatch that begins now. NULL when memory is short.
uint32_t *igi_cpu_log_begin(ig_commands *commands);
// Delivers what the dispatch logged, if it did.
void igi_cpu_log_end(ig_commands *commands, const char *kernel);

#endif
